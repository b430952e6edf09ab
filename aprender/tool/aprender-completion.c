/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "aprender/tool/apr-tool.h"

/* What a shell is to offer comes from the one table of commands and options. */

/* The words between bars, such as bash|zsh|fish, with spaces between them. */
static char *
join_words (const char *words)
{
  return g_strdelimit (g_strdup (words), "|", ' ');
}

/* The words that the first argument of a command can be; %NULL where it is something else, such as a file. */
static char *
join_arguments (const AprToolCommand *command)
{
  return strchr (command->parameters[0], '|') != NULL ? join_words (command->parameters[0]) : NULL;
}

static gboolean
has_file (const AprToolOption *option)
{
  return g_strcmp0 (option->value, "FILE") == 0;
}

/* Of a command without options, an empty list. */
static const AprToolOption *
get_options (const AprToolCommand *command)
{
  static const AprToolOption none[] = { { NULL } };

  return command->options != NULL ? command->options : none;
}

static char *
join_commands (void)
{
  g_autoptr (GString) names = g_string_new (NULL);
  guint i;

  for (i = 0; apr_tool_commands[i] != NULL; i++)
    g_string_append_printf (names, "%s ", apr_tool_commands[i]->name);

  return g_strconcat (names->str, "help", NULL);
}

/* For a text between single quotes. */
static char *
quote (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "'", -1);

  return g_strjoinv ("'\\''", parts);
}

static void
print_bash (void)
{
  g_autofree char *commands = join_commands ();
  const AprToolOption *option;
  guint i;

  printf (
    "# Completion of the command aprender for bash\n"
    "_aprender () {\n"
    "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}\n"
    "  local options= arguments=\n"
    "  COMPREPLY=()\n"
    "  if [[ $COMP_CWORD == 1 || ( $COMP_CWORD == 2 && $command == help ) ]]; then\n"
    "    COMPREPLY=($(compgen -W '%s --help --version' -- \"$word\"))\n"
    "    return\n"
    "  fi\n"
    "  if [[ $word == = ]]; then\n"
    "    word=\n"
    "  elif [[ $before == = ]]; then\n"
    "    before=${COMP_WORDS[COMP_CWORD-2]}\n"
    "  fi\n"
    "  case $command,$before in\n",
    commands);
  for (i = 0; apr_tool_commands[i] != NULL; i++)
    for (option = get_options (apr_tool_commands[i]); option->name != NULL; option++)
      if (apr_tool_get_words (option) != NULL)
        {
          g_autofree char *words = join_words (apr_tool_get_words (option));

          printf ("    %s,--%s) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n",
                  apr_tool_commands[i]->name, option->name, words);
        }
  fputs ("  esac\n"
         "  case $command in\n",
         stdout);
  for (i = 0; apr_tool_commands[i] != NULL; i++)
    {
      g_autofree char *arguments = join_arguments (apr_tool_commands[i]);

      printf ("    %s) ", apr_tool_commands[i]->name);
      if (arguments != NULL)
        printf ("arguments='%s' ", arguments);
      fputs ("options='", stdout);
      for (option = get_options (apr_tool_commands[i]); option->name != NULL; option++)
        printf ("--%s ", option->name);
      fputs ("--help' ;;\n", stdout);
    }
  fputs ("  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  elif [[ $COMP_CWORD == 2 ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$arguments\" -- \"$word\"))\n"
         "  fi\n"
         "}\n"
         "complete -o default -F _aprender aprender\n",
         stdout);
}

/* In zsh's descriptions, brackets and colons mean something. */
static char *
quote_for_zsh (const char *text)
{
  g_autoptr (GString) escaped = g_string_new (NULL);

  for (; *text != '\0'; text++)
    {
      if (strchr ("[]:\\", *text) != NULL)
        g_string_append_c (escaped, '\\');
      g_string_append_c (escaped, *text);
    }

  return quote (escaped->str);
}

static void
print_zsh_option (const AprToolOption *option)
{
  g_autofree char *help = quote_for_zsh (option->help);
  const char *again = option->type == APR_TOOL_TEXTS ? "*" : "";
  const char *equals = option->type == APR_TOOL_FLAG ? "" : "=";
  g_autofree char *action = NULL;

  if (apr_tool_get_words (option) != NULL)
    {
      g_autofree char *words = join_words (apr_tool_get_words (option));

      action = g_strdup_printf (":value:(%s)", words);
    }
  else if (option->type != APR_TOOL_FLAG)
    action = g_strdup_printf (":%s:%s", option->value, has_file (option) ? "_files" : "");

  printf ("          '%s--%s%s[%s]%s' \\\n", again, option->name, equals, help, action != NULL ? action : "");
  if (option->letter != 0)
    printf ("          '%s-%c%s[%s]%s' \\\n", again, option->letter, equals[0] != '\0' ? "+" : "", help,
            action != NULL ? action : "");
}

/* As a file in fpath, the script is the body of a function _aprender, which is to complete at its first call too; what
 * evaluates it, such as a start file, has yet to say what the function is for. */
static void
print_zsh (void)
{
  const AprToolOption *option;
  guint i;

  fputs ("#compdef aprender\n"
         "# Completion of the command aprender for zsh\n"
         "_aprender () {\n"
         "  local -a subcommands\n"
         "  subcommands=(\n",
         stdout);
  for (i = 0; apr_tool_commands[i] != NULL; i++)
    {
      g_autofree char *title = quote_for_zsh (apr_tool_commands[i]->title);

      printf ("    '%s:%s'\n", apr_tool_commands[i]->name, title);
    }
  fputs ("    'help:Show the help of a command'\n"
         "  )\n"
         "  if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then\n"
         "    _describe command subcommands\n"
         "  else\n"
         "    local subcommand=$words[2]\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $subcommand in\n",
         stdout);
  for (i = 0; apr_tool_commands[i] != NULL; i++)
    {
      g_autofree char *arguments = join_arguments (apr_tool_commands[i]);

      printf ("      %s)\n        _arguments -s \\\n", apr_tool_commands[i]->name);
      for (option = get_options (apr_tool_commands[i]); option->name != NULL; option++)
        print_zsh_option (option);
      fputs ("          '--help[Show this help]' ", stdout);
      if (arguments != NULL)
        printf ("'1:argument:(%s)'\n", arguments);
      else
        fputs ("'*:file:_files'\n", stdout);
      fputs ("        ;;\n", stdout);
    }
  fputs ("    esac\n"
         "  fi\n"
         "}\n"
         "if [[ $funcstack[1] == _aprender ]]; then\n"
         "  _aprender \"$@\"\n"
         "else\n"
         "  compdef _aprender aprender\n"
         "fi\n",
         stdout);
}

static void
print_fish (void)
{
  g_autofree char *commands = join_commands ();
  const AprToolOption *option;
  guint i;

  fputs ("# Completion of the command aprender for fish\n", stdout);
  for (i = 0; apr_tool_commands[i] != NULL; i++)
    {
      const AprToolCommand *command = apr_tool_commands[i];
      g_autofree char *title = quote (command->title);
      g_autofree char *arguments = join_arguments (command);

      printf ("complete -c aprender -n 'not __fish_seen_subcommand_from %s' -f -a %s -d '%s'\n", commands,
              command->name, title);
      if (arguments != NULL)
        printf (
          "complete -c aprender -n '__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from %s' "
          "-f -a '%s'\n",
          command->name, arguments, arguments);
      for (option = get_options (command); option->name != NULL; option++)
        {
          g_autofree char *help = quote (option->help);

          printf ("complete -c aprender -n '__fish_seen_subcommand_from %s' -l %s", command->name,
                  option->name);
          if (option->letter != 0)
            printf (" -s %c", option->letter);
          if (apr_tool_get_words (option) != NULL)
            {
              g_autofree char *words = join_words (apr_tool_get_words (option));

              printf (" -x -a '%s'", words);
            }
          else if (option->type != APR_TOOL_FLAG)
            fputs (has_file (option) ? " -r" : " -x", stdout);
          printf (" -d '%s'\n", help);
        }
    }
}

static AprToolStatus
run (char **arguments, gpointer options)
{
  if (strcmp (arguments[0], "bash") == 0)
    print_bash ();
  else if (strcmp (arguments[0], "zsh") == 0)
    print_zsh ();
  else if (strcmp (arguments[0], "fish") == 0)
    print_fish ();
  else
    return apr_tool_usage_error ("completion", "there is completion for bash, zsh and fish, not for “%s”",
                                 arguments[0]);

  return APR_TOOL_OK;
}

const AprToolCommand apr_tool_completion = {
  .name = "completion",
  .title = "Print what makes a shell complete this command",
  .summary = "Prints a script with which bash, zsh or fish completes commands and options of aprender.",
  .parameters = { "bash|zsh|fish" },
  .notes =
    "A shell's start file evaluates what is printed; that of zsh does so after compinit, and that of fish\n"
    "has “aprender completion fish | source”. Where aprender is installed for all users, its scripts are "
    "too.",
  .example = "eval \"$(aprender completion bash)\"",
  .run = run,
};
