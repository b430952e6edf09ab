/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "corpus-contents.h"

#include <string.h>

static void
append_hex (GString *line, const char *text)
{
  const char *p;

  for (p = text; *p != '\0'; p++)
    g_string_append_printf (line, "%02x", (guint) (guchar) *p);
}

static char *
describe_tensor (AprSafetensorsReader *reader, const char *name, GError **error)
{
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, name, error);
  g_autoptr (GString) line = g_string_new ("tensor ");
  g_autofree char *digest = NULL;
  const gsize *shape;
  gsize n_dims, i;

  if (tensor == NULL)
    return NULL;
  append_hex (line, name);
  g_string_append_printf (line, " %s [", apr_dtype_to_string (apr_tensor_get_dtype (tensor)));
  shape = apr_tensor_get_shape (tensor, &n_dims);
  for (i = 0; i < n_dims; i++)
    g_string_append_printf (line, "%s%" G_GSIZE_FORMAT, i > 0 ? "," : "", shape[i]);
  digest = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, apr_tensor_get_bytes (tensor));
  g_string_append_printf (line, "] %s", digest);
  return g_string_free (g_steal_pointer (&line), FALSE);
}

static char *
describe_pair (const char *key, const char *value)
{
  GString *line = g_string_new ("metadata ");

  append_hex (line, key);
  g_string_append_c (line, ' ');
  append_hex (line, value);
  return g_string_free (line, FALSE);
}

static int
compare_lines (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char *
corpus_contents (AprSafetensorsReader *reader, GError **error)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) contents = g_string_new (NULL);
  const char *const *names = apr_safetensors_reader_get_names (reader);
  GHashTableIter iter;
  gpointer key, value;
  guint i;

  for (i = 0; names[i] != NULL; i++)
    {
      char *line = describe_tensor (reader, names[i], error);

      if (line == NULL)
        return NULL;
      g_ptr_array_add (lines, line);
    }
  g_hash_table_iter_init (&iter, apr_safetensors_reader_get_metadata (reader));
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_ptr_array_add (lines, describe_pair (key, value));

  g_ptr_array_sort (lines, compare_lines);
  for (i = 0; i < lines->len; i++)
    g_string_append_printf (contents, "%s\n", (const char *) lines->pdata[i]);
  return g_string_free (g_steal_pointer (&contents), FALSE);
}
