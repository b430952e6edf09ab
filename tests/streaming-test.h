/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"
#include "tests/folder.h"

#include <stdarg.h>

/* What the tests of writing without having all data in memory need. */

#define BLOCK ((gsize) 1 << 20)

typedef struct
{
  char *folder;
  char *path;
  GFile *file;
  AprSafetensorsWriter *writer;
  GThread *thread; /* that of the test */
  guint n_calls;
  guint64 next_offset;
  gsize most_asked;
  guint64 n_given;
  goffset progress;
  goffset total;
  guint n_progress;
  gboolean is_released;
  GCancellable *cancellable;
  GAsyncResult *result;
} Fixture;

static inline void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = make_folder_for_file (&fixture->path);
  fixture->file = g_file_new_for_path (fixture->path);
  fixture->writer = apr_safetensors_writer_new ();
  apr_safetensors_writer_set_durable (fixture->writer, FALSE);
  fixture->thread = g_thread_self ();
  fixture->cancellable = g_cancellable_new ();
}

static inline void
tear_down (Fixture *fixture, gconstpointer data)
{
  remove_folder_for_file (fixture->folder, fixture->path);
  g_clear_object (&fixture->result);
  assert_finalizes (fixture->writer);
  g_object_unref (fixture->file);
  g_object_unref (fixture->cancellable);
}

static inline void
declare (Fixture *fixture, const char *name, AprDType dtype, gsize n_elements)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (
    apr_safetensors_writer_declare_tensor (fixture->writer, name, dtype, &n_elements, 1, &error));
  g_assert_no_error (error);
}

static inline void
set_stream (Fixture *fixture, const char *name, GInputStream *stream)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_safetensors_writer_set_source_stream (fixture->writer, name, stream, &error));
  g_assert_no_error (error);
}

static inline GInputStream *
memory_stream (const char *text)
{
  return g_memory_input_stream_new_from_data (g_strdup (text), (gssize) strlen (text), g_free);
}

static inline void
assert_contents (Fixture *fixture, const char *expected)
{
  g_autofree char *contents = NULL;
  gsize length;

  g_assert_true (g_file_get_contents (fixture->path, &contents, &length, NULL));
  g_assert_cmpmem (contents, length, expected, strlen (expected));
}

/* What the same tensors give that are added whole: the one law that all sources must keep. */
static inline GBytes *
expect (guint alignment, const char *name, ...)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  GBytes *bytes;
  va_list args;

  apr_safetensors_writer_set_alignment (writer, alignment);
  va_start (args, name);
  for (; name != NULL; name = va_arg (args, const char *))
    {
      const char *text = va_arg (args, const char *);
      gsize size = strlen (text);
      g_autoptr (GBytes) data = g_bytes_new (text, size);
      g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (APR_DTYPE_U8, &size, 1, data, NULL);

      g_assert_true (apr_safetensors_writer_add_tensor (writer, name, tensor, NULL));
    }
  va_end (args);
  bytes = apr_safetensors_writer_write_to_bytes (writer, NULL);
  g_assert_nonnull (bytes);
  return bytes;
}

/* Gives "0123456789012…" in pieces of three bytes. */
static inline GBytes *
give_digits (AprSafetensorsWriter *writer,
             const char *name,
             guint64 offset,
             gsize size,
             gpointer user_data,
             GError **error)
{
  Fixture *fixture = user_data;
  char digits[3];
  gsize i;

  g_assert_true (writer == fixture->writer);
  g_assert_true (g_thread_self () == fixture->thread);
  fixture->n_calls++;
  for (i = 0; i < MIN (size, sizeof digits); i++)
    digits[i] = (char) ('0' + (offset + i) % 10);
  return g_bytes_new (digits, i);
}

static inline void
release (gpointer user_data)
{
  Fixture *fixture = user_data;

  g_assert_true (g_thread_self () == fixture->thread);
  fixture->is_released = TRUE;
}

/* Gives all that it is asked for, and counts. */
static inline GBytes *
give_blocks (AprSafetensorsWriter *writer,
             const char *name,
             guint64 offset,
             gsize size,
             gpointer user_data,
             GError **error)
{
  Fixture *fixture = user_data;

  g_assert_cmpstr (name, ==, "large");
  g_assert_cmpuint (offset, ==, fixture->next_offset);
  fixture->n_calls++;
  fixture->next_offset += size;
  fixture->most_asked = MAX (fixture->most_asked, size);
  fixture->n_given += size;
  if (fixture->n_calls == 100)
    g_cancellable_cancel (fixture->cancellable);
  return g_bytes_new_take (g_malloc0 (size), size);
}

static inline void
count_progress (goffset done, goffset total, gpointer user_data)
{
  Fixture *fixture = user_data;

  g_assert_true (g_thread_self () == fixture->thread);
  g_assert_cmpint (done, >, fixture->progress);
  g_assert_cmpint (done, <=, total);
  fixture->progress = done;
  fixture->total = total;
  fixture->n_progress++;
}
