/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/tool/apr-tool-table.h"

G_BEGIN_DECLS

/* What the command line says of a fit to tables: which columns are what, and what kind of model it is. It is the first
 * member of a command's options. */
typedef struct
{
  AprToolTableOptions table;
  char **targets;
  char **features;   /* (nullable) */
  char **dropped;    /* (nullable) */
  char **one_hot;    /* (nullable) */
  char **references; /* (nullable): COLUMN=TEXT, with columns of @one_hot */
  char *weight;      /* (nullable) */
  char *fold_column; /* (nullable) */
  char *dtype;       /* (nullable) */
  gboolean positive;
  gboolean no_intercept;
} AprToolFitOptions;

/* For the list of a command's options. */
#define APR_TOOL_FIT_OPTION(Name, letter, Type, member, help, value)           \
 {                                                                             \
  Name, letter, Type, G_STRUCT_OFFSET (AprToolFitOptions, member), help, value \
 }
#define APR_TOOL_TARGET_OPTION                                \
 APR_TOOL_FIT_OPTION ("target", 't', APR_TOOL_TEXTS, targets, \
                      "Predict this column: needed, and may be given again", "COLUMN")
#define APR_TOOL_FIT_OPTIONS                                                                              \
 APR_TOOL_FIT_OPTION ("features", 0, APR_TOOL_TEXTS, features,                                            \
                      "Use only these columns as features: one, and again for more", "COLUMN"),           \
   APR_TOOL_FIT_OPTION ("drop", 0, APR_TOOL_TEXTS, dropped,                                               \
                        "Do not use this column as a feature; may be given again", "COLUMN"),             \
   APR_TOOL_FIT_OPTION ("one-hot", 0, APR_TOOL_TEXTS, one_hot,                                            \
                        "Make a feature of each text in this column; may be given again", "COLUMN"),      \
   APR_TOOL_FIT_OPTION ("reference", 0, APR_TOOL_TEXTS, references,                                       \
                        "Beside an intercept, compare the other texts with this one; may be given again", \
                        "COLUMN=TEXT"),                                                                   \
   APR_TOOL_FIT_OPTION ("dtype", 0, APR_TOOL_TEXT, dtype,                                                 \
                        "What the model's numbers are stored as (default: f64)", "f32|f64"),              \
   APR_TOOL_FIT_OPTION ("weight", 'w', APR_TOOL_TEXT, weight, "Weigh each row by this column", "COLUMN"), \
   APR_TOOL_FIT_OPTION ("no-intercept", 0, APR_TOOL_FLAG, no_intercept, "Fit through the origin", NULL),  \
   APR_TOOL_FIT_OPTION ("positive", 0, APR_TOOL_FLAG, positive, "Let no coefficient be negative", NULL),  \
   APR_TOOL_TABLE_OPTIONS (AprToolFitOptions)

/* Whether a fit to these tables can begin; otherwise @status says how the program ends. */
gboolean apr_tool_fit_check (const char *command,
                             char **paths,
                             const AprToolFitOptions *options,
                             AprToolStatus *status);

/* A model with the hyper-parameters that the options choose. */
AprLinearRegression *apr_tool_fit_create_model (const AprToolFitOptions *options);

/* The categories of the columns that --one-hot and --fold-column name: COLUMN=TEXT for each text in a table, sorted,
 * but with those of --reference last. Where neither names a column, no table is read. */
char **apr_tool_fit_list_categories (char **paths, const AprToolFitOptions *options, GError **error);

/* Those of one column. */
char **apr_tool_fit_get_categories (char **categories, const char *column);

/* Calls @func for the rows of all tables. Behind the features, X has the categories of --fold-column. */
gboolean apr_tool_fit_read_tables (char **paths,
                                   const AprToolFitOptions *options,
                                   char **categories,
                                   AprToolTableFunc func,
                                   gpointer data,
                                   GError **error);

/* Adds what one can do about an error, where options are likely to help. */
void apr_tool_fit_add_hint (GError *error, const AprToolFitOptions *options);

G_END_DECLS
