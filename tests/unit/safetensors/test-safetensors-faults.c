/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* unshare() */

#include "tests/apr-test.h"
#include "tests/folder.h"
#include "tests/waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gio/gunixoutputstream.h>

/*
 * Real faults of the system while a writer writes. Each time the old file must be whole, nothing may be left
 * beside it, and the error must say what happened, and to which path. How a save that is killed leaves things
 * is tested with the atomic file.
 */

#define NOBODY 65534
#define SIZE ((gsize) 200000)

/* Ways to write one file. */
typedef enum
{
  TO_PATH,
  TO_FILE,
  TO_FILE_ASYNC,
  TO_SHARD,
  N_WAYS
} Way;

typedef struct
{
  char *folder;
  char *path;
  AprSafetensorsWriter *added;    /* with a tensor of SIZE bytes in memory */
  AprSafetensorsWriter *declared; /* with one whose bytes a function gives */
  GCancellable *cancellable;
  GAsyncResult *result;
  gboolean cancels;
} Fixture;

static GBytes *
give (AprSafetensorsWriter *writer,
      const char *name,
      guint64 offset,
      gsize size,
      gpointer user_data,
      GError **error)
{
  Fixture *fixture = user_data;

  size = MIN (size, 50000);
  if (fixture->cancels && offset > 0)
    g_cancellable_cancel (fixture->cancellable);
  return g_bytes_new_take (g_strnfill (size, 'x'), size);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  const gsize shape[] = { SIZE };
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_strnfill (SIZE, 'x'), SIZE);
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (APR_DTYPE_U8, shape, 1, bytes, NULL);

  fixture->folder = make_folder_for_file (&fixture->path);
  fixture->cancellable = g_cancellable_new ();
  fixture->added = apr_safetensors_writer_new ();
  g_assert_true (apr_safetensors_writer_add_tensor (fixture->added, "large", tensor, NULL));
  fixture->declared = apr_safetensors_writer_new ();
  g_assert_true (
    apr_safetensors_writer_declare_tensor (fixture->declared, "large", APR_DTYPE_U8, shape, 1, NULL));
  apr_safetensors_writer_set_data_func (fixture->declared, give, fixture, NULL);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  remove_folder_for_file (fixture->folder, fixture->path);
  g_clear_object (&fixture->result);
  g_object_unref (fixture->cancellable);
  assert_finalizes (fixture->added);
  assert_finalizes (fixture->declared);
}

static gboolean
write_in_way (Fixture *fixture, AprSafetensorsWriter *writer, Way way, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (fixture->path);
  g_autoptr (GFile) folder = g_file_get_parent (file);

  switch (way)
    {
    case TO_PATH:
      return apr_safetensors_writer_write_to_path (writer, fixture->path, error);
    case TO_FILE:
      return apr_safetensors_writer_write_to_file (writer, file, fixture->cancellable, error);
    case TO_FILE_ASYNC:
      g_clear_object (&fixture->result);
      apr_safetensors_writer_write_to_file_async (writer, file, G_PRIORITY_DEFAULT, fixture->cancellable,
                                                  on_ready, &fixture->result);
      wait_for (&fixture->result);
      return apr_safetensors_writer_write_to_file_finish (writer, fixture->result, error);
    case TO_SHARD:
      return apr_safetensors_writer_write_shards (writer, folder, "model", SIZE, fixture->cancellable, error);
    case N_WAYS:
    default:
      g_assert_not_reached ();
    }
}

static guint
count_files (const char *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  guint n_files = 0;

  while (g_dir_read_name (folder) != NULL)
    n_files++;
  return n_files;
}

static void
assert_old (const char *path)
{
  g_autofree char *contents = NULL;
  gsize length;

  g_assert_true (g_file_get_contents (path, &contents, &length, NULL));
  g_assert_cmpmem (contents, length, "old", 3);
}

static void
write_old (const char *path)
{
  int fd = g_open (path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, "old", 3), ==, 3);
  g_assert_no_errno (close (fd));
}

/* Fails unless a write does, with this error, in each way and from each source, and leaves nothing. */
static void
assert_all_fail (Fixture *fixture, int code, const char *message)
{
  guint n_before = count_files (fixture->folder);
  guint i;

  for (i = 0; i < 2 * N_WAYS; i++)
    {
      AprSafetensorsWriter *writer = i < N_WAYS ? fixture->added : fixture->declared;
      g_autoptr (GError) error = NULL;

      g_assert_false (write_in_way (fixture, writer, (Way) (i % N_WAYS), &error));
      g_assert_error (error, G_IO_ERROR, code);
      g_assert_true (g_str_has_prefix (error->message, fixture->path));
      assert_message_has (error, message);
      g_assert_cmpuint (count_files (fixture->folder), ==, n_before);
    }
}

static void
test_file_too_large (Fixture *fixture, gconstpointer data)
{
  struct rlimit limit, small;

  g_test_summary (
    "The kernel writes a part, refuses the rest, and sends a signal that would end the program.");

  write_old (fixture->path);
  g_assert_no_errno (getrlimit (RLIMIT_FSIZE, &limit));
  small = limit;
  small.rlim_cur = 65536;
  g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &small));
  assert_all_fail (fixture, (int) g_io_error_from_errno (EFBIG), g_strerror (EFBIG));
  g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &limit));
  assert_old (fixture->path);
}

/* A small disk of memory in the folder's place, which only this process and its later threads see. */
static gboolean
mount_disk (const char *folder)
{
  return unshare (CLONE_NEWNS) == 0 && mount ("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount ("tmpfs", folder, "tmpfs", 0, "size=128k") == 0;
}

/* Whether mounting is allowed, which a child finds out: it takes its mounts with it. */
static gboolean
may_mount (const char *folder)
{
  pid_t child = fork ();
  int status;

  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    _exit (mount_disk (folder) ? 0 : 1);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  return WIFEXITED (status) && WEXITSTATUS (status) == 0;
}

/* Lets the test run in a process of its own, which has the disk; true in that process. */
static gboolean
enter_disk (Fixture *fixture)
{
  if (g_test_subprocess ())
    {
      g_assert_true (mount_disk (fixture->folder));
      return TRUE;
    }
  if (!may_mount (fixture->folder))
    {
      g_test_skip ("mounting is not permitted here");
      return FALSE;
    }
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
  return FALSE;
}

static void
leave_disk (Fixture *fixture)
{
  g_assert_no_errno (umount (fixture->folder));
}

/* Takes all room that is left. */
static void
fill_disk (const char *path)
{
  g_autofree char *zeros = g_malloc0 (4096);
  int fd = g_open (path, O_WRONLY | O_CREAT, 0644);

  g_assert_cmpint (fd, >=, 0);
  while (write (fd, zeros, 4096) > 0)
    ;
  g_assert_cmpint (errno, ==, ENOSPC);
  g_assert_no_errno (close (fd));
}

static void
test_disk_full (Fixture *fixture, gconstpointer data)
{
  g_autofree char *ballast = g_build_filename (fixture->folder, "ballast", NULL);
  g_autoptr (AprSafetensorsWriter) small = apr_safetensors_writer_new ();

  g_test_summary (
    "Whether the disk is full from the start or in the middle, nothing is lost and room is given back.");

  if (!enter_disk (fixture))
    return;
  assert_all_fail (fixture, G_IO_ERROR_NO_SPACE, g_strerror (ENOSPC));
  g_assert_cmpuint (count_files (fixture->folder), ==, 0);
  write_old (fixture->path);
  assert_all_fail (fixture, G_IO_ERROR_NO_SPACE, g_strerror (ENOSPC));
  assert_old (fixture->path);
  fill_disk (ballast);
  assert_all_fail (fixture, G_IO_ERROR_NO_SPACE, g_strerror (ENOSPC));
  assert_old (fixture->path);
  g_assert_no_errno (g_unlink (ballast));
  g_assert_true (apr_safetensors_writer_write_to_path (small, fixture->path, NULL));
  g_assert_no_errno (g_unlink (fixture->path));
  leave_disk (fixture);
}

static void
test_disk_full_of_shards (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GFile) folder = g_file_new_for_path (fixture->folder);
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GError) error = NULL;
  const gsize shape[] = { 80000 };

  g_test_summary ("There is room for one shard, not for two: then there is none.");

  if (!enter_disk (fixture))
    return;
  apr_safetensors_writer_set_data_func (writer, give, fixture, NULL);
  g_assert_true (apr_safetensors_writer_declare_tensor (writer, "a", APR_DTYPE_U8, shape, 1, NULL));
  g_assert_true (apr_safetensors_writer_declare_tensor (writer, "b", APR_DTYPE_U8, shape, 1, NULL));
  g_assert_false (apr_safetensors_writer_write_shards (writer, folder, "model", 80000, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE);
  assert_message_has (error, "/model-00002-of-00002.safetensors: ");
  g_assert_cmpuint (count_files (fixture->folder), ==, 0);
  leave_disk (fixture);
}

static void
test_read_only_disk (Fixture *fixture, gconstpointer data)
{
  if (!enter_disk (fixture))
    return;
  write_old (fixture->path);
  g_assert_no_errno (mount ("tmpfs", fixture->folder, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL));
  assert_all_fail (fixture, (int) g_io_error_from_errno (EROFS), g_strerror (EROFS));
  assert_old (fixture->path);
  leave_disk (fixture);
}

static void
assert_stream_fails (AprSafetensorsWriter *writer, int fd, int code, int expected_errno)
{
  g_autoptr (GOutputStream) stream = g_unix_output_stream_new (fd, TRUE);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (fd, >=, 0);
  g_assert_false (apr_safetensors_writer_write_to_stream (writer, stream, NULL, &error));
  g_assert_error (error, G_IO_ERROR, code);
  assert_message_has (error, g_strerror (expected_errno));
}

static void
test_stream_full (Fixture *fixture, gconstpointer data)
{
  assert_stream_fails (fixture->added, g_open ("/dev/full", O_WRONLY, 0), G_IO_ERROR_NO_SPACE, ENOSPC);
  assert_stream_fails (fixture->declared, g_open ("/dev/full", O_WRONLY, 0), G_IO_ERROR_NO_SPACE, ENOSPC);
}

static void
test_broken_pipe (Fixture *fixture, gconstpointer data)
{
  int fds[2];

  signal (SIGPIPE, SIG_IGN);
  g_assert_no_errno (pipe (fds));
  g_assert_no_errno (close (fds[0]));
  assert_stream_fails (fixture->added, fds[1], G_IO_ERROR_BROKEN_PIPE, EPIPE);
  signal (SIGPIPE, SIG_DFL);
}

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
  write_old (fixture->path);
  drop_privileges (fixture);
  g_assert_no_errno (g_chmod (fixture->folder, 0555));
  if (faccessat (AT_FDCWD, fixture->folder, W_OK, AT_EACCESS) == 0)
    g_test_skip ("this user writes to read-only folders, and may not become another");
  else
    assert_all_fail (fixture, G_IO_ERROR_PERMISSION_DENIED, g_strerror (EACCES));
  regain_privileges ();
  g_assert_no_errno (g_chmod (fixture->folder, 0755));
  assert_old (fixture->path);
}

static void
test_closed_folder (Fixture *fixture, gconstpointer data)
{
  g_autofree char *sub = g_build_filename (fixture->folder, "sub", NULL);
  g_autofree char *path = g_build_filename (sub, "model.safetensors", NULL);
  g_autoptr (GError) error = NULL;

  g_test_summary ("A folder that may not be entered: nothing can be said of the file in it.");

  g_assert_no_errno (g_mkdir (sub, 0755));
  write_old (path);
  g_assert_no_errno (g_chmod (sub, 0));
  drop_privileges (fixture);
  if (faccessat (AT_FDCWD, sub, X_OK, AT_EACCESS) == 0)
    g_test_skip ("this user enters closed folders, and may not become another");
  else
    {
      g_assert_false (apr_safetensors_writer_write_to_path (fixture->added, path, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED);
      g_assert_true (g_str_has_prefix (error->message, path));
    }
  regain_privileges ();
  g_assert_no_errno (g_chmod (sub, 0755));
  assert_old (path);
  g_assert_no_errno (g_unlink (path));
  g_assert_no_errno (g_rmdir (sub));
}

static void
test_folder_in_place (Fixture *fixture, gconstpointer data)
{
  g_assert_no_errno (g_mkdir (fixture->path, 0755));
  assert_all_fail (fixture, G_IO_ERROR_IS_DIRECTORY, g_strerror (EISDIR));
}

static void
test_fifo_in_place (Fixture *fixture, gconstpointer data)
{
  struct stat status;

  g_assert_no_errno (mkfifo (fixture->path, 0600));
  assert_all_fail (fixture, G_IO_ERROR_NOT_REGULAR_FILE, "Not a regular file");
  g_assert_no_errno (stat (fixture->path, &status));
  g_assert_true (S_ISFIFO (status.st_mode));
}

static void
test_device_in_place (Fixture *fixture, gconstpointer data)
{
  g_assert_no_errno (symlink ("/dev/full", fixture->path));
  assert_all_fail (fixture, G_IO_ERROR_NOT_REGULAR_FILE, "Not a regular file");
  g_assert_true (g_file_test (fixture->path, G_FILE_TEST_IS_SYMLINK));
}

static void
test_empty_in_place (Fixture *fixture, gconstpointer data)
{
  guint i;

  g_test_summary ("An empty file, as a full disk leaves it to others, is replaced as any other.");

  for (i = 0; i < 2 * N_WAYS; i++)
    {
      g_autoptr (AprSafetensorsReader) reader = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_no_errno (close (g_open (fixture->path, O_WRONLY | O_CREAT | O_TRUNC, 0644)));
      g_assert_true (
        write_in_way (fixture, i < N_WAYS ? fixture->added : fixture->declared, (Way) (i % N_WAYS), &error));
      g_assert_no_error (error);
      reader = apr_safetensors_reader_new_from_path (fixture->path, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (count_files (fixture->folder), ==, 1);
    }
}

static void
test_link_in_place (Fixture *fixture, gconstpointer data)
{
  g_autofree char *sub = g_build_filename (fixture->folder, "sub", NULL);
  g_autofree char *path = g_build_filename (sub, "old", NULL);

  g_test_summary ("The file that a link names is out of reach: it stays, and so does the link.");

  g_assert_no_errno (symlink ("sub/old", fixture->path));
  assert_all_fail (fixture, G_IO_ERROR_NOT_FOUND, g_strerror (ENOENT));
  g_assert_no_errno (g_mkdir (sub, 0755));
  write_old (path);
  if (geteuid () == 0)
    g_assert_no_errno (chown (sub, NOBODY, (gid_t) -1));
  drop_privileges (fixture);
  g_assert_no_errno (g_chmod (sub, 0555));
  if (faccessat (AT_FDCWD, sub, W_OK, AT_EACCESS) == 0)
    g_test_skip ("this user writes to read-only folders, and may not become another");
  else
    assert_all_fail (fixture, G_IO_ERROR_PERMISSION_DENIED, g_strerror (EACCES));
  regain_privileges ();
  g_assert_no_errno (g_chmod (sub, 0755));
  g_assert_true (g_file_test (fixture->path, G_FILE_TEST_IS_SYMLINK));
  assert_old (path);
  g_assert_cmpuint (count_files (sub), ==, 1);
  g_assert_no_errno (g_unlink (path));
  g_assert_no_errno (g_rmdir (sub));
}

static void
cancel (goffset done, goffset total, gpointer user_data)
{
  if (done < total)
    g_cancellable_cancel (user_data);
}

/* Asked for in another thread, maybe before the main loop has heard of the progress so far. */
static GBytes *
give_when_cancelled (AprSafetensorsWriter *writer,
                     const char *name,
                     guint64 offset,
                     gsize size,
                     gpointer user_data,
                     GError **error)
{
  GPollFD fd;

  g_assert_true (g_cancellable_make_pollfd (user_data, &fd));
  g_assert_cmpint (g_poll (&fd, 1, -1), ==, 1);
  g_cancellable_release_fd (user_data);
  return g_bytes_new_take (g_malloc0 (size), size);
}

static void
test_cancelled (Fixture *fixture, gconstpointer data)
{
  const gsize size = (gsize) 40 << 20;
  const gsize last_shape[] = { 1 };
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (size), size);
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (APR_DTYPE_U8, &size, 1, bytes, NULL);
  g_autoptr (AprSafetensorsWriter) large = apr_safetensors_writer_new ();
  guint i;

  g_test_summary ("When a part is on the disk already.");

  write_old (fixture->path);
  fixture->cancels = TRUE;
  g_assert_true (apr_safetensors_writer_add_tensor (large, "large", tensor, NULL));
  g_assert_true (apr_safetensors_writer_declare_tensor (large, "last", APR_DTYPE_U8, last_shape, 1, NULL));
  apr_safetensors_writer_set_data_func (large, give_when_cancelled, fixture->cancellable, NULL);
  apr_safetensors_writer_set_progress_func (large, cancel, fixture->cancellable, NULL);
  for (i = 0; i < 2 * N_WAYS; i++)
    {
      g_autoptr (GError) error = NULL;

      if (i % N_WAYS == TO_PATH)
        continue;
      g_cancellable_reset (fixture->cancellable);
      g_assert_false (
        write_in_way (fixture, i < N_WAYS ? fixture->declared : large, (Way) (i % N_WAYS), &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_true (g_str_has_prefix (error->message, fixture->folder));
      assert_old (fixture->path);
      g_assert_cmpuint (count_files (fixture->folder), ==, 1);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, test) g_test_add (path, Fixture, NULL, set_up, test, tear_down)
  /* Which mounts nothing. */
  if (!runs_in_valgrind ())
    {
      ADD ("/safetensors/faults/disk-full", test_disk_full);
      ADD ("/safetensors/faults/disk-full-of-shards", test_disk_full_of_shards);
      ADD ("/safetensors/faults/read-only-disk", test_read_only_disk);
    }
  ADD ("/safetensors/faults/file-too-large", test_file_too_large);
  ADD ("/safetensors/faults/stream-full", test_stream_full);
  ADD ("/safetensors/faults/broken-pipe", test_broken_pipe);
  ADD ("/safetensors/faults/read-only-folder", test_read_only_folder);
  ADD ("/safetensors/faults/closed-folder", test_closed_folder);
  ADD ("/safetensors/faults/folder-in-place", test_folder_in_place);
  ADD ("/safetensors/faults/fifo-in-place", test_fifo_in_place);
  ADD ("/safetensors/faults/device-in-place", test_device_in_place);
  ADD ("/safetensors/faults/empty-in-place", test_empty_in_place);
  ADD ("/safetensors/faults/link-in-place", test_link_in_place);
  ADD ("/safetensors/faults/cancelled", test_cancelled);

  return g_test_run ();
}
