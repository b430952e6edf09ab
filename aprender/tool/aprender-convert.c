/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <gio/gio.h>

#include "aprender/tool/apr-npy.h"
#include "aprender/tool/apr-npz.h"
#include "aprender/tool/apr-tool-interrupt.h"
#include "aprender/tool/apr-tool-output.h"
#include "aprender/tool/apr-tool-safetensors.h"
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
  GPtrArray *names;     /* (element-type utf8) */
  GPtrArray *tensors;   /* (element-type AprTensor) */
  GHashTable *metadata; /* (nullable) */
  gboolean is_cast;     /* whether a tensor has another dtype than in the input */
} Contents;

static void
contents_clear (Contents *self)
{
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
read_safetensors (Contents *self, const char *path, GError **error)
{
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_path (path, error);
  const char *const *names = reader != NULL ? apr_safetensors_reader_get_names (reader) : NULL;
  gsize i;

  for (i = 0; names != NULL && names[i] != NULL; i++)
    {
      AprTensor *tensor = apr_safetensors_reader_get_tensor (reader, names[i], error);

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

static gboolean
read_contents (Contents *self, const char *path, const ConvertOptions *options, GError **error)
{
  g_autofree char *name = g_filename_display_name (path);
  gboolean ok;

  switch (get_format (path))
    {
    case SAFETENSORS:
      return read_safetensors (self, path, error);
    case NPY:
      ok = read_npy (self, path, options->tensor, error);
      break;
    case NPZ:
      ok = apr_npz_read (path, self->names, self->tensors, error);
      break;
    case UNKNOWN:
    default:
      g_assert_not_reached ();
    }
  if (!ok && error != NULL && strstr ((*error)->message, name) == NULL)
    g_prefix_error (error, "%s: ", name);

  return ok;
}

/* Leaves only the tensor that is asked for. */
static gboolean
select_tensor (Contents *self, const char *path, const char *name, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  guint i;

  for (i = self->names->len; name != NULL && i-- > 0;)
    if (strcmp (g_ptr_array_index (self->names, i), name) != 0)
      {
        g_ptr_array_remove_index (self->names, i);
        g_ptr_array_remove_index (self->tensors, i);
      }
  if (name == NULL || self->names->len > 0)
    return TRUE;

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "%s: there is no tensor “%s”", shown, name);
  return FALSE;
}

static gboolean
cast (Contents *self, const char *name, GError **error)
{
  g_autofree char *upper = g_ascii_strup (name, -1);
  AprDType dtype;
  guint i;

  if (!apr_dtype_from_string (upper, &dtype, error))
    return FALSE;
  for (i = 0; i < self->tensors->len; i++)
    {
      AprTensor *tensor = g_ptr_array_index (self->tensors, i);
      AprDType from = apr_tensor_get_dtype (tensor);
      AprTensor *rounded;

      if (from != APR_DTYPE_F16 && from != APR_DTYPE_BF16 && from != APR_DTYPE_F32 && from != APR_DTYPE_F64)
        continue;
      rounded = apr_tensor_cast (tensor, dtype, error);
      if (rounded == NULL)
        return FALSE;
      apr_tensor_unref (tensor);
      self->tensors->pdata[i] = rounded;
      self->is_cast = self->is_cast || dtype != from;
    }

  return TRUE;
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
  return !self->is_cast || !g_hash_table_contains (self->metadata, KEY_MODEL) ||
         !g_hash_table_contains (self->metadata, KEY_CORRECTLY_ROUNDED) ||
         apr_safetensors_writer_set_metadata (writer, KEY_CORRECTLY_ROUNDED, "false", error);
}

static gboolean
write_safetensors (const Contents *self, const char *path, GError **error)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GFile) file = g_file_new_for_path (path);
  gboolean is_written;
  guint i;

  for (i = 0; i < self->names->len; i++)
    if (!apr_safetensors_writer_add_tensor (writer, g_ptr_array_index (self->names, i),
                                            g_ptr_array_index (self->tensors, i), error))
      return FALSE;
  /* What was in the file before is copied, also what other programs stumble over. */
  apr_safetensors_writer_set_portable (writer, FALSE);
  if (!write_metadata (self, writer, error))
    return FALSE;

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
  GBytes *data;

  if (self->tensors->len != 1)
    {
      g_set_error (
        error, APR_ERROR, APR_ERROR_SHAPE,
        "%s: an .npy file holds one array, but there are %u tensors: choose one by --tensor, or write .npz",
        name, self->tensors->len);
      return FALSE;
    }
  header = apr_npy_make_header (g_ptr_array_index (self->tensors, 0), error);
  if (header == NULL)
    {
      g_prefix_error (error, "the tensor “%s”: ", (const char *) g_ptr_array_index (self->names, 0));
      return FALSE;
    }
  data = apr_tensor_get_bytes (g_ptr_array_index (self->tensors, 0));
  /* An error is seen when the file is closed. */
  fwrite (g_bytes_get_data (header, NULL), 1, g_bytes_get_size (header), stream);
  if (g_bytes_get_size (data) > 0)
    fwrite (g_bytes_get_data (data, NULL), 1, g_bytes_get_size (data), stream);

  return TRUE;
}

static gboolean
write_npz (const Contents *self, FILE *stream, const char *name, GError **error)
{
  if (apr_npz_write (stream, self->names, self->tensors, error))
    return TRUE;

  g_prefix_error (error, "%s: ", name);
  return FALSE;
}

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
    contents = { g_ptr_array_new_with_free_func (g_free),
                 g_ptr_array_new_with_free_func ((GDestroyNotify) apr_tensor_unref), NULL, FALSE };
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

  if (!read_contents (&contents, arguments[0], options, &error) ||
      !select_tensor (&contents, arguments[0], options->tensor, &error) ||
      (options->dtype != NULL && !cast (&contents, options->dtype, &error)) ||
      !write_contents (&contents, arguments[1], &error))
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
    "Metadata are kept from SafeTensors to SafeTensors; numpy's files have none. Each number is "
    "rounded once;\n"
    "integers keep their dtype. A model in another dtype is no longer said to be correctly rounded. An "
    ".npy file\n"
    "holds one tensor.",
  .example = "aprender convert model.safetensors small.safetensors --dtype bf16",
  .run = run,
};
