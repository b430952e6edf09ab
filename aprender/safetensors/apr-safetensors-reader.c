/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-reader.h"
#include "aprender/safetensors/apr-safetensors-header-private.h"
#include "aprender/safetensors/apr-json-scanner-private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <glib/gstdio.h>

/**
 * AprSafetensorsReader:
 *
 * Reads named tensors from a file in the SafeTensors format, or from bytes in memory.
 *
 * ```c
 * g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_path ("model.safetensors", &error);
 * g_autoptr (AprTensor) weights = apr_safetensors_reader_get_tensor (reader, "weights", &error);
 * ```
 *
 * Opening reads and checks the header; nothing is handed out from a file with anything wrong in it, and the error
 * says what is wrong, with the tensor's name and the numbers. The tensors' bytes are not read and not copied:
 * a local file is mapped into memory, [method@Apr.SafetensorsReader.get_tensor] points into the mapping, and each
 * tensor keeps the mapping alive, also when the reader is gone. The mapping is private: writing to it, which a script
 * with a writable view of the bytes can do, never reaches the file. The file should not be truncated or overwritten in
 * place while tensors from it are in use; replacing it by another, as [class@Apr.SafetensorsWriter] does, is safe.
 *
 * A reader does not change after it was made, and may be used from several threads at once.
 *
 * ## The format
 *
 * A SafeTensors file has three parts, without anything between or after them:
 *
 * 1. eight bytes: the length N of the header, as an unsigned little-endian number;
 * 2. N bytes: the header, one JSON object in UTF-8, which may have white space (often spaces) around it;
 * 3. the data: the tensors' elements, little-endian and in row-major order.
 *
 * This is a whole header:
 *
 * ```json
 * {"__metadata__":{"format":"pt"},
 *  "weights":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},
 *  "bias":{"dtype":"F32","shape":[3],"data_offsets":[24,36]}}
 * ```
 *
 * Each name stands for a tensor, with three fields in any order, beside which unknown ones are passed over:
 *
 * - `dtype`, a string: `BOOL`, `U8`, `I8`, `U16`, `I16`, `U32`, `I32`, `U64`, `I64`, `F16`, `BF16`, `F32`, `F64`,
 *   `C64` (two F32), `F8_E5M2`, `F8_E4M3`, `F8_E8M0`, `F8_E4M3FNUZ`, `F8_E5M2FNUZ`, or one of the packed `F4`,
 *   `F6_E2M3`, `F6_E3M2`: [enum@Apr.DType] has them all;
 * - `shape`, an array of whole numbers: the size along each dimension. An empty array makes a scalar of one element,
 *   and a size of zero a tensor without elements;
 * - `data_offsets`, two whole numbers: where the tensor's bytes begin and end, counted from the start of the data.
 *
 * The tensors cover the data from the first byte to the last, in whatever order, without overlaps and without gaps, and
 * each has just the bytes that its dtype and shape need. Names may be any string, the empty one included.
 * `__metadata__` is the one reserved name: it holds strings with string names, and may be absent, null or empty.
 * Data are aligned if the writer took care of it; tensors that are not are read correctly all the same.
 *
 * What is refused: a header above 100,000,000 bytes, text that is not strictly JSON, nesting beyond 127 levels,
 * unknown dtypes, sizes beyond 64 bits, sub-byte elements that do not fill whole bytes, any byte too few or too many.
 * Also refused, though other implementations let it pass, is what two programs may read differently: two tensors or two
 * metadata keys of one name, a NUL in a name or in the metadata, and entries or dtypes that are written as
 * another kind of JSON value.
 *
 * Since: 0.1
 */
struct _AprSafetensorsReader
{
  GObject parent_instance;

  GBytes *bytes;
  AprSafetensorsHeader *header;
  GHashTable *metadata;

  /* Made when first asked for; points into the header. */
  const char **names;
};

G_DEFINE_FINAL_TYPE (AprSafetensorsReader, apr_safetensors_reader, G_TYPE_OBJECT)

static void
apr_safetensors_reader_finalize (GObject *object)
{
  AprSafetensorsReader *self = APR_SAFETENSORS_READER (object);

  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_clear_pointer (&self->header, apr_safetensors_header_free);
  g_clear_pointer (&self->metadata, g_hash_table_unref);
  g_clear_pointer (&self->names, g_free);

  G_OBJECT_CLASS (apr_safetensors_reader_parent_class)->finalize (object);
}

static void
apr_safetensors_reader_class_init (AprSafetensorsReaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = apr_safetensors_reader_finalize;
}

static void
apr_safetensors_reader_init (AprSafetensorsReader *self)
{
  /* g_object_new() makes a reader of no tensors. */
  self->header = apr_safetensors_header_new ();
  self->metadata = g_hash_table_new_full (apr_safetensors_name_hash, g_str_equal, g_free, g_free);
}

static void
set_error_from_errno (GError **error, const char *display, int saved_errno)
{
  g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (saved_errno), "%s: %s", display,
               g_strerror (saved_errno));
}

/* Opens a regular file, without waiting for a writer where it turns out to be a FIFO. */
static int
open_regular (const char *path, const char *display, GError **error)
{
  struct stat status;
  int fd;

  do
    fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  while (fd < 0 && errno == EINTR);
  if (fd < 0)
    {
      set_error_from_errno (error, display, errno);
      return -1;
    }
  if (fstat (fd, &status) < 0)
    set_error_from_errno (error, display, errno);
  else if (S_ISDIR (status.st_mode))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY, "%s: %s", display, g_strerror (EISDIR));
  else if (!S_ISREG (status.st_mode))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "%s: Not a regular file", display);
  else
    return fd;
  close (fd);
  return -1;
}

static GBytes *
map_path (const char *path, const char *display, GError **error)
{
  g_autoptr (GMappedFile) mapped = NULL;
  g_autoptr (GError) map_error = NULL;
  int fd;

  fd = open_regular (path, display, error);
  if (fd < 0)
    return NULL;
  /* Writable means private here: who writes to the memory changes nothing but a copy. */
  mapped = g_mapped_file_new_from_fd (fd, TRUE, &map_error);
  close (fd);
  if (mapped == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", display, map_error->message);
      return NULL;
    }
  return g_mapped_file_get_bytes (mapped);
}

static AprSafetensorsReader *
open_path (const char *path, GError **error)
{
  g_autofree char *display = g_filename_display_name (path);
  g_autoptr (GBytes) bytes = NULL;
  AprSafetensorsReader *self;

  bytes = map_path (path, display, error);
  if (bytes == NULL)
    return NULL;
  self = apr_safetensors_reader_new_from_bytes (bytes, error);
  if (self == NULL)
    g_prefix_error (error, "%s: ", display);
  return self;
}

/**
 * apr_safetensors_reader_new_from_file: (constructor)
 * @file: a file
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Opens a SafeTensors file.
 *
 * A local file is mapped into memory; another is loaded whole.
 *
 * Fails with an error of %G_IO_ERROR if the file cannot be read, such as %G_IO_ERROR_NOT_FOUND,
 * %G_IO_ERROR_IS_DIRECTORY or %G_IO_ERROR_NOT_REGULAR_FILE, and with one of %APR_SAFETENSORS_ERROR if it is no valid
 * SafeTensors file. Either message begins with the file's path or URI.
 *
 * Returns: (transfer full): a reader of the file
 *
 * Since: 0.1
 */
AprSafetensorsReader *
apr_safetensors_reader_new_from_file (GFile *file, GCancellable *cancellable, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  AprSafetensorsReader *self = NULL;

  g_return_val_if_fail (G_IS_FILE (file), NULL);
  g_return_val_if_fail (cancellable == NULL || G_IS_CANCELLABLE (cancellable), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  if (g_file_peek_path (file) != NULL)
    return open_path (g_file_peek_path (file), error);
  bytes = g_file_load_bytes (file, cancellable, NULL, error);
  if (bytes != NULL)
    self = apr_safetensors_reader_new_from_bytes (bytes, error);
  if (self == NULL)
    {
      g_autofree char *uri = g_file_get_uri (file);

      g_prefix_error (error, "%s: ", uri);
    }
  return self;
}

/**
 * apr_safetensors_reader_new_from_path: (constructor)
 * @path: (type filename): a local file's path
 * @error: return location for an error
 *
 * Opens a local SafeTensors file.
 *
 * Fails as [ctor@Apr.SafetensorsReader.new_from_file] does.
 *
 * Returns: (transfer full): a reader of the file
 *
 * Since: 0.1
 */
AprSafetensorsReader *
apr_safetensors_reader_new_from_path (const char *path, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return open_path (path, error);
}

/**
 * apr_safetensors_reader_new_from_bytes: (constructor)
 * @bytes: a SafeTensors file's bytes
 * @error: return location for an error
 *
 * Reads a SafeTensors file that is in memory already.
 *
 * The bytes are not copied: the reader and the tensors keep references to them.
 *
 * Fails with an error of %APR_SAFETENSORS_ERROR if the bytes are no valid SafeTensors file.
 *
 * Returns: (transfer full): a reader of the bytes
 *
 * Since: 0.1
 */
AprSafetensorsReader *
apr_safetensors_reader_new_from_bytes (GBytes *bytes, GError **error)
{
  AprSafetensorsReader *self;
  AprSafetensorsHeader *header;
  gconstpointer data;
  gsize size;

  g_return_val_if_fail (bytes != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  data = g_bytes_get_data (bytes, &size);
  header = apr_safetensors_header_parse (data, size, APR_SAFETENSORS_MAX_HEADER_SIZE, error);
  if (header == NULL)
    return NULL;
  self = g_object_new (APR_TYPE_SAFETENSORS_READER, NULL);
  apr_safetensors_header_free (self->header);
  self->header = header;
  self->bytes = g_bytes_ref (bytes);
  if (header->metadata != NULL)
    {
      g_hash_table_unref (self->metadata);
      self->metadata = g_hash_table_ref (header->metadata);
    }
  return self;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/**
 * apr_safetensors_reader_get_names:
 * @self: a reader
 *
 * Gets the names of all tensors, sorted by their UTF-8 bytes.
 *
 * Returns: (transfer none) (array zero-terminated=1): the names, which belong to the reader
 *
 * Since: 0.1
 */
const char *const *
apr_safetensors_reader_get_names (AprSafetensorsReader *self)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), NULL);

  if (g_once_init_enter (&self->names))
    {
      const char **names = g_new (const char *, self->header->n_entries + 1);
      gsize i;

      for (i = 0; i < self->header->n_entries; i++)
        names[i] = apr_safetensors_header_get_name (self->header, &self->header->entries[i]);
      names[i] = NULL;
      qsort (names, self->header->n_entries, sizeof *names, compare_names);
      g_once_init_leave (&self->names, names);
    }
  return self->names;
}

/**
 * apr_safetensors_reader_has_tensor:
 * @self: a reader
 * @name: a name
 *
 * Finds out whether there is a tensor of this name.
 *
 * Returns: whether there is one
 *
 * Since: 0.1
 */
gboolean
apr_safetensors_reader_has_tensor (AprSafetensorsReader *self, const char *name)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);

  return apr_safetensors_header_find (self->header, name) != NULL;
}

static const AprSafetensorsEntry *
find_entry (AprSafetensorsReader *self, const char *name, GError **error)
{
  const AprSafetensorsEntry *entry = apr_safetensors_header_find (self->header, name);
  g_autofree char *valid = NULL;
  g_autofree char *display = NULL;

  if (entry != NULL)
    return entry;
  valid = g_utf8_make_valid (name, -1);
  display = apr_json_display (valid, strlen (valid));
  g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND,
               "no tensor is called “%s” among the %" G_GSIZE_FORMAT " that there are", display,
               self->header->n_entries);
  return NULL;
}

/**
 * apr_safetensors_reader_get_dtype:
 * @self: a reader
 * @name: a tensor's name
 * @error: return location for an error
 *
 * Gets the type of a tensor's elements, without touching its bytes.
 *
 * Fails with %APR_SAFETENSORS_ERROR_NOT_FOUND if no tensor has the name.
 *
 * Returns: the dtype, or %APR_DTYPE_NONE on failure
 *
 * Since: 0.1
 */
AprDType
apr_safetensors_reader_get_dtype (AprSafetensorsReader *self, const char *name, GError **error)
{
  const AprSafetensorsEntry *entry;

  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), APR_DTYPE_NONE);
  g_return_val_if_fail (name != NULL, APR_DTYPE_NONE);
  g_return_val_if_fail (error == NULL || *error == NULL, APR_DTYPE_NONE);

  entry = find_entry (self, name, error);
  return entry != NULL ? entry->dtype : APR_DTYPE_NONE;
}

/**
 * apr_safetensors_reader_get_shape:
 * @self: a reader
 * @name: a tensor's name
 * @n_dims: (out): the number of dimensions
 * @error: return location for an error
 *
 * Gets a tensor's size along each of its dimensions, without touching its bytes.
 *
 * A scalar has no dimensions: @n_dims is then 0, and no error is set.
 *
 * Fails with %APR_SAFETENSORS_ERROR_NOT_FOUND if no tensor has the name.
 *
 * Returns: (array length=n_dims) (transfer none): the shape, which belongs to the reader, or `NULL` on failure
 *
 * Since: 0.1
 */
const gsize *
apr_safetensors_reader_get_shape (AprSafetensorsReader *self, const char *name, gsize *n_dims, GError **error)
{
  const AprSafetensorsEntry *entry;

  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), NULL);
  g_return_val_if_fail (name != NULL, NULL);
  g_return_val_if_fail (n_dims != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  *n_dims = 0;
  entry = find_entry (self, name, error);
  if (entry == NULL)
    return NULL;
  *n_dims = entry->n_dims;
  return apr_safetensors_header_get_shape (self->header, entry);
}

/**
 * apr_safetensors_reader_get_tensor:
 * @self: a reader
 * @name: a tensor's name
 * @error: return location for an error
 *
 * Gets a tensor, without copying its bytes.
 *
 * The tensor keeps the file's mapping, or the bytes that the reader was made from, alive for as long as it needs them.
 *
 * Fails with %APR_SAFETENSORS_ERROR_NOT_FOUND if no tensor has the name.
 *
 * Returns: (transfer full): the tensor
 *
 * Since: 0.1
 */
AprTensor *
apr_safetensors_reader_get_tensor (AprSafetensorsReader *self, const char *name, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  const AprSafetensorsEntry *entry;

  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), NULL);
  g_return_val_if_fail (name != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  entry = find_entry (self, name, error);
  if (entry == NULL)
    return NULL;
  bytes = g_bytes_new_from_bytes (self->bytes, self->header->data_start + (gsize) entry->begin,
                                  (gsize) (entry->end - entry->begin));
  return apr_tensor_new_from_bytes (entry->dtype, apr_safetensors_header_get_shape (self->header, entry),
                                    entry->n_dims, bytes, error);
}

/**
 * apr_safetensors_reader_get_metadata:
 * @self: a reader
 *
 * Gets the strings of `__metadata__`, by their keys.
 *
 * Returns: (transfer none) (element-type utf8 utf8): the metadata, which belong to the reader and must not be
 *   changed; empty if the file has none
 *
 * Since: 0.1
 */
GHashTable *
apr_safetensors_reader_get_metadata (AprSafetensorsReader *self)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), NULL);

  return self->metadata;
}
