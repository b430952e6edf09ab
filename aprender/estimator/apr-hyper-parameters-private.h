/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-error.h"

G_BEGIN_DECLS

/* The hyper-parameters of an estimator are the properties of its class that can be read and written, without those
 * that are deprecated or transient. In a file each is a string. */

/* The flag of a hyper-parameter that a file leaves out where it has its default value: one that came after the
 * format, so that a file says no more than it did, or one that few would change. */
#define APR_PARAM_UNSAID (1 << 9)

/* Returns: (array length=n) (transfer container) */
GParamSpec **apr_hyper_parameters_list (GObjectClass *klass, guint *n);

/* Those of a class that are transient, and can be written at any time.
 *
 * Returns: (array length=n) (transfer container) */
GParamSpec **apr_transient_properties_list (GObjectClass *klass, guint *n);

/* “fit_intercept” for the property fit-intercept. */
char *apr_hyper_parameter_get_key (GParamSpec *pspec);

/* False with an error for a type that no string stands for. @text is NULL for a string property that is
 * unset, and for what is left out. */
gboolean apr_hyper_parameter_to_string (GObject *object, GParamSpec *pspec, char **text, GError **error);

/* Initialises @value, which is to be unset where this succeeds. */
gboolean apr_hyper_parameter_from_string (GParamSpec *pspec, const char *text, GValue *value, GError **error);

G_END_DECLS
