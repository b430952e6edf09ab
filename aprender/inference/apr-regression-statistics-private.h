/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/inference/apr-covariance-private.h"
#include "aprender/inference/apr-regression-statistics.h"

G_BEGIN_DECLS

struct _AprRegressionStatistics
{
  GObject parent_instance;

  char **terms; /* (owned) */
  guint64 n_samples;
  guint64 df_model;
  guint64 df_residual;
  double residual_sum_of_squares;
  double total_sum_of_squares;
  double residual_variance;
  double residual_standard_error;
  double r_squared;
  double adjusted_r_squared;
  double f_statistic;
  double f_p_value;
  double log_likelihood;
  double aic;
  double bic;
  double condition_number;
  double prediction_rounding;
  AprTensor *coefficients;       /* (owned) */
  AprTensor *minimum_norm;       /* (owned) */
  AprTensor *standard_errors;    /* (owned) */
  AprTensor *t_values;           /* (owned) */
  AprTensor *p_values;           /* (owned) */
  AprTensor *variance_inflation; /* (owned) */
  AprTensor *covariance;         /* (owned) */
  GPtrArray *items;              /* (owned) of AprTerm */
  AprCovarianceKind covariance_kind;
  AprCovariance factors; /* (owned) of the covariance; without an inference where nothing is known */
};

/* Empty, for inference to fill in. */
AprRegressionStatistics *apr_regression_statistics_new (void);

G_END_DECLS
