/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"
#include "tests/folder.h"

#include <fcntl.h>
#include <unistd.h>

/* What the tests of atomic replacement need. */

typedef struct
{
  char *folder;
  char *path;
} Fixture;

static inline char *
in_folder (Fixture *fixture, const char *name)
{
  return g_build_filename (fixture->folder, name, NULL);
}

static inline void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = make_folder_for_file (&fixture->path);
}

/* How many temporaries there are in the folder; they are removed if that is asked for. */
static inline guint
count_litter (Fixture *fixture, gboolean removes)
{
  g_autoptr (GDir) folder = g_dir_open (fixture->folder, 0, NULL);
  const char *name;
  guint n_found = 0;

  while ((name = g_dir_read_name (folder)) != NULL)
    if (g_str_has_prefix (name, "."))
      {
        g_autofree char *path = in_folder (fixture, name);

        g_assert_true (g_str_has_prefix (name, ".model.safetensors."));
        n_found++;
        if (removes)
          g_assert_no_errno (g_unlink (path));
      }
  return n_found;
}

static inline void
tear_down (Fixture *fixture, gconstpointer data)
{
  remove_folder_for_file (fixture->folder, fixture->path);
}

static inline void
set_contents (const char *path, const char *contents)
{
  int fd = g_open (path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, contents, strlen (contents)), ==, (gssize) strlen (contents));
  g_assert_no_errno (close (fd));
}

static inline void
assert_contents (const char *path, const char *expected)
{
  g_autofree char *contents = NULL;
  gsize length;

  g_assert_true (g_file_get_contents (path, &contents, &length, NULL));
  g_assert_cmpmem (contents, length, expected, strlen (expected));
}
