/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-products-private.h"

G_BEGIN_DECLS

/* Normal equations of some features, factorised in double, or in longer numbers where that is not enough. */
typedef struct _AprSystem AprSystem;

/* The features that are not @left_out. A feature of which less than @negligible is left depends on those before it. */
AprSystem *
apr_system_new (const AprProducts *products, const gboolean *left_out, double negligible, guint n_threads);

void apr_system_free (AprSystem *self);

/* The features that are independent of those before them, in order; their number is the rank. */
const gsize *apr_system_get_independent (AprSystem *self, gsize *n_independent);

/* The features that depend on independent ones before them. */
const gsize *apr_system_get_dependent (AprSystem *self, gsize *n_dependent);

/* Whether the products are found not to be those of any samples, and the feature of which less than nothing is left once those before
 * it are taken out of it. */
gboolean apr_system_find_negative (AprSystem *self, gsize *feature);

/* The coefficients of all features for one target, 0 for those that were left out, and the intercept where the products are
 * centred: values of @dtype. Where features depend on others, the coefficients of least norm. False where it is not certain
 * that all are rounded to the nearest. */
gboolean
apr_system_solve (AprSystem *self, gsize target, AprDType dtype, double *coefficients, double *intercept);

/* The scaled products are 2^-(the scales of both positions) times the products. */
gint64 apr_system_get_scale (AprSystem *self, gsize position);

/* Multiplies @x, by position, with the scaled products, or with their inverse. */
void apr_system_multiply (AprSystem *self, double *x);
void apr_system_divide (AprSystem *self, double *x);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSystem, apr_system_free)

G_END_DECLS
