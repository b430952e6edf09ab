/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"

/* Samples in folds, for the tests of cross-validation. */

#define N_ROWS 11

static const double sample_x[] = { 1, 2, 2, 1, 3, 5, 4, 3, 5, 8, 6, 2, 7, 7, 8, 1, 9, 4, 10, 6, 11, 0 };
static const double sample_y[] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5 };

typedef struct
{
  AprTensor *x;
  AprTensor *y;
  AprEstimator *model;
} Fixture;

static inline void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->x = matrix_new (N_ROWS, 2, sample_x);
  fixture->y = vector_new (N_ROWS, sample_y);
  fixture->model = APR_ESTIMATOR (apr_linear_regression_new ());
}

static inline void
tear_down (Fixture *fixture, gconstpointer data)
{
  apr_tensor_unref (fixture->x);
  apr_tensor_unref (fixture->y);
  g_object_unref (fixture->model);
}

static inline AprFolds *
folds_with_labels (AprTensor *x, AprTensor *y, AprTensor *weights, gsize n, const double *labels)
{
  g_autoptr (AprTensor) tensor = vector_new (n, labels);
  GError *error = NULL;
  AprFolds *folds = apr_folds_new_from_labels (x, y, weights, tensor, &error);

  g_assert_no_error (error);

  return folds;
}

static inline AprTensor *
validate (gpointer model, AprFolds *folds, AprMetric metric)
{
  GError *error = NULL;
  AprTensor *scores = apr_estimator_cross_validate (model, folds, metric, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (apr_tensor_get_dtype (scores), ==, APR_DTYPE_F64);
  g_assert_cmpuint (apr_tensor_get_n_dims (scores), ==, 1);
  g_assert_cmpuint (apr_tensor_get_n_elements (scores), ==, apr_folds_get_n_folds (folds));

  return scores;
}

/* @call takes &failure. */
#define assert_fails(call, code, text)       \
 G_STMT_START                                \
 {                                           \
  g_autoptr (GError) failure = NULL;         \
                                             \
  g_assert_null (call);                      \
  g_assert_error (failure, APR_ERROR, code); \
  assert_message_has (failure, text);        \
 }                                           \
 G_STMT_END
