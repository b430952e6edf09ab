/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "aprender/table/apr-arrow-column-private.h"

G_BEGIN_DECLS

/* A stream of Arrow's C stream interface as blocks of samples. One block is in memory at a time, besides what the
 * stream itself keeps. All that a structure says is checked before it is used; what lies behind its pointers can only
 * be believed. */
typedef struct _AprArrowStream AprArrowStream;

/* Takes the stream over: it is released when this is freed, also after an error. All columns that are not @targets, nor
 * @sample_weight, are features. Fails with %APR_ERROR_FEATURE_NAMES where one of those is not there, %APR_ERROR_DTYPE
 * where
 * a column does not hold numbers, %APR_ERROR_EMPTY where no features are left, %APR_ERROR_SHAPE where this is no stream
 * of columns, or an error of #GIOErrorEnum of the stream. */
AprArrowStream *apr_arrow_stream_new (AprArrowArrayStream *stream,
                                      const char *const *targets,
                                      const char *sample_weight,
                                      GError **error);

void apr_arrow_stream_free (AprArrowStream *self);

const char *const *apr_arrow_stream_get_feature_names (AprArrowStream *self);

gsize apr_arrow_stream_get_n_targets (AprArrowStream *self);

/* The samples that follow: some megabytes of them, a multiple of 256, but for the last block. @x is %NULL, with true,
 * where there are none; @sample_weight where there are no weights. @first_row is the number of samples before them. */
gboolean apr_arrow_stream_read (AprArrowStream *self,
                                AprTensor **x,
                                AprTensor **y,
                                AprTensor **sample_weight,
                                guint64 *first_row,
                                GCancellable *cancellable,
                                GError **error);

/* Samples as columns, in the byte order of this processor. */
typedef struct
{
  gsize n_rows;
  guint64 first_row; /* the number of samples before them */
  AprDType x_dtype;
  AprDType y_dtype;
  const guint8 *const *x; /* (unowned) valid until the next ones are read, as is y */
  const guint8 *const *y; /* (unowned) */
} AprArrowColumns;

/* The same as columns, none where there are none, instead of apr_arrow_stream_read (). Where @in_place and there are no
 * weights, those of a large batch are left where they are, so that blocks begin where the batches do. */
gboolean apr_arrow_stream_read_columns (AprArrowStream *self,
                                        gboolean in_place,
                                        AprArrowColumns *columns,
                                        AprTensor **sample_weight,
                                        GCancellable *cancellable,
                                        GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprArrowStream, apr_arrow_stream_free)

G_END_DECLS
