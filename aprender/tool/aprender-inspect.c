/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aprender/tool/apr-tool-json.h"
#include "aprender/tool/apr-tool-safetensors.h"
#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

static const char **
list_keys (GHashTable *metadata, guint *n_keys)
{
  const char **keys = (const char **) g_hash_table_get_keys_as_array (metadata, n_keys);

  if (*n_keys > 1)
    qsort (keys, *n_keys, sizeof (const char *), apr_tool_compare_texts);

  return keys;
}

static gboolean
add_shape (JsonBuilder *builder, AprSafetensorsReader *reader, const char *name, GError **error)
{
  gsize n_dims = 0;
  const gsize *shape = apr_safetensors_reader_get_shape (reader, name, &n_dims, NULL);
  gsize i;

  json_builder_set_member_name (builder, "shape");
  json_builder_begin_array (builder);
  for (i = 0; i < n_dims; i++)
    {
      /* Only a tensor without elements can have such a size; json-glib's numbers end there. */
      if (shape[i] > G_MAXINT64)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                       "the tensor “%s” has the size %" G_GSIZE_FORMAT ", which is too large for --json",
                       name, shape[i]);
          return FALSE;
        }
      json_builder_add_int_value (builder, (gint64) shape[i]);
    }
  json_builder_end_array (builder);

  return TRUE;
}

static char *
describe_as_json (AprSafetensorsReader *reader, GError **error)
{
  const char *const *names = apr_safetensors_reader_get_names (reader);
  GHashTable *metadata = apr_safetensors_reader_get_metadata (reader);
  guint n_keys;
  g_autofree const char **keys = list_keys (metadata, &n_keys);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  guint i;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "tensors");
  json_builder_begin_object (builder);
  for (i = 0; names[i] != NULL; i++)
    {
      AprDType dtype = apr_safetensors_reader_get_dtype (reader, names[i], NULL);

      json_builder_set_member_name (builder, names[i]);
      json_builder_begin_object (builder);
      apr_tool_json_add_text (builder, "dtype", apr_dtype_to_string (dtype));
      if (!add_shape (builder, reader, names[i], error))
        return NULL;
      apr_tool_json_add_count (builder, "bytes", apr_safetensors_reader_get_size (reader, names[i], NULL));
      json_builder_end_object (builder);
    }
  json_builder_end_object (builder);

  json_builder_set_member_name (builder, "metadata");
  json_builder_begin_object (builder);
  for (i = 0; i < n_keys; i++)
    apr_tool_json_add_text (builder, keys[i], g_hash_table_lookup (metadata, keys[i]));
  json_builder_end_object (builder);
  json_builder_end_object (builder);

  return apr_tool_json_to_string (builder, FALSE);
}

/* Names may be empty, and still must be seen. */
static char *
show_name (const char *name)
{
  return name[0] != '\0' ? apr_tool_escape (name) : g_strdup ("“”");
}

static char *
show_shape (AprSafetensorsReader *reader, const char *name)
{
  gsize n_dims = 0;
  const gsize *shape = apr_safetensors_reader_get_shape (reader, name, &n_dims, NULL);
  GString *text = g_string_new ("[");
  gsize i;

  for (i = 0; i < n_dims; i++)
    g_string_append_printf (text, "%s%" G_GSIZE_FORMAT, i > 0 ? ", " : "", shape[i]);
  g_string_append_c (text, ']');

  return g_string_free (text, FALSE);
}

static void
append_row (GString *text,
            const gsize *widths,
            const char *name,
            const char *dtype,
            const char *shape,
            const char *n_bytes)
{
  const char *const cells[] = { name, dtype, shape };
  gsize width = strlen (n_bytes);
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cells); i++)
    {
      apr_tool_append_padded (text, cells[i], widths[i]);
      g_string_append (text, "  ");
    }
  for (; width < widths[3]; width++)
    g_string_append_c (text, ' ');
  g_string_append_printf (text, "%s\n", n_bytes);
}

static void
append_metadata (GString *text, GHashTable *metadata)
{
  guint n_keys;
  g_autofree const char **keys = list_keys (metadata, &n_keys);
  g_auto (GStrv) shown = g_new0 (char *, (gsize) n_keys + 1);
  gsize width = 0;
  guint i;

  if (n_keys == 0)
    return;

  for (i = 0; i < n_keys; i++)
    {
      shown[i] = show_name (keys[i]);
      width = MAX (width, MIN (apr_tool_get_width (shown[i]), APR_TOOL_MAX_NAME_WIDTH));
    }

  g_string_append (text, "\nmetadata\n");
  for (i = 0; i < n_keys; i++)
    {
      g_autofree char *value = apr_tool_escape (g_hash_table_lookup (metadata, keys[i]));

      g_string_append (text, "  ");
      apr_tool_append_padded (text, shown[i], width);
      g_string_append_printf (text, "  %s\n", value);
    }
}

static char *
describe (AprSafetensorsReader *reader)
{
  const char *const *names = apr_safetensors_reader_get_names (reader);
  gsize n_tensors = g_strv_length ((char **) names);
  g_auto (GStrv) shown = g_new0 (char *, n_tensors + 1);
  g_auto (GStrv) shapes = g_new0 (char *, n_tensors + 1);
  g_auto (GStrv) sizes = g_new0 (char *, n_tensors + 1);
  gsize widths[4] = { strlen ("tensor"), strlen ("dtype"), strlen ("shape"), strlen ("bytes") };
  GString *text = g_string_new (NULL);
  guint64 total = 0;
  gsize i;

  for (i = 0; i < n_tensors; i++)
    {
      guint64 n_bytes = apr_safetensors_reader_get_size (reader, names[i], NULL);
      const char *dtype = apr_dtype_to_string (apr_safetensors_reader_get_dtype (reader, names[i], NULL));

      total += n_bytes;
      shown[i] = show_name (names[i]);
      shapes[i] = show_shape (reader, names[i]);
      sizes[i] = g_strdup_printf ("%" G_GUINT64_FORMAT, n_bytes);
      widths[0] = MAX (widths[0], MIN (apr_tool_get_width (shown[i]), APR_TOOL_MAX_NAME_WIDTH));
      widths[1] = MAX (widths[1], strlen (dtype));
      widths[2] = MAX (widths[2], MIN (strlen (shapes[i]), APR_TOOL_MAX_NAME_WIDTH));
      widths[3] = MAX (widths[3], strlen (sizes[i]));
    }

  append_row (text, widths, "tensor", "dtype", "shape", "bytes");
  for (i = 0; i < n_tensors; i++)
    append_row (text, widths, shown[i],
                apr_dtype_to_string (apr_safetensors_reader_get_dtype (reader, names[i], NULL)), shapes[i],
                sizes[i]);
  g_string_append_printf (text, "\n%" G_GSIZE_FORMAT " %s, %" G_GUINT64_FORMAT " %s in all\n", n_tensors,
                          n_tensors == 1 ? "tensor" : "tensors", total, total == 1 ? "byte" : "bytes");
  append_metadata (text, apr_safetensors_reader_get_metadata (reader));

  return g_string_free (text, FALSE);
}

typedef struct
{
  gboolean json;
} InspectOptions;

static AprToolStatus
run (char **arguments, gpointer data)
{
  const InspectOptions *options = data;
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  reader = apr_tool_open_safetensors (arguments[0], &error);
  if (reader != NULL)
    text = options->json ? describe_as_json (reader, &error) : describe (reader);
  if (text == NULL)
    return apr_tool_fail (error);

  fputs (text, stdout);

  return APR_TOOL_OK;
}

static const AprToolOption options_of_inspect[] = { APR_TOOL_JSON_OPTION (InspectOptions), { NULL } };

const AprToolCommand apr_tool_inspect = {
  .name = "inspect",
  .title = "Show the tensors and the metadata of a SafeTensors file",
  .summary =
    "Shows the tensors of a SafeTensors file, with dtype, shape and number of bytes, and its metadata.",
  .parameters = { "FILE.safetensors" },
  .options = options_of_inspect,
  .size = sizeof (InspectOptions),
  .notes = "“-” reads the file from the standard input. Control characters in names and metadata are\n"
           "shown as JSON writes them, such as \\u001b.",
  .example = "aprender inspect rents.safetensors",
  .run = run,
};
