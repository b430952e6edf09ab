/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool.h"

#include <stdio.h>
#include <string.h>

#include "aprender/tool/apr-tool-text.h"

/* Where a command has something to say, it says it in UTF-8 whatever the locale: g_print() would turn what the
 * locale's character set lacks into question marks. */

/* What has been asked for; %NULL before a command is known. */
static const AprToolCommand *running;

/* The library's messages end with the property that helps, in parentheses: an option of the same name is what helps
 * here. */
static char *
name_option (const char *message)
{
  const char *name = strrchr (message, '(');
  const AprToolOption *option = running != NULL ? running->options : NULL;

  for (; name != NULL && option != NULL && option->name != NULL; option++)
    {
      gsize length = strlen (option->name);

      if (strncmp (name + 1, option->name, length) == 0 && strcmp (name + 1 + length, ")") == 0)
        return g_strdup_printf ("%.*s(--%s)", (int) (name - message), message, option->name);
    }

  return g_strdup (message);
}

AprToolStatus
apr_tool_fail (const GError *error)
{
  g_autofree char *hinted = name_option (error->message);
  g_autofree char *message = apr_tool_escape (hinted);

  if (error->domain == G_OPTION_ERROR && running != NULL)
    return apr_tool_usage_error (running->name, "%s", error->message);

  fprintf (stderr, "aprender: %s\n", message);

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

const AprToolCommand *
apr_tool_find_command (const char *name)
{
  guint i;

  for (i = 0; apr_tool_commands[i] != NULL; i++)
    if (strcmp (apr_tool_commands[i]->name, name) == 0)
      return apr_tool_commands[i];

  return NULL;
}

const char *
apr_tool_get_words (const AprToolOption *option)
{
  if (option->words != NULL)
    return option->words;

  return option->value != NULL && strchr (option->value, '|') != NULL ? option->value : NULL;
}

/* FILENAME is for the bytes to come as they are: STRING would be taken for the locale's encoding. */
static GOptionArg
get_argument_type (AprToolOptionType type)
{
  switch (type)
    {
    case APR_TOOL_FLAG:
      return G_OPTION_ARG_NONE;
    case APR_TOOL_INTEGER:
      return G_OPTION_ARG_INT64;
    case APR_TOOL_NUMBER:
      return G_OPTION_ARG_DOUBLE;
    case APR_TOOL_TEXT:
      return G_OPTION_ARG_FILENAME;
    case APR_TOOL_TEXTS:
      return G_OPTION_ARG_FILENAME_ARRAY;
    default:
      g_assert_not_reached ();
    }
}

static void
add_options (GOptionContext *context, const AprToolCommand *command, gpointer options)
{
  const AprToolOption *option;

  for (option = command->options; option != NULL && option->name != NULL; option++)
    {
      const GOptionEntry entries[] = {
        { option->name, option->letter, 0, get_argument_type (option->type),
          (char *) options + option->offset, option->help, option->value },
        { NULL },
      };

      g_option_context_add_main_entries (context, entries, NULL);
    }
}

static GOptionContext *
create_context (const AprToolCommand *command, gpointer options, gboolean *help, char ***arguments)
{
  g_autofree char *program = g_strdup_printf ("aprender %s", command->name);
  g_autofree char *parameters = g_strjoinv (" ", (char **) command->parameters);
  g_autofree char *usage = g_strconcat (parameters, command->repeats ? "…" : "", NULL);
  g_autofree char *description =
    g_strconcat (command->notes != NULL ? command->notes : "", command->notes != NULL ? "\n\n" : "",
                 "Example:\n  ", command->example, NULL);
  GOptionContext *context = g_option_context_new (usage);
  /* The library's own option would print through g_print(), and leave at once. */
  const GOptionEntry own_entries[] = {
    { "help", 'h', 0, G_OPTION_ARG_NONE, help, "Show this help", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, arguments, NULL, NULL },
    { NULL },
  };

  g_set_prgname (program);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_summary (context, command->summary);
  g_option_context_set_description (context, description);
  add_options (context, command, options);
  g_option_context_add_main_entries (context, own_entries, NULL);

  return context;
}

static gboolean
is_flag (const AprToolCommand *command, const char *name)
{
  const AprToolOption *option;

  for (option = command->options; option != NULL && option->name != NULL; option++)
    if (strcmp (option->name, name) == 0)
      return option->type == APR_TOOL_FLAG;

  return strcmp (name, "help") == 0;
}

/* Whether the word after this one is an option's value, as after “--target” and “-t”. */
static gboolean
takes_next (const AprToolCommand *command, const char *word)
{
  const AprToolOption *option;

  for (option = command->options; word[0] == '-' && option != NULL && option->name != NULL; option++)
    if (option->type != APR_TOOL_FLAG &&
        (word[1] == '-' ? strcmp (word + 2, option->name) == 0
                        : option->letter != 0 && strchr (word + 1, option->letter) != NULL))
      return TRUE;

  return FALSE;
}

/* GOption takes “--positive=false” for “--positive”. */
static gboolean
check_flags (const AprToolCommand *command, char **words, AprToolStatus *status)
{
  guint i;

  for (i = 1; words[i] != NULL && strcmp (words[i], "--") != 0; i++)
    {
      const char *value = g_str_has_prefix (words[i], "--") ? strchr (words[i], '=') : NULL;
      g_autofree char *name = value != NULL ? g_strndup (words[i] + 2, (gsize) (value - words[i]) - 2) : NULL;

      if (name != NULL && is_flag (command, name))
        {
          *status = apr_tool_usage_error (command->name, "--%s takes no value", name);
          return FALSE;
        }
      if (takes_next (command, words[i]) && words[i + 1] != NULL)
        i++;
    }

  return TRUE;
}

/* A value must be one of the words that its option has, if it has words; it becomes that word, as case does not
 * matter. */
static gboolean
check_words (const AprToolCommand *command, gpointer options, AprToolStatus *status)
{
  const AprToolOption *option;

  for (option = command->options; option != NULL && option->name != NULL; option++)
    {
      const char *allowed = apr_tool_get_words (option);
      char *value;
      g_auto (GStrv) words = NULL;
      g_autofree char *shown = NULL;
      guint i;

      if (allowed == NULL)
        continue;
      value = G_STRUCT_MEMBER (char *, options, option->offset);
      words = g_strsplit (allowed, "|", -1);
      for (i = 0; value != NULL && words[i] != NULL; i++)
        if (g_ascii_strcasecmp (words[i], value) == 0)
          break;
      if (value == NULL)
        continue;
      if (words[i] != NULL)
        {
          g_free (value);
          G_STRUCT_MEMBER (char *, options, option->offset) = g_strdup (words[i]);
          continue;
        }
      shown = g_strjoinv (" or ", words);
      *status = apr_tool_usage_error (command->name, "--%s is %s, not “%s”", option->name, shown, value);
      return FALSE;
    }

  return TRUE;
}

/* Returns: whether to run the command; otherwise @status says how the program ends. */
static gboolean
parse (const AprToolCommand *command,
       int argc,
       char **argv,
       gpointer options,
       char ***arguments,
       AprToolStatus *status)
{
  gboolean help = FALSE;
  g_auto (GStrv) found = NULL;
  g_auto (GStrv) words = g_new0 (char *, (gsize) argc + 1);
  g_autoptr (GOptionContext) context = create_context (command, options, &help, &found);
  g_autoptr (GError) error = NULL;
  guint n_found;
  guint n_needed = g_strv_length ((char **) command->parameters);
  int i;

  for (i = 0; i < argc; i++)
    words[i] = g_strdup (argv[i]);
  if (!check_flags (command, words, status))
    return FALSE;

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
  if (!check_words (command, options, status))
    return FALSE;

  *arguments = g_steal_pointer (&found);
  return TRUE;
}

static void
clear_options (const AprToolCommand *command, gpointer options)
{
  const AprToolOption *option;

  for (option = command->options; option != NULL && option->name != NULL; option++)
    if (option->type == APR_TOOL_TEXT)
      g_free (G_STRUCT_MEMBER (char *, options, option->offset));
    else if (option->type == APR_TOOL_TEXTS)
      g_strfreev (G_STRUCT_MEMBER (char **, options, option->offset));
}

AprToolStatus
apr_tool_run (const AprToolCommand *command, int argc, char **argv)
{
  g_autofree gpointer options = g_malloc0 (MAX (command->size, 1));
  g_auto (GStrv) arguments = NULL;
  AprToolStatus status;

  running = command;
  if (command->defaults != NULL)
    memcpy (options, command->defaults, command->size);
  if (parse (command, argc, argv, options, &arguments, &status))
    status = command->run (arguments, options);
  clear_options (command, options);

  return status;
}
