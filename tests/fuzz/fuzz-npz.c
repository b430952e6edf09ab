/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "aprender/tool/apr-npz.h"
#include "fuzz.h"

/* Arrays by their names, in a file that has no name. */
typedef struct
{
  FILE *stream;
  GPtrArray *names;
  GPtrArray *tensors;
} Archive;

static void
archive_init (Archive *self)
{
  self->stream = tmpfile ();
  g_assert_nonnull (self->stream);
  self->names = g_ptr_array_new_with_free_func (g_free);
  self->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) apr_tensor_unref);
}

static void
archive_clear (Archive *self)
{
  fclose (self->stream);
  g_ptr_array_unref (self->names);
  g_ptr_array_unref (self->tensors);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Archive, archive_clear)

static gboolean
archive_read (Archive *self, const char *wanted, GError **error)
{
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fileno (self->stream));

  g_assert_cmpint (fflush (self->stream), ==, 0);
  return apr_npz_read (path, wanted, self->names, self->tensors, error);
}

/* An archive of numpy. What is read can be written, and read again as the same. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_auto (Archive) archive = { NULL };
  g_auto (Archive) again = { NULL };
  g_auto (AprNpzWriter) writer = { NULL };
  g_autoptr (GError) error = NULL;
  gboolean ok;
  guint i;

  archive_init (&archive);
  archive_init (&again);
  g_assert_cmpuint (fwrite (data, 1, size, archive.stream), ==, size);
  ok = archive_read (&archive, NULL, &error);
  assert_verdict (ok ? &archive : NULL, error);
  if (!ok)
    return 0;

  apr_npz_writer_init (&writer, again.stream);
  for (i = 0; i < archive.names->len; i++)
    g_assert_true (apr_npz_writer_add (&writer, g_ptr_array_index (archive.names, i),
                                       g_ptr_array_index (archive.tensors, i), &error));
  g_assert_true (apr_npz_writer_finish (&writer, &error));
  g_assert_true (archive_read (&again, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (again.names->len, ==, archive.names->len);
  for (i = 0; i < archive.names->len; i++)
    {
      g_assert_cmpstr (g_ptr_array_index (again.names, i), ==, g_ptr_array_index (archive.names, i));
      g_assert_true (
        apr_tensor_equal (g_ptr_array_index (again.tensors, i), g_ptr_array_index (archive.tensors, i)));
    }

  return 0;
}
