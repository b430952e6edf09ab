/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/nist.h"

#include <math.h>

/* What the tests of statistics need. */

static inline AprRegressionStatistics *
statistics_of (AprLinearRegression *model, gsize target)
{
  GError *error = NULL;
  AprRegressionStatistics *statistics = apr_linear_regression_get_statistics (model, target, &error);

  g_assert_no_error (error);

  return statistics;
}

static inline AprLinearRegression *
fit (gboolean fit_intercept, AprTensor *x, AprTensor *y, AprTensor *w)
{
  AprLinearRegression *model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", fit_intercept, "keep-state", TRUE, NULL);
  GError *error = NULL;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, w, NULL, &error));
  g_assert_no_error (error);

  return model;
}

static inline void
assert_close (double actual, double expected, double tolerance)
{
  if (!(fabs (actual - expected) <= tolerance * fabs (expected)))
    g_error ("%.17g is not %.17g: relative error %.2g", actual, expected, fabs (actual / expected - 1));
}

/* All that there is, in a text that tells every bit. */
static inline char *
print_bits (AprRegressionStatistics *statistics)
{
  guint n;
  g_autofree GParamSpec **pspecs = g_object_class_list_properties (G_OBJECT_GET_CLASS (statistics), &n);
  GString *text = g_string_new (NULL);
  guint i;
  gsize j;

  for (i = 0; i < n; i++)
    {
      g_auto (GValue) value = G_VALUE_INIT;

      g_value_init (&value, pspecs[i]->value_type);
      g_object_get_property (G_OBJECT (statistics), pspecs[i]->name, &value);
      g_string_append_printf (text, "%s:", pspecs[i]->name);
      if (G_VALUE_HOLDS_DOUBLE (&value))
        g_string_append_printf (text, " %a", g_value_get_double (&value));
      else if (G_VALUE_HOLDS_UINT64 (&value))
        g_string_append_printf (text, " %" G_GUINT64_FORMAT, g_value_get_uint64 (&value));
      else if (G_VALUE_HOLDS (&value, APR_TYPE_TENSOR))
        for (j = 0; j < apr_tensor_get_n_elements (g_value_get_boxed (&value)); j++)
          g_string_append_printf (text, " %a", element (g_value_get_boxed (&value), j));
      g_string_append_c (text, '\n');
    }

  return g_string_free (text, FALSE);
}

/* What statsmodels 0.14.6 gives for 8 samples of 2 features with weights, one of them 0: its WLS of the other 7. */
static const double small_x[] = { 1, 2, 2, 1, 3, 5, 4, 3, 5, 8, 6, 5, 7, 9, 8, 1 };
static const double small_y[] = { 3, 5, 4, 9, 8, 12, 11, 100 };
static const double small_w[] = { 1, 2, 0.5, 1, 4, 1, 0.25, 0 };
