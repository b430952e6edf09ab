/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/apr-error.h"

G_BEGIN_DECLS

/* The hyper-parameters of an estimator are the properties of its class that can be read and written, without those
 * that are deprecated or transient. In a file each is a string. */

/* Returns: (array length=n) (transfer container) */
GParamSpec **apr_hyper_parameters_list (GObjectClass *klass, guint *n);

/* “fit_intercept” for the property fit-intercept. */
char *apr_hyper_parameter_get_key (GParamSpec *pspec);

/* False with an error for a type that no string stands for. @text is NULL for a string property that is
 * unset. */
gboolean apr_hyper_parameter_to_string (GObject *object, GParamSpec *pspec, char **text, GError **error);

/* Initialises @value, which is to be unset where this succeeds. */
gboolean apr_hyper_parameter_from_string (GParamSpec *pspec, const char *text, GValue *value, GError **error);

G_END_DECLS
