/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <glib-object.h>

#include <aprender/base/apr-version-macros.h>

G_BEGIN_DECLS

#define APR_TYPE_PRECISION (apr_precision_get_type ())

/**
 * AprPrecision:
 * @APR_PRECISION_EXACT: without any rounding
 * @APR_PRECISION_DOUBLE: the products of each few hundred samples in double, and these sums exactly
 *
 * How the products of the data are summed.
 *
 * With `DOUBLE`, data of hundreds of features are summed up to twice as fast, but hardly faster where the processor has
 * matrix instructions. The result still is the same for any number of threads and any processor, but not for any order
 * of the samples, nor any way to cut them into calls. Columns are summed about the means of the first samples of a
 * call, so that values far from 0 and near each other lose no digits.
 *
 * Since: 0.1
 */
typedef enum
{
  APR_PRECISION_EXACT,
  APR_PRECISION_DOUBLE,
} AprPrecision;

APR_AVAILABLE_IN_ALL
GType apr_precision_get_type (void);

G_END_DECLS
