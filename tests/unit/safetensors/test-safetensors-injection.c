/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/injected-calls.h"

#include "aprender/safetensors/apr-atomic-file-private.h"
#include "tests/folder.h"

typedef struct
{
  char *folder;
  char *path;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = make_folder_for_file (&fixture->path);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  remove_folder_for_file (fixture->folder, fixture->path);
}

static gboolean
save (const char *path, const char *contents, GError **error)
{
  g_autoptr (AprAtomicFile) file = apr_atomic_file_open (path, error);
  gsize length = strlen (contents);
  gsize n = MIN (length, 4);
  GOutputVector vectors[] = { { contents, n }, { contents + n, n }, { contents + 2 * n, length - 2 * n } };

  return file != NULL && apr_atomic_file_write (file, vectors, length > n ? 3 : 1, NULL, error) &&
         apr_atomic_file_commit (file, TRUE, error);
}

static gboolean
save_with_fault (Fixture *fixture, const Fault *next, GError **error)
{
  guint n_descriptors = count_descriptors ();
  gboolean succeeded;

  g_assert_true (g_file_set_contents (fixture->path, "old", -1, NULL));
  inject (next);
  succeeded = save (fixture->path, "the new one", error);
  fault.call = CALL_NONE;
  g_assert_cmpuint (count_descriptors (), ==, n_descriptors);
  return succeeded;
}

static void
assert_contents (Fixture *fixture, const char *expected)
{
  g_autofree char *contents = NULL;

  g_assert_true (g_file_get_contents (fixture->path, &contents, NULL, NULL));
  g_assert_cmpstr (contents, ==, expected);
  g_assert_no_errno (g_unlink (fixture->path));
  /* The folder is empty now, unless there is a temporary. */
  g_assert_no_errno (g_rmdir (fixture->folder));
  g_assert_no_errno (g_mkdir (fixture->folder, 0700));
}

static void
test_save_fails (Fixture *fixture, gconstpointer data)
{
  static const Fault faults[] = {
    { CALL_READLINK, 0, 1, EACCES }, { CALL_READLINK, 0, 1, EIO }, { CALL_OPEN, 0, 1, EMFILE },
    { CALL_OPEN, 0, 2, EACCES },     { CALL_OPENAT, 0, 1, EROFS }, { CALL_OPENAT, 0, 100, EEXIST },
    { CALL_FSTAT, 0, 1, EIO },       { CALL_FCHMOD, 0, 1, EPERM }, { CALL_WRITEV, 0, 1, ENOSPC },
    { CALL_WRITEV, 0, 1, EDQUOT },   { CALL_WRITEV, 0, 1, EIO },   { CALL_FSYNC, 0, 1, EIO },
    { CALL_FSYNC, 0, 1, ENOSPC },    { CALL_CLOSE, 0, 1, EIO },    { CALL_CLOSE, 0, 1, EDQUOT },
    { CALL_RENAMEAT, 0, 1, EACCES }, { CALL_RENAMEAT, 0, 1, EIO },
  };
  guint i;

  g_test_summary ("Wherever the system fails, the old file stays, nothing is left, and the error says why.");

  for (i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (save_with_fault (fixture, &faults[i], &error));
      g_assert_error (error, G_IO_ERROR, (int) g_io_error_from_errno (faults[i].code));
      g_assert_true (g_str_has_prefix (error->message, fixture->path));
      g_assert_true (g_str_has_suffix (error->message, g_strerror (faults[i].code)));
      assert_contents (fixture, "old");
    }
}

static void
test_save_perseveres (Fixture *fixture, gconstpointer data)
{
  static const Fault faults[] = {
    { CALL_NONE },
    { CALL_OPEN, 0, 1, EACCES },
    { CALL_OPENAT, 0, 1, EINTR },
    { CALL_OPENAT, 0, 99, EEXIST },
    { CALL_WRITEV, 0, 3, EINTR },
    { CALL_WRITEV, 0, 5, WRITES_ONE_BYTE },
    { CALL_WRITEV, 0, 100, WRITES_ONE_BYTE },
    { CALL_WRITEV, 0, 100, WRITES_A_PART },
    { CALL_FSYNC, 0, 2, EINTR },
    { CALL_CLOSE, 0, 1, EINTR },
    { CALL_FSTAT, 0, 1, OTHER_USER },
    { CALL_FSTAT, 0, 1, OTHER_GROUP },
    { CALL_FSTAT, 0, 1, OTHER_USER, 1 },
    { CALL_FSTAT, 0, 1, OTHER_GROUP, 2 },
    /* Folders that cannot be flushed. */
    { CALL_FSYNC, 1, 1, EBADF },
    { CALL_FSYNC, 1, 1, EINVAL },
    { CALL_FSYNC, 1, 1, ENOTSUP },
  };
  guint i;

  g_test_summary ("What is no failure is not taken for one.");

  for (i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_true (save_with_fault (fixture, &faults[i], &error));
      g_assert_no_error (error);
      assert_contents (fixture, "the new one");
      g_assert_cmphex (folder_flags, ==,
                       (faults[i].call == CALL_OPEN ? O_PATH : O_RDONLY) | O_DIRECTORY | O_CLOEXEC);
      g_assert_cmphex (file_flags, ==, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC);
      /* Nobody else may read it before it has the old one's mode. */
      g_assert_cmphex (file_mode, ==, 0600);
      if (faults[i].n_chown == 1)
        g_assert_cmpuint (last_user, ==, (uid_t) -1);
      if (faults[i].call == CALL_FSTAT)
        g_assert_cmpuint (n_calls[CALL_FCHOWN], ==, faults[i].n_chown == 0 ? 1 : 2);
      else
        g_assert_cmpuint (n_calls[CALL_FCHOWN], ==, 0);
    }
}

static void
test_writer_fails (Fixture *fixture, gconstpointer data)
{
  static const Fault faults[] = {
    { CALL_OPENAT, 0, 1, EROFS },
    { CALL_WRITEV, 0, 1, ENOSPC },
    { CALL_RENAMEAT, 0, 1, EIO },
  };
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  guint i;

  for (i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_true (g_file_set_contents (fixture->path, "old", -1, NULL));
      inject (&faults[i]);
      g_assert_false (apr_safetensors_writer_write_to_path (writer, fixture->path, &error));
      g_assert_error (error, G_IO_ERROR, (int) g_io_error_from_errno (faults[i].code));
      g_assert_true (g_str_has_prefix (error->message, fixture->path));
      assert_contents (fixture, "old");
    }
}

static void
test_shard_fails (Fixture *fixture, gconstpointer data)
{
  static const Fault faults[] = {
    { CALL_FSYNC, 0, 1, EIO },
    { CALL_FSYNC, 1, 1, ENOSPC },
    { CALL_FSYNC, 2, 1, EIO },
  };
  static const char *const names[] = { "s-00001-of-00002.safetensors", "s-00002-of-00002.safetensors",
                                       "s.safetensors.index.json" };
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GFile) folder = g_file_new_for_path (fixture->folder);
  g_autoptr (GBytes) bytes = g_bytes_new ("x", 1);
  gsize size = 1;
  guint i;

  for (i = 0; i < 2; i++)
    {
      const char *name = i == 0 ? "a" : "b";

      g_assert_true (apr_safetensors_writer_declare_tensor (writer, name, APR_DTYPE_U8, &size, 1, NULL));
      g_assert_true (apr_safetensors_writer_set_source_bytes (writer, name, bytes, NULL));
    }
  for (i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autofree char *path = g_build_filename (fixture->folder, names[i], NULL);
      g_autoptr (GError) error = NULL;

      inject (&faults[i]);
      g_assert_false (apr_safetensors_writer_write_shards (writer, folder, "s", 1, NULL, &error));
      g_assert_error (error, G_IO_ERROR, (int) g_io_error_from_errno (faults[i].code));
      g_assert_true (g_str_has_prefix (error->message, path));
      /* The folder is empty. */
      g_assert_no_errno (g_rmdir (fixture->folder));
      g_assert_no_errno (g_mkdir (fixture->folder, 0700));
    }
}

static void
test_folders_are_shared (Fixture *fixture, gconstpointer data)
{
  static const Fault faults[] = {
    { CALL_NONE },
    { CALL_FSTAT, 0, 1, EIO },
    { CALL_FSTAT, 1, 1, EIO },
    { CALL_FSTAT, 1, 1, OTHER_DEVICE },
  };
  g_autofree char *other_path = g_strconcat (fixture->path, ".index.json", NULL);
  guint n_descriptors = count_descriptors ();
  guint i;

  g_test_summary ("Two finished files of one folder keep one descriptor; where that is not sure, two.");

  for (i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprAtomicFile) file = apr_atomic_file_open (fixture->path, &error);
      g_autoptr (AprAtomicFile) other = apr_atomic_file_open (other_path, &error);

      g_assert_no_error (error);
      inject (&faults[i]);
      g_assert_true (apr_atomic_file_finish (file, file, FALSE, &error));
      g_assert_cmpuint (n_calls[CALL_FSTAT], ==, 0);
      g_assert_true (apr_atomic_file_finish (other, file, FALSE, &error));
      g_assert_cmpuint (count_descriptors (), ==, n_descriptors + (i == 0 ? 1 : 2));
      g_assert_true (apr_atomic_file_commit (file, TRUE, &error));
      g_assert_true (apr_atomic_file_commit (other, TRUE, &error));
      g_assert_no_error (error);
      g_assert_no_errno (g_unlink (fixture->path));
      g_assert_no_errno (g_unlink (other_path));
    }
}

static void
test_disk_takes_nothing (Fixture *fixture, gconstpointer data)
{
  static const Fault next = { CALL_WRITEV, 0, G_MAXUINT, WRITES_NOTHING };
  g_autoptr (GError) error = NULL;

  g_test_summary ("A write of no bytes is no progress: to try again would be to try for ever.");

  g_assert_false (save_with_fault (fixture, &next, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
  g_assert_cmpuint (n_calls[CALL_WRITEV], ==, 1);
  assert_contents (fixture, "old");

  inject (&next);
  g_clear_error (&error);
  g_assert_false (save (fixture->path, "x", &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
}

static void
test_calls_are_bounded (Fixture *fixture, gconstpointer data)
{
  gsize n_large = (gsize) 20 << 20;
  g_autofree char *large = g_malloc0 (n_large);
  g_autoptr (AprAtomicFile) file = NULL;
  g_autoptr (GError) error = NULL;
  GOutputVector vectors[200] = { { large, 10 }, { large, n_large }, { large, n_large } };
  struct stat status;
  guint i;

  g_test_summary ("A call takes 16 MiB and 64 pieces at most, so that a cancellation is soon seen.");

  for (i = 3; i < G_N_ELEMENTS (vectors); i++)
    vectors[i] = (GOutputVector){ large, 1 };
  inject (NULL);
  most_bytes = 0;
  most_pieces = 0;
  file = apr_atomic_file_open (fixture->path, &error);
  g_assert_no_error (error);
  g_assert_true (apr_atomic_file_write (file, vectors, G_N_ELEMENTS (vectors), NULL, &error));
  g_assert_true (apr_atomic_file_commit (file, TRUE, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (most_bytes, ==, 16777216);
  g_assert_cmpint (most_pieces, ==, 64);
  g_assert_no_errno (stat (fixture->path, &status));
  g_assert_cmpint (status.st_size, ==, 10 + 2 * (goffset) n_large + 197);
}

static void
test_folder_is_not_flushed (Fixture *fixture, gconstpointer data)
{
  static const Fault next = { CALL_FSYNC, 1, 1, EIO };
  g_autoptr (GError) error = NULL;

  g_assert_false (save_with_fault (fixture, &next, &error));
  g_assert_error (error, G_IO_ERROR, (int) g_io_error_from_errno (EIO));
  g_assert_nonnull (strstr (error->message, "written, but the folder could not be flushed: "));
  assert_contents (fixture, "the new one");
}

static void
test_links_without_end (Fixture *fixture, gconstpointer data)
{
  static const Fault next = { CALL_READLINK, 0, G_MAXUINT, NAMES_ITSELF };
  g_autoptr (GError) error = NULL;

  g_test_summary ("Somebody makes a loop of the links after the system has followed them.");

  g_assert_false (save_with_fault (fixture, &next, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS);
  g_assert_cmpuint (n_calls[CALL_READLINK], ==, 41);
  assert_contents (fixture, "old");
}

static void
test_link_is_too_long (Fixture *fixture, gconstpointer data)
{
  static const Fault next = { CALL_READLINK, 0, 1, FILLS_ALL };
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "A link may name as many bytes as a path can have, and no system call can follow that one.");

  g_assert_false (save_with_fault (fixture, &next, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FILENAME_TOO_LONG);
  assert_contents (fixture, "old");
}

static void
test_descriptor_zero (Fixture *fixture, gconstpointer data)
{
  static const Fault faults[] = { { CALL_NONE }, { CALL_OPEN, 0, 1, MOVES_UP } };
  int input = fcntl (STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
  guint n_descriptors;
  guint i;

  g_test_summary ("A daemon may have no standard input, and then 0 is a descriptor as any other.");

  for (i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (GError) error = NULL;

      if (fcntl (STDIN_FILENO, F_GETFD) >= 0)
        __real_close (STDIN_FILENO);
      g_assert_true (save_with_fault (fixture, &faults[i], &error));
      g_assert_no_error (error);
      assert_contents (fixture, "the new one");
      /* The file, and its folder. */
      g_assert_cmpuint (n_calls[CALL_FSYNC], ==, 2);

      inject (&faults[i]);
      n_descriptors = count_descriptors ();
      apr_atomic_file_free (apr_atomic_file_open (fixture->path, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (count_descriptors (), ==, n_descriptors);
    }
  if (input >= 0)
    {
      g_assert_cmpint (dup2 (input, STDIN_FILENO), ==, STDIN_FILENO);
      __real_close (input);
    }
}

static void
test_committed_is_let_alone (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *temporary = NULL;
  AprAtomicFile *file;

  g_test_summary ("After the commit the temporary's name may be anybody's.");

  temporaries = g_ptr_array_new_with_free_func (g_free);
  inject (NULL);
  file = apr_atomic_file_open (fixture->path, &error);
  g_assert_no_error (error);
  temporary = g_build_filename (fixture->folder, g_ptr_array_index (temporaries, 0), NULL);
  g_clear_pointer (&temporaries, g_ptr_array_unref);
  g_assert_true (apr_atomic_file_commit (file, FALSE, &error));
  g_assert_true (g_file_set_contents (temporary, "another's", -1, NULL));
  apr_atomic_file_free (file);
  g_assert_no_errno (g_unlink (temporary));
}

static void
test_names_of_temporaries (Fixture *fixture, gconstpointer data)
{
  static const Fault next = { CALL_OPENAT, 0, 99, EEXIST };
  g_autoptr (GString) stem = g_string_new (NULL);
  g_autoptr (GString) letters = g_string_new (NULL);
  g_autofree char *plain = g_strnfill (250, 'n');
  const char *stems[] = { "model.safetensors", NULL, plain };
  static const gsize lengths[] = { 25, 247, 248 };
  char c;
  guint i, j, k;

  g_test_summary ("They are hidden, valid where the file's own name is, and nobody can guess them.");

  /* It has to be cut within an é. */
  g_string_append (stem, "x");
  while (stem->len < 250)
    g_string_append (stem, "é");
  stems[1] = stem->str;
  temporaries = g_ptr_array_new_with_free_func (g_free);
  for (i = 0; i < G_N_ELEMENTS (stems); i++)
    for (j = 0; j < 4; j++)
      {
        g_autofree char *path = g_build_filename (fixture->folder, stems[i], NULL);
        g_autoptr (GError) error = NULL;

        g_ptr_array_set_size (temporaries, 0);
        inject (&next);
        g_assert_true (save (path, "the new one", &error));
        fault.call = CALL_NONE;
        g_assert_no_error (error);
        g_assert_no_errno (g_unlink (path));
        g_assert_cmpuint (temporaries->len, ==, 100);
        for (k = 0; k < temporaries->len; k++)
          {
            const char *name = g_ptr_array_index (temporaries, k);
            gsize length = strlen (name);

            g_assert_true (g_utf8_validate (name, -1, NULL));
            g_assert_true (name[0] == '.' && name[length - 7] == '.');
            g_assert_cmpuint (length, ==, lengths[i]);
            g_assert_true (strncmp (name + 1, stems[i], length - 8) == 0);
            g_string_append (letters, name + length - 6);
          }
      }
  for (c = '\x7f'; c > 0; c--)
    g_assert_cmpint (strchr (letters->str, c) != NULL, ==, g_ascii_isalnum (c));
  g_clear_pointer (&temporaries, g_ptr_array_unref);
}

static void
test_open_fails (Fixture *fixture, gconstpointer data)
{
  static const Fault faults[] = {
    { CALL_OPEN, 0, 1, EACCES }, { CALL_OPEN, 0, 1, EMFILE }, { CALL_FSTAT, 0, 1, EIO },
    { CALL_FSTAT, 1, 1, EIO },   { CALL_MAP, 0, 1, ENODEV },  { CALL_MAP, 0, 2, ENOMEM },
  };
  static const char file[] = "\2\0\0\0\0\0\0\0{}";
  guint n_descriptors = count_descriptors ();
  guint i;

  g_assert_true (g_file_set_contents (fixture->path, file, 10, NULL));
  for (i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (GError) error = NULL;

      inject (&faults[i]);
      g_assert_null (apr_safetensors_reader_new_from_path (fixture->path, &error));
      g_assert_error (error, G_IO_ERROR, (int) g_io_error_from_errno (faults[i].code));
      g_assert_true (g_str_has_prefix (error->message, fixture->path));
      g_assert_true (g_str_has_suffix (error->message, g_strerror (faults[i].code)));
      g_assert_cmpuint (count_descriptors (), ==, n_descriptors);
    }
}

static void
test_mapping (Fixture *fixture, gconstpointer data)
{
  static const Fault faults[] = { { CALL_NONE }, { CALL_MAP, 0, 1, ENOMEM } };
  static const char file[] = "\2\0\0\0\0\0\0\0{}";
  guint i;

  g_test_summary (
    "A private mapping reserves no memory; where a system insists on that, it cannot be written to.");

  g_assert_true (g_file_set_contents (fixture->path, file, 10, NULL));
  for (i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (AprSafetensorsReader) reader = NULL;
      g_autoptr (GError) error = NULL;

      inject (&faults[i]);
      reader = apr_safetensors_reader_new_from_path (fixture->path, &error);
      g_assert_no_error (error);
      g_assert_nonnull (reader);
      g_assert_cmpint (last_protection, ==, i == 0 ? PROT_READ | PROT_WRITE : PROT_READ);
      g_assert_cmpint (last_flags, ==, i == 0 ? MAP_PRIVATE | MAP_NORESERVE : MAP_PRIVATE);
      inject (NULL);
    }
}

static void
test_open_perseveres (Fixture *fixture, gconstpointer data)
{
  static const Fault next = { CALL_OPEN, 0, 2, EINTR };
  static const char file[] = "\2\0\0\0\0\0\0\0{}";
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (GError) error = NULL;
  guint n_descriptors = count_descriptors ();

  g_assert_true (g_file_set_contents (fixture->path, file, 10, NULL));
  inject (&next);
  reader = apr_safetensors_reader_new_from_path (fixture->path, &error);
  g_assert_no_error (error);
  g_assert_nonnull (reader);
  g_assert_cmpuint (n_calls[CALL_OPEN], ==, 3);
  g_assert_cmpuint (count_descriptors (), ==, n_descriptors);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, test) g_test_add (path, Fixture, NULL, set_up, test, tear_down)
  ADD ("/safetensors/injection/save-fails", test_save_fails);
  ADD ("/safetensors/injection/save-perseveres", test_save_perseveres);
  ADD ("/safetensors/injection/writer-fails", test_writer_fails);
  ADD ("/safetensors/injection/shard-fails", test_shard_fails);
  ADD ("/safetensors/injection/folders-are-shared", test_folders_are_shared);
  ADD ("/safetensors/injection/disk-takes-nothing", test_disk_takes_nothing);
  ADD ("/safetensors/injection/calls-are-bounded", test_calls_are_bounded);
  ADD ("/safetensors/injection/folder-is-not-flushed", test_folder_is_not_flushed);
  ADD ("/safetensors/injection/links-without-end", test_links_without_end);
  ADD ("/safetensors/injection/link-is-too-long", test_link_is_too_long);
  ADD ("/safetensors/injection/descriptor-zero", test_descriptor_zero);
  ADD ("/safetensors/injection/committed-is-let-alone", test_committed_is_let_alone);
  ADD ("/safetensors/injection/names-of-temporaries", test_names_of_temporaries);
  ADD ("/safetensors/injection/open-fails", test_open_fails);
  ADD ("/safetensors/injection/mapping", test_mapping);
  ADD ("/safetensors/injection/open-perseveres", test_open_perseveres);

  return g_test_run ();
}
