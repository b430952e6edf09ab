/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-reader-private.h"

/**
 * AprSafetensorsReader:
 *
 * Reads named tensors in the SafeTensors format, from a file, a stream, or bytes in memory.
 *
 * ```c
 * g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_path ("model.safetensors", &error);
 * g_autoptr (AprTensor) weights = NULL;
 *
 * if (reader == NULL)
 *   return FALSE;
 * weights = apr_safetensors_reader_get_tensor (reader, "weights", &error);
 * ```
 *
 * Opening a file reads and checks its header. A file with anything wrong in it is refused as a whole, with an error
 * that has the tensor's name and the numbers.
 *
 * ## Load modes
 *
 * By default a local file is mapped into memory and nothing is copied: [method@Apr.SafetensorsReader.get_tensor]
 * returns a view of the mapping, and the file may be larger than memory. Each tensor keeps the mapping alive, even
 * after the reader is gone. The mapping is private, so a script that writes to a view of a tensor does not change the
 * file. Do not truncate or overwrite a file while its tensors are in use: a truncated file ends the program with
 * SIGBUS. Replacing it by a new file, as [class@Apr.SafetensorsWriter] does, is safe.
 *
 * With %APR_SAFETENSORS_LOAD_MODE_READ the file stays open, and each tensor is read when it is asked for. This suits
 * network file systems, and files that may be truncated: that is then the error %APR_SAFETENSORS_ERROR_TRUNCATED.
 * [method@Apr.SafetensorsReader.get_slice] reads a part of a tensor:
 *
 * ```c
 * g_autoptr (AprSafetensorsReader) reader =
 *   g_initable_new (APR_TYPE_SAFETENSORS_READER, cancellable, &error,
 *                   "file", file, "load-mode", APR_SAFETENSORS_LOAD_MODE_READ, NULL);
 * g_autoptr (AprTensor) rows = NULL;
 *
 * if (reader == NULL)
 *   return FALSE;
 * rows = apr_safetensors_reader_get_slice (reader, "weights", "1:3, ::-1", &error);
 * ```
 *
 * A reader that is created with properties is a [iface@Gio.Initable]: in C, Vala and Python it has no tensors until
 * [method@Gio.Initable.init] was called. In JavaScript it opens its file when it is first used.
 *
 * ## Threads, memory and blocking
 *
 * Initialise a reader in one thread. From then on it never changes, and any number of threads may use it at once.
 *
 * Strings, shapes and the metadata that a reader returns belong to it. Tensors are the caller's, and keep what they
 * need of the reader alive.
 *
 * Opening a file blocks while the header is read, and for a file that is not local while the whole of it is loaded;
 * [func@Apr.SafetensorsReader.new_from_file_async] does not block. After that, only
 * [method@Apr.SafetensorsReader.get_tensor] and [method@Apr.SafetensorsReader.get_slice] can block: in the load mode
 * %APR_SAFETENSORS_LOAD_MODE_READ, and while a slice that is not contiguous is copied. Both have asynchronous twins.
 *
 * ## Checkpoints of several files
 *
 * Large models are split into shards: several SafeTensors files, and an index that says which tensor is in which
 * file. A file whose name ends in `.index.json` is opened as such an index, and the reader has the tensors of all
 * shards:
 *
 * ```json
 * {"metadata": {"total_size": 36},
 *  "weight_map": {"weights": "model-00001-of-00002.safetensors",
 *                 "bias": "model-00002-of-00002.safetensors"}}
 * ```
 *
 * All shards are opened and checked at once, in either load mode. The index must name every tensor of every shard
 * exactly once, and nothing else. Which number `total_size` is does not matter: some programs count the bytes of the
 * tensors, others those of the files.
 *
 * A shard must be a file in the folder of the index. A name with a slash, `..`, a colon, a percent sign or a control
 * character is refused. So is a symbolic link that leads out of that folder, unless it stays in the folder of the file
 * that the index itself links to, as in a download cache. There may be at most 10,000 shards.
 *
 * The metadata of the reader are the keys on which all shards agree.
 *
 * ## The format
 *
 * A SafeTensors file has three parts, with nothing between or after them:
 *
 * 1. eight bytes: the length N of the header, an unsigned little-endian number;
 * 2. N bytes: the header, one JSON object in UTF-8, with optional white space (usually spaces) around it;
 * 3. the data: the elements of the tensors, little-endian and in row-major order.
 *
 * This is a complete header:
 *
 * ```json
 * {"__metadata__":{"format":"pt"},
 *  "weights":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},
 *  "bias":{"dtype":"F32","shape":[3],"data_offsets":[24,36]}}
 * ```
 *
 * Each name stands for a tensor, with three fields in any order. Unknown fields are ignored.
 *
 * - `dtype` is a string: `BOOL`, `U8`, `I8`, `U16`, `I16`, `U32`, `I32`, `U64`, `I64`, `F16`, `BF16`, `F32`, `F64`,
 *   `C64` (two F32), `F8_E5M2`, `F8_E4M3`, `F8_E8M0`, `F8_E4M3FNUZ`, `F8_E5M2FNUZ`, or one of the packed `F4`,
 *   `F6_E2M3`, `F6_E3M2`. See [enum@Apr.DType].
 * - `shape` is an array of whole numbers: the size along each dimension. An empty array makes a scalar, which has one
 *   element; a size of zero makes a tensor without elements.
 * - `data_offsets` is an array of two whole numbers: where the tensor's bytes begin and end, from the start of the
 *   data.
 *
 * The tensors cover the data exactly, in any order, without gaps or overlaps, and each has exactly the bytes that its
 * dtype and shape need. A name can be any string, even the empty one, except the reserved `__metadata__`, which maps
 * strings to strings, and can be missing, null or empty. Tensors that are not aligned are read correctly.
 *
 * Refused are: a header larger than [property@Apr.SafetensorsReader:max-header-size], anything that is not strict JSON,
 * nesting beyond 127 levels, unknown dtypes, sizes beyond 64 bits, sub-byte elements that do not fill whole bytes,
 * and any missing or extra byte. This reader also refuses what other readers accept but may read differently:
 * duplicate names and metadata keys, a NUL in a name or in the metadata, and entries or dtypes that are JSON values
 * of another kind.
 *
 * Since: 0.1
 */
typedef enum
{
  PROP_FILE = 1,
  PROP_BYTES,
  PROP_LOAD_MODE,
  PROP_MAX_HEADER_SIZE,
} AprSafetensorsReaderProperty;

static GParamSpec *properties[PROP_MAX_HEADER_SIZE + 1];

static void apr_safetensors_reader_initable_iface_init (GInitableIface *iface);

G_DEFINE_ENUM_TYPE (AprSafetensorsLoadMode,
                    apr_safetensors_load_mode,
                    G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_LOAD_MODE_MAP, "map"),
                    G_DEFINE_ENUM_VALUE (APR_SAFETENSORS_LOAD_MODE_READ, "read"))

/* The default implementation of GAsyncInitable runs init () in a thread. */
G_DEFINE_FINAL_TYPE_WITH_CODE (AprSafetensorsReader,
                               apr_safetensors_reader,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_INITABLE,
                                                      apr_safetensors_reader_initable_iface_init)
                                 G_IMPLEMENT_INTERFACE (G_TYPE_ASYNC_INITABLE, NULL))

static void
apr_safetensors_reader_finalize (GObject *object)
{
  AprSafetensorsReader *self = APR_SAFETENSORS_READER (object);

  g_clear_object (&self->file);
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_clear_pointer (&self->owners, g_hash_table_unref);
  g_clear_pointer (&self->sources, g_ptr_array_unref);
  g_clear_pointer (&self->metadata, g_hash_table_unref);
  g_clear_pointer (&self->names, g_free);
  g_clear_pointer (&self->names_in_file_order, g_free);
  g_clear_pointer (&self->metadata_keys, g_free);

  G_OBJECT_CLASS (apr_safetensors_reader_parent_class)->finalize (object);
}

static void
apr_safetensors_reader_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  AprSafetensorsReader *self = APR_SAFETENSORS_READER (object);

  switch ((AprSafetensorsReaderProperty) id) /* GCOVR_EXCL_BR_LINE: GObject asks for no other property */
    {
    case PROP_FILE:
      g_value_set_object (value, self->file);
      break;
    case PROP_BYTES:
      g_value_set_boxed (value, self->bytes);
      break;
    case PROP_LOAD_MODE:
      g_value_set_enum (value, (int) self->load_mode);
      break;
    case PROP_MAX_HEADER_SIZE:
      g_value_set_uint64 (value, self->max_header_size);
      break;
    default:                                                 /* GCOVR_EXCL_LINE: see above */
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec); /* GCOVR_EXCL_LINE: see above */
    }
}

static void
apr_safetensors_reader_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  AprSafetensorsReader *self = APR_SAFETENSORS_READER (object);

  switch ((AprSafetensorsReaderProperty) id) /* GCOVR_EXCL_BR_LINE: GObject asks for no other property */
    {
    case PROP_FILE:
      self->file = g_value_dup_object (value);
      self->path = self->file != NULL ? g_file_get_path (self->file) : NULL;
      break;
    case PROP_BYTES:
      self->bytes = g_value_dup_boxed (value);
      break;
    case PROP_LOAD_MODE:
      self->load_mode = (AprSafetensorsLoadMode) g_value_get_enum (value);
      break;
    case PROP_MAX_HEADER_SIZE:
      self->max_header_size = g_value_get_uint64 (value);
      break;
    default:                                                 /* GCOVR_EXCL_LINE: see above */
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec); /* GCOVR_EXCL_LINE: see above */
    }
}

static void
apr_safetensors_reader_class_init (AprSafetensorsReaderClass *klass)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = apr_safetensors_reader_finalize;
  object_class->get_property = apr_safetensors_reader_get_property;
  object_class->set_property = apr_safetensors_reader_set_property;

  /**
   * AprSafetensorsReader:file:
   *
   * The file to read, or the index of its shards. Set either this or [property@Apr.SafetensorsReader:bytes].
   *
   * Since: 0.1
   */
  properties[PROP_FILE] = g_param_spec_object ("file", NULL, NULL, G_TYPE_FILE, flags);

  /**
   * AprSafetensorsReader:bytes:
   *
   * The bytes of a SafeTensors file that is in memory. The reader takes a reference.
   *
   * Since: 0.1
   */
  properties[PROP_BYTES] = g_param_spec_boxed ("bytes", NULL, NULL, G_TYPE_BYTES, flags);

  /**
   * AprSafetensorsReader:load-mode:
   *
   * How to read the tensors of a file.
   *
   * Since: 0.1
   */
  properties[PROP_LOAD_MODE] = g_param_spec_enum ("load-mode", NULL, NULL, APR_TYPE_SAFETENSORS_LOAD_MODE,
                                                  APR_SAFETENSORS_LOAD_MODE_MAP, flags);

  /**
   * AprSafetensorsReader:max-header-size:
   *
   * The size of the largest header to accept, in bytes, and of the largest index. Values above 2^32 - 1 count as that.
   *
   * The default, 100,000,000, is the limit of the reference implementation.
   *
   * Since: 0.1
   */
  properties[PROP_MAX_HEADER_SIZE] = g_param_spec_uint64 ("max-header-size", NULL, NULL, 0, G_MAXUINT64,
                                                          APR_SAFETENSORS_MAX_HEADER_SIZE, flags);

  g_object_class_install_properties (object_class, G_N_ELEMENTS (properties), properties);
}

static void
apr_safetensors_reader_init (AprSafetensorsReader *self)
{
  self->sources = g_ptr_array_new_with_free_func ((GDestroyNotify) apr_safetensors_source_free);
}

static void
apr_safetensors_reader_initable_iface_init (GInitableIface *iface)
{
  iface->init = apr_safetensors_reader_open;
}

/* What a reader returns before it is initialised. It keeps nothing yet, because it will have more later. */
static const char *const no_strings[] = { NULL };

static int
compare_strings (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

static const char **
list_names_in_file_order (AprSafetensorsReader *self)
{
  const char **names = g_new (const char *, apr_safetensors_reader_count_tensors (self) + 1);
  gsize n_names = 0, j;
  guint i;

  for (i = 0; i < self->sources->len; i++)
    {
      AprSafetensorsHeader *header = ((AprSafetensorsSource *) self->sources->pdata[i])->header;
      g_autofree guint32 *order = apr_safetensors_header_sort_places (header);

      for (j = 0; j < header->n_entries; j++)
        names[n_names++] =
          apr_safetensors_header_get_name (header, &header->entries[order != NULL ? order[j] : j]);
    }
  names[n_names] = NULL;
  return names;
}

/**
 * apr_safetensors_reader_get_names:
 * @self: a reader
 *
 * Gets the names of all tensors, sorted by their UTF-8 bytes.
 *
 * Returns: (transfer none) (array zero-terminated=1): the names, owned by the reader
 *
 * Since: 0.1
 */
const char *const *
apr_safetensors_reader_get_names (AprSafetensorsReader *self)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), NULL);

  if (!apr_safetensors_reader_is_initialised (self))
    return no_strings;
  if (g_once_init_enter (&self->names))
    {
      const char **names = list_names_in_file_order (self);

      qsort (names, apr_safetensors_reader_count_tensors (self), sizeof *names, compare_strings);
      g_once_init_leave (&self->names, names);
    }
  return self->names;
}

/**
 * apr_safetensors_reader_get_names_in_file_order:
 * @self: a reader
 *
 * Gets the names of all tensors in the order of their data in the file. Reading them in this order is fastest.
 *
 * Empty tensors at the same offset are in the order of the header. Shards are in the order of their names.
 *
 * Returns: (transfer none) (array zero-terminated=1): the names, owned by the reader
 *
 * Since: 0.1
 */
const char *const *
apr_safetensors_reader_get_names_in_file_order (AprSafetensorsReader *self)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), NULL);

  if (!apr_safetensors_reader_is_initialised (self))
    return no_strings;
  if (g_once_init_enter (&self->names_in_file_order))
    g_once_init_leave (&self->names_in_file_order, list_names_in_file_order (self));
  return self->names_in_file_order;
}

/* Merges the metadata of all files, without the keys that have different values. */
static GHashTable *
merge_metadata (AprSafetensorsReader *self)
{
  GHashTable *metadata = g_hash_table_new_full (apr_safetensors_name_hash, g_str_equal, g_free, g_free);
  g_autoptr (GHashTable) disputed = g_hash_table_new (apr_safetensors_name_hash, g_str_equal);
  GHashTableIter iter;
  gpointer disputed_key;
  gsize j;
  guint i;

  for (i = 0; i < self->sources->len; i++)
    {
      AprSafetensorsHeader *header = ((AprSafetensorsSource *) self->sources->pdata[i])->header;

      for (j = 0; j < header->n_pairs; j++)
        {
          char *key = header->names + header->pairs[j].key;
          const char *value = header->names + header->pairs[j].value;
          const char *before = g_hash_table_lookup (metadata, key);

          if (before == NULL)
            g_hash_table_insert (metadata, g_strdup (key), g_strdup (value));
          else if (!g_str_equal (before, value))
            g_hash_table_add (disputed, key);
        }
    }
  g_hash_table_iter_init (&iter, disputed);
  while (g_hash_table_iter_next (&iter, &disputed_key, NULL))
    g_hash_table_remove (metadata, disputed_key);
  return metadata;
}

/**
 * apr_safetensors_reader_get_metadata:
 * @self: a reader
 *
 * Gets the strings of `__metadata__` by their keys.
 *
 * Returns: (transfer none) (element-type utf8 utf8): the metadata, owned by the reader; do not change them
 *
 * Since: 0.1
 */
GHashTable *
apr_safetensors_reader_get_metadata (AprSafetensorsReader *self)
{
  static GHashTable *no_metadata;

  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), NULL);

  if (!apr_safetensors_reader_is_initialised (self))
    {
      if (g_once_init_enter (&no_metadata))
        g_once_init_leave (&no_metadata, g_hash_table_new (g_str_hash, g_str_equal));
      return no_metadata;
    }
  if (g_once_init_enter (&self->metadata))
    g_once_init_leave (&self->metadata, merge_metadata (self));
  return self->metadata;
}

/**
 * apr_safetensors_reader_get_metadata_keys:
 * @self: a reader
 *
 * Gets the keys of [method@Apr.SafetensorsReader.get_metadata], sorted by their UTF-8 bytes.
 *
 * Returns: (transfer none) (array zero-terminated=1): the keys, owned by the reader
 *
 * Since: 0.1
 */
const char *const *
apr_safetensors_reader_get_metadata_keys (AprSafetensorsReader *self)
{
  g_return_val_if_fail (APR_IS_SAFETENSORS_READER (self), NULL);

  if (!apr_safetensors_reader_is_initialised (self))
    return no_strings;
  if (g_once_init_enter (&self->metadata_keys))
    {
      guint n_keys;
      GHashTable *metadata = apr_safetensors_reader_get_metadata (self);
      const char **keys = (const char **) g_hash_table_get_keys_as_array (metadata, &n_keys);

      qsort (keys, n_keys, sizeof *keys, compare_strings);
      g_once_init_leave (&self->metadata_keys, keys);
    }
  return self->metadata_keys;
}
