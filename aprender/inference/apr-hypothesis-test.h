/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <aprender/tensor/apr-tensor.h>

G_BEGIN_DECLS

#define APR_TYPE_HYPOTHESIS_TEST (apr_hypothesis_test_get_type ())

APR_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (AprHypothesisTest, apr_hypothesis_test, APR, HYPOTHESIS_TEST, GObject)

APR_AVAILABLE_IN_ALL
double apr_hypothesis_test_get_f_statistic (AprHypothesisTest *self);

APR_AVAILABLE_IN_ALL
double apr_hypothesis_test_get_f_p_value (AprHypothesisTest *self);

APR_AVAILABLE_IN_ALL
guint64 apr_hypothesis_test_get_df_hypothesis (AprHypothesisTest *self);

APR_AVAILABLE_IN_ALL
guint64 apr_hypothesis_test_get_df_residual (AprHypothesisTest *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_hypothesis_test_get_estimates (AprHypothesisTest *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_hypothesis_test_get_standard_errors (AprHypothesisTest *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_hypothesis_test_get_t_values (AprHypothesisTest *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_hypothesis_test_get_p_values (AprHypothesisTest *self);

APR_AVAILABLE_IN_ALL
AprTensor *
apr_hypothesis_test_get_confidence_intervals (AprHypothesisTest *self, double level, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
