/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* How the command line says that tables are written. */
typedef struct
{
  char *delimiter; /* (owned) (nullable) */
  gboolean decimal_comma;
  gboolean drop_missing;
} AprTableOptions;

/* The options of a command, for its list of entries. */
#define APR_TABLE_OPTION_ENTRIES(options)                                  \
 { "delimiter",                                                            \
   0,                                                                      \
   0,                                                                      \
   G_OPTION_ARG_STRING,                                                    \
   &(options)->delimiter,                                                  \
   "What stands between two cells, such as “;” or “tab” (default: found)", \
   "CHARACTER" },                                                          \
   { "decimal-comma",                                                      \
     0,                                                                    \
     0,                                                                    \
     G_OPTION_ARG_NONE,                                                    \
     &(options)->decimal_comma,                                            \
     "Numbers have a comma where others have a point",                     \
     NULL },                                                               \
 {                                                                         \
  "drop-missing", 0, 0, G_OPTION_ARG_NONE, &(options)->drop_missing,       \
    "Pass over rows that miss a number, and say how many", NULL            \
 }

/* @path is “-” for the standard input. */
AprTableReader *apr_table_open (const char *path, const AprTableOptions *options, GError **error);

/* Says on the standard error how many rows have been passed over, where any have. */
void apr_table_report_dropped (AprTableReader *reader);

void apr_table_options_clear (AprTableOptions *options);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprTableOptions, apr_table_options_clear)

G_END_DECLS
