/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <glib-object.h>

#include <aprender/base/apr-version-macros.h>

G_BEGIN_DECLS

#define APR_TYPE_TERM (apr_term_get_type ())

APR_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (AprTerm, apr_term, APR, TERM, GObject)

APR_AVAILABLE_IN_ALL
const char *apr_term_get_name (AprTerm *self);

APR_AVAILABLE_IN_ALL
double apr_term_get_estimate (AprTerm *self);

APR_AVAILABLE_IN_ALL
double apr_term_get_standard_error (AprTerm *self);

APR_AVAILABLE_IN_ALL
double apr_term_get_t_value (AprTerm *self);

APR_AVAILABLE_IN_ALL
double apr_term_get_p_value (AprTerm *self);

APR_AVAILABLE_IN_ALL
double apr_term_get_lower (AprTerm *self);

APR_AVAILABLE_IN_ALL
double apr_term_get_upper (AprTerm *self);

G_END_DECLS
