/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/estimator/apr-estimator.h"

G_BEGIN_DECLS

/* The hyper-parameters of an estimator are the properties of its class that can be read and written, without those
 * that are deprecated or transient. In a file each is a string. The base class has none: what can be written there, the
 * names of features, is the data's. A clone is made with those that are transient too. */

static inline gboolean
apr_is_cloned_property (const GParamSpec *pspec)
{
  return ((guint) pspec->flags & (G_PARAM_READWRITE | G_PARAM_DEPRECATED)) == G_PARAM_READWRITE &&
         pspec->owner_type != APR_TYPE_ESTIMATOR;
}

static inline gboolean
apr_is_hyper_parameter (const GParamSpec *pspec)
{
  return apr_is_cloned_property (pspec) && ((guint) pspec->flags & APR_PARAM_TRANSIENT) == 0;
}

/* The flag of a hyper-parameter that a file leaves out where it has its default value: one that came after the
 * format, so that a file says no more than it did, or one that few would change. */
#define APR_PARAM_UNSAID (1 << 9)

/* Returns: (array length=n) (transfer container) */
GParamSpec **apr_hyper_parameters_list (GObjectClass *klass, guint *n);

/* What a clone is made with.
 *
 * Returns: (array length=n) (transfer container) */
GParamSpec **apr_cloned_properties_list (GObjectClass *klass, guint *n);

/* “fit_intercept” for the property fit-intercept.
 *
 * Returns: (nullable): NULL with an error where the library has something else under that key */
char *apr_hyper_parameter_get_key (GParamSpec *pspec, GError **error);

/* Whether it is a string that is NULL. A file has to say so, also where the default of the property is NULL: Vala sets
 * a default of its own when it makes an object. */
gboolean apr_hyper_parameter_is_unset (GObject *object, GParamSpec *pspec);

/* False with an error for a type that no string stands for. @text is NULL for a string property that is
 * unset, and for what is left out. */
gboolean apr_hyper_parameter_to_string (GObject *object, GParamSpec *pspec, char **text, GError **error);

/* Initialises @value, which is to be unset where this succeeds. */
gboolean apr_hyper_parameter_from_string (GParamSpec *pspec, const char *text, GValue *value, GError **error);

G_END_DECLS
