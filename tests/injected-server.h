/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"

/*
 * A server's folder and streams, of which each call can be told to fail: what a network or a device may do at the
 * worst of all moments. The folder keeps a file when its stream is closed, and forgets one whose close is cancelled,
 * as g_file_replace() promises.
 */
typedef enum
{
  CALL_NONE,
  CALL_REPLACE,
  CALL_WRITE,
  CALL_CLOSE,
  CALL_READ,
  CALL_SEEK,
  N_CALLS,
} Call;

static struct
{
  GHashTable *files; /* name to GBytes */
  guint n_open;
  Call call;    /* what is to fail */
  guint n_good; /* calls of it that go well before */
  guint n_calls[N_CALLS];
} server;

static void
server_set_up (Call call, guint n_good)
{
  g_clear_pointer (&server.files, g_hash_table_unref);
  memset (&server, 0, sizeof server);
  server.files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
  server.call = call;
  server.n_good = n_good;
}

static gboolean
strikes (Call call, GError **error)
{
  if (server.n_calls[call]++ != server.n_good || call != server.call)
    return FALSE;
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE, "the server is down");
  return TRUE;
}

static void
server_put (const char *name, const char *contents)
{
  g_hash_table_insert (server.files, g_strdup (name), g_bytes_new (contents, strlen (contents)));
}

static void
assert_served (const char *name, gconstpointer expected, gsize size)
{
  GBytes *bytes = g_hash_table_lookup (server.files, name);

  g_assert_nonnull (bytes);
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), expected, size);
}

static void
assert_error (GError *error, const char *message)
{
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_HOST_UNREACHABLE);
  g_assert_cmpstr (error->message, ==, message);
}

/* An output stream of the server; without a name it is nobody's file. */
typedef struct
{
  GFileOutputStream parent_instance;
  char *name;
  GByteArray *contents;
} ServerStream;

typedef GFileOutputStreamClass ServerStreamClass;

static GType server_stream_get_type (void);

G_DEFINE_TYPE (ServerStream, server_stream, G_TYPE_FILE_OUTPUT_STREAM)

static gssize
server_stream_write (
  GOutputStream *stream, const void *buffer, gsize size, GCancellable *cancellable, GError **error)
{
  ServerStream *self = (ServerStream *) stream;

  if (strikes (CALL_WRITE, error))
    return -1;
  g_byte_array_append (self->contents, buffer, (guint) size);
  return (gssize) size;
}

static gboolean
server_stream_close (GOutputStream *stream, GCancellable *cancellable, GError **error)
{
  ServerStream *self = (ServerStream *) stream;

  server.n_open--;
  if (g_cancellable_set_error_if_cancelled (cancellable, error) || strikes (CALL_CLOSE, error))
    return FALSE;
  if (self->name != NULL)
    g_hash_table_insert (server.files, g_strdup (self->name),
                         g_bytes_new (self->contents->data, self->contents->len));
  return TRUE;
}

static void
server_stream_finalize (GObject *object)
{
  ServerStream *self = (ServerStream *) object;

  g_free (self->name);
  g_byte_array_unref (self->contents);
  G_OBJECT_CLASS (server_stream_parent_class)->finalize (object);
}

static void
server_stream_class_init (ServerStreamClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = server_stream_finalize;
  G_OUTPUT_STREAM_CLASS (klass)->write_fn = server_stream_write;
  G_OUTPUT_STREAM_CLASS (klass)->close_fn = server_stream_close;
}

static void
server_stream_init (ServerStream *self)
{
  self->contents = g_byte_array_new ();
  server.n_open++;
}

static GOutputStream *
server_stream_new (const char *name)
{
  ServerStream *self = g_object_new (server_stream_get_type (), NULL);

  self->name = g_strdup (name);
  return G_OUTPUT_STREAM (self);
}

/* The folder, whose name is empty, or a file in it. */
typedef struct
{
  GObject parent_instance;
  char *name;
} ServerFile;

typedef GObjectClass ServerFileClass;

static GType server_file_get_type (void);

static GFile *
server_file_new (const char *name)
{
  ServerFile *self = g_object_new (server_file_get_type (), NULL);

  self->name = g_strdup (name);
  return G_FILE (self);
}

static GFile *
server_file_dup (GFile *file)
{
  return server_file_new (((ServerFile *) file)->name);
}

static char *
server_file_get_path (GFile *file)
{
  return NULL;
}

static char *
server_file_get_uri (GFile *file)
{
  return g_strdup_printf ("server:///%s", ((ServerFile *) file)->name);
}

static GFile *
server_file_resolve_relative_path (GFile *file, const char *path)
{
  g_assert_cmpstr (((ServerFile *) file)->name, ==, "");
  return server_file_new (path);
}

static GFileInfo *
server_file_query_info (
  GFile *file, const char *attributes, GFileQueryInfoFlags flags, GCancellable *cancellable, GError **error)
{
  if (g_hash_table_contains (server.files, ((ServerFile *) file)->name))
    return g_file_info_new ();
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "not there");
  return NULL;
}

static gboolean
server_file_delete (GFile *file, GCancellable *cancellable, GError **error)
{
  return g_hash_table_remove (server.files, ((ServerFile *) file)->name);
}

static GFileOutputStream *
server_file_replace (GFile *file,
                     const char *etag,
                     gboolean make_backup,
                     GFileCreateFlags flags,
                     GCancellable *cancellable,
                     GError **error)
{
  g_assert_null (etag);
  g_assert_false (make_backup);
  g_assert_cmpuint (flags, ==, G_FILE_CREATE_NONE);
  if (strikes (CALL_REPLACE, error))
    return NULL;
  return G_FILE_OUTPUT_STREAM (server_stream_new (((ServerFile *) file)->name));
}

static void
server_file_iface_init (GFileIface *iface)
{
  iface->dup = server_file_dup;
  iface->get_path = server_file_get_path;
  iface->get_uri = server_file_get_uri;
  iface->resolve_relative_path = server_file_resolve_relative_path;
  iface->query_info = server_file_query_info;
  iface->delete_file = server_file_delete;
  iface->replace = server_file_replace;
}

G_DEFINE_TYPE_WITH_CODE (ServerFile,
                         server_file,
                         G_TYPE_OBJECT,
                         G_IMPLEMENT_INTERFACE (G_TYPE_FILE, server_file_iface_init))

static void
server_file_finalize (GObject *object)
{
  g_free (((ServerFile *) object)->name);
  G_OBJECT_CLASS (server_file_parent_class)->finalize (object);
}

static void
server_file_class_init (ServerFileClass *klass)
{
  klass->finalize = server_file_finalize;
}

static void
server_file_init (ServerFile *self)
{
}

/* An input stream over a text, which gives no more than half of what it is asked for. */
typedef struct
{
  GInputStream parent_instance;
  const char *text;
  gsize size;
  goffset position;
  gboolean can_seek;
  AprSafetensorsWriter *writer; /* (nullable): what is to be written while this is read */
} TextStream;

typedef GInputStreamClass TextStreamClass;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (TextStream, g_object_unref)

static GType text_stream_get_type (void);

static goffset
text_stream_tell (GSeekable *seekable)
{
  return ((TextStream *) seekable)->position;
}

static gboolean
text_stream_can_seek (GSeekable *seekable)
{
  return ((TextStream *) seekable)->can_seek;
}

static gboolean
text_stream_seek (
  GSeekable *seekable, goffset offset, GSeekType type, GCancellable *cancellable, GError **error)
{
  TextStream *self = (TextStream *) seekable;

  g_assert_true (self->can_seek);
  g_assert_cmpuint (type, ==, G_SEEK_SET);
  if (strikes (CALL_SEEK, error))
    return FALSE;
  self->position = offset;
  return TRUE;
}

static void
text_stream_iface_init (GSeekableIface *iface)
{
  iface->tell = text_stream_tell;
  iface->can_seek = text_stream_can_seek;
  iface->seek = text_stream_seek;
}

G_DEFINE_TYPE_WITH_CODE (TextStream,
                         text_stream,
                         G_TYPE_INPUT_STREAM,
                         G_IMPLEMENT_INTERFACE (G_TYPE_SEEKABLE, text_stream_iface_init))

static gssize
text_stream_read (GInputStream *stream, void *buffer, gsize size, GCancellable *cancellable, GError **error)
{
  TextStream *self = (TextStream *) stream;
  gsize n_given = MIN ((size + 1) / 2, self->size - (gsize) self->position);

  if (strikes (CALL_READ, error))
    return -1;
  if (self->writer != NULL)
    {
      g_autoptr (GError) inner_error = NULL;

      g_assert_null (apr_safetensors_writer_write_to_bytes (self->writer, &inner_error));
      g_assert_error (inner_error, G_IO_ERROR, G_IO_ERROR_PENDING);
      g_assert_cmpstr (inner_error->message, ==, "tensor “a”: its stream is being read by another write");
    }
  memcpy (buffer, self->text + self->position, n_given);
  self->position += (goffset) n_given;
  return (gssize) n_given;
}

static void
text_stream_class_init (TextStreamClass *klass)
{
  klass->read_fn = text_stream_read;
}

static void
text_stream_init (TextStream *self)
{
}

static TextStream *
text_stream_new (const char *text, gboolean can_seek)
{
  TextStream *self = g_object_new (text_stream_get_type (), NULL);

  self->text = text;
  self->size = strlen (text);
  self->can_seek = can_seek;
  return self;
}
