/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <aprender/aprender.h>

#include "aprender/tool/apr-tool-text.h"

/* Where a command has something to say, it says it in UTF-8 whatever the locale: g_print() would turn what the
 * locale's character set lacks into question marks. */

AprToolStatus
apr_tool_fail (const GError *error)
{
  g_autofree char *message = apr_tool_escape (error->message);
  /* The first eight bytes of any text are the length of a very long header. */
  gboolean no_safetensors =
    g_error_matches (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE);

  fprintf (stderr, "aprender: %s%s\n", no_safetensors ? "not a SafeTensors file? " : "", message);

  return APR_TOOL_FAILED;
}

/* @command is NULL for the command line before the command. */
AprToolStatus
apr_tool_usage_error (const char *command, const char *format, ...)
{
  g_autofree char *text = NULL;
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  message = apr_tool_escape (text);

  if (command != NULL)
    fprintf (stderr, "aprender: %s: %s\nTry “aprender %s --help”.\n", command, message, command);
  else
    fprintf (stderr, "aprender: %s\nTry “aprender --help”.\n", message);

  return APR_TOOL_USAGE;
}

/* Whether writing to one file would destroy what is read from the other, under any names; “-” is standard input. */
gboolean
apr_tool_is_same_file (const char *input, const char *output)
{
  struct stat a;
  struct stat b;

  if ((strcmp (input, "-") == 0 ? fstat (STDIN_FILENO, &a) : stat (input, &a)) != 0 || stat (output, &b) != 0)
    return FALSE;

  return S_ISREG (a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Writes out what a stream still holds, and closes it unless it is the standard output. */
gboolean
apr_tool_close_output (FILE *stream, const char *name, GError **error)
{
  gboolean failed;
  int code = 0;

  errno = 0;
  failed = ferror (stream) != 0;
  if (fflush (stream) != 0)
    {
      failed = TRUE;
      code = errno;
    }
  if (stream != stdout && fclose (stream) != 0)
    {
      failed = TRUE;
      code = code != 0 ? code : errno;
    }
  if (!failed)
    return TRUE;

  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", name,
               code != 0 ? g_strerror (code) : "cannot be written");
  return FALSE;
}

static GOptionContext *
create_context (const AprToolCommand *command, const GOptionEntry *entries, gboolean *help, char ***arguments)
{
  g_autofree char *program = g_strdup_printf ("aprender %s", command->name);
  g_autofree char *parameters = g_strjoinv (" ", (char **) command->parameters);
  g_autofree char *usage = g_strconcat (parameters, command->repeats ? "…" : "", NULL);
  GOptionContext *context = g_option_context_new (usage);
  /* The library's own option would print through g_print(), and leave at once. */
  GOptionEntry own_entries[] = {
    { "help", 'h', 0, G_OPTION_ARG_NONE, help, "Show this help", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, arguments, NULL, NULL },
    { NULL },
  };

  g_set_prgname (program);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_summary (context, command->summary);
  g_option_context_set_description (context, command->description);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_main_entries (context, own_entries, NULL);

  return context;
}

/* Reads a command's options into the variables of @entries, and its arguments.
 *
 * Returns: whether to go on; otherwise @status says how the program ends. */
gboolean
apr_tool_parse (const AprToolCommand *command,
                const GOptionEntry *entries,
                int argc,
                char **argv,
                char ***arguments,
                AprToolStatus *status)
{
  gboolean help = FALSE;
  g_auto (GStrv) found = NULL;
  g_auto (GStrv) words = g_new0 (char *, (gsize) argc + 1);
  g_autoptr (GOptionContext) context = create_context (command, entries, &help, &found);
  g_autoptr (GError) error = NULL;
  guint n_found;
  guint n_needed = g_strv_length ((char **) command->parameters);
  int i;

  for (i = 0; i < argc; i++)
    words[i] = g_strdup (argv[i]);

  if (!g_option_context_parse_strv (context, &words, &error))
    {
      /* The library's messages begin with a capital, ours do not. */
      error->message[0] = g_ascii_tolower (error->message[0]);
      *status = apr_tool_usage_error (command->name, "%s", error->message);
      return FALSE;
    }

  if (help)
    {
      g_autofree char *text = g_option_context_get_help (context, TRUE, NULL);

      fputs (text, stdout);
      *status = APR_TOOL_OK;
      return FALSE;
    }

  n_found = found != NULL ? g_strv_length (found) : 0;
  if (n_found < n_needed)
    {
      *status = apr_tool_usage_error (command->name, "%s is missing", command->parameters[n_found]);
      return FALSE;
    }
  if (n_found > n_needed && !command->repeats)
    {
      *status = apr_tool_usage_error (command->name, "“%s” is one argument too many", found[n_needed]);
      return FALSE;
    }

  *arguments = g_steal_pointer (&found);
  return TRUE;
}
