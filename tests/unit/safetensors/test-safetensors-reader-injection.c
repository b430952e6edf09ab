/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/fault.h"
#include "tests/safetensors-test.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* What reads files, with system calls and allocations that fail on demand. */

/* What a call does instead of failing. */
enum
{
  READS_NOTHING = -1,
  READS_ONE_BYTE = -2,
  CANCELS = -3,
  SEES_A_FILE = -4,
  SEES_ITSELF = -5,
};

static GCancellable *cancelled;

/* What the calls were asked for. */
static int open_flags;
static gsize most_bytes;
static guint64 last_byte;
static GArray *capacities;

/* Injects a fault, and forgets what the calls before were asked for. */
static void
inject_anew (const Fault *next)
{
  inject (next);
  most_bytes = 0;
  last_byte = 0;
  open_flags = 0;
  g_array_set_size (capacities, 0);
}

int FILE_CALL (__real_, open) (const char *path, int flags, ...);
int FILE_CALL (__wrap_, open) (const char *path, int flags, ...);
int CHECKED_CALL (__wrap___, open) (const char *path, int flags);
int FILE_CALL (__real_, fstat) (int fd, struct stat *status);
int FILE_CALL (__wrap_, fstat) (int fd, struct stat *status);
int FILE_CALL (__real_, lstat) (const char *path, struct stat *status);
int FILE_CALL (__wrap_, lstat) (const char *path, struct stat *status);
gssize FILE_CALL (__real_, pread) (int fd, void *buffer, gsize size, off_t offset);
gssize FILE_CALL (__wrap_, pread) (int fd, void *buffer, gsize size, off_t offset);
char *__real_realpath (const char *path, char *resolved);
char *__wrap_realpath (const char *path, char *resolved);
gpointer __real_g_try_malloc (gsize size);
gpointer __wrap_g_try_malloc (gsize size);
gpointer __real_g_try_realloc (gpointer data, gsize size);
gpointer __wrap_g_try_realloc (gpointer data, gsize size);
gpointer __real_g_try_realloc_n (gpointer data, gsize n, gsize size);
gpointer __wrap_g_try_realloc_n (gpointer data, gsize n, gsize size);

int
FILE_CALL (__wrap_, open) (const char *path, int flags, ...)
{
  int fd;

  open_flags = flags;
  if (strikes (CALL_OPEN))
    return -1;
  fd = FILE_CALL (__real_, open) (path, flags);
  /* A call that goes well may leave any errno. */
  if (fd >= 0)
    errno = EINTR;
  return fd;
}

/* The same where _FORTIFY_SOURCE is defined. */
int
CHECKED_CALL (__wrap___, open) (const char *path, int flags)
{
  return FILE_CALL (__wrap_, open) (path, flags);
}

int
FILE_CALL (__wrap_, fstat) (int fd, struct stat *status)
{
  return strikes (CALL_FSTAT) ? -1 : FILE_CALL (__real_, fstat) (fd, status);
}

int
FILE_CALL (__wrap_, lstat) (const char *path, struct stat *status)
{
  int result;

  if (!strikes (CALL_LSTAT))
    return FILE_CALL (__real_, lstat) (path, status);
  if (fault.code > 0)
    {
      /* So nothing but the result says that it has failed. */
      memset (status, 0, sizeof *status);
      status->st_mode = S_IFLNK;
      return -1;
    }
  result = FILE_CALL (__real_, lstat) (path, status);
  status->st_mode = S_IFREG | 0600;
  return result;
}

gssize
FILE_CALL (__wrap_, pread) (int fd, void *buffer, gsize size, off_t offset)
{
  most_bytes = MAX (most_bytes, size);
  last_byte = MAX (last_byte, (guint64) offset + size);
  if (!strikes (CALL_PREAD))
    {
      gssize n = FILE_CALL (__real_, pread) (fd, buffer, size, offset);

      errno = EINTR;
      return n;
    }
  if (fault.code == READS_NOTHING)
    {
      errno = EINTR;
      return 0;
    }
  if (fault.code == READS_ONE_BYTE)
    return FILE_CALL (__real_, pread) (fd, buffer, 1, offset);
  if (fault.code == CANCELS)
    {
      g_cancellable_cancel (cancelled);
      return FILE_CALL (__real_, pread) (fd, buffer, size, offset);
    }
  return -1;
}

char *
__wrap_realpath (const char *path, char *resolved)
{
  if (!strikes (CALL_REALPATH))
    return __real_realpath (path, resolved);
  return fault.code == SEES_ITSELF ? strdup (path) : NULL;
}

gpointer
__wrap_g_try_malloc (gsize size)
{
  return strikes (CALL_MALLOC) ? NULL : __real_g_try_malloc (size);
}

gpointer
__wrap_g_try_realloc (gpointer data, gsize size)
{
  g_array_append_val (capacities, size);
  return strikes (CALL_REALLOC) ? NULL : __real_g_try_realloc (data, size);
}

gpointer
__wrap_g_try_realloc_n (gpointer data, gsize n, gsize size)
{
  return strikes (CALL_REALLOC_N) ? NULL : __real_g_try_realloc_n (data, n, size);
}

static const char header[] = "{\"w\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}";

static char *
write_model (Folder *folder)
{
  g_autoptr (GBytes) bytes = make_file (header, "wxyz", 4);

  return folder_write (folder, "model.safetensors", bytes);
}

static void
test_opens_in_a_daemon (Folder *folder, gconstpointer unused)
{
  g_autofree char *path = write_model (folder);
  int input = fcntl (STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
  guint mode;

  g_test_summary (
    "Without a standard input 0 is a descriptor as any other. It is closed on exec, and a FIFO that "
    "has taken the file's place is not waited for.");

  for (mode = 0; mode < 2; mode++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsReader) reader = NULL;
      g_autoptr (AprTensor) tensor = NULL;

      inject_anew (NULL);
      if (fcntl (STDIN_FILENO, F_GETFD) >= 0)
        close (STDIN_FILENO);
      reader = reader_open (path, (AprSafetensorsLoadMode) mode, &error);
      g_assert_no_error (error);
      g_assert_cmpint (fcntl (STDIN_FILENO, F_GETFD) >= 0, ==, mode == APR_SAFETENSORS_LOAD_MODE_READ);
      tensor = apr_safetensors_reader_get_tensor (reader, "w", &error);
      g_assert_no_error (error);
      assert_bytes (tensor, "wxyz");
      g_assert_cmphex (open_flags, ==, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
      g_clear_object (&reader);
      g_assert_cmpint (fcntl (STDIN_FILENO, F_GETFD), <, 0);
    }
  if (input >= 0)
    {
      g_assert_cmpint (dup2 (input, STDIN_FILENO), ==, STDIN_FILENO);
      close (input);
    }
}

static void
test_open_fails (Folder *folder, gconstpointer unused)
{
  static const Fault faults[] = {
    { CALL_OPEN, 0, 1, EACCES }, { CALL_FSTAT, 0, 1, EIO }, { CALL_FSTAT, 1, 1, EIO },
    { CALL_PREAD, 0, 1, EIO },   { CALL_PREAD, 1, 1, EIO }, { CALL_PREAD, 1, 1, ESTALE },
  };
  g_autofree char *path = write_model (folder);
  guint n_descriptors = count_descriptors ();
  guint i;

  for (i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autofree char *expected = g_strdup_printf ("%s: %s", path, g_strerror (faults[i].code));
      g_autoptr (GError) error = NULL;

      inject_anew (&faults[i]);
      g_assert_null (reader_open (path, APR_SAFETENSORS_LOAD_MODE_READ, &error));
      g_assert_error (error, G_IO_ERROR, (int) g_io_error_from_errno (faults[i].code));
      g_assert_cmpstr (error->message, ==, expected);
      g_assert_cmpuint (count_descriptors (), ==, n_descriptors);
    }
}

static void
test_perseveres (Folder *folder, gconstpointer unused)
{
  static const Fault faults[] = {
    { CALL_OPEN, 0, 2, EINTR },
    { CALL_PREAD, 0, 3, EINTR },
    { CALL_PREAD, 2, 3, EINTR },
    { CALL_PREAD, 0, 1000, READS_ONE_BYTE },
  };
  g_autofree char *path = write_model (folder);
  guint i;

  g_test_summary ("A signal is no failure, and a read may bring less than was asked for.");

  for (i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsReader) reader = NULL;
      g_autoptr (AprTensor) tensor = NULL;

      inject_anew (&faults[i]);
      reader = reader_open (path, APR_SAFETENSORS_LOAD_MODE_READ, &error);
      g_assert_no_error (error);
      tensor = apr_safetensors_reader_get_tensor (reader, "w", &error);
      g_assert_no_error (error);
      assert_bytes (tensor, "wxyz");
      g_assert_cmpuint (last_byte, ==, 8 + strlen (header) + 4);
      g_assert_cmpuint (n_calls[faults[i].call], >=,
                        faults[i].n_good + MIN (faults[i].n_bad, 4 + 8 + strlen (header)));
    }
}

static void
test_shrinks_while_opened (Folder *folder, gconstpointer unused)
{
  g_autofree char *path = write_model (folder);
  guint i;

  g_test_summary ("The file is cut after the system has told its size.");

  for (i = 0; i < 2; i++)
    {
      const Fault next = { CALL_PREAD, i, 1, READS_NOTHING };
      g_autofree char *expected =
        g_strdup_printf ("%s: the header is needed up to byte %zu, but the file ends at byte %d now", path,
                         i == 0 ? 8 : 8 + strlen (header), i == 0 ? 0 : 8);
      g_autoptr (GError) error = NULL;

      inject_anew (&next);
      g_assert_null (reader_open (path, APR_SAFETENSORS_LOAD_MODE_READ, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
      g_assert_cmpstr (error->message, ==, expected);
    }
}

static void
test_tensor_fails (Folder *folder, gconstpointer unused)
{
  static const struct
  {
    Fault fault;
    GQuark (*domain) (void);
    int code;
    const char *message;
  } cases[] = {
    { { CALL_PREAD, 0, 1, EIO }, g_io_error_quark, G_IO_ERROR_FAILED, "Input/output error" },
    { { CALL_MALLOC, 0, 1, ENOMEM }, apr_error_quark, APR_ERROR_NO_MEMORY, "There is no memory for 4 bytes" },
  };
  static const Fault of_copy = { CALL_MALLOC, 1, 1, ENOMEM };
  g_autofree char *path = write_model (folder);
  g_autoptr (AprSafetensorsReader) reader = NULL;
  guint i;

  inject_anew (NULL);
  reader = reader_open (path, APR_SAFETENSORS_LOAD_MODE_READ, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *expected = g_strdup_printf ("%s: tensor “w”: %s", path, cases[i].message);
      g_autoptr (GError) error = NULL;
      g_autoptr (AprTensor) tensor = NULL;

      inject_anew (&cases[i].fault);
      g_assert_null (apr_safetensors_reader_get_tensor (reader, "w", &error));
      g_assert_error (error, cases[i].domain (), cases[i].code);
      g_assert_cmpstr (error->message, ==, expected);
      g_clear_error (&error);
      if (cases[i].fault.call == CALL_MALLOC)
        {
          inject_anew (&cases[i].fault);
          g_assert_null (apr_safetensors_reader_get_slice (reader, "w", "1:", &error));
          assert_message_has (error, ": tensor “w”: There is no memory for 3 bytes");
          g_clear_error (&error);
          inject_anew (&of_copy);
          g_assert_null (apr_safetensors_reader_get_slice (reader, "w", "::2", &error));
          g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
          g_assert_cmpstr (error->message, ==, "tensor “w”: There is no memory for a slice of 2 bytes");
          g_clear_error (&error);
        }
      tensor = apr_safetensors_reader_get_tensor (reader, "w", &error);
      g_assert_no_error (error);
      assert_bytes (tensor, "wxyz");
    }
}

static void
test_no_memory_for_header (Folder *folder, gconstpointer unused)
{
  static const Fault next = { CALL_MALLOC, 0, 1, ENOMEM };
  g_autofree char *path = write_model (folder);
  g_autofree char *expected = g_strdup_printf ("%s: There is no memory for %zu bytes", path, strlen (header));
  g_autoptr (GError) error = NULL;

  inject_anew (&next);
  g_assert_null (reader_open (path, APR_SAFETENSORS_LOAD_MODE_READ, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
  g_assert_cmpstr (error->message, ==, expected);
}

/* What is made of a header may find no memory anywhere, when it begins and when it grows: names, tensors, dimensions
 * and metadata, and the two tables of names. Each is of 16 at first, and then always of twice as many: 18 elements take
 * memory twice, the 142 bytes of names 5 times, and the tables, which are half empty, 3 times. */
static void
test_no_memory_for_parts_of_header (void)
{
  static const Call calls[] = { CALL_REALLOC_N, CALL_MALLOC };
  static const guint n_expected[] = { 3 * 2 + 5, 2 * 3 };
  g_autoptr (GString) text = g_string_new ("{\"__metadata__\":{");
  g_autofree char *data = g_malloc0 (18);
  g_autoptr (GBytes) bytes = NULL;
  guint i;

  for (i = 0; i < 18; i++)
    g_string_append_printf (text, "%s\"k%u\":\"\"", i > 0 ? "," : "", i);
  g_string_append_c (text, '}');
  for (i = 0; i < 18; i++)
    g_string_append_printf (text, ",\"t%u\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%u,%u]}", i, i,
                            i + 1);
  g_string_append_c (text, '}');
  bytes = make_file (text->str, data, 18);

  for (i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      guint n_failures = 0;
      gboolean opened = FALSE;

      for (; !opened; n_failures += !opened)
        {
          const Fault next = { calls[i], n_failures, 1, ENOMEM };
          g_autoptr (AprSafetensorsReader) reader = NULL;
          g_autoptr (GError) error = NULL;

          inject_anew (&next);
          reader = apr_safetensors_reader_new_from_bytes (bytes, &error);
          inject_anew (NULL);
          opened = reader != NULL;
          if (opened)
            {
              g_assert_no_error (error);
              g_assert_cmpuint (g_hash_table_size (apr_safetensors_reader_get_metadata (reader)), ==, 18);
            }
          else
            {
              g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
              assert_message_has (error, "There is no memory for a header of ");
              /* Of the metadata, 16 pairs of two numbers of 32 bits. */
              if (calls[i] == CALL_REALLOC_N && n_failures == 0)
                assert_message_has (error, " of 128 bytes");
            }
        }
      g_assert_cmpuint (n_failures, ==, n_expected[i]);
    }
}

static void
test_no_memory_for_stream (void)
{
  static const Fault faults[] = { { CALL_REALLOC, 0, 1, ENOMEM }, { CALL_REALLOC, 1, 1, ENOMEM } };
  static const char large[] = "{\"w\":{\"dtype\":\"U8\",\"shape\":[300000],\"data_offsets\":[0,300000]}}";
  g_autofree char *data = g_malloc0 (300000);
  g_autoptr (GBytes) bytes = make_file (large, data, 300000);
  guint i;

  g_test_summary ("Memory is taken for at most twice what has arrived, beginning with 64 KiB.");

  for (i = 0; i <= G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsReader) reader = NULL;

      inject_anew (i < G_N_ELEMENTS (faults) ? &faults[i] : NULL);
      reader = apr_safetensors_reader_new_from_stream (stream, NULL, &error);
      if (i < G_N_ELEMENTS (faults))
        {
          g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
          g_assert_cmpstr (error->message, ==,
                           i == 0 ? "There is no memory for 65536 bytes"
                                  : "There is no memory for 131072 bytes");
        }
      else
        {
          static const gsize expected[] = { 65536, 131072, 262144, 524288 };

          g_assert_no_error (error);
          g_assert_cmpmem (capacities->data, capacities->len * sizeof (gsize), expected, sizeof expected);
        }
    }
}

static void
test_cancelled_within (Folder *folder, gconstpointer unused)
{
  static const Fault next = { CALL_PREAD, 0, 1, CANCELS };
  g_autofree char *path = write_model (folder);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;

  inject_anew (&next);
  cancelled = g_cancellable_new ();
  g_assert_null (g_initable_new (APR_TYPE_SAFETENSORS_READER, cancelled, &error, "file", file, "load-mode",
                                 APR_SAFETENSORS_LOAD_MODE_READ, NULL));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (n_calls[CALL_PREAD], ==, 1);
  g_clear_object (&cancelled);
}

static void
test_calls_are_bounded (Folder *folder, gconstpointer unused)
{
  static const char large[] = "{\"w\":{\"dtype\":\"U8\",\"shape\":[2097153],\"data_offsets\":[0,2097153]}}";
  g_autofree char *data = g_malloc (2097153);
  g_autoptr (GBytes) bytes = NULL;
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (AprTensor) tensor = NULL;
  gsize size, i;
  gconstpointer got;

  g_test_summary ("A call reads 1 MiB at most, so that a cancellation is soon seen.");

  for (i = 0; i < 2097153; i++)
    data[i] = (char) (i % 251);
  bytes = make_file (large, data, 2097153);
  path = folder_write (folder, "model.safetensors", bytes);
  reader = reader_open (path, APR_SAFETENSORS_LOAD_MODE_READ, &error);
  g_assert_no_error (error);
  inject_anew (NULL);
  tensor = apr_safetensors_reader_get_tensor (reader, "w", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (n_calls[CALL_PREAD], ==, 3);
  g_assert_cmpuint (most_bytes, ==, 1048576);
  got = g_bytes_get_data (apr_tensor_get_bytes (tensor), &size);
  g_assert_cmpmem (got, size, data, 2097153);
}

/* An index, which lists one shard of the name, and that shard. */
static char *
write_index (Folder *folder)
{
  static const char text[] = "{\"weight_map\":{\"w\":\"model.safetensors\"}}";
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, strlen (text));

  g_free (write_model (folder));
  return folder_write (folder, "model.safetensors.index.json", bytes);
}

static void
test_index_moves_away (Folder *folder, gconstpointer unused)
{
  static const Fault faults[] = {
    { CALL_REALPATH, 0, 1, ENOENT },
    { CALL_REALPATH, 1, 1, ENOENT },
    { CALL_REALPATH, 0, 1, EACCES },
  };
  g_autofree char *path = write_index (folder);
  guint n_descriptors = count_descriptors ();
  guint i;

  g_test_summary ("The index is read, and then it or its folder is not there any more.");

  for (i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autofree char *expected = g_strdup_printf ("%s: %s", path, g_strerror (faults[i].code));
      g_autoptr (GError) error = NULL;

      inject_anew (&faults[i]);
      g_assert_null (apr_safetensors_reader_new_from_path (path, &error));
      g_assert_error (error, G_IO_ERROR, (int) g_io_error_from_errno (faults[i].code));
      g_assert_cmpstr (error->message, ==, expected);
      g_assert_cmpuint (count_descriptors (), ==, n_descriptors);
    }
}

static void
test_shard_becomes_a_link (Folder *folder, gconstpointer unused)
{
  static const Fault faults[] = { { CALL_LSTAT, 0, 1, SEES_A_FILE }, { CALL_REALPATH, 2, 1, SEES_ITSELF } };
  g_autofree char *path = write_index (folder);
  g_autofree char *shard = g_build_filename (folder->folder, "model.safetensors", NULL);
  g_autofree char *target = g_build_filename (folder->folder, "target", NULL);
  guint n_descriptors = count_descriptors ();
  guint i;

  g_test_summary ("Somebody puts a link there after it was looked at. It is not followed.");

  g_assert_no_errno (rename (shard, target));
  g_assert_no_errno (symlink ("target", shard));
  for (i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autoptr (GError) error = NULL;

      inject_anew (&faults[i]);
      g_assert_null (apr_safetensors_reader_new_from_path (path, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS);
      assert_message_has (error, ": shard “model.safetensors”: ");
      g_assert_cmphex (open_flags, ==, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
      g_assert_cmpuint (count_descriptors (), ==, n_descriptors);
    }
}

static void
test_shard_in_a_daemon (Folder *folder, gconstpointer unused)
{
  g_autofree char *path = write_index (folder);
  int input = fcntl (STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = NULL;

  inject_anew (NULL);
  if (fcntl (STDIN_FILENO, F_GETFD) >= 0)
    close (STDIN_FILENO);
  reader = reader_open (path, APR_SAFETENSORS_LOAD_MODE_READ, &error);
  g_assert_no_error (error);
  g_assert_true (apr_safetensors_reader_has_tensor (reader, "w"));
  g_assert_cmpint (fcntl (STDIN_FILENO, F_GETFD), >=, 0);
  g_clear_object (&reader);
  if (input >= 0)
    {
      g_assert_cmpint (dup2 (input, STDIN_FILENO), ==, STDIN_FILENO);
      close (input);
    }
}

static void
test_shard_cannot_be_looked_at (Folder *folder, gconstpointer unused)
{
  static const Fault next = { CALL_LSTAT, 0, 1, EIO };
  g_autofree char *path = write_index (folder);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = NULL;

  g_test_summary ("Then it is opened as what is no link, and that fails if it is one.");

  inject_anew (&next);
  reader = apr_safetensors_reader_new_from_path (path, &error);
  g_assert_no_error (error);
  g_assert_true (apr_safetensors_reader_has_tensor (reader, "w"));
  g_assert_cmpuint (n_calls[CALL_REALPATH], ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  capacities = g_array_new (FALSE, FALSE, sizeof (gsize));

  g_test_add_func ("/safetensors/reader-injection/no-memory-for-stream", test_no_memory_for_stream);
  g_test_add_func ("/safetensors/reader-injection/no-memory-for-parts-of-header",
                   test_no_memory_for_parts_of_header);
#define ADD(path, test) g_test_add (path, Folder, NULL, folder_set_up, test, folder_tear_down)
  ADD ("/safetensors/reader-injection/opens-in-a-daemon", test_opens_in_a_daemon);
  ADD ("/safetensors/reader-injection/open-fails", test_open_fails);
  ADD ("/safetensors/reader-injection/perseveres", test_perseveres);
  ADD ("/safetensors/reader-injection/shrinks-while-opened", test_shrinks_while_opened);
  ADD ("/safetensors/reader-injection/tensor-fails", test_tensor_fails);
  ADD ("/safetensors/reader-injection/no-memory-for-header", test_no_memory_for_header);
  ADD ("/safetensors/reader-injection/cancelled-within", test_cancelled_within);
  ADD ("/safetensors/reader-injection/calls-are-bounded", test_calls_are_bounded);
  ADD ("/safetensors/reader-injection/index-moves-away", test_index_moves_away);
  ADD ("/safetensors/reader-injection/shard-becomes-a-link", test_shard_becomes_a_link);
  ADD ("/safetensors/reader-injection/shard-in-a-daemon", test_shard_in_a_daemon);
  ADD ("/safetensors/reader-injection/shard-cannot-be-looked-at", test_shard_cannot_be_looked_at);

  return g_test_run ();
}
