/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/atomic-file-test.h"

#include <errno.h>
#include <sys/stat.h>

#include "aprender/safetensors/apr-atomic-file-private.h"

static guint
get_mode (const char *path)
{
  struct stat status;

  g_assert_no_errno (stat (path, &status));
  return status.st_mode & 07777;
}

static gboolean
save (const char *path, const char *contents, GError **error)
{
  g_autoptr (AprAtomicFile) file = apr_atomic_file_open (path, error);
  GOutputVector vector = { contents, strlen (contents) };

  return file != NULL && apr_atomic_file_write (file, &vector, 1, NULL, error) &&
         apr_atomic_file_commit (file, TRUE, error);
}

static void
save_well (const char *path, const char *contents)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (save (path, contents, &error));
  g_assert_no_error (error);
  assert_contents (path, contents);
}

static void
test_new_and_old (Fixture *fixture, gconstpointer data)
{
  save_well (fixture->path, "first");
  save_well (fixture->path, "the second is longer");
  save_well (fixture->path, "");
  g_assert_cmpuint (count_litter (fixture, FALSE), ==, 0);
}

static void
test_old_until_commit (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  AprAtomicFile *file;
  GOutputVector vector = { "new", 3 };

  set_contents (fixture->path, "old");
  file = apr_atomic_file_open (fixture->path, &error);
  g_assert_no_error (error);
  g_assert_true (apr_atomic_file_write (file, &vector, 1, NULL, &error));
  assert_contents (fixture->path, "old");
  g_assert_cmpuint (count_litter (fixture, FALSE), ==, 1);
  apr_atomic_file_free (file);
  assert_contents (fixture->path, "old");
  g_assert_cmpuint (count_litter (fixture, FALSE), ==, 0);
}

static void
test_gather (Fixture *fixture, gconstpointer data)
{
  enum
  {
    N_VECTORS = 300
  };
  gsize n_large = (gsize) 40 << 20;
  g_autofree char *large = g_malloc (n_large);
  g_autoptr (GString) expected = g_string_new (NULL);
  g_autoptr (AprAtomicFile) file = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *contents = NULL;
  GOutputVector vectors[N_VECTORS];
  gsize length, i;

  g_test_summary ("More pieces and more bytes than one call takes, empty pieces everywhere.");

  for (i = 0; i < n_large; i++)
    large[i] = (char) (i * 31 + (i >> 16));
  for (i = 0; i < N_VECTORS; i++)
    {
      vectors[i].size = i % 3 == 0 ? 0 : i == 200 ? n_large - i : i;
      vectors[i].buffer = vectors[i].size == 0 ? NULL : large + i;
      g_string_append_len (expected, large + i, (gssize) vectors[i].size);
    }
  file = apr_atomic_file_open (fixture->path, &error);
  g_assert_no_error (error);
  g_assert_true (apr_atomic_file_write (file, vectors, N_VECTORS, NULL, &error));
  g_assert_true (apr_atomic_file_write (file, vectors, 0, NULL, &error));
  g_assert_true (apr_atomic_file_commit (file, TRUE, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (fixture->path, &contents, &length, NULL));
  g_assert_cmpuint (length, ==, expected->len);
  g_assert_true (memcmp (contents, expected->str, length) == 0);
}

static void
test_mode_is_kept (Fixture *fixture, gconstpointer data)
{
  static const guint modes[] = { 0600, 0640, 0664, 0444, 0755 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      set_contents (fixture->path, "old");
      g_assert_no_errno (g_chmod (fixture->path, (int) modes[i]));
      save_well (fixture->path, "new");
      g_assert_cmpuint (get_mode (fixture->path), ==, modes[i]);
      g_assert_no_errno (g_unlink (fixture->path));
    }
}

static void
test_umask_is_honoured (Fixture *fixture, gconstpointer data)
{
  static const guint masks[] = { 022, 077, 002, 0 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (masks); i++)
    {
      mode_t old = umask ((mode_t) masks[i]);

      save_well (fixture->path, "new");
      umask (old);
      g_assert_cmpuint (get_mode (fixture->path), ==, 0666 & ~masks[i]);
      g_assert_no_errno (g_unlink (fixture->path));
    }
}

static void
test_private_while_written (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprAtomicFile) file = NULL;
  g_autoptr (GDir) folder = NULL;
  const char *name;

  g_test_summary ("What replaces a private file is private from the first moment on.");

  set_contents (fixture->path, "old");
  g_assert_no_errno (g_chmod (fixture->path, 0600));
  file = apr_atomic_file_open (fixture->path, NULL);
  folder = g_dir_open (fixture->folder, 0, NULL);
  while ((name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *path = in_folder (fixture, name);

      g_assert_cmpuint (get_mode (path), ==, 0600);
    }
}

static void
test_owner_is_kept (Fixture *fixture, gconstpointer data)
{
  struct stat status;

  set_contents (fixture->path, "old");
  if (chown (fixture->path, 12345, 23456) < 0)
    {
      g_test_skip ("only root may give a file to another user");
      return;
    }
  save_well (fixture->path, "new");
  g_assert_no_errno (stat (fixture->path, &status));
  g_assert_cmpuint (status.st_uid, ==, 12345);
  g_assert_cmpuint (status.st_gid, ==, 23456);
}

static void
test_symlink (Fixture *fixture, gconstpointer data)
{
  g_autofree char *link = in_folder (fixture, "link");
  g_autofree char *other = in_folder (fixture, "other");
  g_autofree char *sub = in_folder (fixture, "sub");
  g_autofree char *far = in_folder (fixture, "sub/far");
  g_autofree char *target = NULL;

  g_test_summary (
    "The file that the link names is replaced, the links stay; a relative link counts from its folder.");

  g_assert_no_errno (g_mkdir (sub, 0755));
  set_contents (fixture->path, "old");
  g_assert_no_errno (g_chmod (fixture->path, 0640));
  g_assert_no_errno (symlink ("model.safetensors", link));
  g_assert_no_errno (symlink (link, other));
  g_assert_no_errno (symlink ("../other", far));
  save_well (far, "new");
  assert_contents (fixture->path, "new");
  g_assert_cmpuint (get_mode (fixture->path), ==, 0640);
  target = g_file_read_link (far, NULL);
  g_assert_cmpstr (target, ==, "../other");
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_assert_true (g_file_test (other, G_FILE_TEST_IS_SYMLINK));

  g_assert_no_errno (g_unlink (fixture->path));
  save_well (far, "made through dangling links");
  assert_contents (fixture->path, "made through dangling links");
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));

  g_unlink (far);
  g_unlink (other);
  g_unlink (link);
  g_assert_no_errno (g_rmdir (sub));
}

static void
assert_save_fails (const char *path, int code, int expected_errno)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (save (path, "new", &error));
  g_assert_error (error, G_IO_ERROR, code);
  g_assert_true (g_str_has_prefix (error->message, path));
  g_assert_nonnull (
    strstr (error->message, expected_errno != 0 ? g_strerror (expected_errno) : "Not a regular file"));
}

static void
test_symlink_loop (Fixture *fixture, gconstpointer data)
{
  g_autofree char *one = in_folder (fixture, "one");
  g_autofree char *two = in_folder (fixture, "two");
  g_autofree char *astray = in_folder (fixture, "astray");

  g_assert_no_errno (symlink ("two", one));
  g_assert_no_errno (symlink ("one", two));
  g_assert_no_errno (symlink ("no/such/folder", astray));
  assert_save_fails (one, G_IO_ERROR_TOO_MANY_LINKS, ELOOP);
  assert_save_fails (astray, G_IO_ERROR_NOT_FOUND, ENOENT);
  g_unlink (one);
  g_unlink (two);
  g_unlink (astray);
}

static void
test_not_a_file (Fixture *fixture, gconstpointer data)
{
  g_autofree char *slash = in_folder (fixture, "new/");
  g_autofree char *below = g_build_filename (fixture->path, "below", NULL);
  g_autofree char *link = in_folder (fixture, "link");
  g_autoptr (GError) error = NULL;

  assert_save_fails (fixture->folder, G_IO_ERROR_IS_DIRECTORY, EISDIR);
  assert_save_fails ("/", G_IO_ERROR_IS_DIRECTORY, EISDIR);
  assert_save_fails (slash, G_IO_ERROR_IS_DIRECTORY, EISDIR);
  assert_save_fails ("/dev/null", G_IO_ERROR_NOT_REGULAR_FILE, 0);
  assert_save_fails ("/dev/full", G_IO_ERROR_NOT_REGULAR_FILE, 0);
  g_assert_no_errno (symlink ("/dev/null", link));
  assert_save_fails (link, G_IO_ERROR_NOT_REGULAR_FILE, 0);
  g_assert_no_errno (g_unlink (link));
  g_assert_no_errno (mkfifo (fixture->path, 0600));
  assert_save_fails (fixture->path, G_IO_ERROR_NOT_REGULAR_FILE, 0);
  assert_save_fails (below, G_IO_ERROR_NOT_DIRECTORY, ENOTDIR);
  g_assert_false (save ("", "new", &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_true (g_file_test ("/dev/null", G_FILE_TEST_EXISTS));
}

static void
test_missing_folder (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = in_folder (fixture, "no/file");

  assert_save_fails (path, G_IO_ERROR_NOT_FOUND, ENOENT);
}

static void
test_relative_path (Fixture *fixture, gconstpointer data)
{
  g_autofree char *before = g_get_current_dir ();

  g_assert_no_errno (g_chdir (fixture->folder));
  save_well ("model.safetensors", "new");
  save_well ("./model.safetensors", "newer");
  g_assert_no_errno (g_chdir (before));
  assert_contents (fixture->path, "newer");
}

static void
test_long_name (Fixture *fixture, gconstpointer data)
{
  g_autofree char *ascii = g_strnfill (255, 'n');
  g_autofree char *path = in_folder (fixture, ascii);
  g_autoptr (GString) name = g_string_new ("x");
  g_autofree char *other = NULL;
  g_autofree char *tails = g_strnfill (255, '\x80');
  g_autofree char *no_text = NULL;

  g_test_summary (
    "The temporary's name is longer than the target's, which may have the longest name there is.");

  while (name->len < 255)
    g_string_append (name, "é");
  other = in_folder (fixture, name->str);
  no_text = in_folder (fixture, tails);
  save_well (path, "new");
  save_well (other, "new");
  save_well (no_text, "new");
  g_unlink (path);
  g_unlink (other);
  g_unlink (no_text);
}

#define NOBODY 65534

/* Root may do anything, so it goes on as somebody else, to whom the folder then belongs. */
static void
drop_privileges (Fixture *fixture)
{
  if (geteuid () == 0 && chown (fixture->folder, NOBODY, (gid_t) -1) == 0)
    g_assert_no_errno (seteuid (NOBODY));
}

static void
regain_privileges (void)
{
  g_assert_no_errno (seteuid (getuid ()));
}

static void
test_read_only_folder (Fixture *fixture, gconstpointer data)
{
  set_contents (fixture->path, "old");
  drop_privileges (fixture);
  g_assert_no_errno (g_chmod (fixture->folder, 0555));
  if (faccessat (AT_FDCWD, fixture->folder, W_OK, AT_EACCESS) == 0)
    g_test_skip ("this user writes to read-only folders, and may not become another");
  else
    assert_save_fails (fixture->path, G_IO_ERROR_PERMISSION_DENIED, EACCES);
  regain_privileges ();
  assert_contents (fixture->path, "old");
  g_assert_no_errno (g_chmod (fixture->folder, 0755));
}

static void
test_unreadable_folder (Fixture *fixture, gconstpointer data)
{
  g_test_summary (
    "A folder that may be written to but not listed: a save works, though the folder is not flushed.");

  drop_privileges (fixture);
  g_assert_no_errno (g_chmod (fixture->folder, 0333));
  if (faccessat (AT_FDCWD, fixture->folder, R_OK, AT_EACCESS) == 0)
    g_test_skip ("this user reads folders without a permission, and may not become another");
  else
    {
      save_well (fixture->path, "first");
      save_well (fixture->path, "second");
    }
  regain_privileges ();
  g_assert_no_errno (g_chmod (fixture->folder, 0755));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, test) g_test_add (path, Fixture, NULL, set_up, test, tear_down)
  ADD ("/atomic-file/new-and-old", test_new_and_old);
  ADD ("/atomic-file/old-until-commit", test_old_until_commit);
  ADD ("/atomic-file/gather", test_gather);
  ADD ("/atomic-file/mode-is-kept", test_mode_is_kept);
  ADD ("/atomic-file/umask-is-honoured", test_umask_is_honoured);
  ADD ("/atomic-file/private-while-written", test_private_while_written);
  ADD ("/atomic-file/owner-is-kept", test_owner_is_kept);
  ADD ("/atomic-file/symlink", test_symlink);
  ADD ("/atomic-file/symlink-loop", test_symlink_loop);
  ADD ("/atomic-file/not-a-file", test_not_a_file);
  ADD ("/atomic-file/missing-folder", test_missing_folder);
  ADD ("/atomic-file/relative-path", test_relative_path);
  ADD ("/atomic-file/long-name", test_long_name);
  ADD ("/atomic-file/read-only-folder", test_read_only_folder);
  ADD ("/atomic-file/unreadable-folder", test_unreadable_folder);

  return g_test_run ();
}
