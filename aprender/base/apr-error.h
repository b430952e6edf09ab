/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <aprender/base/apr-version-macros.h>

G_BEGIN_DECLS

#define APR_ERROR (apr_error_quark ())
#define APR_TYPE_ERROR (apr_error_get_type ())

/**
 * AprError:
 * @APR_ERROR_SHAPE: the shapes of the arguments do not fit each other, or the model
 * @APR_ERROR_DTYPE: a dtype that the operation does not work with
 * @APR_ERROR_RANGE: an index or a number outside what the operation can hold
 * @APR_ERROR_EMPTY: no samples, or no features
 * @APR_ERROR_NOT_FINITE: a NaN or an infinity in the data
 * @APR_ERROR_WEIGHTS: a negative sample weight, or none above zero; or weights for a class that takes none
 * @APR_ERROR_NOT_FITTED: the model has not been fitted yet
 * @APR_ERROR_FEATURE_NAMES: the names of the features, or of the targets, are not those that the model was fitted
 * with, or a name that no column of a table has
 * @APR_ERROR_MODEL: a file does not hold the model that was asked for
 * @APR_ERROR_FAILED: anything else, such as a script's subclass that failed without saying why
 * @APR_ERROR_SYNTAX: a text that cannot be read, such as the indices of a slice or hypotheses
 * @APR_ERROR_STATE: what needs the sums of the samples, of a model that was loaded without them, or the samples of the
 * fit once more, with other samples
 * @APR_ERROR_NO_MEMORY: no memory for what was asked for
 *
 * What can be wrong with arguments and data.
 *
 * The message always holds the name and the numbers. More codes may be added.
 *
 * Since: 0.1
 */
typedef enum
{
  APR_ERROR_SHAPE,
  APR_ERROR_DTYPE,
  APR_ERROR_RANGE,
  APR_ERROR_EMPTY,
  APR_ERROR_NOT_FINITE,
  APR_ERROR_WEIGHTS,
  APR_ERROR_NOT_FITTED,
  APR_ERROR_FEATURE_NAMES,
  APR_ERROR_MODEL,
  APR_ERROR_FAILED,
  APR_ERROR_SYNTAX,
  APR_ERROR_STATE,
  APR_ERROR_NO_MEMORY,
} AprError;

APR_AVAILABLE_IN_ALL
GQuark apr_error_quark (void);

APR_AVAILABLE_IN_ALL
GType apr_error_get_type (void);

G_END_DECLS
