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
    { "fit --help", "  -t, --target=COLUMN " },
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
    { "fit data.csv -t y -t x -t y -o m", "fit: the column “y” is named twice\nTry “aprender fit --help”." },
    { "fit data.csv -t y -w y -o m", "fit: the column “y” is named twice\nTry “aprender fit --help”." },
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

/* The long options in a command's help, without their dashes. */
static char **
list_options (const char *command)
{
  g_autofree char *arguments = g_strdup_printf ("help %s", command);
  g_autoptr (Run) run = tool_run (arguments);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autoptr (GRegex) regex = g_regex_new ("^  (?:-., )?--([a-z-]+)", G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;

  for (g_regex_match (regex, run->output, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL))
    {
      g_autofree char *name = g_match_info_fetch (match, 1);

      g_strv_builder_add (builder, name);
    }

  return g_strv_builder_end (builder);
}

static void
test_manual (void)
{
  g_auto (GStrv) commands = list_commands ();
  g_autofree char *contents = NULL;
  g_auto (GStrv) parts = NULL;
  GError *error = NULL;
  guint i;
  guint j;

  g_test_summary ("The manual page has each command and each of its options.");

  g_assert_cmpuint (g_strv_length (commands), >=, 5);
  g_file_get_contents (g_getenv ("APR_MANUAL"), &contents, NULL, &error);
  g_assert_no_error (error);
  parts = g_strsplit (contents, "\\-", -1);
  g_free (contents);
  contents = g_strjoinv ("-", parts);
  for (i = 0; commands[i] != NULL; i++)
    {
      g_autofree char *heading = g_strdup_printf ("\n.SS %s\n", commands[i]);
      g_auto (GStrv) options = list_options (commands[i]);

      tool_assert_contains (contents, heading);
      for (j = 0; options[j] != NULL; j++)
        {
          g_autofree char *option = g_strdup_printf ("--%s", options[j]);

          tool_assert_contains (contents, option);
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

/* What bash offers for the last of some words. */
static char *
complete_in_bash (const char *words)
{
  g_autofree char *quoted = g_shell_quote (g_getenv ("APR_TOOL"));
  g_autofree char *script = g_strdup_printf (
    "eval \"$(%s completion bash)\"; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _aprender; "
    "echo -n \"${COMPREPLY[*]}\"",
    quoted, words);
  const char *const argv[] = { "bash", "-c", script, NULL };
  char *output = NULL;
  int status = -1;

  g_assert_true (
    g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, NULL, &status, NULL));
  g_assert_cmpint (status, ==, 0);

  return output;
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
    { "aprender fit dat", "" },
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
add_tests (void)
{
  g_test_add_func ("/tool/usage/help", test_help);
  g_test_add_func ("/tool/usage/version", test_version);
  g_test_add_func ("/tool/usage/version-verbose", test_version_verbose);
  g_test_add_func ("/tool/usage/no-command", test_no_command);
  g_test_add_func ("/tool/usage/wrong-usage", test_wrong_usage);
  g_test_add_func ("/tool/usage/manual", test_manual);
  g_test_add_func ("/tool/usage/completion", test_completion);
  g_test_add_func ("/tool/usage/completion-in-bash", test_completion_in_bash);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
