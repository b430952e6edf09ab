/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-term.h"

#include <math.h>

static const struct
{
  const char *name;
  double (*get) (AprTerm *term);
} numbers[] = {
  { "estimate", apr_term_get_estimate }, { "standard-error", apr_term_get_standard_error },
  { "t-value", apr_term_get_t_value },   { "p-value", apr_term_get_p_value },
  { "lower", apr_term_get_lower },       { "upper", apr_term_get_upper },
};

#define N_NUMBERS G_N_ELEMENTS (numbers)

enum
{
  PROP_NAME = 1,
  PROP_FIRST_NUMBER,
};

struct _TrendlineTerm
{
  GObject parent_instance;

  char *name;
  double numbers[N_NUMBERS];
};

G_DEFINE_FINAL_TYPE (TrendlineTerm, trendline_term, G_TYPE_OBJECT)

static void
trendline_term_finalize (GObject *object)
{
  g_free (TRENDLINE_TERM (object)->name);

  G_OBJECT_CLASS (trendline_term_parent_class)->finalize (object);
}

static void
trendline_term_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  TrendlineTerm *self = TRENDLINE_TERM (object);

  if (property_id == PROP_NAME)
    g_value_set_string (value, self->name);
  else if (property_id >= PROP_FIRST_NUMBER && property_id < PROP_FIRST_NUMBER + N_NUMBERS)
    g_value_set_double (value, self->numbers[property_id - PROP_FIRST_NUMBER]);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
}

static void
trendline_term_class_init (TrendlineTermClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  guint i;

  object_class->finalize = trendline_term_finalize;
  object_class->get_property = trendline_term_get_property;
  g_object_class_install_property (object_class, PROP_NAME,
                                   g_param_spec_string ("name", NULL, NULL, NULL, flags));
  for (i = 0; i < N_NUMBERS; i++)
    g_object_class_install_property (
      object_class, PROP_FIRST_NUMBER + i,
      g_param_spec_double (numbers[i].name, NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags));
}

static void
trendline_term_init (TrendlineTerm *self)
{
  gsize i;

  for (i = 0; i < N_NUMBERS; i++)
    self->numbers[i] = NAN;
}

static void
append_known (GListStore *list, AprTerm *known)
{
  g_autoptr (TrendlineTerm) term = g_object_new (TRENDLINE_TYPE_TERM, NULL);
  gsize i;

  term->name = g_strdup (apr_term_get_name (known));
  for (i = 0; i < N_NUMBERS; i++)
    term->numbers[i] = numbers[i].get (known);
  g_list_store_append (list, term);
}

static void
append (GListStore *list, const char *name, AprTensor *estimates, gsize index)
{
  g_autoptr (TrendlineTerm) term = g_object_new (TRENDLINE_TYPE_TERM, NULL);

  term->name = g_strdup (name);
  term->numbers[0] = apr_tensor_get_double (estimates, index, NULL);
  g_list_store_append (list, term);
}

static void
append_estimates (GListStore *list, AprLinearRegression *model)
{
  g_autoptr (AprTensor) coefficients = apr_linear_regression_get_coefficients (model);
  g_autoptr (AprTensor) intercept = apr_linear_regression_get_intercept (model);
  g_auto (GStrv) names = apr_estimator_get_feature_names (APR_ESTIMATOR (model));
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (coefficients, &n_dims);
  gsize i;

  if (apr_linear_regression_get_fit_intercept (model))
    append (list, "(Intercept)", intercept, 0);
  for (i = 0; i < shape[n_dims - 1]; i++)
    {
      g_autofree char *number = g_strdup_printf ("x%" G_GSIZE_FORMAT, i);

      append (list, names != NULL ? names[i] : number, coefficients, i);
    }
}

GListModel *
trendline_term_list_new (AprLinearRegression *model, AprRegressionStatistics *statistics)
{
  GListStore *list = g_list_store_new (TRENDLINE_TYPE_TERM);
  const guint n = statistics != NULL ? g_list_model_get_n_items (G_LIST_MODEL (statistics)) : 0;
  guint i;

  for (i = 0; i < n; i++)
    {
      g_autoptr (AprTerm) known = g_list_model_get_item (G_LIST_MODEL (statistics), i);

      append_known (list, known);
    }
  if (statistics == NULL)
    append_estimates (list, model);

  return G_LIST_MODEL (list);
}
