/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>
#include <signal.h>
#include <string.h>

#include "aprender/tool/apr-tool.h"

/* There is no setlocale() on purpose: numbers and messages are the same everywhere, and what reads them may rely on
 * it. */

static const struct
{
  const char *name;
  AprToolStatus (*run) (int argc, char **argv);
} commands[] = {
  { "fit", apr_tool_fit },         { "predict", apr_tool_predict },
  { "inspect", apr_tool_inspect }, { "summary", apr_tool_summary },
#ifdef APR_SERVE
  { "serve", apr_tool_serve },
#endif
};

static const char usage[] =
  "Usage:\n"
  "  aprender fit DATA.csv --target COLUMN -o MODEL.safetensors\n"
  "  aprender predict MODEL.safetensors DATA.csv\n"
  "  aprender inspect FILE.safetensors [--json]\n"
  "  aprender summary MODEL.safetensors\n"
#ifdef APR_SERVE
  "  aprender serve MODEL.safetensors\n"
#endif
  "\n"
  "Fits linear models to tables, predicts with them, and shows what is in SafeTensors files.\n"
  "\n"
  "Commands:\n"
  "  fit        Fit a linear regression to a table, and save it\n"
  "  predict    Predict the target for each row of a table\n"
  "  inspect    Show the tensors and the metadata of a SafeTensors file\n"
  "  summary    Show the statistics of a model that was fitted with --keep-state\n"
#ifdef APR_SERVE
  "  serve      Answer requests for predictions over HTTP\n"
#endif
  "  help       Show this help, or that of a command\n"
  "\n"
  "Options:\n"
  "  -h, --help     Show this help\n"
  "  --version      Show the version; with --verbose, also which kernels run\n"
  "\n"
  "“-” in place of DATA, or of the FILE to inspect, is the standard input.\n"
  "“aprender COMMAND --help” tells more about a command.\n";

static gboolean
is_one_of (const char *word, const char *a, const char *b, const char *c)
{
  return strcmp (word, a) == 0 || strcmp (word, b) == 0 || strcmp (word, c) == 0;
}

static AprToolStatus
run_help (int argc, char **argv)
{
  char *arguments[] = { argv[1], (char *) "--help", NULL };
  guint i;

  if (argc > 2)
    return apr_tool_usage_error (NULL, "“%s” is one argument too many", argv[2]);

  if (argc < 2)
    {
      fputs (usage, stdout);
      return APR_TOOL_OK;
    }

  for (i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (argv[1], commands[i].name) == 0)
      return commands[i].run (2, arguments);

  return apr_tool_usage_error (NULL, "there is no command “%s”", argv[1]);
}

static AprToolStatus
run_version (int argc, char **argv)
{
  gboolean verbose = argc > 1 && strcmp (argv[1], "--verbose") == 0;

  if (argc > (verbose ? 2 : 1))
    return apr_tool_usage_error (NULL, "“%s” is one argument too many", argv[verbose ? 2 : 1]);

  fputs ("aprender " PACKAGE_VERSION "\n", stdout);
  if (verbose)
    {
      g_autofree char *available = g_strjoinv (", ", (char **) apr_list_kernels ());

      printf ("kernels: %s (APRENDER_KERNEL can be one of %s)\n", apr_get_kernel (), available);
    }

  return APR_TOOL_OK;
}

static AprToolStatus
run (int argc, char **argv)
{
  guint i;

  if (argc < 1)
    {
      fputs (usage, stderr);
      return APR_TOOL_USAGE;
    }

  for (i = 0; i < G_N_ELEMENTS (commands); i++)
    if (strcmp (argv[0], commands[i].name) == 0)
      return commands[i].run (argc, argv);

  if (is_one_of (argv[0], "help", "--help", "-h"))
    return run_help (argc, argv);

  if (strcmp (argv[0], "--version") == 0)
    return run_version (argc, argv);

  return apr_tool_usage_error (NULL, argv[0][0] == '-' ? "unknown option %s" : "there is no command “%s”",
                               argv[0]);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  AprToolStatus status;

  /* Output beyond the limit on a file's size (ulimit -f) is an error to report, not the end without a word. */
  signal (SIGXFSZ, SIG_IGN);
  status = run (argc - 1, argv + 1);

  if (!apr_tool_close_output (stdout, "standard output", &error) && status == APR_TOOL_OK)
    status = apr_tool_fail (error);

  return (int) status;
}
