/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/serve/apr-serve-model.h"
#include "aprender/serve/apr-serve-request.h"

G_BEGIN_DECLS

/* What a model says of some rows. Start with { 0 }. */
typedef struct
{
  const AprServeRequest *request; /* (unowned) */
  AprTensor *predictions;
  AprTensor *lower; /* (nullable) where an interval was asked for */
  AprTensor *upper; /* (nullable) */
} AprServePredictions;

/* @interval is the level of a prediction interval, such as "0.95", or NULL for none. */
gboolean apr_serve_predictions_make (AprServePredictions *self,
                                     const AprServeRequest *request,
                                     const AprServeModel *model,
                                     AprTensor *x,
                                     const char *interval,
                                     GError **error);

/* Appends one number of @values, which are some of these. Fails where JSON cannot hold it, or there is no room or
 * no memory. */
gboolean apr_serve_predictions_append (
  const AprServePredictions *self, GString *json, AprTensor *values, gsize index, GError **error);

/* Appends one row's number, or a list of one for each target. */
gboolean apr_serve_predictions_append_row (const AprServePredictions *self,
                                           GString *json,
                                           AprTensor *values,
                                           gsize n_targets,
                                           gsize row,
                                           GError **error);

void apr_serve_predictions_clear (AprServePredictions *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprServePredictions, apr_serve_predictions_clear)

G_END_DECLS
