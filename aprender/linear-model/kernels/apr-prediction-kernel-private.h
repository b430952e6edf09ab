/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

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

G_END_DECLS
