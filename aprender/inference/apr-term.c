/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-term-private.h"

#include <math.h>

/**
 * AprTerm:
 *
 * A row of the table of a regression: the intercept or a feature, with its coefficient and what is known of it.
 *
 * ```c
 * for (i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (statistics)); i++)
 *   {
 *     g_autoptr (AprTerm) term = g_list_model_get_item (G_LIST_MODEL (statistics), i);
 *
 *     g_print ("%s: %g, from %g to %g\n", apr_term_get_name (term), apr_term_get_estimate (term),
 *              apr_term_get_lower (term), apr_term_get_upper (term));
 *   }
 * ```
 *
 * [class@Apr.RegressionStatistics] is a list of them, for a `GtkColumnView` to show and a `GtkSortListModel` to sort by
 * `GtkPropertyExpression`s.
 *
 * ## Threads, memory and blocking
 *
 * A term never changes, so that any number of threads may read it at once. It owns its name, and does not refer to the
 * list. Getters take constant time.
 *
 * Since: 0.1
 */
struct _AprTerm
{
  GObject parent_instance;

  char *name; /* (owned) */
  double values[APR_TERM_N_VALUES];
};

G_DEFINE_FINAL_TYPE (AprTerm, apr_term, G_TYPE_OBJECT)

enum
{
  PROP_NAME = 1,
  PROP_FIRST_VALUE,
  N_PROPS = PROP_FIRST_VALUE + APR_TERM_N_VALUES,
};

static GParamSpec *properties[N_PROPS];

static void
apr_term_finalize (GObject *object)
{
  g_free (APR_TERM (object)->name);

  G_OBJECT_CLASS (apr_term_parent_class)->finalize (object);
}

static void
apr_term_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  AprTerm *self = APR_TERM (object);

  if (property_id == PROP_NAME)
    g_value_set_string (value, self->name);
  else if (property_id >= PROP_FIRST_VALUE && property_id < N_PROPS)
    g_value_set_double (value, self->values[property_id - PROP_FIRST_VALUE]);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
}

static void
apr_term_class_init (AprTermClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = apr_term_finalize;
  object_class->get_property = apr_term_get_property;

  /**
   * AprTerm:name: (getter get_name)
   *
   * “(Intercept)”, or the name of the feature, “x0”, “x1” and so on where the features have none.
   *
   * Since: 0.1
   */
  properties[PROP_NAME] = g_param_spec_string ("name", NULL, NULL, NULL, flags);

  /**
   * AprTerm:estimate: (getter get_estimate)
   *
   * The estimate of the coefficient; NaN for a feature that depends on features before it.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_VALUE + APR_TERM_ESTIMATE] =
    g_param_spec_double ("estimate", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprTerm:standard-error: (getter get_standard_error)
   *
   * The standard error of the estimate; NaN where it is not known.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_VALUE + APR_TERM_STANDARD_ERROR] =
    g_param_spec_double ("standard-error", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprTerm:t-value: (getter get_t_value)
   *
   * The estimate divided by its standard error.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_VALUE + APR_TERM_T_VALUE] =
    g_param_spec_double ("t-value", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprTerm:p-value: (getter get_p_value)
   *
   * The probability of a t-value at least as far from 0 where the coefficient is 0.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_VALUE + APR_TERM_P_VALUE] =
    g_param_spec_double ("p-value", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprTerm:lower: (getter get_lower)
   *
   * The lower end of the interval that holds the true coefficient with the probability 95 %.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_VALUE + APR_TERM_LOWER] =
    g_param_spec_double ("lower", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  /**
   * AprTerm:upper: (getter get_upper)
   *
   * The upper end of the interval that holds the true coefficient with the probability 95 %.
   *
   * Since: 0.1
   */
  properties[PROP_FIRST_VALUE + APR_TERM_UPPER] =
    g_param_spec_double ("upper", NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, flags);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
apr_term_init (AprTerm *self)
{
  gsize i;

  self->name = g_strdup ("");
  for (i = 0; i < APR_TERM_N_VALUES; i++)
    self->values[i] = NAN;
}

AprTerm *
apr_term_new (const char *name, const double values[APR_TERM_N_VALUES])
{
  AprTerm *self = g_object_new (APR_TYPE_TERM, NULL);
  gsize i;

  g_free (self->name);
  self->name = g_strdup (name);
  for (i = 0; i < APR_TERM_N_VALUES; i++)
    self->values[i] = values[i];

  return self;
}

/**
 * apr_term_get_name: (get-property name)
 * @self: a term
 *
 * Gets the name of the feature, or “(Intercept)”.
 *
 * Returns: (transfer none): the name
 *
 * Since: 0.1
 */
const char *
apr_term_get_name (AprTerm *self)
{
  g_return_val_if_fail (APR_IS_TERM (self), NULL);

  return self->name;
}

/**
 * apr_term_get_estimate: (get-property estimate)
 * @self: a term
 *
 * Gets the estimate of the coefficient; NaN for a feature that depends on features before it.
 *
 * Returns: the estimate
 *
 * Since: 0.1
 */
double
apr_term_get_estimate (AprTerm *self)
{
  g_return_val_if_fail (APR_IS_TERM (self), NAN);

  return self->values[APR_TERM_ESTIMATE];
}

/**
 * apr_term_get_standard_error: (get-property standard-error)
 * @self: a term
 *
 * Gets the standard error of the estimate; NaN where it is not known.
 *
 * Returns: the standard error
 *
 * Since: 0.1
 */
double
apr_term_get_standard_error (AprTerm *self)
{
  g_return_val_if_fail (APR_IS_TERM (self), NAN);

  return self->values[APR_TERM_STANDARD_ERROR];
}

/**
 * apr_term_get_t_value: (get-property t-value)
 * @self: a term
 *
 * Gets the estimate divided by its standard error.
 *
 * Returns: the t-value
 *
 * Since: 0.1
 */
double
apr_term_get_t_value (AprTerm *self)
{
  g_return_val_if_fail (APR_IS_TERM (self), NAN);

  return self->values[APR_TERM_T_VALUE];
}

/**
 * apr_term_get_p_value: (get-property p-value)
 * @self: a term
 *
 * Gets the probability of a t-value at least as far from 0 where the coefficient is 0.
 *
 * Returns: the p-value
 *
 * Since: 0.1
 */
double
apr_term_get_p_value (AprTerm *self)
{
  g_return_val_if_fail (APR_IS_TERM (self), NAN);

  return self->values[APR_TERM_P_VALUE];
}

/**
 * apr_term_get_lower: (get-property lower)
 * @self: a term
 *
 * Gets the lower end of the interval that holds the true coefficient with the probability 95 %.
 *
 * Returns: the lower end
 *
 * Since: 0.1
 */
double
apr_term_get_lower (AprTerm *self)
{
  g_return_val_if_fail (APR_IS_TERM (self), NAN);

  return self->values[APR_TERM_LOWER];
}

/**
 * apr_term_get_upper: (get-property upper)
 * @self: a term
 *
 * Gets the upper end of the interval that holds the true coefficient with the probability 95 %.
 *
 * Returns: the upper end
 *
 * Since: 0.1
 */
double
apr_term_get_upper (AprTerm *self)
{
  g_return_val_if_fail (APR_IS_TERM (self), NAN);

  return self->values[APR_TERM_UPPER];
}
