/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

/* Runs a target once on each file, or each file of each folder, that is named: so it works without a fuzzer, too. */

static guint n_runs;

static void
run_file (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *contents = NULL;
  g_autofree guint8 *input = NULL;
  gsize size;

  g_file_get_contents (path, &contents, &size, &error);
  g_assert_no_error (error);
  /* Without the NUL that GLib adds, so that a sanitizer sees who reads too far. */
  input = g_memdup2 (contents, size);
  g_test_message ("%s", path);
  LLVMFuzzerTestOneInput (input, size);
  n_runs++;
}

static void
run (const char *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;

  if (folder == NULL)
    {
      run_file (path);
      return;
    }
  while ((name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *child = g_build_filename (path, name, NULL);

      run (child);
    }
}

int
main (int argc, char **argv)
{
  int i;

  for (i = 1; i < argc; i++)
    run (argv[i]);
  g_print ("%u inputs\n", n_runs);
  return n_runs > 0 ? 0 : 1;
}
