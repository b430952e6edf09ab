/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/folder.h"
#include "tests/writer-test.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

/* A file whose path nobody knows, as one on a server: it sends everything on to another. */
typedef struct
{
  GObject parent_instance;
  GFile *inner;
} RemoteFile;

typedef GObjectClass RemoteFileClass;

static GType remote_file_get_type (void);

static GFile *
remote_file_new (GFile *inner)
{
  RemoteFile *self = g_object_new (remote_file_get_type (), NULL);

  self->inner = g_object_ref (inner);
  return G_FILE (self);
}

static GFile *
remote_file_dup (GFile *file)
{
  return remote_file_new (((RemoteFile *) file)->inner);
}

static char *
remote_file_get_path (GFile *file)
{
  return NULL;
}

static char *
remote_file_get_uri (GFile *file)
{
  return g_strdup ("remote:///model.safetensors");
}

static gboolean
remote_file_has_uri_scheme (GFile *file, const char *scheme)
{
  return g_str_equal (scheme, "remote");
}

static GFileInputStream *
remote_file_read (GFile *file, GCancellable *cancellable, GError **error)
{
  return g_file_read (((RemoteFile *) file)->inner, cancellable, error);
}

static GFileOutputStream *
remote_file_replace (GFile *file,
                     const char *etag,
                     gboolean make_backup,
                     GFileCreateFlags flags,
                     GCancellable *cancellable,
                     GError **error)
{
  return g_file_replace (((RemoteFile *) file)->inner, etag, make_backup, flags, cancellable, error);
}

static void
remote_file_iface_init (GFileIface *iface)
{
  iface->dup = remote_file_dup;
  iface->get_path = remote_file_get_path;
  iface->get_uri = remote_file_get_uri;
  iface->has_uri_scheme = remote_file_has_uri_scheme;
  iface->read_fn = remote_file_read;
  iface->replace = remote_file_replace;
}

G_DEFINE_TYPE_WITH_CODE (RemoteFile,
                         remote_file,
                         G_TYPE_OBJECT,
                         G_IMPLEMENT_INTERFACE (G_TYPE_FILE, remote_file_iface_init))

static void
remote_file_finalize (GObject *object)
{
  g_clear_object (&((RemoteFile *) object)->inner);
  G_OBJECT_CLASS (remote_file_parent_class)->finalize (object);
}

static void
remote_file_class_init (RemoteFileClass *klass)
{
  klass->finalize = remote_file_finalize;
}

static void
remote_file_init (RemoteFile *self)
{
}

typedef struct
{
  char *folder;
  char *path;
  GFile *file;
  GFile *remote;
  AprSafetensorsWriter *writer;
  GBytes *expected;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = make_folder_for_file (&fixture->path);
  fixture->file = g_file_new_for_path (fixture->path);
  fixture->remote = remote_file_new (fixture->file);
  fixture->writer = apr_safetensors_writer_new ();
  add (fixture->writer, "b", APR_DTYPE_F32, SHAPE (2, 3), zero_to_five, 24);
  add (fixture->writer, "a", APR_DTYPE_U8, SHAPE (3), "xyz", 3);
  add (fixture->writer, "nothing", APR_DTYPE_U8, SHAPE (0), "", 0);
  set (fixture->writer, "format", "pt");
  fixture->expected = apr_safetensors_writer_write_to_bytes (fixture->writer, NULL);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  remove_folder_for_file (fixture->folder, fixture->path);
  g_object_unref (fixture->file);
  g_object_unref (fixture->remote);
  g_bytes_unref (fixture->expected);
  g_assert_finalize_object (fixture->writer);
}

static void
assert_contents (Fixture *fixture, gconstpointer expected, gsize size)
{
  g_autofree char *contents = NULL;
  gsize length;

  g_assert_true (g_file_get_contents (fixture->path, &contents, &length, NULL));
  g_assert_cmpmem (contents, length, expected, size);
}

static void
test_write_to_path (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  guint i;

  for (i = 0; i < 2; i++)
    {
      g_assert_true (apr_safetensors_writer_write_to_path (fixture->writer, fixture->path, &error));
      g_assert_no_error (error);
      assert_contents (fixture, g_bytes_get_data (fixture->expected, NULL),
                       g_bytes_get_size (fixture->expected));
    }
}

static void
test_write_to_file (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_safetensors_writer_write_to_file (fixture->writer, fixture->file, NULL, &error));
  g_assert_no_error (error);
  assert_contents (fixture, g_bytes_get_data (fixture->expected, NULL), g_bytes_get_size (fixture->expected));
}

static void
test_write_to_remote (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (AprTensor) tensor = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_safetensors_writer_write_to_file (fixture->writer, fixture->remote, NULL, &error));
  g_assert_no_error (error);
  assert_contents (fixture, g_bytes_get_data (fixture->expected, NULL), g_bytes_get_size (fixture->expected));

  reader = apr_safetensors_reader_new_from_file (fixture->remote, NULL, &error);
  g_assert_no_error (error);
  tensor = apr_safetensors_reader_get_tensor (reader, "a", &error);
  g_assert_no_error (error);
  g_assert_cmpmem (g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL), 3, "xyz", 3);

  g_assert_true (g_file_set_contents (fixture->path, "bad", 3, NULL));
  g_assert_null (apr_safetensors_reader_new_from_file (fixture->remote, NULL, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
  g_assert_true (g_str_has_prefix (error->message, "remote:///model.safetensors: 3 bytes"));
  g_clear_error (&error);

  g_unlink (fixture->path);
  g_assert_null (apr_safetensors_reader_new_from_file (fixture->remote, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_true (g_str_has_prefix (error->message, "remote:///model.safetensors: "));
}

static void
test_write_over_mapping (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (AprTensor) tensor = NULL;
  g_autoptr (GError) error = NULL;
  guint i;

  g_test_summary ("A file may be written with tensors that are mapped from it.");

  g_assert_true (apr_safetensors_writer_write_to_path (fixture->writer, fixture->path, &error));
  reader = apr_safetensors_reader_new_from_path (fixture->path, &error);
  g_assert_no_error (error);
  tensor = apr_safetensors_reader_get_tensor (reader, "b", &error);
  g_assert_true (apr_safetensors_writer_add_tensor (writer, "attn.0", tensor, &error));
  for (i = 0; i < 2; i++)
    {
      g_assert_true (apr_safetensors_writer_write_to_path (writer, fixture->path, &error));
      g_assert_no_error (error);
    }
  g_assert_cmpmem (g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL), 24, zero_to_five, 24);
}

static void
test_cancelled (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  guint i;

  g_assert_true (g_file_set_contents (fixture->path, "old", 3, NULL));
  g_cancellable_cancel (cancellable);
  for (i = 0; i < 2; i++)
    {
      GFile *file = i == 0 ? fixture->file : fixture->remote;
      g_autoptr (GError) error = NULL;

      g_assert_false (apr_safetensors_writer_write_to_file (fixture->writer, file, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);
      g_assert_null (apr_safetensors_reader_new_from_file (file, cancellable, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
    }
  assert_contents (fixture, "old", 3);
}

static void
test_write_error (Fixture *fixture, gconstpointer data)
{
  g_autofree char *large = g_malloc0 (100000);
  struct rlimit limit, small;
  guint i;

  g_test_summary (
    "The kernel refuses to write beyond the limit for files: a real write error, also for root.");

  add (fixture->writer, "large", APR_DTYPE_U8, SHAPE (100000), large, 100000);
  g_assert_true (g_file_set_contents (fixture->path, "old", 3, NULL));
  g_assert_no_errno (getrlimit (RLIMIT_FSIZE, &limit));
  small = limit;
  small.rlim_cur = 8192;
  signal (SIGXFSZ, SIG_IGN);
  for (i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      gboolean succeeded;

      g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &small));
      succeeded = apr_safetensors_writer_write_to_file (
        fixture->writer, i == 0 ? fixture->file : fixture->remote, NULL, &error);
      g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &limit));
      g_assert_false (succeeded);
      g_assert_error (error, G_IO_ERROR, (int) g_io_error_from_errno (EFBIG));
      g_assert_true (g_str_has_prefix (error->message, i == 0 ? fixture->path : "remote:///"));
      g_assert_nonnull (strstr (error->message, g_strerror (EFBIG)));
      assert_contents (fixture, "old", 3);
    }
  signal (SIGXFSZ, SIG_DFL);
}

static void
test_missing_folder (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "no", "model.safetensors", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (apr_safetensors_writer_write_to_path (fixture->writer, path, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_true (g_str_has_prefix (error->message, path));
  g_assert_nonnull (strstr (error->message, "No such file or directory"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, test) g_test_add (path, Fixture, NULL, set_up, test, tear_down)
  ADD ("/safetensors/writer/to-path", test_write_to_path);
  ADD ("/safetensors/writer/to-file", test_write_to_file);
  ADD ("/safetensors/writer/to-remote", test_write_to_remote);
  ADD ("/safetensors/writer/over-mapping", test_write_over_mapping);
  ADD ("/safetensors/writer/cancelled", test_cancelled);
  ADD ("/safetensors/writer/write-error", test_write_error);
  ADD ("/safetensors/writer/missing-folder", test_missing_folder);

  return g_test_run ();
}
