/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/cross-products/apr-cross-products.h"
#include "aprender/estimator/apr-fitted-private.h"
#include "aprender/inference/apr-inference-private.h"
#include "aprender/least-squares/apr-least-squares-private.h"

G_BEGIN_DECLS

#define APR_RANK_UNKNOWN (-1)

/* In place of a condition number that is worked out from the cross products when it is first asked for. */
#define APR_CONDITION_PENDING (-1)

/* What a fit finds, or a file holds. Once a model has it, it never changes, and any number of threads may read it. */
typedef struct _AprLinearResults AprLinearResults;

struct _AprLinearResults
{
  int ref_count;
  AprLinearResults *next_left; /* of those that nobody holds any more */

  AprTensor *coefficients; /* (owned) */
  AprTensor *intercept;    /* (owned) */
  gsize n_features;
  gsize n_targets;
  const float *floats;     /* (nullable) the coefficients, where they are F32 */
  const double *doubles;   /* (nullable) the coefficients, where they are F64 */
  double intercept_double; /* of the first target */
  gint64 rank;
  gboolean correctly_rounded;
  double prediction_rounding;       /* the largest of all targets, or NaN where it is not known */
  GArray *dependent;                /* (owned) (nullable): of gsize, the features in order */
  AprCrossProducts *cross_products; /* (owned) (nullable): of all samples that the results are of */
  AprLeastSquaresOptions fitted; /* the hyper-parameters as the results have them; alpha is NaN with alphas */

  GMutex lock;             /* of what is computed when it is first asked for */
  double condition_number; /* pending, or NaN where it is not known */
  AprInference *inference; /* (owned) (nullable) */
  char **inference_names;  /* (owned) (nullable): the feature names that it was computed with */
};

extern const AprResultsType apr_linear_results_type;

/* To be filled in before a model has it. */
AprLinearResults *apr_linear_results_new (const AprLeastSquaresOptions *fitted);

/* Takes both, whose shapes fit each other. Fails where there is no memory to read the coefficients. */
gboolean apr_linear_results_take_tensors (AprLinearResults *self,
                                          AprTensor *coefficients,
                                          AprTensor *intercept,
                                          GError **error);

AprLinearResults *apr_linear_results_ref (AprLinearResults *self);

void apr_linear_results_unref (AprLinearResults *self);

/* For threads that must not free memory: where this was the last reference, whoever makes or unrefs any results next
 * frees these too. */
typedef AprLinearResults AprHeldResults;

void apr_linear_results_leave (AprHeldResults *self);

/* Once the cross products and the rest are there. */
void apr_linear_results_find_prediction_rounding (AprLinearResults *self);

/* Whether the cross products are there, of a fit that statistics are defined for. */
gboolean apr_linear_results_has_statistics (const AprLinearResults *self);

/* In time proportional to the third power of the number of features for the first time. @number is NaN where it is not
 * known. Fails where @run is cancelled, and where there is no memory. */
gboolean apr_linear_results_find_condition_number (AprLinearResults *self,
                                                   const AprRun *run,
                                                   double *number,
                                                   GError **error);

/* What was computed before, under these names. Returns: (transfer full) (nullable) */
AprInference *apr_linear_results_ref_inference (AprLinearResults *self, char **feature_names);

void
apr_linear_results_keep_inference (AprLinearResults *self, AprInference *inference, char **feature_names);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprLinearResults, apr_linear_results_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprHeldResults, apr_linear_results_leave)

G_END_DECLS
