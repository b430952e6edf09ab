/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tool-run.h"

#include <string.h>

static void
test_help (void)
{
  static const struct
  {
    const char *arguments;
    const char *part;
  } cases[] = {
    { "help", "aprender COMMAND [OPTION…] ARGUMENT…\n" },
    { "--help", "Commands:\n  fit " },
    { "-h", "Commands:\n  fit " },
    { "help --help", "Commands:\n  fit " },
    { "help -h", "Commands:\n  fit " },
    { "help help", "Commands:\n  fit " },
    { "fit --help", "  -t, --target=COLUMN " },
    { "cross-validate --help", "  --metric=METRIC " },
    { "fit -h", "aprender fit [OPTION…] DATA.csv…" },
    { "help fit", "  --no-intercept " },
    { "predict --help", "aprender predict [OPTION…] MODEL.safetensors DATA.csv" },
    { "help predict", "  -o, --output=FILE " },
    { "help summary", "\nExample:\n  aprender summary rents.safetensors\n" },
    { "inspect --help", "  --json " },
    { "help inspect", "aprender inspect [OPTION…] FILE.safetensors" },
  };
  guint i;

  g_test_summary ("Who asks for help gets it on the standard output, with nothing else needed.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Run) run = tool_run_with (cases[i].arguments, NULL, 0, NULL);

      g_test_message ("aprender %s", cases[i].arguments);
      g_assert_cmpint (run->status, ==, 0);
      tool_assert_contains (run->output, cases[i].part);
      g_assert_cmpstr (run->messages, ==, "");
    }
}

static void
test_version (void)
{
  g_autoptr (Run) run = tool_run ("--version");

  g_assert_cmpstr (run->output, ==, "aprender " PACKAGE_VERSION "\n");
}

static void
test_version_verbose (void)
{
  g_autoptr (Run) forced = NULL;
  g_autoptr (Run) unknown = NULL;
  g_autofree char *debug = g_strdup (g_getenv ("G_DEBUG"));

  g_test_summary ("It tells which kernels run, and which could.");

  g_setenv ("APRENDER_KERNEL", "portable", TRUE);
  forced = tool_run ("--version --verbose");
  g_assert_true (g_str_has_prefix (forced->output,
                                   "aprender " PACKAGE_VERSION "\nkernels: portable (APRENDER_KERNEL can "
                                   "be one of portable"));

  g_setenv ("APRENDER_KERNEL", "abacus", TRUE);
  g_setenv ("G_DEBUG", "", TRUE);
  unknown = tool_run_with ("--version --verbose", NULL, 0, NULL);
  g_assert_cmpint (unknown->status, ==, 0);
  tool_assert_contains (unknown->messages,
                        "APRENDER_KERNEL=abacus is not available: on this machine it can be one of portable");
  g_unsetenv ("APRENDER_KERNEL");
  if (debug != NULL)
    g_setenv ("G_DEBUG", debug, TRUE);
}

static void
test_no_command (void)
{
  g_autoptr (Run) run = tool_run_with ("", NULL, 0, NULL);

  g_test_summary ("Nothing to do is a mistake: the usage goes where mistakes go.");

  g_assert_cmpint (run->status, ==, 2);
  g_assert_cmpstr (run->output, ==, "");
  g_assert_true (g_str_has_prefix (run->messages, "Usage:\n  aprender COMMAND "));
}

static void
test_wrong_usage (void)
{
  static const struct
  {
    const char *arguments;
    const char *message;
  } cases[] = {
    { "foo", "there is no command “foo”\nTry “aprender --help”." },
    { "--foo", "unknown option --foo\nTry “aprender --help”." },
    { "help foo", "there is no command “foo”\nTry “aprender --help”." },
    { "help fit it", "“it” is one argument too many\nTry “aprender --help”." },
    { "--version --quiet", "“--quiet” is one argument too many\nTry “aprender --help”." },
    { "--version --verbose it", "“it” is one argument too many\nTry “aprender --help”." },
    { "fit", "fit: DATA.csv is missing\nTry “aprender fit --help”." },
    { "fit data.csv", "fit: --target COLUMN is missing\nTry “aprender fit --help”." },
    { "fit data.csv -t y", "fit: --output FILE is missing\nTry “aprender fit --help”." },
    { "fit data.csv -t", "fit: missing argument for -t\nTry “aprender fit --help”." },
    { "fit data.csv -t y -o -",
      "fit: --output needs a file: the standard output takes the summary\nTry “aprender fit --help”." },
    { "fit data.csv -t y -o m --dtype f16",
      "fit: --dtype is f32 or f64, not “f16”\nTry “aprender fit --help”." },
    { "fit data.csv -t y -t x -t y -o m",
      "fit: the column “y” is named twice by --target\nTry “aprender fit --help”." },
    { "fit data.csv -t y -w y -o m",
      "fit: the column “y” is named by --target and --weight\nTry “aprender fit --help”." },
    { "score m data.csv -t y -w y",
      "score: the column “y” is named by --target and --weight\nTry “aprender score --help”." },
    { "score m data.csv -t y -t y",
      "score: the column “y” is named twice by --target\nTry “aprender score --help”." },
    { "fit data.csv -t y -o m --delimiter ab",
      "fit: --delimiter: “ab” cannot stand between cells\nTry “aprender fit --help”." },
    { "fit data.csv -t y -o m --delimiter=",
      "fit: --delimiter: “” cannot stand between cells\nTry “aprender fit --help”." },
    { "fit data.csv -t y -o m --no-intercept=false",
      "fit: --no-intercept takes no value\nTry “aprender fit --help”." },
    { "fit data.csv --positive= -t y -o m", "fit: --positive takes no value\nTry “aprender fit --help”." },
    { "inspect a --help=no", "inspect: --help takes no value\nTry “aprender inspect --help”." },
    { "fit data.csv --foo", "fit: unknown option --foo\nTry “aprender fit --help”." },
    { "predict", "predict: MODEL.safetensors is missing\nTry “aprender predict --help”." },
    { "predict m", "predict: DATA.csv is missing\nTry “aprender predict --help”." },
    { "predict m d e", "predict: “e” is one argument too many\nTry “aprender predict --help”." },
    { "predict m d --interval both",
      "predict: --interval is prediction or confidence, not “both”\nTry “aprender predict --help”." },
    { "predict m d --level 0.9", "predict: --level needs --interval\nTry “aprender predict --help”." },
    { "predict m d --interval prediction --level 95",
      "predict: --level is a number between 0 and 1, not “95”\nTry “aprender predict --help”." },
    { "predict m d --interval prediction --level 1",
      "predict: --level is a number between 0 and 1, not “1”\nTry “aprender predict --help”." },
    { "completion tcsh", "completion: there is completion for bash, zsh and fish, not for “tcsh”\nTry "
                         "“aprender completion --help”." },
    { "predict m d -x", "predict: unknown option -x\nTry “aprender predict --help”." },
    { "summary m --covariance", "summary: --covariance needs --json\nTry “aprender summary --help”." },
    { "inspect", "inspect: FILE.safetensors is missing\nTry “aprender inspect --help”." },
    { "inspect a b", "inspect: “b” is one argument too many\nTry “aprender inspect --help”." },
    { "inspect a --foo", "inspect: unknown option --foo\nTry “aprender inspect --help”." },
  };
  guint i;

  g_test_summary ("Status 2, what was wrong, and where to read more.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Run) run = tool_run_with (cases[i].arguments, NULL, 0, NULL);
      g_autofree char *message = g_strdup_printf ("aprender: %s\n", cases[i].message);

      g_assert_cmpstr (run->messages, ==, message);
      g_assert_cmpstr (run->output, ==, "");
      g_assert_cmpint (run->status, ==, 2);
    }
}

static void
test_no_flags (void)
{
  static const struct
  {
    const char *arguments;
    const char *message;
  } cases[] = {
    { "fit - -t --positive=1 -o m --positive", "" },
    { "fit - --target --positive=1 -o m", "" },
    { "fit - --target=--positive=1 -o m", "" },
    { "fit -t --positive=1 -o m -- -", "" },
    { "fit -t --positive=1 -o m -- --json=1", "aprender: --json=1: No such file or directory\n" },
  };
  guint i;

  g_test_summary ("The name of a column or a file may look like a flag with a value.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Run) run = tool_run_with (cases[i].arguments, "x,--positive=1\n1,3\n2,5\n", -1, NULL);

      g_assert_cmpstr (run->messages, ==, cases[i].message);
      g_assert_cmpint (run->status, ==, cases[i].message[0] != '\0');
    }
}

/* The commands that the help lists. */
static char **
list_commands (void)
{
  g_autoptr (Run) run = tool_run ("help");
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_auto (GStrv) lines = g_strsplit (strstr (run->output, "Commands:\n"), "\n", -1);
  guint i;

  for (i = 1; g_str_has_prefix (lines[i], "  "); i++)
    {
      g_auto (GStrv) words = g_strsplit (lines[i] + 2, " ", 2);

      if (strcmp (words[0], "help") != 0)
        g_strv_builder_add (builder, words[0]);
    }

  return g_strv_builder_end (builder);
}

/* What a regular expression with one group finds in a text. */
static char **
list_matches (const char *text, const char *pattern)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autoptr (GRegex) regex = g_regex_new (pattern, G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;

  for (g_regex_match (regex, text, 0, &match); g_match_info_matches (match); g_match_info_next (match, NULL))
    {
      g_autofree char *found = g_match_info_fetch (match, 1);

      g_strv_builder_add (builder, found);
    }

  return g_strv_builder_end (builder);
}

/* The long options in a command's help, without their dashes, and with what they take: such as “target=COLUMN”. */
static char **
list_options_with_values (const char *command)
{
  g_autofree char *arguments = g_strdup_printf ("help %s", command);
  g_autoptr (Run) run = tool_run (arguments);

  return list_matches (run->output, "^  (?:-., )?--([a-z-]+(?:=\\S+)?)");
}

static char **
list_options (const char *command)
{
  char **options = list_options_with_values (command);
  guint i;

  for (i = 0; options[i] != NULL; i++)
    options[i][strcspn (options[i], "=")] = '\0';

  return options;
}

/* The options that a section of what read_manual() gives explains, or that all commands of some kind take. */
static char **
list_options_of_section (const char *manual, const char *title)
{
  g_autofree char *heading = g_strdup_printf ("\n.SS %s\n", title);
  const char *start = strstr (manual, heading);
  const char *end;
  g_autofree char *section = NULL;

  g_assert_nonnull (start);
  start += strlen (heading);
  end = strstr (start, "\n.S");
  section = g_strndup (start, end == NULL ? strlen (start) : (gsize) (end - start));

  return list_matches (section, "(?:^\\.TP\n\\.BR? (?:-. ,  )?|^All.*\n\\.BR )--([a-z-]+(?:=[^\\s,]+)?)");
}

/* The manual page without the quotation marks, and changes of font, that roff needs within an option. */
static char *
read_manual (void)
{
  g_autofree char *contents = NULL;
  g_autoptr (GRegex) fonts = g_regex_new ("\\\\f.", 0, 0, NULL);
  g_autoptr (GRegex) equals = g_regex_new (" ?= ?", 0, 0, NULL);
  g_autoptr (GRegex) bars = g_regex_new (" \\| ", 0, 0, NULL);
  g_autoptr (GString) text = NULL;
  g_autofree char *plain = NULL;
  g_autofree char *joined = NULL;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (g_getenv ("APR_MANUAL"), &contents, NULL, &error);
  g_assert_no_error (error);
  text = g_string_new (contents);
  g_string_replace (text, "\\-", "-", 0);
  g_string_replace (text, "\"", "", 0);
  plain = g_regex_replace (fonts, text->str, -1, 0, "", 0, &error);
  g_assert_no_error (error);
  joined = g_regex_replace (equals, plain, -1, 0, "=", 0, &error);
  g_assert_no_error (error);

  return g_regex_replace (bars, joined, -1, 0, "|", 0, &error);
}

static void
test_manual (void)
{
  g_auto (GStrv) commands = list_commands ();
  g_autofree char *manual = read_manual ();
  g_auto (GStrv) common = list_options_of_section (manual, "All commands");
  g_auto (GStrv) of_tables = list_options_of_section (manual, "Commands that read a table");
  guint i;
  guint j;

  g_test_summary ("The manual page has for each command the options that its help has, with what they take, "
                  "and no others.");

  g_assert_cmpuint (g_strv_length (commands), >=, 5);
  for (i = 0; commands[i] != NULL; i++)
    {
      g_auto (GStrv) options = list_options_with_values (commands[i]);
      g_auto (GStrv) told = list_options_of_section (manual, commands[i]);

      for (j = 0; options[j] != NULL; j++)
        if (!g_strv_contains ((const char *const *) told, options[j]) &&
            !g_strv_contains ((const char *const *) common, options[j]) &&
            !g_strv_contains ((const char *const *) of_tables, options[j]))
          {
            g_test_message ("the manual page lacks %s --%s", commands[i], options[j]);
            g_test_fail ();
          }
      for (j = 0; told[j] != NULL; j++)
        if (!g_strv_contains ((const char *const *) options, told[j]))
          {
            g_test_message ("the manual page has %s --%s, and its help has not", commands[i], told[j]);
            g_test_fail ();
          }
    }
}

static void
test_completion (void)
{
  static const char *const shells[] = { "bash", "zsh", "fish" };
  g_auto (GStrv) commands = list_commands ();
  guint i;
  guint j;
  guint k;

  g_test_summary ("Each shell reads its script, which offers all commands and all of their options.");

  for (i = 0; i < G_N_ELEMENTS (shells); i++)
    {
      g_autofree char *arguments = g_strdup_printf ("completion %s", shells[i]);
      g_autoptr (Run) run = tool_run (arguments);
      g_autofree char *path = tool_get_path ("script");
      const char *const argv[] = { shells[i], "-n", path, NULL };
      int status = -1;
      g_autofree char *found = g_find_program_in_path (shells[i]);

      for (j = 0; commands[j] != NULL; j++)
        {
          g_auto (GStrv) options = list_options (commands[j]);

          tool_assert_contains (run->output, commands[j]);
          for (k = 0; options[k] != NULL; k++)
            if (strcmp (shells[i], "fish") != 0 || strcmp (options[k], "help") != 0)
              tool_assert_contains (run->output, options[k]);
        }
      tool_write ("script", run->output, -1);
      if (found == NULL)
        {
          g_autofree char *reason = g_strdup_printf ("there is no %s", shells[i]);

          g_test_skip (reason);
          continue;
        }
      g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                                   &status, NULL));
      g_assert_cmpint (status, ==, 0);
    }
}

/* What a shell that has no start files prints of a script. */
static char *
run_shell (const char *shell, const char *option, const char *script)
{
  const char *const argv[] = { shell, option, "-c", script, NULL };
  char *output = NULL;
  int status = -1;

  g_assert_true (
    g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, NULL, &status, NULL));
  g_assert_cmpint (status, ==, 0);

  return output;
}

/* What bash offers for the last of some words. */
static char *
complete_in_bash (const char *words)
{
  g_autofree char *quoted = g_shell_quote (g_getenv ("APR_TOOL"));
  g_autofree char *script = g_strdup_printf (
    "eval \"$(%s completion bash)\"; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _aprender; "
    "echo -n \"${COMPREPLY[*]}\"",
    quoted, words);

  return run_shell ("bash", "--norc", script);
}

static void
test_completion_in_bash (void)
{
  static const char *const cases[][2] = {
    { "aprender f", "fit" },
    { "aprender help sum", "summary" },
    { "aprender fit --no", "--no-intercept" },
    { "aprender fit data.csv --dtype ''", "f32 f64" },
    { "aprender predict --interval = c", "confidence" },
    { "aprender cross", "cross-validate" },
    { "aprender cross-validate --metric mean", "mean-squared-error" },
    { "aprender fit dat", "" },
    { "aprender completion ''", "bash zsh fish" },
    { "aprender completion --", "--help" },
    { "aprender completion bash ''", "" },
  };
  guint i;

  g_test_summary ("Commands, options, and the words that an option takes; files are left to the shell.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *offered = complete_in_bash (cases[i][0]);

      g_assert_cmpstr (offered, ==, cases[i][1]);
    }
}

static void
test_completion_in_zsh (void)
{
  static const char *const cases[][2] = {
    { "aprender sco\\tm\\n", "<score m>" },
    { "aprender help sum\\t\\n", "<help summary>" },
    { "aprender fit --no\\t\\n", "<fit --no-intercept>" },
    { "aprender fit --dtype=f3\\t\\n", "<fit --dtype=f32>" },
    { "aprender comp\\tz\\t\\n", "<completion zsh>" },
  };
  g_autofree char *zsh = g_find_program_in_path ("zsh");
  g_autofree char *quoted = g_shell_quote (g_getenv ("APR_TOOL"));
  g_autofree char *file = tool_get_path ("_aprender");
  g_autofree char *folder = g_path_get_dirname (file);
  g_autofree char *evaluated =
    g_strdup_printf ("autoload -Uz compinit; compinit -u -D; eval \"$(%s completion zsh)\"", quoted);
  g_autofree char *installed =
    g_strdup_printf ("fpath=('%s' $fpath); autoload -Uz compinit; compinit -u -D", folder);
  const char *const starts[] = { evaluated, installed };
  g_autoptr (Run) run = tool_run ("completion zsh");
  guint i;
  guint j;

  g_test_summary (
    "A person types the words, with tabs, whether a start file evaluates the script or finds it.");

  if (zsh == NULL)
    {
      g_test_skip ("there is no zsh");
      return;
    }
  tool_write ("_aprender", run->output, -1);
  for (i = 0; i < G_N_ELEMENTS (starts); i++)
    {
      g_autofree char *start = g_shell_quote (starts[i]);
      g_autoptr (GString) script = g_string_new ("zmodload zsh/zpty; zpty shell zsh -f -i\n");
      g_autofree char *output = NULL;

      g_string_append_printf (script, "zpty -w shell %s\n", start);
      /* In place of the command, a function that shows what it is given. */
      g_string_append (script, "zpty -w shell 'aprender () { print -r -- \"<$*>\" }'\n");
      for (j = 0; j < G_N_ELEMENTS (cases); j++)
        g_string_append_printf (script, "zpty -w -n shell $'%s'\n", cases[j][0]);
      g_string_append (script, "zpty -w shell exit\n"
                               "while zpty -r shell line; do print -rn -- $line; done\n"
                               "true\n");
      output = run_shell ("zsh", "-f", script->str);
      for (j = 0; j < G_N_ELEMENTS (cases); j++)
        tool_assert_contains (output, cases[j][1]);
    }
}

static void
test_completion_in_fish (void)
{
  g_autofree char *fish = g_find_program_in_path ("fish");
  g_autofree char *quoted = g_shell_quote (g_getenv ("APR_TOOL"));
  g_autofree char *script = g_strdup_printf ("%s completion fish | source; complete -C 'aprender comp'; "
                                             "complete -C 'aprender completion '",
                                             quoted);
  g_autofree char *output = NULL;

  if (fish == NULL)
    {
      g_test_skip ("there is no fish");
      return;
    }
  output = run_shell ("fish", "--no-config", script);
  g_assert_cmpstr (output, ==,
                   "completion\tPrint what makes a shell complete this command\nbash\nfish\nzsh\n");
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/usage/help", test_help);
  g_test_add_func ("/tool/usage/version", test_version);
  g_test_add_func ("/tool/usage/version-verbose", test_version_verbose);
  g_test_add_func ("/tool/usage/no-command", test_no_command);
  g_test_add_func ("/tool/usage/wrong-usage", test_wrong_usage);
  g_test_add_func ("/tool/usage/no-flags", test_no_flags);
  g_test_add_func ("/tool/usage/manual", test_manual);
  g_test_add_func ("/tool/usage/completion", test_completion);
  g_test_add_func ("/tool/usage/completion-in-bash", test_completion_in_bash);
  g_test_add_func ("/tool/usage/completion-in-zsh", test_completion_in_zsh);
  g_test_add_func ("/tool/usage/completion-in-fish", test_completion_in_fish);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
