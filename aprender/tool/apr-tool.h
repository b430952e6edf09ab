/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

G_BEGIN_DECLS

typedef enum
{
  APR_TOOL_OK = 0,
  APR_TOOL_FAILED = 1,
  APR_TOOL_USAGE = 2,
  APR_TOOL_INVALID = 3, /* a file that was to be verified is no valid one */
} AprToolStatus;

/* What an option is read into. Texts keep their bytes, whatever the locale. */
typedef enum
{
  APR_TOOL_FLAG,    /* gboolean */
  APR_TOOL_INTEGER, /* gint64 */
  APR_TOOL_NUMBER,  /* double */
  APR_TOOL_TEXT,    /* char * */
  APR_TOOL_TEXTS,   /* char **: the option may be given again */
} AprToolOptionType;

typedef struct
{
  const char *name; /* %NULL after the last */
  char letter;      /* 0 for none */
  AprToolOptionType type;
  gsize offset; /* in the structure of the command's options */
  const char *help;
  /* (nullable): what the value is called: FILE, which completion knows, or the words that are allowed, as in f32|f64 */
  const char *value;
  const char *words; /* (nullable): the words that are allowed, where these would be too long a name */
} AprToolOption;

/* All that is known of a command: help, completion and the parser come from it. */
typedef struct
{
  const char *name;
  const char *title;   /* what it does, in a few words */
  const char *summary; /* what it does, in sentences */
  /* The names of its arguments, all of them needed, and %NULL; the first may be the words that are allowed. */
  const char *parameters[3];
  gboolean repeats;             /* whether the last argument may be given again */
  const AprToolOption *options; /* (nullable) */
  gsize size;                   /* of the structure that the options are read into */
  gconstpointer defaults;       /* (nullable): what that holds at first; texts are %NULL */
  const char *notes;            /* (nullable): what the help says after the options */
  const char *example;          /* a command line */
  /* @options are freed afterwards. */
  AprToolStatus (*run) (char **arguments, gpointer options);
} AprToolCommand;

#define APR_TOOL_JSON_OPTION(Options)                                              \
 {                                                                                 \
  "json", 0, APR_TOOL_FLAG, G_STRUCT_OFFSET (Options, json), "Print it as JSON", 0 \
 }

extern const AprToolCommand apr_tool_completion;
extern const AprToolCommand apr_tool_convert;
extern const AprToolCommand apr_tool_cross_validate;
extern const AprToolCommand apr_tool_fit;
extern const AprToolCommand apr_tool_inspect;
extern const AprToolCommand apr_tool_merge;
extern const AprToolCommand apr_tool_plot;
extern const AprToolCommand apr_tool_predict;
extern const AprToolCommand apr_tool_score;
extern const AprToolCommand apr_tool_serve;
extern const AprToolCommand apr_tool_summary;
extern const AprToolCommand apr_tool_verify;

/* In the order of the help; ends with %NULL. */
extern const AprToolCommand *const apr_tool_commands[];

const AprToolCommand *apr_tool_find_command (const char *name);

/* Returns: (nullable): the words that an option allows, with bars between them; %NULL where it allows any. */
const char *apr_tool_get_words (const AprToolOption *option);

/* Reads the words after the command's name, and runs it. */
AprToolStatus apr_tool_run (const AprToolCommand *command, int argc, char **argv);

/* A G_OPTION_ERROR is a usage error. */
AprToolStatus apr_tool_fail (const GError *error);
AprToolStatus apr_tool_usage_error (const char *command, const char *format, ...) G_GNUC_PRINTF (2, 3);

G_END_DECLS
