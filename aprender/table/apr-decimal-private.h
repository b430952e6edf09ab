/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-number-private.h"

G_BEGIN_DECLS

/* Reads a decimal number, such as -12.5e3, and rounds it to the nearest double, ties to even. @text must be followed by
 * APR_DECIMAL_PADDING readable bytes after @end. Reads up to the first byte that cannot continue the number and
 * returns its place, or %NULL where there is no number. What is too large for a double is an infinity. The caller
 * must have entered the usual arithmetic (see apr-arithmetic-private.h). @point is the decimal point. */
const char *apr_decimal_parse (const char *text, const char *end, char point, double *value);

#define APR_DECIMAL_PADDING 8

/* Writes a finite number as apr_number_format() does, but faster, and returns how many bytes there are. The caller must
 * have entered the usual arithmetic. */
gsize apr_decimal_format (double value, gboolean narrow, char buffer[APR_NUMBER_SIZE]);

G_END_DECLS
