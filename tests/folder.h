/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdio.h>

/* Temporary folders. */

static inline char *
make_folder (void)
{
  GError *error = NULL;
  char *folder = g_dir_make_tmp ("apr-test-XXXXXX", &error);

  g_assert_no_error (error);
  return folder;
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
  g_assert_no_errno (g_remove (path));
}

/* A folder for one file, whose path this gives too. */
static inline char *
make_folder_for_file (char **path)
{
  char *folder = make_folder ();

  *path = g_build_filename (folder, "model.safetensors", NULL);
  return folder;
}

/* Removes such a folder with the file, if that is there, and frees both names. Fails where anything else was left
 * behind. */
static inline void
remove_folder_for_file (char *folder, char *path)
{
  g_remove (path);
  g_assert_no_errno (g_rmdir (folder));
  g_free (folder);
  g_free (path);
}

/* A fixture: a folder that goes with all that is in it. */
typedef struct
{
  char *folder;
} Folder;

static inline void
folder_set_up (Folder *self, gconstpointer data)
{
  self->folder = make_folder ();
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
