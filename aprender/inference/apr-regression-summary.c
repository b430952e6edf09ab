/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-regression-statistics-private.h"

#include <math.h>
#include <string.h>

#include "aprender/inference/apr-prediction-rounding-private.h"

/* The columns of the table of terms. */
static const char *const headers[] = {
  "", "estimate", "std. error", "t value", "Pr(>|t|)", "2.5 %", "97.5 %"
};

#define N_COLUMNS G_N_ELEMENTS (headers)
#define WIDTH 12

/* A longer name, which a file may have, moves what stands behind it, but does not make all other rows as long. */
#define MAX_NAME_WIDTH 60

/* Seven digits, as much as is read, or as many as leave the columns where they are. */
static void
append_number (GString *text, const char *format, double number)
{
  const char *const shorter[] = { "%.6g", "%.5g" };
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  gsize i;

  if (!isfinite (number))
    g_strlcpy (buffer, isnan (number) ? "NA" : number > 0 ? "Inf" : "-Inf", sizeof buffer);
  else
    g_ascii_formatd (buffer, sizeof buffer, format, number);
  for (i = 0; i < G_N_ELEMENTS (shorter) && strlen (buffer) > WIDTH; i++)
    g_ascii_formatd (buffer, sizeof buffer, shorter[i], number);
  g_string_append_printf (text, " %*s", WIDTH, buffer);
}

static const char *
get_stars (double p_value)
{
  if (!(p_value <= 0.1))
    return "";
  if (p_value > 0.05)
    return " .";
  if (p_value > 0.01)
    return " *";
  if (p_value > 0.001)
    return " **";
  return " ***";
}

static gsize
get_width (const char *name)
{
  gsize width = 0;

  for (; *name != '\0'; name = g_utf8_next_char (name))
    width += g_unichar_iswide (g_utf8_get_char (name))      ? 2
           : g_unichar_iszerowidth (g_utf8_get_char (name)) ? 0
                                                            : 1;

  return width;
}

static void
append_padded (GString *text, const char *name, gsize width)
{
  gsize own_width = get_width (name);

  g_string_append (text, name);
  for (; own_width < width; own_width++)
    g_string_append_c (text, ' ');
}

/* Two facts to a line. */
static void
append_fact (GString *text, const char *label, const char *format, double number)
{
  append_padded (text, label, 24);
  append_number (text, format, number);
}

static void
append_element (GString *text, const char *format, AprTensor *tensor, gsize i)
{
  append_number (text, format, apr_tensor_get_double (tensor, i, NULL));
}

static void
append_terms (GString *text, AprRegressionStatistics *self)
{
  g_autoptr (AprTensor) intervals = apr_regression_statistics_get_confidence_intervals (self, 0.95, NULL);
  gboolean any_stars = FALSE;
  gsize n_undefined = 0;
  gsize width = 0;
  gsize i;

  for (i = 0; self->terms[i] != NULL; i++)
    {
      width = MAX (width, MIN (get_width (self->terms[i]), MAX_NAME_WIDTH));
      n_undefined += isnan (apr_tensor_get_double (self->coefficients, i, NULL)) ? 1 : 0;
    }

  append_padded (text, "", width);
  for (i = 1; i < N_COLUMNS; i++)
    g_string_append_printf (text, " %*s", WIDTH, headers[i]);
  if (n_undefined > 0)
    g_string_append_printf (text, " %*s", WIDTH, "minimum norm");
  g_string_append_c (text, '\n');

  for (i = 0; self->terms[i] != NULL; i++)
    {
      const char *stars = get_stars (apr_tensor_get_double (self->p_values, i, NULL));

      append_padded (text, self->terms[i], width);
      append_element (text, "%.6g", self->coefficients, i);
      append_element (text, "%.6g", self->standard_errors, i);
      append_element (text, "%.3f", self->t_values, i);
      append_element (text, "%.3g", self->p_values, i);
      append_element (text, "%.6g", intervals, 2 * i);
      append_element (text, "%.6g", intervals, 2 * i + 1);
      if (n_undefined > 0)
        append_element (text, "%.6g", self->minimum_norm, i);
      g_string_append_printf (text, "%s\n", stars);
      any_stars = any_stars || stars[0] != '\0';
    }
  if (any_stars)
    g_string_append (text, "p-values: *** to 0.001, ** to 0.01, * to 0.05, . to 0.1\n");
  if (n_undefined > 0)
    g_string_append_printf (
      text,
      "%" G_GSIZE_FORMAT
      " of these depend on features before them: NA, and the estimates are those without them. The model "
      "itself\n"
      "has the coefficients of minimum norm, which predict the same for rows that satisfy the same linear "
      "relations.\n",
      n_undefined);
}

static void
append_warning (GString *text, double prediction_rounding)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  if (!(prediction_rounding >= APR_PREDICTION_ROUNDING_LIMIT))
    return;

  g_ascii_formatd (number, sizeof number, "%.2g", prediction_rounding);
  g_string_append_printf (
    text,
    "\nWarning: rounding alone may change a prediction by %s standard deviations of the "
    "target.\nFeatures depend on each other but for their own rounding: leave one out, or fit with "
    "alpha. Or features\nor the target are far from 0: centre these, or use dtype F64 in place of F32.\n",
    number);
}

/* As the test of a hypothesis is refused. */
static void
append_reason (GString *text, const AprRegressionStatistics *self)
{
  gsize i;

  if (self->covariance_kind == APR_COVARIANCE_CLASSICAL || self->factors.unknown ||
      self->factors.factor.high == 0)
    return;

  for (i = 0; self->terms[i] != NULL; i++)
    if (!isnan (apr_tensor_get_double (self->coefficients, i, NULL)) &&
        isnan (apr_tensor_get_double (self->standard_errors, i, NULL)))
      {
        g_string_append (text,
                         "\nA standard error is not known: the residuals that it is of are 0, or so small "
                         "beside others that\nrounding leaves too few digits.\n");
        break;
      }
  if (self->df_model > 0 && isnan (self->f_statistic))
    g_string_append (text,
                     "\nF is not known: the errors of the estimates depend on each other, or so nearly that "
                     "their\ncovariance has too few digits.\n");
}

/**
 * apr_regression_statistics_to_string:
 * @self: statistics
 *
 * Writes a table of the terms, with their intervals of 95 %, and the numbers that describe the fit, for people to
 * read. What is not known is “NA”, and what is infinite `Inf` or `-Inf`. Of a robust standard error or F that
 * has too few digits, it says so. A warning follows where rounding spoils the predictions
 * ([property@Apr.RegressionStatistics:prediction-rounding]). Of an object that does not come from a model, it says that
 * there are no statistics.
 *
 * Returns: (transfer full): the text, which ends with a line break
 *
 * Since: 0.1
 */
char *
apr_regression_statistics_to_string (AprRegressionStatistics *self)
{
  GString *text;

  g_return_val_if_fail (APR_IS_REGRESSION_STATISTICS (self), NULL);

  if (self->n_samples == 0)
    return g_strdup ("no statistics: they come from a fitted model\n");

  text = g_string_new (NULL);
  append_terms (text, self);

  g_string_append_c (text, '\n');
  append_fact (text, "samples", "%.0f", (double) self->n_samples);
  append_fact (text, "   R²", "%.7g", self->r_squared);
  g_string_append_c (text, '\n');
  append_fact (text, "degrees of freedom", "%.0f", (double) self->df_residual);
  append_fact (text, "   adjusted R²", "%.7g", self->adjusted_r_squared);
  g_string_append_c (text, '\n');
  append_fact (text, "residual std. error", "%.7g", self->residual_standard_error);
  append_fact (text, "   F", "%.7g", self->f_statistic);
  g_string_append_c (text, '\n');
  append_fact (text, "residual sum of squares", "%.7g", self->residual_sum_of_squares);
  append_fact (text, "   Pr(>F)", "%.3g", self->f_p_value);
  g_string_append_c (text, '\n');
  append_fact (text, "AIC", "%.7g", self->aic);
  append_fact (text, "   log-likelihood", "%.7g", self->log_likelihood);
  g_string_append_c (text, '\n');
  append_fact (text, "BIC", "%.7g", self->bic);
  if (self->covariance_kind != APR_COVARIANCE_CLASSICAL)
    {
      g_autoptr (GEnumClass) kinds = g_type_class_ref (APR_TYPE_COVARIANCE_KIND);
      GEnumValue *kind = g_enum_get_value (kinds, (int) self->covariance_kind);
      g_autofree char *name = g_ascii_strup (kind->value_nick, -1);

      append_padded (text, "   covariance", 24);
      g_string_append_printf (text, " %*s", WIDTH, name);
    }
  g_string_append_c (text, '\n');
  append_reason (text, self);
  append_warning (text, self->prediction_rounding);

  return g_string_free (text, FALSE);
}
