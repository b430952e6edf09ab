/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/inference/apr-hypothesis-test.h"

G_BEGIN_DECLS

struct _AprHypothesisTest
{
  GObject parent_instance;

  double f_statistic;
  double f_p_value;
  guint64 df_hypothesis;
  guint64 df_residual;

  AprTensor *vectors[4]; /* (owned) by hypothesis, in the order of the properties */
};

/* With NaN for the statistic and its p-value, and empty vectors. */
AprHypothesisTest *apr_hypothesis_test_new (guint64 df_hypothesis, guint64 df_residual);

/* Takes the numbers of all @n hypotheses. */
void apr_hypothesis_test_take_vectors (AprHypothesisTest *self,
                                       gsize n,
                                       double *estimates,
                                       double *standard_errors,
                                       double *t_values,
                                       double *p_values);

/* Intervals about @estimates with the probability @level each, [n, 2], of errors with @df degrees of freedom. */
AprTensor *apr_find_confidence_intervals (
  AprTensor *estimates, AprTensor *standard_errors, guint64 df, double level, GError **error);

G_END_DECLS
