/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/cross-products/apr-cross-products.h"
#include "aprender/cross-products/apr-exact-sums-private.h"
#include "aprender/cross-products/apr-weight-logs-private.h"
#include "aprender/safetensors/apr-safetensors-reader.h"
#include "aprender/safetensors/apr-safetensors-writer.h"

G_BEGIN_DECLS

struct _AprCrossProducts
{
  GObject parent_instance;

  AprExactSums *sums; /* (owned) */
  guint64 n_samples;
  AprWeightLogs weight_logs;
  AprDType dtype;
  AprPrecision precision;
  guint n_threads;
  char **feature_names; /* (owned) (nullable) */
};

AprExactSums *apr_cross_products_get_sums (AprCrossProducts *self);

/* The sum of the natural logarithms of the weights. */
double apr_cross_products_get_weight_logs (AprCrossProducts *self);

/* What models are computed in: F32 where all X were F32, F16 or BF16, else F64; NONE without any. */
AprDType apr_cross_products_get_dtype (AprCrossProducts *self);

/* As apr_cross_products_update (), in another precision and number of threads than those of the state, whose precision
 * becomes DOUBLE where @precision is; and @progress, which may be %NULL, hears of it instead of the state's signal. */
gboolean apr_cross_products_update_with (AprCrossProducts *self,
                                         AprTensor *x,
                                         AprTensor *y,
                                         AprTensor *sample_weight,
                                         AprPrecision precision,
                                         guint n_threads,
                                         GCancellable *cancellable,
                                         AprExactSumsProgress progress,
                                         gpointer progress_data,
                                         GError **error);

/* The state as a part of another file, in which the names of its tensor and of its metadata begin with @prefix; the file
 * of a state alone has an empty one. */
gboolean apr_cross_products_add_to_writer (AprCrossProducts *self,
                                           AprSafetensorsWriter *writer,
                                           const char *prefix,
                                           GError **error);

AprCrossProducts *
apr_cross_products_new_from_reader (AprSafetensorsReader *reader, const char *prefix, GError **error);

G_END_DECLS
