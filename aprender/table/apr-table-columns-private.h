/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "aprender/table/apr-table-block-private.h"

G_BEGIN_DECLS

/* A table's columns, and what each is for. */
typedef struct
{
  char **names; /* (owned) in the order of the table, empty where a column has none */
  guint n_columns;
  guint *sorted; /* (owned) places in names, by name, of the columns that have one */
  guint n_named;
  AprTableSlot *slots; /* (owned) */
  char **features;     /* (owned) in the order of the matrix */
} AprTableColumns;

/* Takes the names. Those that are not empty must all be different: if not, returns %NULL and the one that is there
 * twice. */
AprTableColumns *apr_table_columns_new (char **names, const char **repeated);
void apr_table_columns_free (AprTableColumns *self);

/* What stands between a column's name and a category in the name of a feature. */
#define APR_TABLE_CATEGORY_SIGN '='

/* Gives columns their roles. @features is %NULL for all with a name that are neither targets nor the weight; one
 * that is no column is a category of a column, as COLUMN=CATEGORY. */
gboolean apr_table_columns_assign (AprTableColumns *self,
                                   const char *const *features,
                                   const char *const *targets,
                                   const char *weight,
                                   GError **error);

/* Has the categories of these columns collected, and nothing else read. */
gboolean apr_table_columns_collect (AprTableColumns *self, const char *const *columns, GError **error);

/* Refuses the name of a category of @column where it is the name of a column too. */
gboolean apr_table_columns_check_category (const AprTableColumns *self,
                                           const char *name,
                                           const char *column,
                                           GError **error);

/* Has rows passed over too where one of these columns, or of the columns of these categories, is missing. @names is
 * nullable. */
gboolean apr_table_columns_need (AprTableColumns *self, const char *const *names, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprTableColumns, apr_table_columns_free)

G_END_DECLS
