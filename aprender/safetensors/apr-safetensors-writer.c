/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-writer-private.h"
#include "aprender/safetensors/apr-safetensors-header-private.h"

/**
 * AprSafetensorsWriter:
 *
 * Writes named tensors in the SafeTensors format: to a file, to several files, to a stream, or to bytes in memory.
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
 * Add tensors and metadata in any order, then write as often as you like. The same tensors and metadata always give the
 * same bytes. [class@Apr.SafetensorsReader] explains the format.
 *
 * ## The bytes of a file
 *
 * They are the bytes that the reference implementation, the Python package `safetensors`, writes. Tensors are sorted by
 * dtype, from U64 down to BOOL (the reverse of [enum@Apr.DType]), so that each of them is aligned, and then by the
 * UTF-8 bytes of their names. The header is compact JSON, padded with spaces so that the data begin at a multiple of
 * eight. Without metadata there is no `__metadata__`. The reference writes several metadata keys in random order;
 * here they are sorted by their UTF-8 bytes.
 *
 * The metadata keys `dtype`, `shape` and `data_offsets` make Ollama refuse the whole file, so they are refused here
 * unless [property@Apr.SafetensorsWriter:portable] is `FALSE`. The keys of this library begin with `aprender.`.
 *
 * ## Safe saves
 *
 * A local file is replaced atomically: the new file is written next to the old one under a temporary name, flushed to
 * the disk, and then renamed. After a full disk, a crash or a power cut the path holds either the whole old file or the
 * whole new one. The new file keeps the mode of the old; without an old one the umask decides. If the path is a
 * symbolic link, the file that it points to is replaced and the link stays. Tensors that were read from the replaced
 * file stay valid.
 *
 * Flushing takes as long as the disk needs. [property@Apr.SafetensorsWriter:durable] turns it off, at the price of
 * safety from power cuts.
 *
 * ## Data larger than memory
 *
 * The header, which holds every shape, comes first in a file, but the data can come later. Declare such tensors with
 * [method@Apr.SafetensorsWriter.declare_tensor]. Then give each its own stream with
 * [method@Apr.SafetensorsWriter.set_source_stream], or set one function that supplies the data of all of them with
 * [method@Apr.SafetensorsWriter.set_data_func].
 *
 * ```c
 * static GBytes *
 * read_block (G_GNUC_UNUSED AprSafetensorsWriter *writer, const char *name, guint64 offset, gsize size,
 *             gpointer camera, GError **error)
 * {
 *   return camera_read (camera, name, offset, size, error);
 * }
 *
 * apr_safetensors_writer_set_data_func (writer, read_block, camera, NULL);
 * if (!apr_safetensors_writer_declare_tensor (writer, "film", APR_DTYPE_U8, shape, 4, &error) ||
 *     !apr_safetensors_writer_write_to_path (writer, "film.safetensors", &error))
 *   return FALSE;
 * ```
 *
 * At most 1 MiB of such data is in memory at a time. Added and declared tensors can be mixed. If a source supplies more
 * or fewer bytes than its tensor has, the write fails and the old file stays.
 *
 * ## Threads, memory and blocking
 *
 * The writer holds references to the tensors, bytes and streams that it was given and never copies the data.
 *
 * Several threads may write with one writer at once as long as none of them changes it. A writer that is being changed
 * must not be used by another thread. An asynchronous write takes a snapshot when it begins, so the writer may be
 * changed, freed, or used again while it runs.
 *
 * The `write_to_*` methods block until all bytes are written and, for a durable file, flushed. Their `_async` twins do
 * the work in a thread; the data and progress functions are then called in the main context of the caller, where
 * scripts can run. Cancelling a write leaves the old file and nothing else.
 *
 * Since: 0.1
 */
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
   * The alignment of the data in the file, in bytes: a power of two from 8 to 4096. Any other value makes the next
   * write fail with %APR_ERROR_RANGE.
   *
   * The header is padded with spaces, which every reader accepts. 8 is the reference's alignment; 64 suits vector
   * instructions, and 4096 suits memory pages and direct I/O. Only the first tensor is aligned in this way, because
   * the format allows no padding between tensors.
   *
   * Since: 0.1
   */
  properties[PROP_ALIGNMENT] =
    g_param_spec_uint ("alignment", NULL, NULL, 0, G_MAXUINT, APR_SAFETENSORS_DEFAULT_ALIGNMENT,
                       G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * AprSafetensorsWriter:durable: (getter get_durable) (setter set_durable)
   *
   * Whether a write waits until the file is on the disk, safe from a power cut.
   *
   * If `FALSE`, a write does not wait for the disk. The file is still replaced atomically, so a crash of the program
   * does no harm, but a power cut in the next seconds may lose the new file and, on some file systems, the old one too.
   *
   * Since: 0.1
   */
  properties[PROP_DURABLE] = g_param_spec_boolean (
    "durable", NULL, NULL, TRUE, G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * AprSafetensorsWriter:portable: (getter get_portable) (setter set_portable)
   *
   * Whether to refuse metadata keys that the format allows but that make another reader refuse the file.
   *
   * These keys are `dtype`, `shape` and `data_offsets` in any case: Ollama 0.17.4 decodes the metadata as if it were a
   * tensor's entry. Set this to `FALSE` to copy a file that has such keys.
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
  /* Names can come from a hostile file, so they are hashed with a secret key. */
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
 * Creates a writer without tensors or metadata.
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
 * Gets the alignment of the data in the file, see [property@Apr.SafetensorsWriter:alignment].
 *
 * Returns: the alignment in bytes; 8 by default
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
 * @alignment: the alignment in bytes: a power of two from 8 to 4096
 *
 * Sets the alignment of the data in the file, see [property@Apr.SafetensorsWriter:alignment].
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
 * Gets whether writes wait for the disk, see [property@Apr.SafetensorsWriter:durable].
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
 * Sets whether writes wait for the disk, see [property@Apr.SafetensorsWriter:durable].
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
 * Gets whether metadata keys that are not portable are refused, see [property@Apr.SafetensorsWriter:portable].
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
 * @portable: whether to refuse non-portable metadata keys
 *
 * Sets whether [method@Apr.SafetensorsWriter.set_metadata] refuses non-portable keys, see
 * [property@Apr.SafetensorsWriter:portable]. Keys that were set before stay.
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

static void
set_closure (AprSafetensorsClosure **closure, GCallback function, gpointer user_data, GDestroyNotify destroy)
{
  AprSafetensorsClosure *old = *closure;

  *closure = function != NULL ? apr_safetensors_closure_new (function, user_data, destroy) : NULL;
  /* Last, because the caller's destroy function may do anything, such as call this again. */
  if (old != NULL)
    apr_safetensors_closure_unref (old);
}

/**
 * apr_safetensors_writer_set_data_func:
 * @self: a writer
 * @function: (nullable) (scope notified) (closure user_data) (destroy destroy): the function that supplies data, or
 *   `NULL` for none
 * @user_data: data to pass to @function
 * @destroy: (nullable): called to free @user_data
 *
 * Sets a function that supplies the data of all tensors without another source.
 *
 * It is called while the tensors are written, in the order of the file and in the thread that writes. An asynchronous
 * write calls it in the main context in which the write was started.
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
 * @function: (nullable) (scope notified) (closure user_data) (destroy destroy): the function to call with the number of
 *   bytes written and the number of bytes in all, or `NULL` for none
 * @user_data: data to pass to @function
 * @destroy: (nullable): called to free @user_data
 *
 * Sets a function that is told about the progress of a write.
 *
 * It is called at least once per 16 MiB, and when all bytes are written, in the thread that writes. An asynchronous
 * write calls it in the main context in which the write was started. The bytes of all shards are counted together.
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
