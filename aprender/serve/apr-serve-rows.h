/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/serve/apr-serve-json.h"
#include "aprender/serve/apr-serve-model.h"

G_BEGIN_DECLS

/* Rows of features, as JSON has them: [1, 2] or {"a": 1, "b": 2} in any order. What is wrong with them is said with the
 * place, such as “features[3].a”. Start with { 0 }. */
typedef struct
{
  double *values; /* (owned) [n_rows, n_features] */
  gsize n_rows;
  gboolean single; /* one row that is not in a list */

  gsize n_values;
  gsize capacity;
  gsize *last_row; /* (owned) (nullable) for each column the last row of names that had it, from 1 */
} AprServeRows;

/* Reads one row, or a list of rows, for @model. @field is what the request calls them. */
gboolean apr_serve_rows_scan (
  AprServeRows *self, AprJsonCursor *cursor, const AprServeModel *model, const char *field, GError **error);

/* Reads one row, the next one of @field. */
gboolean apr_serve_rows_scan_row (
  AprServeRows *self, AprJsonCursor *cursor, const AprServeModel *model, const char *field, GError **error);

/* Makes a tensor of them, [n_rows, n_features], and forgets their numbers, which take as much memory. */
AprTensor *apr_serve_rows_to_tensor (AprServeRows *self, const AprServeModel *model, GError **error);

void apr_serve_rows_clear (AprServeRows *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprServeRows, apr_serve_rows_clear)

G_END_DECLS
