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
    { "help", "aprender inspect FILE.safetensors [--json]" },
    { "--help", "Commands:\n  fit " },
    { "-h", "Commands:\n  fit " },
    { "fit --help", "  -t, --target=COLUMN " },
    { "fit -h", "aprender fit [OPTION…] DATA.csv…" },
    { "help fit", "  --no-intercept " },
    { "predict --help", "aprender predict [OPTION…] MODEL.safetensors DATA.csv" },
    { "help predict", "  -o, --output=FILE " },
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
  g_assert_true (g_str_has_prefix (run->messages, "Usage:\n  aprender fit "));
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

static void
add_tests (void)
{
  g_test_add_func ("/tool/usage/help", test_help);
  g_test_add_func ("/tool/usage/version", test_version);
  g_test_add_func ("/tool/usage/version-verbose", test_version_verbose);
  g_test_add_func ("/tool/usage/no-command", test_no_command);
  g_test_add_func ("/tool/usage/wrong-usage", test_wrong_usage);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
