/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-zstd-private.h"

#include "aprender/base/apr-error.h"

#ifdef APR_ZSTD
# include <zstd.h>

# define APR_TYPE_ZSTD_DECOMPRESSOR (apr_zstd_decompressor_get_type ())
G_DECLARE_FINAL_TYPE (AprZstdDecompressor, apr_zstd_decompressor, APR, ZSTD_DECOMPRESSOR, GObject)

struct _AprZstdDecompressor
{
  GObject parent_instance;
  ZSTD_DStream *stream; /* (owned) */
  gboolean in_frame;    /* whether the frame that was begun has not ended */
};

static GConverterResult
apr_zstd_decompressor_convert (GConverter *converter,
                               const void *input,
                               gsize input_size,
                               void *output,
                               gsize output_size,
                               GConverterFlags flags,
                               gsize *n_read,
                               gsize *n_written,
                               GError **error)
{
  AprZstdDecompressor *self = APR_ZSTD_DECOMPRESSOR (converter);
  ZSTD_inBuffer in = { input, input_size, 0 };
  ZSTD_outBuffer out = { output, output_size, 0 };
  gsize left;

  if (input_size == 0 && (flags & G_CONVERTER_INPUT_AT_END) != 0 && !self->in_frame)
    {
      *n_read = *n_written = 0;
      return G_CONVERTER_FINISHED;
    }

  left = ZSTD_decompressStream (self->stream, &out, &in);
  *n_read = in.pos;
  *n_written = out.pos;
  if (ZSTD_isError (left))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "invalid zstd data: %s",
                   ZSTD_getErrorName (left));
      return G_CONVERTER_ERROR;
    }
  self->in_frame = left != 0;
  if (in.pos > 0 || out.pos > 0)
    return G_CONVERTER_CONVERTED;

  g_set_error (error, G_IO_ERROR,
               (flags & G_CONVERTER_INPUT_AT_END) != 0 ? G_IO_ERROR_INVALID_DATA : G_IO_ERROR_PARTIAL_INPUT,
               "the zstd data end in the middle of a frame");
  return G_CONVERTER_ERROR;
}

static void
apr_zstd_decompressor_reset (GConverter *converter)
{
  AprZstdDecompressor *self = APR_ZSTD_DECOMPRESSOR (converter);

  ZSTD_initDStream (self->stream);
  self->in_frame = FALSE;
}

static void
apr_zstd_decompressor_iface_init (GConverterIface *iface)
{
  iface->convert = apr_zstd_decompressor_convert;
  iface->reset = apr_zstd_decompressor_reset;
}

G_DEFINE_TYPE_WITH_CODE (AprZstdDecompressor,
                         apr_zstd_decompressor,
                         G_TYPE_OBJECT,
                         G_IMPLEMENT_INTERFACE (G_TYPE_CONVERTER, apr_zstd_decompressor_iface_init))

static void
apr_zstd_decompressor_finalize (GObject *object)
{
  ZSTD_freeDStream (APR_ZSTD_DECOMPRESSOR (object)->stream);

  G_OBJECT_CLASS (apr_zstd_decompressor_parent_class)->finalize (object);
}

static void
apr_zstd_decompressor_class_init (AprZstdDecompressorClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = apr_zstd_decompressor_finalize;
}

static void
apr_zstd_decompressor_init (AprZstdDecompressor *self)
{
  self->stream = ZSTD_createDStream ();
}

GConverter *
apr_zstd_decompressor_new (GError **error)
{
  g_autoptr (AprZstdDecompressor) self = g_object_new (APR_TYPE_ZSTD_DECOMPRESSOR, NULL);

  if (self->stream == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY, "no memory to decompress zstd data");
      return NULL;
    }

  return G_CONVERTER (g_steal_pointer (&self));
}
#else
GConverter *
apr_zstd_decompressor_new (GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               "the data are compressed by zstd, which aprender was built without");
  return NULL;
}
#endif
