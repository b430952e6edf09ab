/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/tool/apr-tool-fit.h"

G_BEGIN_DECLS

/* The samples of tables, summed in folds. */
typedef struct
{
  const AprToolFitOptions *options; /* (unowned) */
  char **names;                     /* (owned) (nullable) of the folds of --fold-column: COLUMN=VALUE */
  AprCrossProducts **states;        /* (owned) of each fold */
  gsize n_folds;
  guint64 n_rows;
} AprToolFolds;

/* Deals the rows of tables out to @n_folds in turn, or to a fold for each value of --fold-column. @self is empty. */
gboolean apr_tool_folds_read (
  AprToolFolds *self, char **paths, const AprToolFitOptions *options, gsize n_folds, GError **error);

void apr_tool_folds_clear (AprToolFolds *self);

/* The value of --fold-column in the rows of a fold. */
const char *apr_tool_folds_get_value (const AprToolFolds *self, gsize fold);

/* What messages call a fold. */
char *apr_tool_folds_describe (const AprToolFolds *self, gsize fold);

guint64 apr_tool_folds_count_samples (const AprToolFolds *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprToolFolds, apr_tool_folds_clear)

G_END_DECLS
