/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/tool/apr-tool.h"

G_BEGIN_DECLS

/* How the command line says that tables are written. */
typedef struct
{
  char *delimiter; /* (nullable) */
  gboolean decimal_comma;
  gboolean drop_missing;
} AprToolTableOptions;

/* For the list of a command's options, whose structure has the member @table. */
#define APR_TOOL_TABLE_OPTIONS(Options)                                            \
 { "delimiter",                                                                    \
   0,                                                                              \
   APR_TOOL_TEXT,                                                                  \
   G_STRUCT_OFFSET (Options, table.delimiter),                                     \
   "What stands between two cells, such as “;” or “tab” (default: found)",         \
   "CHARACTER" },                                                                  \
   { "decimal-comma",                                                              \
     0,                                                                            \
     APR_TOOL_FLAG,                                                                \
     G_STRUCT_OFFSET (Options, table.decimal_comma),                               \
     "Numbers have a comma where others have a point",                             \
     NULL },                                                                       \
 {                                                                                 \
  "drop-missing", 0, APR_TOOL_FLAG, G_STRUCT_OFFSET (Options, table.drop_missing), \
    "Pass over rows that miss a number, and say how many", NULL                    \
 }

/* The columns that an option names. */
typedef struct
{
  const char *option; /* without its dashes; %NULL after the last */
  char **names;       /* (nullable) */
  gboolean may_repeat;
} AprToolColumns;

/* Whether no column is named twice; otherwise @status says how the program ends. */
gboolean
apr_tool_table_check_columns (const char *command, const AprToolColumns *columns, AprToolStatus *status);

/* The same where only --target and --weight name columns; @weight is %NULL for none. */
gboolean apr_tool_table_check_target_and_weight (const char *command,
                                                 char **targets,
                                                 char *weight,
                                                 AprToolStatus *status);

/* @path is “-” for the standard input. What is wrong with the options is a G_OPTION_ERROR. */
AprTableReader *apr_tool_table_open (const char *path, const AprToolTableOptions *options, GError **error);

/* Uses some rows of a table. @y and @weight are %NULL where the reader has no such columns. */
typedef gboolean (*AprToolTableFunc) (
  AprTableReader *reader, AprTensor *x, AprTensor *y, AprTensor *weight, gpointer data, GError **error);

/* Calls @func for all rows of a table, some at a time, and shows the progress. */
gboolean
apr_tool_table_read_all (AprTableReader *reader, AprToolTableFunc func, gpointer data, GError **error);

/* Says on the standard error how many rows have been passed over, where any have. */
void apr_tool_table_report_dropped (AprTableReader *reader);

/* Says on the standard error how many columns are left out because they have no name, where any are. */
void apr_tool_table_report_unnamed (AprTableReader *reader);

/* Selects the features of a model, the columns with the true values, which must be the model's targets, where it has
 * their names, and the weight. A model without the names of its features takes all other columns that have names, as
 * they stand. @targets and @weight are %NULL for none. */
gboolean apr_tool_table_select_model (
  AprTableReader *reader, AprEstimator *model, char **targets, char *weight, GError **error);

G_END_DECLS
