/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"

#include <glib/gstdio.h>
#include <stdio.h>

/* What the tests of SafeTensors files need. */

/* A file of this header and these data. */
static inline GBytes *
make_file (const char *header, gconstpointer data, gsize size)
{
  gsize length = strlen (header);
  guint8 *file = g_malloc (8 + length + size);
  guint i;

  for (i = 0; i < 8; i++)
    file[i] = (guint8) ((guint64) length >> (8 * i));
  memcpy (file + 8, header, length);
  memcpy (file + 8 + length, data, size);
  return g_bytes_new_take (file, 8 + length + size);
}

typedef struct
{
  char *folder;
} Folder;

static inline void
folder_set_up (Folder *self, gconstpointer data)
{
  GError *error = NULL;

  self->folder = g_dir_make_tmp ("apr-test-XXXXXX", &error);
  g_assert_no_error (error);
}

static inline void
remove_tree (const char *path)
{
  GDir *dir = g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      remove_tree (child);
    }
  g_clear_pointer (&dir, g_dir_close);
  g_remove (path);
}

static inline void
folder_tear_down (Folder *self, gconstpointer data)
{
  remove_tree (self->folder);
  g_free (self->folder);
}

/* Writes a file of the folder, and returns its path. */
static inline char *
folder_write (Folder *self, const char *name, GBytes *bytes)
{
  char *path = g_build_filename (self->folder, name, NULL);
  FILE *file = g_fopen (path, "wb");

  /* Not g_file_set_contents(), which waits for the disk. */
  g_assert_nonnull (file);
  if (g_bytes_get_size (bytes) > 0)
    g_assert_cmpuint (fwrite (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), 1, file), ==, 1);
  g_assert_cmpint (fclose (file), ==, 0);
  return path;
}

static inline AprSafetensorsReader *
reader_open (const char *path, AprSafetensorsLoadMode load_mode, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);

  return g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, error, "file", file, "load-mode", load_mode,
                         NULL);
}

static inline void
assert_bytes (AprTensor *tensor, const char *expected)
{
  gsize size;
  gconstpointer bytes;

  g_assert_nonnull (tensor);
  bytes = g_bytes_get_data (apr_tensor_get_bytes (tensor), &size);
  g_assert_cmpmem (bytes, size, expected, strlen (expected));
}
