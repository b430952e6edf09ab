/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "aprender/tool/apr-tool-output.h"
#include "aprender/tool/apr-tool.h"

/* There is no setlocale() on purpose: numbers and messages are the same everywhere, and what reads them may rely on
 * it. */

const AprToolCommand *const apr_tool_commands[] = {
  &apr_tool_fit,            /**/
  &apr_tool_predict,        /**/
  &apr_tool_score,          /**/
  &apr_tool_cross_validate, /**/
  &apr_tool_summary,
#ifdef APR_PLOT
  &apr_tool_plot,
#endif
  &apr_tool_merge,   /**/
  &apr_tool_inspect, /**/
  &apr_tool_verify,  /**/
  &apr_tool_convert, /**/
#ifdef APR_SERVE
  &apr_tool_serve,
#endif
  &apr_tool_completion,
  NULL,
};

static void
print_usage (FILE *stream)
{
  guint i;

  fputs ("Usage:\n"
         "  aprender COMMAND [OPTION…] ARGUMENT…\n"
         "\n"
         "Fits linear models to tables, predicts with them, and shows what is in SafeTensors files.\n"
         "\n"
         "Commands:\n",
         stream);
  for (i = 0; apr_tool_commands[i] != NULL; i++)
    fprintf (stream, "  %-14s  %s\n", apr_tool_commands[i]->name, apr_tool_commands[i]->title);
  fputs ("  help            Show this help, or that of a command\n"
         "\n"
         "Options:\n"
         "  -h, --help      Show this help\n"
         "  --version       Show the version; with --verbose, also which kernels run\n"
         "\n"
         "Examples:\n",
         stream);
  for (i = 0; apr_tool_commands[i] != NULL; i++)
    fprintf (stream, "  %s\n", apr_tool_commands[i]->example);
  fputs ("\n"
         "“-” in place of a table, or of the file to inspect or verify, is the standard input.\n"
         "“aprender COMMAND --help” tells more about a command.\n",
         stream);
}

static gboolean
is_help (const char *word)
{
  static const char *const words[] = { "help", "--help", "-h", NULL };

  return g_strv_contains (words, word);
}

static AprToolStatus
run_help (int argc, char **argv)
{
  char *arguments[] = { argv[0], (char *) "--help", NULL };
  const AprToolCommand *command;

  if (argc > 2)
    return apr_tool_usage_error (NULL, "“%s” is one argument too many", argv[2]);

  if (argc < 2 || is_help (argv[1]))
    {
      print_usage (stdout);
      return APR_TOOL_OK;
    }

  command = apr_tool_find_command (argv[1]);
  if (command == NULL)
    return apr_tool_usage_error (NULL, "there is no command “%s”", argv[1]);

  return apr_tool_run (command, 2, arguments);
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
  const AprToolCommand *command;

  if (argc < 1)
    {
      print_usage (stderr);
      return APR_TOOL_USAGE;
    }

  command = apr_tool_find_command (argv[0]);
  if (command != NULL)
    return apr_tool_run (command, argc, argv);
  if (is_help (argv[0]))
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

  if (!apr_tool_flush (stdout, "standard output", &error) && status == APR_TOOL_OK)
    status = apr_tool_fail (error);

  return (int) status;
}
