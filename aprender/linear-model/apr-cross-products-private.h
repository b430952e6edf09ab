/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/linear-model/apr-cross-products.h"
#include "aprender/linear-model/apr-exact-sums-private.h"

G_BEGIN_DECLS

AprExactSums *apr_cross_products_get_sums (AprCrossProducts *self);

/* F32 where all X were F32, else F64; NONE without any. */
AprDType apr_cross_products_get_dtype (AprCrossProducts *self);

G_END_DECLS
