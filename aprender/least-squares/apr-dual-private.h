/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-sample-rows-private.h"
#include "aprender/least-squares/apr-least-squares-private.h"
#include "aprender/least-squares/apr-normal-equations-private.h"

G_BEGIN_DECLS

/* Finds the constant features, by the rule that holds for cross products; with a tolerance of 0, those that do not vary
 * at all, or without an intercept are zeros. */
gboolean apr_dual_find_constants (const AprSampleRows *rows,
                                  gboolean centred,
                                  double rank_tolerance,
                                  const AprRun *run,
                                  gboolean *constant,
                                  GError **error);

/* Finds the independent features, in order, by the rule that holds for cross products. Few features are looked at
 * unless those say less than they could. */
gboolean apr_dual_find_rank (const AprSampleRows *rows,
                             gboolean centred,
                             double rank_tolerance,
                             const AprRun *run,
                             const gboolean *constant,
                             gsize *independent,
                             gsize *n_independent,
                             GError **error);

/* The dual form of the normal equations. The coefficients of minimum norm, and those with a penalty, are sums of
 * samples, b = X'u with u = B v. The columns of B span what u can be, and v solves
 *
 *   M v = c, M = B'(K + alpha W^-1) B, c = B'y
 *
 * where K = XX' are the products of samples with each other. M and c are whole numbers. */
typedef struct
{
  const AprSampleRows *rows; /* (unowned) */
  gboolean centred;
  gsize n; /* unknowns */

  /* B has in column k factor k at sample k, and its opposite at the reference; or it is dense. */
  gsize *samples;   /* (owned) (nullable) */
  mpz_t *factors;   /* (owned) (nullable) %NULL where all are 1 */
  gssize reference; /* -1 where there is none */
  mpz_t *dense;     /* (owned) (nullable) rows->n x n */
  gint64 exponent;  /* u is B v times 2^this, for whole B, M and c */

  AprProducts products;         /* (owned) M and c */
  AprNormalEquations equations; /* (owned) of M v = c, where there are unknowns */

  /* The intercept is (sum of W y - sum of K w times u) / sum of W. */
  mpz_t weight;      /* the sum of the weights */
  mpz_t *products_w; /* (owned) K w, times 2^(-k_exponent) of the unit of the weights */
  gint64 k_exponent;
  mpz_t *targets; /* (owned) sums of targets, times 2^(-y_exponent) of the unit of the weights */
  gint64 y_exponent;
} AprDualSystem;

/* Excluded features take no part. Without a penalty, @independent are the independent features. */
gboolean apr_dual_system_init (AprDualSystem *self,
                               const AprSampleRows *rows,
                               const AprLeastSquaresOptions *options,
                               const gboolean *excluded,
                               const gsize *independent,
                               gsize n_independent,
                               const AprRun *run,
                               GError **error);

void apr_dual_system_clear (AprDualSystem *self);

/* Returns: %FALSE where it is not certain that all are rounded to nearest, or where cancelled */
gboolean apr_dual_system_solve (AprDualSystem *self,
                                gsize target,
                                AprDType dtype,
                                const AprRun *run,
                                const gboolean *excluded,
                                double *coefficients,
                                double *intercept);

/* Fetches as much memory as is read now from further on, if there is any. It would not arrive in time by itself, since
 * between features there is time to compute with them. */
static inline void
apr_dual_fetch (gconstpointer from, gsize size)
{
  gsize place;

  for (place = 4096; place < 4096 + size; place += 64)
    __builtin_prefetch ((gconstpointer) ((guintptr) from + place));
}

/* As apr_sample_rows_read_feature(), with a kernel, and where features are read in order. */
static inline void
apr_dual_read_feature (const AprSampleRows *rows, gsize feature, const AprDenseKernel *kernel, double *values)
{
  if (rows->floats != NULL)
    {
      const float *floats = rows->floats + feature * rows->n;

      apr_dual_fetch (floats, rows->n * sizeof *floats);
      kernel->widen (values, floats, rows->n);
    }
  else
    {
      apr_dual_fetch (rows->doubles + feature * rows->n, rows->n * sizeof (double));
      apr_sample_rows_read_feature (rows, feature, values);
    }
}

/* Some u, to within a known error. */
typedef struct
{
  gsize n;
  const AprDenseKernel *kernel;
  mpz_t *numbers;  /* (owned) */
  gint64 exponent; /* u is 2^this times the numbers */
  gint64 error;    /* each is within 2^this; or APR_EXACT */
  gboolean zero;   /* all of them */

  /* Their leading bits: (high 2^62 + low) 2^leading, cut off. */
  gint64 *high; /* (owned) */
  gint64 *low;  /* (owned) */
  gint64 leading;

  /* Their first bits: the sum of some doubles below 1, times 2^size. */
  gint64 size;
  double *parts[5]; /* (owned) 20 bits, 20 bits, what is left, the sum of the last two, and that of all */
} AprDualVector;

void apr_dual_vector_init (AprDualVector *self, gsize n);

void apr_dual_vector_clear (AprDualVector *self);

/* Finds the leading bits of the numbers. */
void apr_dual_vector_lead (AprDualVector *self);

/* Rounds the sum of the products with @values in double; returns %FALSE where that is not enough. @values are
 * padded with zeros to apr_dense_pad() of n. */
gboolean apr_dual_vector_round_roughly (const AprDualVector *self,
                                        const double *values,
                                        AprDType dtype,
                                        double *rounded);

/* The same from the leading bits, which seldom are not enough. */
gboolean
apr_dual_vector_round (const AprDualVector *self, const double *values, AprDType dtype, double *rounded);

/* Rounds the sum of the products with the values of a feature, roughly or from the leading bits, in one call. @work is
 * room for apr_dense_pad() of n numbers. */
gboolean apr_dual_vector_round_feature (const AprDualVector *self,
                                        const AprSampleRows *rows,
                                        gsize feature,
                                        AprDType dtype,
                                        double *work,
                                        double *rounded);

/* The same from all bits. u is a multiple of 2^-@grid when multiplied by a whole number below 2^@denominator_bits;
 * not known where that is 0. Where it is not certain what is nearest, @rounded is set to a guess. */
gboolean apr_dual_vector_round_exactly (const AprDualVector *self,
                                        const double *values,
                                        gint64 grid,
                                        gint64 denominator_bits,
                                        AprDType dtype,
                                        double *rounded);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprDualSystem, apr_dual_system_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprDualVector, apr_dual_vector_clear)

G_END_DECLS
