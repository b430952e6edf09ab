/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

#include <aprender/aprender.h>

G_BEGIN_DECLS

typedef enum
{
  APR_TOOL_OK = 0,
  APR_TOOL_FAILED = 1,
  APR_TOOL_USAGE = 2,
} AprToolStatus;

/* What the command line of a command looks like. */
typedef struct
{
  const char *name;
  const char *summary;
  const char *parameters[3]; /* the names of its arguments, all of them needed, and NULL */
  const char *description;   /* (nullable): what the help says after the options */
  gboolean repeats;          /* whether the last argument may be given again */
} AprToolCommand;

AprToolStatus apr_tool_fit (int argc, char **argv);
AprToolStatus apr_tool_predict (int argc, char **argv);
AprToolStatus apr_tool_inspect (int argc, char **argv);
AprToolStatus apr_tool_summary (int argc, char **argv);
AprToolStatus apr_tool_serve (int argc, char **argv);

gboolean apr_tool_parse (const AprToolCommand *command,
                         const GOptionEntry *entries,
                         int argc,
                         char **argv,
                         char ***arguments,
                         AprToolStatus *status);

AprToolStatus apr_tool_fail (const GError *error);
AprToolStatus apr_tool_usage_error (const char *command, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* A line on the standard error that says how far something has come, if that is a terminal and it takes more than a
 * second. */
typedef struct
{
  gboolean shown;
  gint64 started;
  gint64 next; /* when to show it again */
} AprToolProgress;

AprToolProgress apr_tool_progress_start (void);
void apr_tool_progress_show (AprToolProgress *self, AprTableReader *reader);
void apr_tool_progress_end (AprToolProgress *self);

gboolean apr_tool_is_same_file (const char *input, const char *output);
gboolean apr_tool_close_output (FILE *stream, const char *name, GError **error);

G_END_DECLS
