/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/inference/apr-inverse-private.h"

G_BEGIN_DECLS

/* The solution of a target of which the features leave nothing is rational. It is known modulo a prime: the intercept,
 * 0 where the design is not centred, and then the coefficients. What differs modulo the prime is not the same. */

/* Whether the features leave nothing of @target; false where cancelled. If so, *@solution, unless @solution is %NULL,
 * is the solution, or %NULL where a denominator is a multiple of the prime. */
gboolean apr_is_exact_fit (const AprDesign *design, gsize target, guint64 **solution, const AprRun *run);

/* The solution that is @z 2^-@fraction in scaled numbers. Returns: (nullable): as above */
guint64 *apr_exact_solution_new (const AprDesign *design, gsize target, mpz_t *z, gint64 fraction);

/* Whether the sum of @n numbers of a solution, times @factors, is another than @value, which is finite; false where
 * a factor is not. */
gboolean
apr_exact_solution_contradicts (const guint64 *solution, const double *factors, gsize n, double value);

G_END_DECLS
