/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include <gio/gio.h>

#include "aprender/tool/apr-npy.h"
#include "aprender/tool/apr-npz.h"
#include "aprender/tool/apr-tool-interrupt.h"
#include "aprender/tool/apr-tool-output.h"
#include "aprender/tool/apr-tool-safetensors.h"
#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

/* Keys of a model's file. */
#define KEY_MODEL "aprender.model"
#define KEY_CORRECTLY_ROUNDED "aprender.correctly_rounded"

typedef struct
{
  char *dtype;  /* (nullable) */
  char *tensor; /* (nullable) */
} ConvertOptions;

static const AprToolOption options_of_convert[] = {
  { "dtype", 0, APR_TOOL_TEXT, G_STRUCT_OFFSET (ConvertOptions, dtype),
    "Round tensors of F16, BF16, F32 and F64 to this dtype", "f16|bf16|f32|f64" },
  { "tensor", 0, APR_TOOL_TEXT, G_STRUCT_OFFSET (ConvertOptions, tensor),
    "Take only this tensor; of an .npy file, call it so", "NAME" },
  { NULL },
};

typedef enum
{
  UNKNOWN,
  SAFETENSORS,
  NPY,
  NPZ,
} Format;

/* What is converted. */
typedef struct
{
  char *input;          /* the name of the file, for messages */
  GPtrArray *names;     /* (element-type utf8) */
  GPtrArray *tensors;   /* (element-type AprTensor), as in the input */
  GHashTable *metadata; /* (nullable) */
  AprDType dtype;       /* to which floats are rounded, unless it is %APR_DTYPE_NONE */
} Contents;

static void
contents_clear (Contents *self)
{
  g_clear_pointer (&self->input, g_free);
  g_clear_pointer (&self->names, g_ptr_array_unref);
  g_clear_pointer (&self->tensors, g_ptr_array_unref);
  g_clear_pointer (&self->metadata, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Contents, contents_clear)

static void
contents_take (Contents *self, const char *name, AprTensor *tensor)
{
  g_ptr_array_add (self->names, g_strdup (name));
  g_ptr_array_add (self->tensors, tensor);
}

static Format
get_format (const char *path)
{
  if (apr_tool_is_safetensors (path))
    return SAFETENSORS;
  return g_str_has_suffix (path, ".npy") ? NPY : g_str_has_suffix (path, ".npz") ? NPZ : UNKNOWN;
}

static gboolean
read_safetensors (Contents *self, const char *path, const char *wanted, GError **error)
{
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_path (path, error);
  const char *const *names = reader != NULL ? apr_safetensors_reader_get_names (reader) : NULL;
  gsize i;

  for (i = 0; names != NULL && names[i] != NULL; i++)
    {
      AprTensor *tensor;

      if (wanted != NULL && strcmp (names[i], wanted) != 0)
        continue;
      tensor = apr_safetensors_reader_get_tensor (reader, names[i], error);
      if (tensor == NULL)
        return FALSE;
      contents_take (self, names[i], tensor);
    }
  if (reader != NULL)
    self->metadata = g_hash_table_ref (apr_safetensors_reader_get_metadata (reader));

  return reader != NULL;
}

static gboolean
read_stream (gpointer source, gpointer buffer, gsize size, gsize *n_read, GError **error)
{
  return g_input_stream_read_all (source, buffer, size, n_read, NULL, error);
}

/* The array is called what its file is, or as --tensor says. */
static gboolean
read_npy (Contents *self, const char *path, const char *name, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInputStream) stream = g_file_read (file, NULL, error);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *valid = NULL;
  AprTensor *tensor = stream != NULL ? apr_npy_read (read_stream, stream, error) : NULL;

  if (tensor == NULL)
    return FALSE;
  base[strlen (base) - strlen (".npy")] = '\0';
  valid = g_utf8_make_valid (base, -1);
  contents_take (self, name != NULL ? name : valid, tensor);

  return TRUE;
}

#ifndef APR_NPZ
static gboolean
refuse_npz (const char *name, GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               "%s: aprender was built without libarchive, for .npz", name);
  return FALSE;
}
#endif

static gboolean
read_npz (Contents *self, const char *path, const char *wanted, GError **error)
{
#ifdef APR_NPZ
  return apr_npz_read (path, wanted, self->names, self->tensors, error);
#else
  return refuse_npz (self->input, error);
#endif
}

static gboolean
read_contents (Contents *self, const char *path, const ConvertOptions *options, GError **error)
{
  gboolean ok;

  switch (get_format (path))
    {
    case SAFETENSORS:
      return read_safetensors (self, path, options->tensor, error);
    case NPY:
      ok = read_npy (self, path, options->tensor, error);
      break;
    case NPZ:
      ok = read_npz (self, path, options->tensor, error);
      break;
    case UNKNOWN:
    default:
      g_assert_not_reached ();
    }
  if (!ok && error != NULL && strstr ((*error)->message, self->input) == NULL)
    g_prefix_error (error, "%s: ", self->input);

  return ok;
}

static gboolean
check_tensor (const Contents *self, const char *name, GError **error)
{
  if (name == NULL || self->names->len > 0)
    return TRUE;

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s: there is no tensor “%s”", self->input, name);
  return FALSE;
}

static gboolean
find_dtype (Contents *self, const char *name, GError **error)
{
  g_autofree char *upper = name != NULL ? g_ascii_strup (name, -1) : NULL;

  return upper == NULL || apr_dtype_from_string (upper, &self->dtype, error);
}

/* Whether a tensor gets another dtype than in the input. */
static gboolean
is_rounded (const Contents *self, AprTensor *tensor)
{
  AprDType from = apr_tensor_get_dtype (tensor);

  return self->dtype != APR_DTYPE_NONE && self->dtype != from &&
         (from == APR_DTYPE_F16 || from == APR_DTYPE_BF16 || from == APR_DTYPE_F32 || from == APR_DTYPE_F64);
}

/* A tensor as it is written. Only one is rounded at a time: all together may be larger than memory. */
static AprTensor *
round_tensor (const Contents *self, const char *name, AprTensor *tensor, GError **error)
{
  AprTensor *rounded =
    is_rounded (self, tensor) ? apr_tensor_cast (tensor, self->dtype, error) : apr_tensor_ref (tensor);

  if (rounded == NULL)
    g_prefix_error (error, "%s: the tensor “%s”: ", self->input, name);

  return rounded;
}

static void
cancel_if_interrupted (goffset n_written, goffset n_bytes, gpointer data)
{
  if (apr_tool_interrupt_is_waiting ())
    g_cancellable_cancel (data);
}

static gboolean
write_metadata (const Contents *self, AprSafetensorsWriter *writer, GError **error)
{
  gboolean is_cast = FALSE;
  guint i;
  GHashTableIter iter;
  gpointer key;
  gpointer value;

  if (self->metadata == NULL)
    return TRUE;

  g_hash_table_iter_init (&iter, self->metadata);
  while (g_hash_table_iter_next (&iter, &key, &value))
    if (!apr_safetensors_writer_set_metadata (writer, key, value, error))
      return FALSE;

  /* The coefficients are then rounded twice, or of a wider dtype than the one to which they were rounded. */
  for (i = 0; i < self->tensors->len; i++)
    is_cast = is_cast || is_rounded (self, g_ptr_array_index (self->tensors, i));

  return !is_cast || !g_hash_table_contains (self->metadata, KEY_MODEL) ||
         !g_hash_table_contains (self->metadata, KEY_CORRECTLY_ROUNDED) ||
         apr_safetensors_writer_set_metadata (writer, KEY_CORRECTLY_ROUNDED, "false", error);
}

/* Finds the tensor that is to be rounded, of those that are sorted by their names. */
typedef struct
{
  const char *name;
  AprTensor *tensor;
} Named;

typedef struct
{
  const Contents *contents;
  Named *tensors;
  gsize n_tensors;
  AprTensor *rounded; /* (nullable): the one that is being written */
} Source;

static void
source_clear (Source *self)
{
  g_clear_pointer (&self->tensors, g_free);
  g_clear_pointer (&self->rounded, apr_tensor_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Source, source_clear)

static void
source_init (Source *self, const Contents *contents)
{
  guint i;

  self->contents = contents;
  self->n_tensors = contents->names->len;
  self->tensors = g_new (Named, self->n_tensors);
  for (i = 0; i < contents->names->len; i++)
    self->tensors[i] =
      (Named){ g_ptr_array_index (contents->names, i), g_ptr_array_index (contents->tensors, i) };
  /* A name is the first member. */
  if (self->n_tensors > 1)
    qsort (self->tensors, self->n_tensors, sizeof *self->tensors, apr_tool_compare_texts);
}

static GBytes *
get_rounded (
  AprSafetensorsWriter *writer, const char *name, guint64 offset, gsize size, gpointer data, GError **error)
{
  Source *self = data;
  GBytes *bytes;

  if (offset == 0)
    {
      const Named *found =
        bsearch (&name, self->tensors, self->n_tensors, sizeof *self->tensors, apr_tool_compare_texts);

      g_clear_pointer (&self->rounded, apr_tensor_unref);
      self->rounded = round_tensor (self->contents, name, found->tensor, error);
      if (self->rounded == NULL)
        return NULL;
    }
  bytes = apr_tensor_get_bytes (self->rounded);

  return g_bytes_new_from_bytes (bytes, (gsize) offset,
                                 MIN (size, g_bytes_get_size (bytes) - (gsize) offset));
}

static gboolean
add_tensor (
  const Contents *self, AprSafetensorsWriter *writer, const char *name, AprTensor *tensor, GError **error)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (tensor, &n_dims);

  if (is_rounded (self, tensor)
        ? apr_safetensors_writer_declare_tensor (writer, name, self->dtype, shape, n_dims, error)
        : apr_safetensors_writer_add_tensor (writer, name, tensor, error))
    return TRUE;

  g_prefix_error (error, "%s: ", self->input);
  return FALSE;
}

static gboolean
write_safetensors (const Contents *self, const char *path, GError **error)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_auto (Source) source = { NULL };
  gboolean is_written;
  guint i;

  for (i = 0; i < self->names->len; i++)
    if (!add_tensor (self, writer, g_ptr_array_index (self->names, i), g_ptr_array_index (self->tensors, i),
                     error))
      return FALSE;
  /* What was in the file before is copied, also what other programs stumble over. */
  apr_safetensors_writer_set_portable (writer, FALSE);
  if (!write_metadata (self, writer, error))
    return FALSE;

  source_init (&source, self);
  apr_safetensors_writer_set_data_func (writer, get_rounded, &source, NULL);
  apr_safetensors_writer_set_progress_func (writer, cancel_if_interrupted, cancellable, NULL);
  apr_tool_interrupt_hold ();
  is_written = apr_safetensors_writer_write_to_file (writer, file, cancellable, error);
  apr_tool_interrupt_release ();

  return is_written;
}

static gboolean
write_npy (const Contents *self, FILE *stream, const char *name, GError **error)
{
  g_autoptr (GBytes) header = NULL;
  g_autoptr (AprTensor) tensor = NULL;
  const char *tensor_name;
  GBytes *data;

  if (self->tensors->len != 1)
    {
      g_set_error (
        error, APR_ERROR, APR_ERROR_SHAPE,
        "%s: an .npy file holds one array, but there are %u tensors: choose one by --tensor, or write .npz",
        name, self->tensors->len);
      return FALSE;
    }
  tensor_name = g_ptr_array_index (self->names, 0);
  tensor = round_tensor (self, tensor_name, g_ptr_array_index (self->tensors, 0), error);
  if (tensor == NULL)
    return FALSE;
  header = apr_npy_make_header (tensor, error);
  if (header == NULL)
    {
      g_prefix_error (error, "%s: the tensor “%s”: ", name, tensor_name);
      return FALSE;
    }
  data = apr_tensor_get_bytes (tensor);
  /* An error is seen when the file is closed. */
  fwrite (g_bytes_get_data (header, NULL), 1, g_bytes_get_size (header), stream);
  if (g_bytes_get_size (data) > 0)
    fwrite (g_bytes_get_data (data, NULL), 1, g_bytes_get_size (data), stream);

  return TRUE;
}

#ifdef APR_NPZ

static gboolean
write_npz (const Contents *self, FILE *stream, const char *name, GError **error)
{
  g_auto (AprNpzWriter) writer = { NULL };
  guint i;

  /* A stream may be no file, and keep what was written before a failure. */
  for (i = 0; i < self->names->len; i++)
    if (!apr_npz_check_name (g_ptr_array_index (self->names, i), error))
      {
        g_prefix_error (error, "%s: ", name);
        return FALSE;
      }

  apr_npz_writer_init (&writer, stream);
  for (i = 0; i < self->names->len; i++)
    {
      const char *tensor_name = g_ptr_array_index (self->names, i);
      g_autoptr (AprTensor) tensor =
        round_tensor (self, tensor_name, g_ptr_array_index (self->tensors, i), error);

      if (tensor == NULL)
        return FALSE;
      if (!apr_npz_writer_add (&writer, tensor_name, tensor, error))
        {
          g_prefix_error (error, "%s: ", name);
          return FALSE;
        }
    }
  if (apr_npz_writer_finish (&writer, error))
    return TRUE;

  g_prefix_error (error, "%s: ", name);
  return FALSE;
}

#else

static gboolean
write_npz (const Contents *self, FILE *stream, const char *name, GError **error)
{
  return refuse_npz (name, error);
}

#endif

static gboolean
write_contents (const Contents *self, const char *path, GError **error)
{
  g_auto (AprToolOutput) output = { NULL };
  Format format = get_format (path);

  if (format == SAFETENSORS)
    return write_safetensors (self, path, error);

  return apr_tool_output_open (&output, path, error) &&
         (format == NPY ? write_npy (self, output.stream, output.name, error)
                        : write_npz (self, output.stream, output.name, error)) &&
         apr_tool_output_close (&output, error);
}

static AprToolStatus
run (char **arguments, gpointer data)
{
  const ConvertOptions *options = data;
  g_auto (Contents)
    contents = { g_filename_display_name (arguments[0]), g_ptr_array_new_with_free_func (g_free),
                 g_ptr_array_new_with_free_func ((GDestroyNotify) apr_tensor_unref), NULL, APR_DTYPE_NONE };
  g_autoptr (GError) error = NULL;
  guint i;

  for (i = 0; i < 2; i++)
    if (get_format (arguments[i]) == UNKNOWN)
      return apr_tool_usage_error ("convert", "%s ends with none of .safetensors, .npy and .npz",
                                   arguments[i]);
  if (g_str_has_suffix (arguments[1], ".json"))
    return apr_tool_usage_error ("convert", "an index of shards can be read, but not written: %s",
                                 arguments[1]);
  if (apr_tool_is_same_file (arguments[0], arguments[1]))
    return apr_tool_usage_error ("convert", "the file that is written must not be the one that is read: %s",
                                 arguments[1]);
  if (get_format (arguments[1]) == SAFETENSORS && apr_tool_is_descriptor (arguments[1]))
    return apr_tool_usage_error ("convert", "SafeTensors need a file to replace, not one that is open: %s",
                                 arguments[1]);

  if (!find_dtype (&contents, options->dtype, &error) || !apr_tool_output_check (arguments[1], &error) ||
      !read_contents (&contents, arguments[0], options, &error) ||
      !check_tensor (&contents, options->tensor, &error) || !write_contents (&contents, arguments[1], &error))
    return apr_tool_fail (error);

  return APR_TOOL_OK;
}

const AprToolCommand apr_tool_convert = {
  .name = "convert",
  .title = "Convert between SafeTensors, .npy and .npz, and to another dtype",
  .summary = "Writes the tensors of one file into another: SafeTensors, or numpy's .npy and .npz, as the "
             "names of the\n"
             "files end.",
  .parameters = { "INPUT", "OUTPUT" },
  .options = options_of_convert,
  .size = sizeof (ConvertOptions),
  .notes =
    "Metadata are kept from SafeTensors to SafeTensors, of an index those on which all shards agree; "
    "numpy's\n"
    "files have none. Each number is rounded once; integers keep their dtype. A model in another dtype is no "
    "longer\n"
    "said to be correctly rounded. An .npy file holds one tensor. An .npz file has names in Unicode's "
    "composed "
    "form\n"
    "(NFC) without \\: others are changed when they are read, and refused when they are written.",
  .example = "aprender convert model.safetensors small.safetensors --dtype bf16",
  .run = run,
};
