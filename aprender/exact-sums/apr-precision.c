/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-precision.h"

G_DEFINE_ENUM_TYPE (AprPrecision,
                    apr_precision,
                    G_DEFINE_ENUM_VALUE (APR_PRECISION_EXACT, "exact"),
                    G_DEFINE_ENUM_VALUE (APR_PRECISION_DOUBLE, "double"))
