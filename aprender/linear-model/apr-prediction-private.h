/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-run-private.h"
#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* A linear model as numbers. */
typedef struct
{
  gsize n_features;
  gsize n_targets;
  const double *coefficients; /* [n_targets, n_features] */
  const double *intercept;    /* [n_targets] */
  gboolean narrow;            /* predictions are floats, not doubles */
  gboolean fetched; /* rows are in a cache already, and who put them there does so with the next ones */
} AprPrediction;

/* What one instruction set does with rows of X: for each target, from 0 on, the products with the coefficients are
 * added one by one in the order of the columns, then the intercept, all in double, each product and each sum
 * rounded; and the last sum is rounded once more where predictions are floats. A lane is a row: no row's sum is
 * split, nor is a product fused with its addition unless it is exact, so every implementation gives the same bits. */
typedef struct
{
  const char *name;

  /* @predictions is [n_rows, n_targets]. Returns whether all sums are finite, before they are rounded to floats. */
  gboolean (*predict_floats) (const AprPrediction *self, const float *x, gsize n_rows, gpointer predictions);
  gboolean (*predict_doubles) (const AprPrediction *self,
                               const double *x,
                               gsize n_rows,
                               gpointer predictions);
} AprPredictionKernel;

extern const AprPredictionKernel apr_prediction_kernel_portable;
#ifdef APR_KERNELS_ARM
extern const AprPredictionKernel apr_prediction_kernel_neon;
#endif
#ifdef APR_KERNELS_X86
extern const AprPredictionKernel apr_prediction_kernel_avx2;
extern const AprPredictionKernel apr_prediction_kernel_avx512;
#endif

/* The one that runs. */
const AprPredictionKernel *apr_prediction_kernel_choose (void);

/* All that this processor can run, the fastest first, NULL-terminated. */
const AprPredictionKernel *const *apr_prediction_kernels (void);

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
