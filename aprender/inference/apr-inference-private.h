/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/cross-products/apr-cross-products.h"
#include "aprender/inference/apr-inverse-private.h"
#include "aprender/inference/apr-regression-statistics.h"

G_BEGIN_DECLS

/* The fit of ordinary least squares that inference is about. It is only read. */
typedef struct
{
  AprCrossProducts *cross_products; /* (unowned) of the samples */
  gboolean fit_intercept;
  const gsize *dependent; /* (unowned) the features that depend on others before them, in order */
  gsize n_dependent;
  gboolean
    relations; /* whether their relations to the others are needed where nothing is left for an interval */
  const char *const *feature_names; /* (unowned) (nullable) */
  AprTensor *coefficients;          /* (unowned) the model's */
  AprTensor *intercept;             /* (unowned) the model's */
} AprInferenceSource;

/* What statistics and intervals of all targets are computed from: an immutable value with a reference count. Any
 * number of threads may read it at once.
 *
 * A term is the intercept, where there is one, or a feature; a position counts through the terms that are independent.
 * Sums of squares are in units of 2^exponent. */
typedef struct
{
  gatomicrefcount ref_count;

  guint64 n_samples;
  guint64 df_residual;
  gsize n_targets;
  gsize n_terms;
  gsize first; /* 1 where term 0 is the intercept, else 0 */
  gsize n;     /* positions */
  /* (owned) (nullable) by position: without an intercept, the factors with which the features add up to 1, if any do */
  double *constant;
  gsize *term;        /* (owned) by position */
  char **names;       /* (owned) by term */
  gboolean has_names; /* of the features, rather than x0, x1 and so on */
  gint exponent;
  double weight_logs;
  double condition_number;
  double *prediction_rounding; /* (owned) by target */
  mpf_t weight;                /* the sum of the weights, or 1 without an intercept */
  mpf_t *totals; /* (owned) by target: its sum of squares, about the mean where there is an intercept */
  /* (owned) by target: what the features leave of that; where uncertain, what it may be at most */
  mpf_t *residuals;
  double *rounding; /* (owned) by target: how far that of the sums may change @residuals, relative to these */
  mpf_t *explained; /* (owned) by target: the difference of both, without cancellation */
  GPtrArray
    *exact_fits; /* (owned) by target: (nullable) the solution where nothing is left, see apr-exact-fit */

  /* Of A^-1, where A are the products of the terms, times the sum of the weights where there is an intercept. */
  gint64 *scale;           /* (owned) by position */
  double *inverse;         /* (owned) packed lower triangle: entries of A^-1, times 2^(scale + scale) */
  double *solutions;       /* (owned) n_targets rows of the coefficients by position */
  AprDoubleDouble *exact;  /* (owned) the same, before they are rounded */
  double *inflation;       /* (owned) by position */
  AprDoubleDoubles root;   /* (owned) of the features, see AprInverse */
  AprDoubleDouble *centre; /* (owned) by feature: its weighted sum, scaled; 0 without an intercept */
  double *centre_rest;     /* (owned) by feature: what the centre lacks of that */

  /* Of the features that depend on others: in the samples, the column of each is the sum of those of the independent
   * features, times these factors, in scales of their own, and of a constant. */
  gboolean has_relations;
  gsize n_dependent;        /* 0 where there are no relations */
  gsize *dependent;         /* (owned) features */
  gint64 *dependent_scale;  /* (owned) */
  double *dependent_centre; /* (owned) weighted sums times 2^-scale */
  double *relations;        /* (owned) n_dependent rows */
  gboolean rounded; /* the samples are floats, or their sums were rounded: the relations are as coarse */

  AprTensor *coefficients; /* (owned) */
  AprTensor *intercept;    /* (owned) */
} AprInference;

/* Computes it, in time proportional to the third power of the number of features. Returns: (nullable): %NULL with
 * %APR_ERROR_MODEL where the cross products are not those of any samples, or with %G_IO_ERROR_CANCELLED */
AprInference *apr_inference_new (const AprInferenceSource *source, const AprRun *run, GError **error);

AprInference *apr_inference_ref (AprInference *self);

void apr_inference_unref (AprInference *self);

/* Whether the rounding of the sums may be all that is left of a target. */
gboolean apr_inference_is_uncertain (const AprInference *self, gsize target);

/* Whether the fit to a target is exact, and the sum of its coefficients, times @factors by position, is proven to be
 * another than @value, which is finite. */
gboolean
apr_inference_contradicts (const AprInference *self, gsize target, const double *factors, double value);

/* The statistics of one target, which must be one of the model's; in time proportional to the square of the number of
 * terms. Returns: (nullable): %NULL where cancelled */
AprRegressionStatistics *
apr_inference_get_statistics (AprInference *self, gsize target, const AprRun *run, GError **error);

/* The same with another covariance of the coefficients; the samples have been checked. @source is what @self was made
 * of. Returns: (nullable): %NULL where they are not the samples of the fit, where the covariance is not defined, or
 * where cancelled */
AprRegressionStatistics *apr_inference_get_robust_statistics (AprInference *self,
                                                              const AprInferenceSource *source,
                                                              AprTensor *x,
                                                              AprTensor *y,
                                                              AprTensor *sample_weight,
                                                              AprCovarianceKind kind,
                                                              gsize target,
                                                              const AprRun *run,
                                                              GError **error);

/* The coefficients of one target by position: those of the model where it has these and has them in double. */
double *apr_inference_get_solutions (const AprInference *self, gsize target);

/* How the model predicts. */
typedef struct
{
  /* Predicts for @n_rows rows of X from @first_row on, for all targets. @products are those of the rows with
   * @coefficients, where they are known already, or NULL. It is called in any thread. */
  void (*predict) (
    gconstpointer data, gsize first_row, gsize n_rows, const double *products, double *predictions);
  gconstpointer data;
  const double *coefficients; /* (unowned) (nullable) of the target, where there is only one */
} AprInferencePredictor;

/* The intervals about what @predictor predicts for the rows of @x, F64, in the shape of the predictions. Fails where
 * what @x holds is not finite; all else of it has been checked. */
gboolean apr_inference_predict_interval (const AprInference *self,
                                         AprTensor *x,
                                         const AprInferencePredictor *predictor,
                                         double level,
                                         AprIntervalKind kind,
                                         const AprRun *run,
                                         AprTensor **lower,
                                         AprTensor **upper,
                                         GError **error);

/* The distances w x'(Z'WZ)^-1 x of the rows of @x, which are those of Z but for the intercept: of rows in which the
 * features that depend on others do so by the rank tolerance. 0 where a weight is not above 0. */
gboolean apr_inference_find_distances (const AprInference *self,
                                       AprTensor *x,
                                       AprTensor *sample_weight,
                                       const AprRun *run,
                                       double *distances,
                                       GError **error);

/* The same of the samples of the fit: their leverages, at most 1. */
gboolean apr_inference_get_leverages (const AprInference *self,
                                      AprTensor *x,
                                      AprTensor *sample_weight,
                                      const AprRun *run,
                                      double *leverages,
                                      GError **error);

/* @number 2^@exponent as the nearest double, or double-double. */
double apr_inference_to_double (const mpf_t number, gint64 exponent);

AprDoubleDouble apr_inference_to_double_double (const mpf_t number, gint64 exponent);

/* @number as a double-double times 2^@exponent. */
AprDoubleDouble apr_inference_split (const mpf_t number, gint64 *exponent);

/* result = @number 2^@exponent */
void apr_inference_shift (mpf_t result, const mpf_t number, gint64 exponent);

/* The bits of the numbers that statistics are computed in. */
#define APR_INFERENCE_PRECISION 192

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprInference, apr_inference_unref)

G_END_DECLS
