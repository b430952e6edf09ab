/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/safetensors-test.h"

/*
 * Files on another machine, so to speak: they have no path, only a URI, they may be larger than they hold, and they
 * do what is asked of them or fail.
 */
typedef struct
{
  GBytes *bytes;
  goffset n_zeros;      /* that follow the bytes */
  goffset n_missing;    /* bytes that it says to have at its end, and has not */
  gboolean cannot_seek; /* in general */
  guint n_seeks;        /* that go well before one that does not; 0: all do */
  guint n_reads;        /* likewise */
  gboolean is_link;
  const char *target;
  GCancellable *cancels; /* when its end has been read */

  guint64 n_read;
} Content;

static GHashTable *contents;

/* The stream. */

typedef struct
{
  GFileInputStream parent_instance;

  Content *content;
  goffset position;
  guint n_seeks, n_reads;
  gint n_inside;
} Stream;

typedef GFileInputStreamClass StreamClass;

static GType stream_get_type (void);

G_DEFINE_TYPE (Stream, stream, G_TYPE_FILE_INPUT_STREAM)

static goffset
content_size (const Content *self)
{
  return (goffset) g_bytes_get_size (self->bytes) + self->n_zeros;
}

static gboolean
fail_if_last (guint n_good, guint *n_calls, GError **error)
{
  if (n_good == 0 || ++*n_calls < n_good)
    return FALSE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED, "the cable was pulled");
  return TRUE;
}

static gssize
stream_read (GInputStream *stream, void *buffer, gsize count, GCancellable *cancellable, GError **error)
{
  Stream *self = (Stream *) stream;
  gsize size = g_bytes_get_size (self->content->bytes);
  goffset left = content_size (self->content) - self->position;
  gsize n = (gsize) MIN ((goffset) MIN (count, 1000), MAX (left, 0));
  gsize i;

  if (fail_if_last (self->content->n_reads, &self->n_reads, error))
    return -1;
  /* Others come in between, unless they are kept out. */
  g_assert_cmpint (g_atomic_int_add (&self->n_inside, 1), ==, 0);
  g_usleep (10);
  g_atomic_int_add (&self->n_inside, -1);
  for (i = 0; i < n; i++)
    {
      gsize place = (gsize) self->position + i;

      ((guint8 *) buffer)[i] =
        place < size ? ((const guint8 *) g_bytes_get_data (self->content->bytes, NULL))[place] : 0;
    }
  self->position += (goffset) n;
  self->content->n_read += n;
  if (n == 0 && self->content->cancels != NULL)
    g_cancellable_cancel (self->content->cancels);
  return (gssize) n;
}

static goffset
stream_tell (GFileInputStream *stream)
{
  return ((Stream *) stream)->position;
}

static gboolean
stream_can_seek (GFileInputStream *stream)
{
  return !((Stream *) stream)->content->cannot_seek;
}

static gboolean
stream_seek (
  GFileInputStream *stream, goffset offset, GSeekType type, GCancellable *cancellable, GError **error)
{
  Stream *self = (Stream *) stream;

  if (fail_if_last (self->content->n_seeks, &self->n_seeks, error))
    return FALSE;
  self->position = type == G_SEEK_END ? content_size (self->content) + self->content->n_missing + offset
                 : type == G_SEEK_SET ? offset
                                      : self->position + offset;
  return TRUE;
}

static void
stream_class_init (StreamClass *klass)
{
  G_INPUT_STREAM_CLASS (klass)->read_fn = stream_read;
  klass->tell = stream_tell;
  klass->can_seek = stream_can_seek;
  klass->seek = stream_seek;
}

static void
stream_init (Stream *self)
{
}

/* The file. */

typedef struct
{
  GObject parent_instance;

  char *name;
} File;

typedef GObjectClass FileClass;

static GType file_get_type (void);
static void file_iface_init (GFileIface *iface);

G_DEFINE_TYPE_WITH_CODE (File, file, G_TYPE_OBJECT, G_IMPLEMENT_INTERFACE (G_TYPE_FILE, file_iface_init))

static GFile *
file_new (const char *name)
{
  File *self = g_object_new (file_get_type (), NULL);

  self->name = g_strdup (name);
  return (GFile *) self;
}

static Content *
file_look_up (GFile *file, GError **error)
{
  Content *content = g_hash_table_lookup (contents, ((File *) file)->name);

  if (content == NULL)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "nothing there");
  return content;
}

static GFileInputStream *
file_read (GFile *file, GCancellable *cancellable, GError **error)
{
  Content *content = file_look_up (file, error);
  Stream *stream;

  if (content == NULL)
    return NULL;
  stream = g_object_new (stream_get_type (), NULL);
  stream->content = content;
  return (GFileInputStream *) stream;
}

static GFileInfo *
file_query_info (
  GFile *file, const char *attributes, GFileQueryInfoFlags flags, GCancellable *cancellable, GError **error)
{
  Content *content = file_look_up (file, error);
  GFileInfo *info;

  if (content == NULL)
    return NULL;
  g_assert_true (flags == G_FILE_QUERY_INFO_NOFOLLOW_SYMLINKS);
  info = g_file_info_new ();
  g_file_info_set_is_symlink (info, content->is_link);
  if (content->target != NULL)
    g_file_info_set_symlink_target (info, content->target);
  return info;
}

static char *
file_get_path (GFile *file)
{
  return NULL;
}

static char *
file_get_uri (GFile *file)
{
  return g_strconcat ("far:///", ((File *) file)->name, NULL);
}

static GFile *
file_get_parent (GFile *file)
{
  return file_new ("");
}

static GFile *
file_resolve (GFile *file, const char *name)
{
  return file_new (name);
}

static void
file_iface_init (GFileIface *iface)
{
  iface->read_fn = file_read;
  iface->query_info = file_query_info;
  iface->get_path = file_get_path;
  iface->get_uri = file_get_uri;
  iface->get_parent = file_get_parent;
  iface->resolve_relative_path = file_resolve;
}

static void
file_finalize (GObject *object)
{
  g_free (((File *) object)->name);
  G_OBJECT_CLASS (file_parent_class)->finalize (object);
}

static void
file_class_init (FileClass *klass)
{
  klass->finalize = file_finalize;
}

static void
file_init (File *self)
{
}

/* Makes a file; takes the bytes. */
static Content *
put (const char *name, GBytes *bytes)
{
  Content *content = g_new0 (Content, 1);

  content->bytes = bytes;
  g_hash_table_replace (contents, g_strdup (name), content);
  return content;
}

static Content *
put_text (const char *name, const char *text)
{
  return put (name, g_bytes_new (text, strlen (text)));
}

static void
content_free (gpointer data)
{
  Content *content = data;

  g_bytes_unref (content->bytes);
  g_free (content);
}

static AprSafetensorsReader *
open_far (const char *name, AprSafetensorsLoadMode load_mode, GCancellable *cancellable, GError **error)
{
  g_autoptr (GFile) file = file_new (name);

  return g_initable_new (APR_TYPE_SAFETENSORS_READER, cancellable, error, "file", file, "load-mode",
                         load_mode, NULL);
}

#define INDEX "model.safetensors.index.json"

static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
                             "\"w\":{\"dtype\":\"U8\",\"shape\":[2,2],\"data_offsets\":[3,7]}}";

static Content *
put_model (void)
{
  return put ("model", make_file (header, "abcwxyz", 7));
}

static void
assert_tensors (AprSafetensorsReader *reader)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) a = apr_safetensors_reader_get_tensor (reader, "a", &error);
  g_autoptr (AprTensor) w = apr_safetensors_reader_get_tensor (reader, "w", &error);
  g_autoptr (AprTensor) slice = apr_safetensors_reader_get_slice (reader, "w", "1, 0", &error);

  g_assert_no_error (error);
  assert_bytes (a, "abc");
  assert_bytes (w, "wxyz");
  assert_bytes (slice, "y");
}

static void
test_open (void)
{
  gsize size = 8 + strlen (header);
  guint i;

  g_test_summary ("Only what can be sought is read when it is asked for; all else is loaded at once.");

  for (i = 0; i < 4; i++)
    {
      gboolean is_loaded = i != APR_SAFETENSORS_LOAD_MODE_READ;
      Content *content = put_model ();
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsReader) reader = NULL;

      content->cannot_seek = i >= 2;
      reader = open_far ("model", (AprSafetensorsLoadMode) (i % 2), NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (content->n_read, ==, is_loaded ? size + 7 : size);
      assert_tensors (reader);
      g_assert_cmpuint (content->n_read, ==, is_loaded ? size + 7 : size + 3 + 4 + 1);
    }
}

static void
test_open_fails (void)
{
  static const struct
  {
    guint n_seeks, n_reads;
  } faults[] = { { 1, 0 }, { 2, 0 }, { 3, 0 }, { 0, 1 }, { 0, 2 } };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      Content *content = put_model ();
      g_autoptr (GError) error = NULL;

      content->n_seeks = faults[i].n_seeks;
      content->n_reads = faults[i].n_reads;
      g_assert_null (open_far ("model", APR_SAFETENSORS_LOAD_MODE_READ, NULL, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED);
      g_assert_cmpstr (error->message, ==, "far:///model: the cable was pulled");
    }
}

static void
test_is_shorter (void)
{
  gsize size = 8 + strlen (header);
  g_autofree char *expected = g_strdup_printf (
    "far:///model: the header is needed up to byte %zu, but the file ends at byte 20 now", size);
  g_autoptr (GError) error = NULL;
  Content *content = put ("model", make_file (header, "abcwxyz", 7));
  GBytes *cut = g_bytes_new_from_bytes (content->bytes, 0, 20);

  content->n_missing = (goffset) (g_bytes_get_size (content->bytes) - 20);
  g_bytes_unref (content->bytes);
  content->bytes = cut;
  g_assert_null (open_far ("model", APR_SAFETENSORS_LOAD_MODE_READ, NULL, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
  g_assert_cmpstr (error->message, ==, expected);
}

static void
test_tensor_fails (void)
{
  guint i;

  for (i = 0; i < 2; i++)
    {
      Content *content = put_model ();
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsReader) reader = NULL;

      if (i == 0)
        content->n_seeks = 4;
      else
        content->n_reads = 3;
      reader = open_far ("model", APR_SAFETENSORS_LOAD_MODE_READ, NULL, &error);
      g_assert_no_error (error);
      g_assert_null (apr_safetensors_reader_get_tensor (reader, "w", &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED);
      g_assert_cmpstr (error->message, ==, "far:///model: tensor “w”: the cable was pulled");
      content->n_seeks = content->n_reads = 0;
      assert_tensors (reader);
    }
}

static gpointer
read_thread (gpointer reader)
{
  guint i;

  for (i = 0; i < 100; i++)
    assert_tensors (reader);
  return NULL;
}

static void
test_threads (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = NULL;
  GThread *threads[4];
  guint i;

  put_model ();
  reader = open_far ("model", APR_SAFETENSORS_LOAD_MODE_READ, NULL, &error);
  g_assert_no_error (error);
  for (i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("read", read_thread, reader);
  for (i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

static void
assert_refused (const char *name, GQuark domain, int code, const char *message)
{
  guint mode;

  for (mode = 0; mode < 2; mode++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (open_far (name, (AprSafetensorsLoadMode) mode, NULL, &error));
      g_assert_error (error, domain, code);
      g_assert_cmpstr (error->message, ==, message);
    }
}

static void
test_index (void)
{
  guint mode;

  put_model ();
  put_text (INDEX, "{\"weight_map\":{\"a\":\"model\",\"w\":\"model\"}}");
  for (mode = 0; mode < 2; mode++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsReader) reader = open_far (INDEX, (AprSafetensorsLoadMode) mode, NULL, &error);

      g_assert_no_error (error);
      assert_tensors (reader);
    }
}

static void
test_index_fails (void)
{
  Content *content;

  g_hash_table_remove_all (contents);
  assert_refused (INDEX, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "far:///" INDEX ": nothing there");
  put_text (INDEX, "{\"weight_map\":{\"a\":\"model\",\"w\":\"model\"}}");
  assert_refused (INDEX, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "far:///" INDEX ": shard “model”: nothing there");
  put_model ();
  put_text (INDEX, "{\"weight_map\":{\"a\":\"model\"}}");
  assert_refused (INDEX, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_INDEX,
                  "far:///" INDEX ": shard “model”: tensor “w” is in the shard, but not in the index");
  content = put_text (INDEX, "{\"weight_map\":{}}");
  content->n_reads = 2;
  assert_refused (INDEX, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED, "far:///" INDEX ": the cable was pulled");
}

static void
test_index_limit (void)
{
  static const char text[] = "{\"weight_map\":{}}";
  guint64 limit;

  for (limit = strlen (text) - 1; limit <= strlen (text); limit++)
    {
      Content *content = put_text (INDEX, text);
      g_autoptr (GFile) file = file_new (INDEX);
      g_autoptr (GError) error = NULL;
      g_autoptr (GObject) reader = NULL;

      /* There is more, and of that one byte is read. */
      content->n_zeros = limit < strlen (text) ? 100 : 0;
      reader = g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, &error, "file", file, "max-header-size",
                               limit, NULL);
      if (limit < strlen (text))
        {
          g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE);
          g_assert_cmpstr (error->message, ==,
                           "far:///" INDEX ": the index has more than the 16 bytes that are allowed");
          g_assert_cmpuint (content->n_read, ==, limit + 1);
        }
      else
        g_assert_no_error (error);
    }
}

static void
test_link (void)
{
  Content *content = put_model ();

  put_text (INDEX, "{\"weight_map\":{\"a\":\"model\",\"w\":\"model\"}}");
  content->is_link = TRUE;
  assert_refused (INDEX, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SHARD_NAME,
                  "far:///" INDEX
                  ": shard “model”: it is a symbolic link to “”, outside the folder of the index");
  content->target = "/etc/passwd";
  assert_refused (INDEX, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SHARD_NAME,
                  "far:///" INDEX
                  ": shard “model”: it is a symbolic link to “/etc/passwd”, outside the folder of the index");
}

static void
test_cancelled_before_shards (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Content *content = put_model ();

  put_text (INDEX, "{\"weight_map\":{\"a\":\"model\",\"w\":\"model\"}}")->cancels = cancellable;
  g_assert_null (open_far (INDEX, APR_SAFETENSORS_LOAD_MODE_READ, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (content->n_read, ==, 0);
}

int
main (int argc, char **argv)
{
  int result;

  g_test_init (&argc, &argv, NULL);
  contents = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, content_free);

  g_test_add_func ("/safetensors/reader-remote/open", test_open);
  g_test_add_func ("/safetensors/reader-remote/open-fails", test_open_fails);
  g_test_add_func ("/safetensors/reader-remote/is-shorter", test_is_shorter);
  g_test_add_func ("/safetensors/reader-remote/tensor-fails", test_tensor_fails);
  g_test_add_func ("/safetensors/reader-remote/threads", test_threads);
  g_test_add_func ("/safetensors/reader-remote/index", test_index);
  g_test_add_func ("/safetensors/reader-remote/index-fails", test_index_fails);
  g_test_add_func ("/safetensors/reader-remote/index-limit", test_index_limit);
  g_test_add_func ("/safetensors/reader-remote/link", test_link);
  g_test_add_func ("/safetensors/reader-remote/cancelled-before-shards", test_cancelled_before_shards);

  result = g_test_run ();
  g_hash_table_unref (contents);
  return result;
}
