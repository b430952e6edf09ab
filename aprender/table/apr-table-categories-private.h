/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a table can have of them in one column, and how long each may be, in bytes. */
#define APR_TABLE_MAX_CATEGORIES 10000
#define APR_TABLE_MAX_CATEGORY 1024

/* The different texts in a column, sorted by their bytes, each with a number. Sorted, since a file can choose texts
 * that all hash alike. */
typedef struct
{
  GPtrArray *names;  /* (element-type utf8) */
  GArray *positions; /* (element-type guint) */
} AprTableCategories;

AprTableCategories *apr_table_categories_new (void);
void apr_table_categories_free (AprTableCategories *self);

/* Looks for a text, and gives its place, or the one where it belongs. */
gboolean
apr_table_categories_find (const AprTableCategories *self, const char *text, gsize length, guint *place);

/* Adds a text that is not there yet at the place where it belongs, with the position 0. */
void apr_table_categories_insert (AprTableCategories *self, const char *text, gsize length, guint place);

/* Adds many: each at the end, whether or not it is there already, and then sorts all of them. Sorting returns %FALSE
 * where two have the same text, and in @repeated the number of one. */
void apr_table_categories_append (AprTableCategories *self, const char *text, guint position);
gboolean apr_table_categories_sort (AprTableCategories *self, guint *repeated);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprTableCategories, apr_table_categories_free)

G_END_DECLS
