/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-plot-feature.h"

#include <math.h>
#include <string.h>

#include "aprender/plot/apr-plot-regression.h"

/* How many places a line goes through. */
#define N_LINE 101

/* How many features a message names. */
#define MAX_NAMES 5

/* What is less than this share of a feature is rounding. */
#define ROUNDING 1e-6

/* The samples, and which feature is looked at. */
typedef struct
{
  AprTensor *const *samples;
  char **names;
  gsize n_rows;
  gsize n_features;
  gsize feature;
  gboolean *is_category; /* of the same column as the feature */
} Feature;

static void
feature_clear (Feature *self)
{
  g_strfreev (self->names);
  g_free (self->is_category);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Feature, feature_clear)

double *
apr_tool_plot_get_column (AprTensor *tensor, gsize column)
{
  gsize n_rows = apr_tensor_get_shape (tensor, NULL)[0];
  double *values = g_new (double, MAX (n_rows, 1));
  gsize n_columns = apr_tensor_get_n_elements (tensor) / MAX (n_rows, 1);
  gsize i;

  for (i = 0; i < n_rows; i++)
    values[i] = apr_tensor_get_double (tensor, i * n_columns + column, NULL);

  return values;
}

static double *
get_feature (const Feature *self, gsize feature)
{
  return apr_tool_plot_get_column (self->samples[APR_PLOT_X], feature);
}

static double
get_mean (const double *values, gsize n)
{
  double mean = 0;
  gsize i;

  for (i = 0; i < n; i++)
    mean += values[i] / (double) n;

  return mean;
}

static void
find_range (const double *values, gsize n, double *begin, double *end)
{
  gsize i;

  *begin = INFINITY;
  *end = -INFINITY;
  for (i = 0; i < n; i++)
    {
      *begin = fmin (*begin, values[i]);
      *end = fmax (*end, values[i]);
    }
}

/* The features that are categories of one column are called COLUMN=CATEGORY and are 0 or 1, and in a row one at most is
 * 1. */
static void
find_categories (Feature *self)
{
  const char *name = self->names[self->feature];
  const char *mark = strchr (name, '=');
  gsize length = mark != NULL ? (gsize) (mark - name) + 1 : 0;
  g_autofree double *sums = g_new0 (double, self->n_rows);
  gboolean are_categories = length > 0;
  gsize i;
  gsize j;

  self->is_category = g_new0 (gboolean, self->n_features);
  for (j = 0; j < self->n_features && are_categories; j++)
    {
      g_autofree double *values = get_feature (self, j);

      self->is_category[j] = strncmp (self->names[j], name, length) == 0;
      for (i = 0; i < self->n_rows && self->is_category[j]; i++)
        {
          sums[i] += values[i];
          are_categories = are_categories && (values[i] == 0 || values[i] == 1) && sums[i] <= 1;
        }
    }
  for (j = 0; j < self->n_features; j++)
    self->is_category[j] = are_categories && self->is_category[j];
}

static gboolean
feature_init (
  Feature *self, AprLinearRegression *model, AprTensor *const *samples, const char *name, GError **error)
{
  const gsize *shape = apr_tensor_get_shape (samples[APR_PLOT_X], NULL);

  self->samples = samples;
  self->n_rows = shape[0];
  self->n_features = shape[1];
  self->names = apr_estimator_get_feature_names (APR_ESTIMATOR (model));
  for (; self->names != NULL && self->names[self->feature] != NULL; self->feature++)
    if (strcmp (self->names[self->feature], name) == 0)
      {
        find_categories (self);
        return TRUE;
      }

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "the model has no feature “%s”", name);
  return FALSE;
}

/* The samples that the line goes through: all features at their means, but for one, which goes from its least to its
 * greatest value. A row has one category of a column: the others are at 0 where the line is at 1, and where it is at 0,
 * they are at their means in the rows that are not of this one. */
static AprTensor *
make_line (const Feature *self, double line_x[N_LINE])
{
  const gsize shape[2] = { N_LINE, self->n_features };
  g_autofree double *rows = g_new (double, N_LINE * self->n_features);
  g_autofree double *values = get_feature (self, self->feature);
  double rest = 1 - get_mean (values, self->n_rows);
  double begin;
  double end;
  gsize i;
  gsize j;

  find_range (values, self->n_rows, &begin, &end);
  for (i = 0; i < N_LINE; i++)
    line_x[i] = begin + (end - begin) * (double) i / (N_LINE - 1);
  for (j = 0; j < self->n_features; j++)
    {
      g_autofree double *others = get_feature (self, j);
      double mean = get_mean (others, self->n_rows);
      gboolean gives_way = self->is_category[j] && begin < end;

      for (i = 0; i < N_LINE; i++)
        if (j == self->feature)
          rows[i * self->n_features + j] = line_x[i];
        else
          rows[i * self->n_features + j] = gives_way ? mean / rest * (1 - line_x[i]) : mean;
    }

  return apr_tensor_new_from_doubles (rows, N_LINE * self->n_features, shape, 2, NULL);
}

/* Adds a name to a list of them, which ends with dots if it would be long. */
static void
add_name (GString *list, guint n_before, const char *name)
{
  if (n_before < MAX_NAMES)
    g_string_append_printf (list, "%s“%s”", n_before > 0 ? ", " : "", name);
  else if (n_before == MAX_NAMES)
    g_string_append (list, ", …");
}

/* How much of a feature is of importance: its spread, or without an intercept its size. */
static double
get_size (const double *values, gsize n, gboolean fit_intercept)
{
  double begin;
  double end;

  find_range (values, n, &begin, &end);

  return fit_intercept ? end - begin : fmax (fabs (begin), fabs (end));
}

/* Fits the feature to the others, but for categories of its column. Returns: (nullable): the names of those that it is
 * a combination of, if it is one */
static char *
find_dependence (const Feature *self, gboolean fit_intercept)
{
  gsize shape[2] = { self->n_rows, 0 };
  g_autofree gsize *places = g_new (gsize, self->n_features);
  g_autofree double *values = get_feature (self, self->feature);
  g_autofree double *rows = g_new (double, self->n_rows * self->n_features);
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", fit_intercept, NULL);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = apr_tensor_new_from_doubles (values, self->n_rows, &self->n_rows, 1, NULL);
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprTensor) coefficients = NULL;
  g_autoptr (GString) list = g_string_new (NULL);
  double size = get_size (values, self->n_rows, fit_intercept);
  guint n_names = 0;
  gsize i;
  gsize j;

  for (j = 0; j < self->n_features; j++)
    if (j != self->feature && !self->is_category[j])
      places[shape[1]++] = j;
  for (j = 0; j < shape[1]; j++)
    {
      g_autofree double *others = get_feature (self, places[j]);

      for (i = 0; i < self->n_rows; i++)
        rows[i * shape[1] + j] = others[i];
    }
  x = apr_tensor_new_from_doubles (rows, self->n_rows * shape[1], shape, 2, NULL);
  if (shape[1] == 0 ||
      !apr_estimator_fit (APR_ESTIMATOR (model), x, y, self->samples[APR_PLOT_WEIGHTS], NULL, NULL) ||
      (predictions = apr_estimator_predict (APR_ESTIMATOR (model), x, NULL)) == NULL)
    return NULL;

  for (i = 0; i < self->n_rows; i++)
    if (!(fabs (apr_tensor_get_double (predictions, i, NULL) - values[i]) <= ROUNDING * size))
      return NULL;
  coefficients = apr_linear_regression_get_coefficients (model);
  for (j = 0; j < shape[1]; j++)
    {
      g_autofree double *others = get_feature (self, places[j]);
      double coefficient = apr_tensor_get_double (coefficients, j, NULL);

      if (fabs (coefficient) * get_size (others, self->n_rows, fit_intercept) > ROUNDING * size)
        add_name (list, n_names++, self->names[places[j]]);
    }

  return n_names > 0 ? g_strdup (list->str) : NULL;
}

/* @model knows which features depend on others: it was fitted here, or has its sums. */
static void
set_dependence_error (const Feature *self, AprLinearRegression *model, GError **error)
{
  g_autofree char *others = find_dependence (self, apr_linear_regression_get_fit_intercept (model));
  g_auto (GStrv) dependent = apr_linear_regression_get_dependent_features (model);
  g_autoptr (GString) list = g_string_new (NULL);
  const char *name = self->names[self->feature];
  guint i;

  for (i = 0; dependent != NULL && dependent[i] != NULL; i++)
    add_name (list, i, dependent[i]);
  if (others != NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                 "the data do not tell what “%s” alone does: it depends on %s", name, others);
  else
    g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                 "the data do not tell what “%s” alone does: features depend on each other, such as %s", name,
                 list->str);
}

/* Whether the samples tell what the line is. A model has statistics if it has the sums of its data and neither penalty
 * nor signs; otherwise those of least squares tell. */
static gboolean
check_line (const Feature *self, AprLinearRegression *model, AprTensor *line, GError **error)
{
  gssize rank = apr_linear_regression_get_rank (model);
  g_autoptr (AprLinearRegression) other = g_object_new (
    APR_TYPE_LINEAR_REGRESSION, "fit-intercept", apr_linear_regression_get_fit_intercept (model), NULL);
  g_autoptr (GError) local_error = NULL;

  if (rank < 0 || (gsize) rank == self->n_features)
    return TRUE;
  if (!apr_estimator_set_feature_names (APR_ESTIMATOR (other), (const char *const *) self->names, error) ||
      !apr_estimator_fit (APR_ESTIMATOR (other), self->samples[APR_PLOT_X], self->samples[APR_PLOT_Y],
                          self->samples[APR_PLOT_WEIGHTS], NULL, error))
    return FALSE;
  if (apr_linear_regression_predict_interval (other, line, 0.95, APR_INTERVAL_CONFIDENCE, NULL, NULL,
                                              &local_error))
    return TRUE;
  if (g_error_matches (local_error, APR_ERROR, APR_ERROR_RANGE))
    set_dependence_error (self, other, error);
  else
    g_propagate_error (error, g_steal_pointer (&local_error));

  return FALSE;
}

AprPlot *
apr_tool_plot_feature (AprLinearRegression *model,
                       AprTensor *const samples[APR_PLOT_N_TENSORS],
                       const char *feature,
                       const char *target,
                       GError **error)
{
  g_auto (Feature) self = { 0 };
  g_autofree double *values = NULL;
  g_autofree double *actual = NULL;
  g_autofree double *line_y = NULL;
  g_autofree double *lower_y = NULL;
  g_autofree double *upper_y = NULL;
  g_autoptr (AprTensor) line = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprTensor) lower = NULL;
  g_autoptr (AprTensor) upper = NULL;
  g_autoptr (GError) no_band = NULL;
  double line_x[N_LINE];

  if (!feature_init (&self, model, samples, feature, error))
    return NULL;
  line = make_line (&self, line_x);
  predictions = apr_estimator_predict (APR_ESTIMATOR (model), line, error);
  if (predictions == NULL)
    return NULL;
  if (apr_linear_regression_predict_interval (model, line, 0.95, APR_INTERVAL_CONFIDENCE, &lower, &upper,
                                              &no_band))
    {
      lower_y = apr_tool_plot_get_column (lower, 0);
      upper_y = apr_tool_plot_get_column (upper, 0);
    }
  else if (g_error_matches (no_band, APR_ERROR, APR_ERROR_STATE) ||
           g_error_matches (no_band, APR_ERROR, APR_ERROR_FAILED))
    {
      /* A model without sums, with a penalty or with signs has a line, but no band. */
      if (!check_line (&self, model, line, error))
        return NULL;
    }
  else if (g_error_matches (no_band, APR_ERROR, APR_ERROR_RANGE))
    {
      set_dependence_error (&self, model, error);
      return NULL;
    }
  else
    {
      g_propagate_error (error, g_steal_pointer (&no_band));
      return NULL;
    }
  values = get_feature (&self, self.feature);
  actual = apr_tool_plot_get_column (samples[APR_PLOT_Y], 0);
  line_y = apr_tool_plot_get_column (predictions, 0);

  return apr_plot_new_feature (values, actual, self.n_rows, line_x, line_y, lower_y, upper_y, N_LINE, feature,
                               target);
}
