/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-error.h"

/**
 * apr_error_quark:
 *
 * Gets the domain of the errors about data, arguments and models.
 *
 * In C, compare with %APR_ERROR instead.
 *
 * Returns: the domain
 *
 * Since: 0.1
 */
/* clang-format off */
G_DEFINE_QUARK (apr-error-quark, apr_error)
/* clang-format on */

G_DEFINE_ENUM_TYPE (AprError,
                    apr_error,
                    G_DEFINE_ENUM_VALUE (APR_ERROR_SHAPE, "shape"),
                    G_DEFINE_ENUM_VALUE (APR_ERROR_DTYPE, "dtype"),
                    G_DEFINE_ENUM_VALUE (APR_ERROR_RANGE, "range"),
                    G_DEFINE_ENUM_VALUE (APR_ERROR_EMPTY, "empty"),
                    G_DEFINE_ENUM_VALUE (APR_ERROR_NOT_FINITE, "not-finite"),
                    G_DEFINE_ENUM_VALUE (APR_ERROR_WEIGHTS, "weights"),
                    G_DEFINE_ENUM_VALUE (APR_ERROR_NOT_FITTED, "not-fitted"),
                    G_DEFINE_ENUM_VALUE (APR_ERROR_FEATURE_NAMES, "feature-names"),
                    G_DEFINE_ENUM_VALUE (APR_ERROR_MODEL, "model"),
                    G_DEFINE_ENUM_VALUE (APR_ERROR_FAILED, "failed"),
                    G_DEFINE_ENUM_VALUE (APR_ERROR_SYNTAX, "syntax"),
                    G_DEFINE_ENUM_VALUE (APR_ERROR_STATE, "state"),
                    G_DEFINE_ENUM_VALUE (APR_ERROR_NO_MEMORY, "no-memory"))
