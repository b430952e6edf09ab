/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include "aprender/safetensors/apr-safetensors-index-private.h"

/* The text of an index of shards: where it is accepted, no name of a shard can lead out of the folder. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_memdup2 (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsIndex) index = apr_safetensors_index_parse (text, size, &error);
  GHashTableIter iter;
  gpointer name, number;
  guint i;

  assert_verdict (index, error);
  if (index == NULL)
    return 0;
  for (i = 0; i < index->files->len; i++)
    {
      const char *file = g_ptr_array_index (index->files, i);
      g_autofree char *path = g_build_filename ("/folder", file, NULL);
      g_autofree char *canonical = g_canonicalize_filename (file, "/folder");
      g_autofree char *parent = g_path_get_dirname (canonical);

      g_assert_cmpstr (canonical, ==, path);
      g_assert_cmpstr (parent, ==, "/folder");
      g_assert_null (strpbrk (file, "/\\:%\n"));
      g_assert_true (g_utf8_validate (file, -1, NULL));
    }
  g_hash_table_iter_init (&iter, index->owners);
  while (g_hash_table_iter_next (&iter, &name, &number))
    {
      g_assert_true (g_utf8_validate (name, -1, NULL));
      g_assert_cmpuint (GPOINTER_TO_UINT (number), <, index->files->len);
    }
  return 0;
}
