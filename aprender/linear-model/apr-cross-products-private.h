/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/linear-model/apr-cross-products.h"
#include "aprender/linear-model/apr-exact-sums-private.h"
#include "aprender/safetensors/apr-safetensors-reader.h"
#include "aprender/safetensors/apr-safetensors-writer.h"

G_BEGIN_DECLS

AprExactSums *apr_cross_products_get_sums (AprCrossProducts *self);

/* F32 where all X were F32, else F64; NONE without any. */
AprDType apr_cross_products_get_dtype (AprCrossProducts *self);

/* The state as a part of another file, in which the names of its tensor and of its metadata begin with @prefix; the file
 * of a state alone has an empty one. */
gboolean apr_cross_products_add_to_writer (AprCrossProducts *self,
                                           AprSafetensorsWriter *writer,
                                           const char *prefix,
                                           GError **error);

AprCrossProducts *
apr_cross_products_new_from_reader (AprSafetensorsReader *reader, const char *prefix, GError **error);

G_END_DECLS
