/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The distributions that the tests of a regression refer to, to nearly the last digit, in the tails too. */

/* The probability that Student's t with @df degrees of freedom is further from zero than @t. */
double apr_t_two_sided (double t, double df);

/* The @t for which that is @probability, between 0 and 1. */
double apr_t_two_sided_inverse (double probability, double df);

/* The t between whose negative and which the probability is @level. */
double apr_t_central_inverse (double level, double df);

/* The probability that Snedecor's F is above @f. */
double apr_f_upper (double f, double df1, double df2);

G_END_DECLS
