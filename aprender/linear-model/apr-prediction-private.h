/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-run-private.h"
#include "aprender/linear-model/kernels/apr-prediction-kernel-private.h"
#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* A model and the rows of X that it predicts for. It is only read. */
typedef struct
{
  AprPrediction model;
  const AprPredictionKernel *kernel;
  double *
    copies[2]; /* (owned) (nullable) the coefficients and the intercept, where they cannot be read in place */

  AprDType x_dtype;
  const guint8 *bytes;   /* those of X */
  const float *floats;   /* (nullable) the same, where they can be read as floats */
  const double *doubles; /* (nullable) the same, where they can be read as doubles */
} AprPredictionRows;

/* @kernel is NULL for the fastest one. All tensors outlive @self. Where there is no memory for it, the work is
 * cancelled. */
void apr_prediction_rows_init (AprPredictionRows *self,
                               AprTensor *coefficients,
                               AprTensor *intercept,
                               AprTensor *x,
                               const AprPredictionKernel *kernel,
                               const AprRun *run);

void apr_prediction_rows_clear (AprPredictionRows *self);

/* The predictions of the model's dtype, as doubles. Of a model with one target, @products may be the products of the
 * rows with its coefficients, added up as a kernel does, but without the intercept; else NULL. */
void apr_prediction_rows_predict_doubles (
  const AprPredictionRows *self, gsize first_row, gsize n_rows, const double *products, double *predictions);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprPredictionRows, apr_prediction_rows_clear)

/* Predicts for @x, of any dtype that holds numbers, and writes what the dtype of @coefficients is, F32 or F64.
 * @kernel is NULL for the fastest one. Returns whether all sums are finite, before they are rounded; where cancelled,
 * some are missing. */
gboolean apr_prediction_run (AprTensor *coefficients,
                             AprTensor *intercept,
                             AprTensor *x,
                             const AprPredictionKernel *kernel,
                             const AprRun *run,
                             gpointer predictions);

G_END_DECLS
