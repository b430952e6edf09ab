/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

G_BEGIN_DECLS

typedef struct _AprCsv AprCsv;

/* Columns that become one tensor: [n_rows, n_columns], or [n_rows] for one column as a vector. */
typedef struct
{
  gsize *columns; /* (owned) */
  gsize n_columns;
  gboolean vector;
  gboolean weights;  /* numbers that must not be negative */
  AprTensor *tensor; /* (owned) (nullable): what apr_csv_read() has read */
} AprCsvSelection;

AprCsv *apr_csv_open (const char *path, GError **error);
void apr_csv_free (AprCsv *self);

const char *apr_csv_get_name (AprCsv *self);
const char *const *apr_csv_get_columns (AprCsv *self, gsize *n_columns);
const char *apr_csv_get_separator_hint (AprCsv *self);
gboolean apr_csv_find_column (AprCsv *self, const char *name, gsize *column, GError **error);
gboolean apr_csv_read (AprCsv *self, AprCsvSelection *selections, gsize n_selections, GError **error);

void apr_csv_selection_clear (AprCsvSelection *selection);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprCsv, apr_csv_free)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprCsvSelection, apr_csv_selection_clear)

G_END_DECLS
