/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-writer.h"
#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-safetensors-header-private.h"
#include "aprender/safetensors/apr-safetensors-job-private.h"
#include "aprender/tensor/apr-tensor-private.h"

#include <string.h>

/**
 * AprSafetensorsWriter:
 *
 * Writes named tensors in the SafeTensors format: to a file, several files, a stream, or bytes in memory.
 *
 * ```c
 * g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
 *
 * if (!apr_safetensors_writer_add_tensor (writer, "weights", weights, &error) ||
 *     !apr_safetensors_writer_set_metadata (writer, "format", "pt", &error) ||
 *     !apr_safetensors_writer_write_to_path (writer, "model.safetensors", &error))
 *   return FALSE;
 * ```
 *
 * Add tensors and metadata in any order, then write, as often as wanted. The same tensors and metadata give
 * the same bytes, whatever order they came in. The format is explained at [class@Apr.SafetensorsReader].
 *
 * ## What the file looks like
 *
 * The bytes are those that the format's first implementation, the Python package `safetensors`, writes:
 * tensors by their dtype, from U64 down to BOOL, in the order opposite to [enum@Apr.DType], so that each is
 * aligned; within a dtype by the UTF-8 bytes of their names; the header as compact JSON, with spaces at its
 * end so that the data begin at a multiple of eight. Without metadata there is no `__metadata__`. Of several
 * metadata keys that package writes the order at random; here they are sorted by their UTF-8 bytes.
 *
 * A metadata key `dtype`, `shape` or `data_offsets` makes Ollama refuse the whole file, so such a key is
 * refused here, unless [property@Apr.SafetensorsWriter:portable] is unset. This library's own keys begin with
 * `aprender.`.
 *
 * ## Safe saves
 *
 * A local file is replaced all at once: the new one is written beside it under another name, flushed to the
 * disk, and then renamed. Whatever happens on the way, a full disk, a crash or a power cut, the path holds
 * the old file whole or the new one whole. A file that is replaced keeps its mode, and a new one gets what
 * the umask leaves. Where the path is a symbolic link, the file it names is replaced and the link stays.
 * Tensors that were read from the very file that is replaced stay good.
 *
 * To be safe from a power cut takes the time that the disk needs; [property@Apr.SafetensorsWriter:durable]
 * saves it.
 *
 * The tensors' bytes are not copied on their way to a file.
 *
 * ## Data larger than memory
 *
 * The header comes first in a file and holds the shape of every tensor, but the bytes may come later: declare
 * tensors with [method@Apr.SafetensorsWriter.declare_tensor], and say where their bytes are to come from when
 * they are written. That is a stream for each, with [method@Apr.SafetensorsWriter.set_source_stream], or one
 * function for all, with [method@Apr.SafetensorsWriter.set_data_func].
 *
 * ```c
 * static GBytes *
 * read_block (AprSafetensorsWriter *writer, const char *name, guint64 offset, gsize size, gpointer camera,
 *             GError **error)
 * {
 *   return camera_read (camera, name, offset, size, error);
 * }
 *
 * apr_safetensors_writer_declare_tensor (writer, "film", APR_DTYPE_U8, shape, 4, &error);
 * apr_safetensors_writer_set_data_func (writer, read_block, camera, NULL);
 * apr_safetensors_writer_write_to_path (writer, "film.safetensors", &error);
 * ```
 *
 * Declared and added tensors may be mixed. No more than a block of 1 MiB is in memory at a time. A source
 * that gives fewer bytes than its tensor has, or more, is an error, and what was at the path stays.
 *
 * Since: 0.1
 */
struct _AprSafetensorsWriter
{
  GObject parent_instance;

  GHashTable *items;                    /* (owned) name to AprSafetensorsItem, which owns the name */
  GHashTable *metadata;                 /* (owned) key to value */
  AprSafetensorsClosure *data_func;     /* (owned) (nullable) */
  AprSafetensorsClosure *progress_func; /* (owned) (nullable) */
  guint alignment;
  gboolean durable;
  gboolean portable;
};

enum
{
  PROP_0,
  PROP_ALIGNMENT,
  PROP_DURABLE,
  PROP_PORTABLE,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (AprSafetensorsWriter, apr_safetensors_writer, G_TYPE_OBJECT)

static void
apr_safetensors_writer_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  AprSafetensorsWriter *self = APR_SAFETENSORS_WRITER (object);

  switch (id)
    {
    case PROP_ALIGNMENT:
      g_value_set_uint (value, self->alignment);
      break;
    case PROP_DURABLE:
      g_value_set_boolean (value, self->durable);
      break;
    case PROP_PORTABLE:
      g_value_set_boolean (value, self->portable);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
apr_safetensors_writer_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  AprSafetensorsWriter *self = APR_SAFETENSORS_WRITER (object);

  switch (id)
    {
    case PROP_ALIGNMENT:
      apr_safetensors_writer_set_alignment (self, g_value_get_uint (value));
      break;
    case PROP_DURABLE:
      apr_safetensors_writer_set_durable (self, g_value_get_boolean (value));
      break;
    case PROP_PORTABLE:
      apr_safetensors_writer_set_portable (self, g_value_get_boolean (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
apr_safetensors_writer_finalize (GObject *object)
{
  AprSafetensorsWriter *self = APR_SAFETENSORS_WRITER (object);

  g_clear_pointer (&self->items, g_hash_table_unref);
  g_clear_pointer (&self->metadata, g_hash_table_unref);
  g_clear_pointer (&self->data_func, apr_safetensors_closure_unref);
  g_clear_pointer (&self->progress_func, apr_safetensors_closure_unref);

  G_OBJECT_CLASS (apr_safetensors_writer_parent_class)->finalize (object);
}

static void
apr_safetensors_writer_class_init (AprSafetensorsWriterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = apr_safetensors_writer_get_property;
  object_class->set_property = apr_safetensors_writer_set_property;
  object_class->finalize = apr_safetensors_writer_finalize;

  /**
   * AprSafetensorsWriter:alignment: (getter get_alignment) (setter set_alignment)
   *
   * The data begin at a multiple of so many bytes: a power of two from 8 to 4096. With any other number a write
   * fails with %APR_ERROR_RANGE.
   *
   * Spaces at the header's end see to it, so every reader reads the file. 8 is what the format's first
   * implementation has; 64 suits vector instructions, and 4096 memory pages and direct input and output. It
   * is where the data of all tensors begin: between them the format allows no space.
   *
   * Since: 0.1
   */
  properties[PROP_ALIGNMENT] =
    g_param_spec_uint ("alignment", NULL, NULL, 0, G_MAXUINT, APR_SAFETENSORS_DEFAULT_ALIGNMENT,
                       G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * AprSafetensorsWriter:durable: (getter get_durable) (setter set_durable)
   *
   * Whether a file is on the disk, safe from a power cut, when a write returns.
   *
   * Without it a write does not wait for the disk. The file is replaced all at once just the same, whatever
   * happens to the program; a power cut in the next seconds may lose it, on some file systems the old one
   * too.
   *
   * Since: 0.1
   */
  properties[PROP_DURABLE] = g_param_spec_boolean (
    "durable", NULL, NULL, TRUE, G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * AprSafetensorsWriter:portable: (getter get_portable) (setter set_portable)
   *
   * Whether metadata keys are refused that the format allows but that make a reader refuse the file.
   *
   * These are `dtype`, `shape` and `data_offsets` in upper or lower case letters: Ollama 0.17.4 decodes the
   * metadata as if they were a tensor's entry. To copy a file that has them, set it to `FALSE` first.
   *
   * Since: 0.1
   */
  properties[PROP_PORTABLE] = g_param_spec_boolean (
    "portable", NULL, NULL, TRUE, G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
apr_safetensors_writer_init (AprSafetensorsWriter *self)
{
  /* Names may come from a file, so they are hashed with a key. */
  self->items = g_hash_table_new_full (apr_safetensors_name_hash, g_str_equal, NULL,
                                       (GDestroyNotify) apr_safetensors_item_unref);
  self->metadata = g_hash_table_new_full (apr_safetensors_name_hash, g_str_equal, g_free, g_free);
  self->alignment = APR_SAFETENSORS_DEFAULT_ALIGNMENT;
  self->durable = TRUE;
  self->portable = TRUE;
}

/**
 * apr_safetensors_writer_new:
 *
 * Makes a writer that has no tensors and no metadata yet.
 *
 * Returns: (transfer full): a new writer
 *
 * Since: 0.1
 */
AprSafetensorsWriter *
apr_safetensors_writer_new (void)
{
  return g_object_new (APR_TYPE_SAFETENSORS_WRITER, NULL);
}

/**
 * apr_safetensors_writer_get_alignment: (get-property alignment)
 * @self: a writer
 *
 * Gets what the data's place in the file is a multiple of.
 *
 * Returns: a number of bytes, 8 unless another was set
 *
 * Since: 0.1
 */
guint
apr_safetensors_writer_get_alignment (AprSafetensorsWriter *self)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), APR_SAFETENSORS_DEFAULT_ALIGNMENT);

  return self->alignment;
}

/**
 * apr_safetensors_writer_set_alignment: (set-property alignment)
 * @self: a writer
 * @alignment: a number of bytes: a power of two from 8 to 4096
 *
 * Makes the data begin at a multiple of @alignment, see [property@Apr.SafetensorsWriter:alignment].
 *
 * Since: 0.1
 */
void
apr_safetensors_writer_set_alignment (AprSafetensorsWriter *self, guint alignment)
{
  g_return_if_fail (APR_IS_SAFETENSORS_WRITER (self));

  if (self->alignment == alignment)
    return;
  self->alignment = alignment;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_ALIGNMENT]);
}

/**
 * apr_safetensors_writer_get_durable: (get-property durable)
 * @self: a writer
 *
 * Gets whether a file is safe from a power cut when a write returns.
 *
 * Returns: whether writes wait for the disk
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_get_durable (AprSafetensorsWriter *self)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), TRUE);

  return self->durable;
}

/**
 * apr_safetensors_writer_set_durable: (set-property durable)
 * @self: a writer
 * @durable: whether writes wait for the disk
 *
 * Sets whether a file is to be safe from a power cut when a write returns, see
 * [property@Apr.SafetensorsWriter:durable].
 *
 * Since: 0.1
 */
void
apr_safetensors_writer_set_durable (AprSafetensorsWriter *self, gboolean durable)
{
  g_return_if_fail (APR_IS_SAFETENSORS_WRITER (self));

  durable = !!durable;
  if (self->durable == durable)
    return;
  self->durable = durable;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_DURABLE]);
}

/**
 * apr_safetensors_writer_get_portable: (get-property portable)
 * @self: a writer
 *
 * Gets whether metadata keys are refused that make a reader refuse the file.
 *
 * Returns: whether they are refused
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_get_portable (AprSafetensorsWriter *self)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), TRUE);

  return self->portable;
}

/**
 * apr_safetensors_writer_set_portable: (set-property portable)
 * @self: a writer
 * @portable: whether to refuse metadata keys that make a reader refuse the file
 *
 * Sets whether [method@Apr.SafetensorsWriter.set_metadata] refuses the keys that
 * [property@Apr.SafetensorsWriter:portable] names. Keys that are set already stay.
 *
 * Since: 0.1
 */
void
apr_safetensors_writer_set_portable (AprSafetensorsWriter *self, gboolean portable)
{
  g_return_if_fail (APR_IS_SAFETENSORS_WRITER (self));

  portable = !!portable;
  if (self->portable == portable)
    return;
  self->portable = portable;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_PORTABLE]);
}

static gboolean
check_utf8 (const char *what, const char *string, GError **error)
{
  g_autofree char *valid = NULL;
  g_autofree char *display = NULL;

  if (g_utf8_validate (string, -1, NULL))
    return TRUE;
  valid = g_utf8_make_valid (string, -1);
  display = apr_json_display (valid, strlen (valid));
  g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_ENCODING, "%s “%s” is not UTF-8", what,
               display);
  return FALSE;
}

static gboolean
check_name (AprSafetensorsWriter *self, const char *name, GError **error)
{
  if (!check_utf8 ("the tensor's name", name, error))
    return FALSE;
  if (g_str_equal (name, APR_SAFETENSORS_METADATA_NAME))
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NAME,
                   "no tensor can be called “%s”: the format keeps this name for the metadata", name);
      return FALSE;
    }
  if (g_hash_table_contains (self->items, name))
    {
      g_autofree char *display = apr_json_display (name, strlen (name));

      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_DUPLICATE,
                   "there is a tensor called “%s” already", display);
      return FALSE;
    }
  return TRUE;
}

static void
prefix_tensor (const char *name, GError **error)
{
  g_autofree char *display = apr_json_display (name, strlen (name));

  g_prefix_error (error, "tensor “%s”: ", display);
}

/**
 * apr_safetensors_writer_add_tensor:
 * @self: a writer
 * @name: the tensor's name, any UTF-8 but `__metadata__`
 * @tensor: the tensor, which the writer takes a reference to
 * @error: return location for an error
 *
 * Adds a tensor.
 *
 * Fails with %APR_SAFETENSORS_ERROR_DUPLICATE if the writer has a tensor of this name, with
 * %APR_SAFETENSORS_ERROR_NAME if the name is the reserved one, and with %APR_SAFETENSORS_ERROR_ENCODING if it
 * is not UTF-8. The writer is then as it was.
 *
 * Returns: whether the tensor was added
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_add_tensor (AprSafetensorsWriter *self,
                                   const char *name,
                                   AprTensor *tensor,
                                   GError **error)
{
  AprSafetensorsItem *item;
  const gsize *shape;
  gsize n_dims;
  GBytes *bytes;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (tensor != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!check_name (self, name, error))
    return FALSE;
  shape = apr_tensor_get_shape (tensor, &n_dims);
  bytes = apr_tensor_get_bytes (tensor);
  item =
    apr_safetensors_item_new (name, apr_tensor_get_dtype (tensor), shape, n_dims, g_bytes_get_size (bytes));
  item->bytes = g_bytes_ref (bytes);
  g_hash_table_insert (self->items, item->name, item);
  return TRUE;
}

/**
 * apr_safetensors_writer_declare_tensor:
 * @self: a writer
 * @name: the tensor's name, any UTF-8 but `__metadata__`
 * @dtype: the type of its elements
 * @shape: (array length=n_dims) (nullable): how many elements there are along each dimension
 * @n_dims: how many dimensions there are, 0 for a scalar
 * @error: return location for an error
 *
 * Adds a tensor whose bytes come later, while it is written.
 *
 * They come from what [method@Apr.SafetensorsWriter.set_source_stream] or
 * [method@Apr.SafetensorsWriter.set_source_bytes] set for it, or else from the function of
 * [method@Apr.SafetensorsWriter.set_data_func]: little-endian, in row-major order.
 *
 * Fails as [method@Apr.SafetensorsWriter.add_tensor] does for the name, with %APR_ERROR_DTYPE for
 * %APR_DTYPE_NONE, with %APR_ERROR_RANGE if the shape is larger than an address can tell, and with
 * %APR_ERROR_SHAPE if sub-byte elements leave a byte half filled. The writer is then as it was.
 *
 * Returns: whether the tensor was declared
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_declare_tensor (AprSafetensorsWriter *self,
                                       const char *name,
                                       AprDType dtype,
                                       const gsize *shape,
                                       gsize n_dims,
                                       GError **error)
{
  AprSafetensorsItem *item;
  gsize n_elements, n_bytes;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (shape != NULL || n_dims == 0, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!check_name (self, name, error))
    return FALSE;
  if (!apr_dtype_count_bytes (dtype, shape, n_dims, &n_elements, &n_bytes, error))
    {
      prefix_tensor (name, error);
      return FALSE;
    }
  item = apr_safetensors_item_new (name, dtype, shape, n_dims, n_bytes);
  g_hash_table_insert (self->items, item->name, item);
  return TRUE;
}

/* A copy to change: a write in another thread may be using the item as it is. */
static AprSafetensorsItem *
copy_item (AprSafetensorsWriter *self, const char *name, GError **error)
{
  const AprSafetensorsItem *item = g_hash_table_lookup (self->items, name);
  g_autofree char *display = NULL;

  if (item != NULL)
    return apr_safetensors_item_copy (item);
  display = apr_json_display (name, strlen (name));
  g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND,
               "there is no tensor called “%s”: declare it before its source", display);
  return NULL;
}

/**
 * apr_safetensors_writer_set_source_bytes:
 * @self: a writer
 * @name: the name of a tensor that was declared or added
 * @bytes: its bytes
 * @error: return location for an error
 *
 * Sets a tensor's bytes, in place of another source that it may have.
 *
 * Fails with %APR_SAFETENSORS_ERROR_NOT_FOUND if there is no tensor of this name, and with
 * %APR_SAFETENSORS_ERROR_SIZE_MISMATCH if its dtype and shape need more bytes, or fewer. The writer is then
 * as it was.
 *
 * Returns: whether they were set
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_set_source_bytes (AprSafetensorsWriter *self,
                                         const char *name,
                                         GBytes *bytes,
                                         GError **error)
{
  g_autoptr (AprSafetensorsItem) item = NULL;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (bytes != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  item = copy_item (self, name, error);
  if (item == NULL)
    return FALSE;
  if (g_bytes_get_size (bytes) != item->size)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
                   "%" G_GSIZE_FORMAT " bytes are given, but its dtype and shape need %" G_GSIZE_FORMAT,
                   g_bytes_get_size (bytes), item->size);
      prefix_tensor (name, error);
      return FALSE;
    }
  item->bytes = g_bytes_ref (bytes);
  g_hash_table_replace (self->items, item->name, item);
  item = NULL;
  return TRUE;
}

/**
 * apr_safetensors_writer_set_source_stream:
 * @self: a writer
 * @name: the name of a tensor that was declared or added
 * @stream: what its bytes are read from, of which it is the only reader
 * @error: return location for an error
 *
 * Sets a stream that a tensor's bytes come from, in place of another source that it may have.
 *
 * It is read while the tensor is written, from where it stands now, and must then end after just as many
 * bytes as the tensor has. A stream that can seek is read again by each write; another serves one write only.
 * It is never closed.
 *
 * Fails with %APR_SAFETENSORS_ERROR_NOT_FOUND if there is no tensor of this name. The writer is then as it
 * was.
 *
 * Returns: whether it was set
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_set_source_stream (AprSafetensorsWriter *self,
                                          const char *name,
                                          GInputStream *stream,
                                          GError **error)
{
  g_autoptr (AprSafetensorsItem) item = NULL;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (G_IS_INPUT_STREAM (stream), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  item = copy_item (self, name, error);
  if (item == NULL)
    return FALSE;
  item->stream = g_object_ref (stream);
  if (G_IS_SEEKABLE (stream) && /* GCOVR_EXCL_BR_LINE: branches of the macro's own */
      g_seekable_can_seek (G_SEEKABLE (stream)))
    item->start = g_seekable_tell (G_SEEKABLE (stream));
  g_hash_table_replace (self->items, item->name, item);
  item = NULL;
  return TRUE;
}

static void
set_closure (AprSafetensorsClosure **closure, GCallback function, gpointer user_data, GDestroyNotify destroy)
{
  AprSafetensorsClosure *old = *closure;

  *closure = function != NULL ? apr_safetensors_closure_new (function, user_data, destroy) : NULL;
  /* Last, for it may call what is not ours. */
  if (old != NULL)
    apr_safetensors_closure_unref (old);
}

/**
 * apr_safetensors_writer_set_data_func:
 * @self: a writer
 * @function: (nullable) (scope notified) (closure user_data) (destroy destroy): gives the bytes, or `NULL`
 *   for none
 * @user_data: what it gets
 * @destroy: (nullable): frees @user_data when it is needed no more
 *
 * Sets a function that gives the bytes of all tensors that have no other source.
 *
 * It is called while they are written, in the order of the file, in the thread of the write. An asynchronous
 * write calls it in the main context that the write was begun in.
 *
 * Since: 0.1
 */
void
apr_safetensors_writer_set_data_func (AprSafetensorsWriter *self,
                                      AprSafetensorsDataFunc function,
                                      gpointer user_data,
                                      GDestroyNotify destroy)
{
  g_return_if_fail (APR_IS_SAFETENSORS_WRITER (self));

  set_closure (&self->data_func, G_CALLBACK (function), user_data, destroy);
}

/**
 * apr_safetensors_writer_set_progress_func:
 * @self: a writer
 * @function: (nullable) (scope notified) (closure user_data) (destroy destroy): is told how many bytes are
 *   written and how many there will be, or `NULL` for none
 * @user_data: what it gets
 * @destroy: (nullable): frees @user_data when it is needed no more
 *
 * Sets a function that is told how a write goes on.
 *
 * It is called every now and then, at least once per 16 MiB, and when all bytes are written, in the thread of
 * the write. An asynchronous write has it called in the main context that the write was begun in. Of shards,
 * the bytes of all of them are counted together.
 *
 * Since: 0.1
 */
void
apr_safetensors_writer_set_progress_func (AprSafetensorsWriter *self,
                                          GFileProgressCallback function,
                                          gpointer user_data,
                                          GDestroyNotify destroy)
{
  g_return_if_fail (APR_IS_SAFETENSORS_WRITER (self));

  set_closure (&self->progress_func, G_CALLBACK (function), user_data, destroy);
}

/* Ollama takes the metadata for a tensor, and the names of its fields whatever their case. */
static gboolean
check_portable (const char *key, GError **error)
{
  static const char *const fields[] = { "dtype", "shape", "data_offsets", NULL };
  g_autofree char *folded = g_utf8_casefold (key, -1);

  if (!g_strv_contains (fields, folded))
    return TRUE;
  g_set_error (
    error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NAME,
    "the metadata key “%s” makes Ollama refuse the file, for it takes the metadata for a tensor and "
    "the key for its %s: give it a prefix, or set the property portable to false",
    key, folded);
  return FALSE;
}

/**
 * apr_safetensors_writer_set_metadata:
 * @self: a writer
 * @key: a key, any UTF-8 but what [property@Apr.SafetensorsWriter:portable] names
 * @value: its value, any UTF-8
 * @error: return location for an error
 *
 * Sets a string that goes into the file's `__metadata__`, in place of a former value of the key.
 *
 * Fails with %APR_SAFETENSORS_ERROR_ENCODING if the key or the value is not UTF-8, and with
 * %APR_SAFETENSORS_ERROR_NAME if a reader would refuse the file because of the key. The writer is then as it
 * was.
 *
 * Returns: whether it was set
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_set_metadata (AprSafetensorsWriter *self,
                                     const char *key,
                                     const char *value,
                                     GError **error)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (key != NULL, FALSE);
  g_return_val_if_fail (value != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!check_utf8 ("the metadata key", key, error) || (self->portable && !check_portable (key, error)))
    return FALSE;
  if (!check_utf8 ("the metadata value", value, error))
    {
      g_autofree char *display = apr_json_display (key, strlen (key));

      g_prefix_error (error, "“%s”: ", display);
      return FALSE;
    }
  g_hash_table_insert (self->metadata, g_strdup (key), g_strdup (value));
  return TRUE;
}

GPtrArray *
apr_safetensors_writer_list_items (AprSafetensorsWriter *self)
{
  GPtrArray *items =
    g_ptr_array_new_full (g_hash_table_size (self->items), (GDestroyNotify) apr_safetensors_item_unref);
  GHashTableIter iter;
  gpointer item;

  g_hash_table_iter_init (&iter, self->items);
  while (g_hash_table_iter_next (&iter, NULL, &item))
    g_ptr_array_add (items, g_atomic_rc_box_acquire (item));
  apr_safetensors_sort_items (items);
  return items;
}

AprSafetensorsLayout *
apr_safetensors_writer_lay_out (AprSafetensorsWriter *self, GPtrArray *items, GError **error)
{
  return apr_safetensors_layout_new (items, self->metadata, self->alignment, error);
}

void
apr_safetensors_writer_init_job (AprSafetensorsWriter *self, AprSafetensorsJob *job)
{
  *job = (AprSafetensorsJob){ .writer = g_object_ref (self), .durable = self->durable };
  if (self->data_func != NULL)
    job->data_func = apr_safetensors_closure_ref (self->data_func);
  if (self->progress_func != NULL)
    job->progress_func = apr_safetensors_closure_ref (self->progress_func);
}
