/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-gzip-private.h"

#define APR_TYPE_GZIP_DECOMPRESSOR (apr_gzip_decompressor_get_type ())
G_DECLARE_FINAL_TYPE (AprGzipDecompressor, apr_gzip_decompressor, APR, GZIP_DECOMPRESSOR, GObject)

/* GLib's decompressor ends with the first member; gzip's files may have more (RFC 1952, 2.2). */
struct _AprGzipDecompressor
{
  GObject parent_instance;
  GConverter *member; /* (owned) of the one member that is read */
  gboolean in_member; /* whether one that was begun has not ended */
};

/* Passes over the zeros behind a member, and begins the next one. */
static GConverterResult
begin_member (AprGzipDecompressor *self,
              const guint8 *input,
              gsize input_size,
              gboolean at_end,
              gsize *n_read,
              GError **error)
{
  gsize n_zeros = 0;

  while (n_zeros < input_size && input[n_zeros] == 0)
    n_zeros++;
  if (n_zeros > 0)
    {
      *n_read = n_zeros;
      return G_CONVERTER_CONVERTED;
    }
  if (input_size == 0 && at_end)
    return G_CONVERTER_FINISHED;
  if (input_size < 2 && !at_end)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT, "the next member has not begun");
      return G_CONVERTER_ERROR;
    }
  if (input_size < 2 || input[0] != 0x1f || input[1] != 0x8b)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                   "what follows the gzip data is no gzip data itself");
      return G_CONVERTER_ERROR;
    }
  g_converter_reset (self->member);
  self->in_member = TRUE;

  return G_CONVERTER_CONVERTED;
}

static GConverterResult
apr_gzip_decompressor_convert (GConverter *converter,
                               const void *input,
                               gsize input_size,
                               void *output,
                               gsize output_size,
                               GConverterFlags flags,
                               gsize *n_read,
                               gsize *n_written,
                               GError **error)
{
  AprGzipDecompressor *self = APR_GZIP_DECOMPRESSOR (converter);
  gboolean at_end = (flags & G_CONVERTER_INPUT_AT_END) != 0;
  g_autoptr (GError) local_error = NULL;
  GConverterResult result;

  *n_read = *n_written = 0;
  if (!self->in_member)
    {
      result = begin_member (self, input, input_size, at_end, n_read, error);
      if (!self->in_member)
        return result;
    }

  result = g_converter_convert (self->member, input, input_size, output, output_size, flags, n_read,
                                n_written, &local_error);
  if (result == G_CONVERTER_FINISHED)
    {
      self->in_member = FALSE;
      return G_CONVERTER_CONVERTED;
    }
  if (result != G_CONVERTER_ERROR)
    return result;

  if (at_end && g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "the gzip data end in the middle of a member");
  else if (g_error_matches (local_error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "invalid gzip data");
  else
    g_propagate_error (error, g_steal_pointer (&local_error));
  return G_CONVERTER_ERROR;
}

static void
apr_gzip_decompressor_reset (GConverter *converter)
{
  APR_GZIP_DECOMPRESSOR (converter)->in_member = FALSE;
}

static void
apr_gzip_decompressor_iface_init (GConverterIface *iface)
{
  iface->convert = apr_gzip_decompressor_convert;
  iface->reset = apr_gzip_decompressor_reset;
}

G_DEFINE_TYPE_WITH_CODE (AprGzipDecompressor,
                         apr_gzip_decompressor,
                         G_TYPE_OBJECT,
                         G_IMPLEMENT_INTERFACE (G_TYPE_CONVERTER, apr_gzip_decompressor_iface_init))

static void
apr_gzip_decompressor_finalize (GObject *object)
{
  g_object_unref (APR_GZIP_DECOMPRESSOR (object)->member);

  G_OBJECT_CLASS (apr_gzip_decompressor_parent_class)->finalize (object);
}

static void
apr_gzip_decompressor_class_init (AprGzipDecompressorClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = apr_gzip_decompressor_finalize;
}

static void
apr_gzip_decompressor_init (AprGzipDecompressor *self)
{
  self->member = G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
}

GConverter *
apr_gzip_decompressor_new (void)
{
  return g_object_new (APR_TYPE_GZIP_DECOMPRESSOR, NULL);
}
