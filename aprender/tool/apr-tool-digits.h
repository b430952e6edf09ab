/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Numbers as R prints them: all of a column alike, with as many digits as the one that needs most of them to show
 * @digits significant ones, fixed or scientific, whichever is shorter. Others are “Inf”, “-Inf” and “NaN”. */

char **apr_tool_format_column (const double *values, gsize n_values, int digits);

/* As R's format.pval: those that scientific notation suits better are not in one column with the others, and those
 * below the resolution of a double are “<2e-16”. What is not a number is “NA”. */
char **apr_tool_format_p_values (const double *values, gsize n_values, int digits);

G_END_DECLS
