/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-writer.h"
#include "aprender/safetensors/apr-atomic-file-private.h"
#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-safetensors-header-private.h"

#include <json-glib/json-glib.h>

/* The data begin at a multiple of this, so that elements are aligned. */
#define ALIGNMENT 8

/**
 * AprSafetensorsWriter:
 *
 * Writes named tensors to a file in the SafeTensors format, or to bytes in memory.
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
 * Add tensors and metadata in any order, then write, as often as wanted. The same tensors and metadata give the same
 * bytes, whatever order they came in. The format is explained at [class@Apr.SafetensorsReader].
 *
 * ## What the file looks like
 *
 * The bytes are those that the format's first implementation, the Python package `safetensors`, writes: tensors by
 * their dtype, from U64 down to BOOL, in the order opposite to [enum@Apr.DType], so that each is aligned; within a dtype by
 * the UTF-8 bytes of their names; the header as compact JSON, with spaces at its end so that the data begin at a
 * multiple of eight. Without metadata there is no `__metadata__`. Of several metadata keys that package writes the
 * order at random; here they are sorted by their UTF-8 bytes.
 *
 * A metadata key `dtype`, `shape` or `data_offsets`, in upper or lower case letters, makes Ollama refuse the whole
 * file, so a prefix is wise: this library's own keys begin with `aprender.`.
 *
 * ## Safe saves
 *
 * A local file is replaced all at once: the new one is written beside it under another name, flushed to the disk, and
 * then renamed. Whatever happens on the way, a full disk, a crash or a power cut, the path holds the old file whole or
 * the new one whole. A file that is replaced keeps its mode, and a new one gets what the umask leaves. Where the path is
 * a symbolic link, the file it names is replaced and the link stays. Tensors that were read from the very file that is
 * replaced stay good.
 *
 * The tensors' bytes are not copied on their way to a file.
 *
 * Since: 0.1
 */
struct _AprSafetensorsWriter
{
  GObject parent_instance;

  GHashTable *tensors;  /* (owned) name to AprTensor */
  GHashTable *metadata; /* (owned) key to value */
};

G_DEFINE_FINAL_TYPE (AprSafetensorsWriter, apr_safetensors_writer, G_TYPE_OBJECT)

static void
apr_safetensors_writer_finalize (GObject *object)
{
  AprSafetensorsWriter *self = APR_SAFETENSORS_WRITER (object);

  g_clear_pointer (&self->tensors, g_hash_table_unref);
  g_clear_pointer (&self->metadata, g_hash_table_unref);

  G_OBJECT_CLASS (apr_safetensors_writer_parent_class)->finalize (object);
}

static void
apr_safetensors_writer_class_init (AprSafetensorsWriterClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = apr_safetensors_writer_finalize;
}

static void
apr_safetensors_writer_init (AprSafetensorsWriter *self)
{
  /* Names may come from a file, so they are hashed with a key. */
  self->tensors =
    g_hash_table_new_full (apr_safetensors_name_hash, g_str_equal, g_free, (GDestroyNotify) apr_tensor_unref);
  self->metadata = g_hash_table_new_full (apr_safetensors_name_hash, g_str_equal, g_free, g_free);
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
 * %APR_SAFETENSORS_ERROR_NAME if the name is the reserved one, and with %APR_SAFETENSORS_ERROR_ENCODING if it is not
 * UTF-8. The writer is then as it was.
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
  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (tensor != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!check_utf8 ("the tensor's name", name, error))
    return FALSE;
  if (g_str_equal (name, APR_SAFETENSORS_METADATA_NAME))
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NAME,
                   "no tensor can be called “%s”: the format keeps this name for the metadata", name);
      return FALSE;
    }
  if (g_hash_table_contains (self->tensors, name))
    {
      g_autofree char *display = apr_json_display (name, strlen (name));

      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_DUPLICATE,
                   "there is a tensor called “%s” already", display);
      return FALSE;
    }
  g_hash_table_insert (self->tensors, g_strdup (name), apr_tensor_ref (tensor));
  return TRUE;
}

/**
 * apr_safetensors_writer_set_metadata:
 * @self: a writer
 * @key: a key, any UTF-8
 * @value: its value, any UTF-8
 * @error: return location for an error
 *
 * Sets a string that goes into the file's `__metadata__`, in place of a former value of the key.
 *
 * Fails with %APR_SAFETENSORS_ERROR_ENCODING if the key or the value is not UTF-8. The writer is then as it was.
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

  if (!check_utf8 ("the metadata key", key, error))
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

typedef struct
{
  const char *name;
  AprTensor *tensor;
  AprDType dtype;
} Item;

static int
compare_items (gconstpointer a, gconstpointer b)
{
  const Item *one = a;
  const Item *other = b;

  if (one->dtype != other->dtype)
    return one->dtype > other->dtype ? -1 : 1;
  return strcmp (one->name, other->name);
}

static Item *
sort_tensors (AprSafetensorsWriter *self)
{
  /* One more than needed: qsort() wants memory even where there is nothing to sort. */
  Item *items = g_new (Item, g_hash_table_size (self->tensors) + 1);
  Item *item = items;
  GHashTableIter iter;
  gpointer name, tensor;

  g_hash_table_iter_init (&iter, self->tensors);
  for (; g_hash_table_iter_next (&iter, &name, &tensor); item++)
    *item = (Item){ name, tensor, apr_tensor_get_dtype (tensor) };
  qsort (items, (gsize) (item - items), sizeof *items, compare_items);
  return items;
}

static int
compare_keys (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/*
 * Appends what json-glib generated for one object, without its braces, and spelled as the reference does: 0x7f as it
 * is, 0x1f as an escape (json-glib 1.6 forgets it), and numbers without a sign, which json-glib does not know.
 */
static void
append_members (GString *header, const GString *object)
{
  const char *p = object->str + 1;
  const char *end = object->str + object->len - 1;
  gboolean in_string = FALSE;

  while (p < end)
    {
      if (*p == '"')
        in_string = !in_string;
      if (*p == '\\' && strncmp (p, "\\u007f", 6) == 0)
        {
          g_string_append_c (header, '\x7f');
          p += 6;
        }
      else if (*p == '\\')
        {
          g_string_append_len (header, p, 2);
          p += 2;
        }
      else if (*p == '\x1f')
        {
          g_string_append (header, "\\u001f");
          p++;
        }
      else if (*p == '-' && !in_string)
        {
          char *rest;

          g_string_append_printf (header, "%" G_GUINT64_FORMAT, (guint64) g_ascii_strtoll (p, &rest, 10));
          p = rest;
        }
      else
        g_string_append_c (header, *p++);
    }
}

/* Appends "name":value, and takes the value. */
static void
append_pair (GString *header, const char *name, JsonNode *value)
{
  g_autoptr (JsonObject) object = json_object_new ();
  g_autoptr (JsonNode) node = json_node_init_object (json_node_alloc (), object);
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  GString *text = g_string_new (NULL);

  /* One at a time: an object of all of them would hash hostile names without a key. */
  json_object_set_member (object, name, value);
  json_generator_set_root (generator, node);
  json_generator_to_gstring (generator, text);
  append_members (header, text);
  g_string_free (text, TRUE);
}

static void
append_metadata (AprSafetensorsWriter *self, GString *header)
{
  g_autofree const char **keys = NULL;
  guint n_keys;
  guint i;

  keys = (const char **) g_hash_table_get_keys_as_array (self->metadata, &n_keys);
  if (n_keys == 0)
    return;
  qsort (keys, n_keys, sizeof *keys, compare_keys);
  g_string_append (header, "\"" APR_SAFETENSORS_METADATA_NAME "\":{");
  for (i = 0; i < n_keys; i++)
    {
      if (i > 0)
        g_string_append_c (header, ',');
      append_pair (header, keys[i],
                   json_node_init_string (json_node_alloc (), g_hash_table_lookup (self->metadata, keys[i])));
    }
  g_string_append_c (header, '}');
}

static void
append_tensor (GString *header, const Item *item, guint64 begin, guint64 end)
{
  JsonObject *fields = json_object_new ();
  JsonArray *shape = json_array_new ();
  JsonArray *offsets = json_array_new ();
  const gsize *dims;
  gsize n_dims, i;

  dims = apr_tensor_get_shape (item->tensor, &n_dims);
  for (i = 0; i < n_dims; i++)
    json_array_add_int_element (shape, (gint64) dims[i]);
  json_array_add_int_element (offsets, (gint64) begin);
  json_array_add_int_element (offsets, (gint64) end);
  json_object_set_string_member (fields, "dtype", apr_dtype_to_string (item->dtype));
  json_object_set_array_member (fields, "shape", shape);
  json_object_set_array_member (fields, "data_offsets", offsets);
  append_pair (header, item->name, json_node_init_object (json_node_alloc (), fields));
  json_object_unref (fields);
}

/* What a file consists of: the first piece is the header, the others are the tensors' own bytes. */
typedef struct
{
  GString *header;
  GArray *pieces;
  guint64 size;
} Layout;

static void
layout_clear (Layout *layout)
{
  if (layout->header != NULL)
    g_string_free (layout->header, TRUE);
  g_clear_pointer (&layout->pieces, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Layout, layout_clear)

static void
layout_append (Layout *layout, gconstpointer bytes, gsize size)
{
  GOutputVector piece = { bytes, size };

  g_array_append_val (layout->pieces, piece);
}

/* Completes the header, of which the first bytes are left free for its length. */
static gboolean
finish_header (GString *header, GError **error)
{
  guint64 length;

  while (header->len % ALIGNMENT != 0)
    g_string_append_c (header, ' ');
  length = header->len - APR_SAFETENSORS_PREFIX_SIZE;
  if (length > APR_SAFETENSORS_MAX_HEADER_SIZE)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE,
                   "the header would take %" G_GUINT64_FORMAT " bytes, more than the limit of %d", length,
                   APR_SAFETENSORS_MAX_HEADER_SIZE);
      return FALSE;
    }
  length = GUINT64_TO_LE (length);
  memcpy (header->str, &length, APR_SAFETENSORS_PREFIX_SIZE);
  return TRUE;
}

static gboolean
layout_init (Layout *layout, AprSafetensorsWriter *self, GError **error)
{
  g_autofree Item *items = sort_tensors (self);
  guint n_items = g_hash_table_size (self->tensors);
  guint64 end = 0;
  guint i;

  layout->header = g_string_new ("12345678{");
  layout->pieces = g_array_sized_new (FALSE, FALSE, sizeof (GOutputVector), n_items + 1);
  g_array_set_size (layout->pieces, 1);
  append_metadata (self, layout->header);
  for (i = 0; i < n_items; i++)
    {
      guint64 begin = end;
      gconstpointer bytes;
      gsize size;

      bytes = g_bytes_get_data (apr_tensor_get_bytes (items[i].tensor), &size);
      if (size > G_MAXINT64 - APR_SAFETENSORS_PREFIX_SIZE - APR_SAFETENSORS_MAX_HEADER_SIZE - begin)
        {
          g_autofree char *display = apr_json_display (items[i].name, strlen (items[i].name));

          g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_OVERFLOW,
                       "with tensor “%s” of %" G_GSIZE_FORMAT
                       " bytes the file would be larger than any file can be",
                       display, size);
          return FALSE;
        }
      end = begin + size;
      if (layout->header->len > APR_SAFETENSORS_PREFIX_SIZE + 1)
        g_string_append_c (layout->header, ',');
      append_tensor (layout->header, &items[i], begin, end);
      layout_append (layout, bytes, size);
    }
  g_string_append_c (layout->header, '}');
  if (!finish_header (layout->header, error))
    return FALSE;
  g_array_index (layout->pieces, GOutputVector, 0) =
    (GOutputVector){ layout->header->str, layout->header->len };
  layout->size = layout->header->len + end;
  return TRUE;
}

/* Makes a stream forget what was written to it, instead of putting it in the file's place. */
static void
abandon_stream (GOutputStream *stream)
{
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();

  g_cancellable_cancel (cancelled);
  g_output_stream_close (stream, cancelled, NULL);
}

static gboolean
write_to_stream (const Layout *layout, GFile *file, GCancellable *cancellable, GError **error)
{
  g_autoptr (GFileOutputStream) stream = NULL;
  guint i;

  stream = g_file_replace (file, NULL, FALSE, G_FILE_CREATE_NONE, cancellable, error);
  if (stream == NULL)
    return FALSE;
  for (i = 0; i < layout->pieces->len; i++)
    {
      const GOutputVector *piece = &g_array_index (layout->pieces, GOutputVector, i);

      if (!g_output_stream_write_all (G_OUTPUT_STREAM (stream), piece->buffer, piece->size, NULL, cancellable,
                                      error))
        {
          abandon_stream (G_OUTPUT_STREAM (stream));
          return FALSE;
        }
    }
  return g_output_stream_close (G_OUTPUT_STREAM (stream), cancellable, error);
}

static gboolean
write_to_local_file (const Layout *layout, const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (AprAtomicFile) file = apr_atomic_file_open (path, error);

  return file != NULL &&
         apr_atomic_file_write (file, (const GOutputVector *) (gconstpointer) layout->pieces->data,
                                layout->pieces->len, cancellable, error) &&
         apr_atomic_file_commit (file, error);
}

/**
 * apr_safetensors_writer_write_to_file:
 * @self: a writer
 * @file: where to write
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Writes a file, in place of one that may be there.
 *
 * A local file is replaced all at once and safely, see [class@Apr.SafetensorsWriter]; for another it is as good as
 * [method@Gio.File.replace].
 *
 * Fails with an error of %G_IO_ERROR if the file cannot be written, with %APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE if the
 * header would take more than 100,000,000 bytes, and with %APR_SAFETENSORS_ERROR_OVERFLOW if the file would be larger
 * than any file can be. Either message begins with the file's path or URI.
 *
 * Returns: whether the file was written
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_write_to_file (AprSafetensorsWriter *self,
                                      GFile *file,
                                      GCancellable *cancellable,
                                      GError **error)
{
  g_auto (Layout) layout = { NULL };
  g_autofree char *uri = NULL;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (G_IS_FILE (file), FALSE);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (layout_init (&layout, self, error))
    {
      if (g_file_peek_path (file) != NULL)
        return write_to_local_file (&layout, g_file_peek_path (file), cancellable, error);
      if (write_to_stream (&layout, file, cancellable, error))
        return TRUE;
    }
  uri = g_file_peek_path (file) != NULL ? g_filename_display_name (g_file_peek_path (file))
                                        : g_file_get_uri (file);
  g_prefix_error (error, "%s: ", uri);
  return FALSE;
}

/**
 * apr_safetensors_writer_write_to_path:
 * @self: a writer
 * @path: (type filename): a local file's path
 * @error: return location for an error
 *
 * Writes a local file, in place of one that may be there.
 *
 * Replaces it, and fails, as [method@Apr.SafetensorsWriter.write_to_file] does.
 *
 * Returns: whether the file was written
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_writer_write_to_path (AprSafetensorsWriter *self, const char *path, GError **error)
{
  g_auto (Layout) layout = { NULL };

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), FALSE);
  g_return_val_if_fail (path != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  if (!layout_init (&layout, self, error))
    {
      g_autofree char *display = g_filename_display_name (path);

      g_prefix_error (error, "%s: ", display);
      return FALSE;
    }
  return write_to_local_file (&layout, path, NULL, error);
}

/**
 * apr_safetensors_writer_write_to_bytes:
 * @self: a writer
 * @error: return location for an error
 *
 * Makes the bytes that a file would have.
 *
 * Fails with %APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE if the header would take more than 100,000,000 bytes, and with
 * %APR_SAFETENSORS_ERROR_OVERFLOW if memory cannot hold the whole.
 *
 * Returns: (transfer full): the bytes
 *
 * Since: 0.1
 */
GBytes *
apr_safetensors_writer_write_to_bytes (AprSafetensorsWriter *self, GError **error)
{
  g_auto (Layout) layout = { NULL };
  char *bytes;
  char *p;
  guint i;

  g_return_val_if_fail (APR_IS_SAFETENSORS_WRITER (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!layout_init (&layout, self, error))
    return NULL;
  bytes = p = layout.size > G_MAXSIZE ? NULL : g_try_malloc ((gsize) layout.size);
  if (bytes == NULL)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_OVERFLOW,
                   "there is no memory for the %" G_GUINT64_FORMAT " bytes", layout.size);
      return NULL;
    }
  for (i = 0; i < layout.pieces->len; i++)
    {
      const GOutputVector *piece = &g_array_index (layout.pieces, GOutputVector, i);

      if (piece->size > 0)
        memcpy (p, piece->buffer, piece->size);
      p += piece->size;
    }
  return g_bytes_new_take (bytes, (gsize) layout.size);
}
