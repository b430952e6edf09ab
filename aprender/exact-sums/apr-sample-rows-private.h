/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "aprender/exact-sums/apr-exact-sums-private.h"
#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* Samples as they are: the smaller exact state while they are few beside the features. Values of X and y are doubles,
 * no weight is 0, and the rows are sorted, so that the same samples make the same rows whatever order they came in.
 *
 * An immutable value with a reference count, which any number of threads may read at once. */
typedef struct
{
  gatomicrefcount ref_count;
  gsize n;
  gsize n_features;
  gsize n_targets;
  AprTensor *x;          /* (owned) [n_features, n]: F32 where each value is a float, else F64 */
  const float *floats;   /* (unowned) the values of x; NULL where they are doubles */
  const double *doubles; /* (unowned) the same; NULL where they are floats */
  double *y;             /* (owned) n_targets x n */
  double *weights;       /* (owned) (nullable) %NULL where all are 1 */
} AprSampleRows;

/* With fewer features, sums take so little time that there is nothing to gain. */
#define APR_SAMPLE_ROWS_MIN_FEATURES 64

/* Returns whether @n samples are few beside the features. */
static inline gboolean
apr_sample_rows_are_few (guint64 n, gsize n_features)
{
  return n_features >= APR_SAMPLE_ROWS_MIN_FEATURES && n <= n_features / 2;
}

/* Copies the samples whose weight is not 0, in @n_threads threads if that is not 0. Fails where a value is not finite
 * or a weight is negative. @self becomes %NULL where no double is equal to a value. */
gboolean apr_sample_rows_new (AprTensor *x,
                              AprTensor *y,
                              AprTensor *sample_weight,
                              guint n_threads,
                              AprSampleRows **self,
                              GError **error);

AprSampleRows *apr_sample_rows_ref (AprSampleRows *self);

void apr_sample_rows_unref (AprSampleRows *self);

/* Returns the rows of both, which have the same widths. (transfer full) (nullable): %NULL where there is no memory */
AprSampleRows *apr_sample_rows_merge (AprSampleRows *one, AprSampleRows *other, GError **error);

/* Finds the rows without those of @other: %NULL where not all of those are there. Fails where there is no memory. */
gboolean
apr_sample_rows_subtract (AprSampleRows *self, AprSampleRows *other, AprSampleRows **rest, GError **error);

gboolean apr_sample_rows_equal (const AprSampleRows *self, const AprSampleRows *other);

/* Some features of all samples, as tensors that sums can be made of: [n, @n_features], in the dtype of x. Returns:
 * (transfer full) (nullable): %NULL where there is no memory */
AprTensor *apr_sample_rows_get_features (const AprSampleRows *self,
                                         const gsize *features,
                                         gsize n_features,
                                         GError **error);

/* [n], or %NULL where all are 1. Fails where there is no memory. */
gboolean apr_sample_rows_get_weights (const AprSampleRows *self, AprTensor **weights, GError **error);

/* All features, [n, n_features], all targets, [n, n_targets], and the weights. Fails where there is no memory. */
gboolean apr_sample_rows_get_all (
  const AprSampleRows *self, AprTensor **x, AprTensor **y, AprTensor **weights, GError **error);

/* The sums of the samples, in @n_threads threads if that is not 0. Returns: (transfer full) (nullable): %NULL where
 * there is no memory */
AprExactSums *apr_sample_rows_sum (const AprSampleRows *self, guint n_threads, GError **error);

/* Reads the values of a feature as doubles. */
void apr_sample_rows_read_feature (const AprSampleRows *self, gsize feature, double *values);

/* Returns whether all values of a feature are @value, which is set to the first one in any case. */
gboolean apr_sample_rows_is_constant (const AprSampleRows *self, gsize feature, double *value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSampleRows, apr_sample_rows_unref)

G_END_DECLS
