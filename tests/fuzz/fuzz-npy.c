/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "aprender/tool/apr-npy.h"
#include "fuzz.h"

typedef struct
{
  const guint8 *data;
  gsize size;
} Input;

static gboolean
take (gpointer source, gpointer buffer, gsize size, gsize *n_read, GError **error)
{
  Input *input = source;

  *n_read = MIN (size, input->size);
  if (*n_read > 0)
    memcpy (buffer, input->data, *n_read);
  input->data += *n_read;
  input->size -= *n_read;

  return TRUE;
}

/* A file of numpy. What is read can be written, and read again as the same. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  Input input = { data, size };
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) tensor = apr_npy_read (take, &input, &error);
  g_autoptr (AprTensor) again = NULL;
  g_autoptr (GByteArray) file = NULL;
  g_autoptr (GBytes) header = NULL;
  gconstpointer bytes;
  gsize n_bytes;

  assert_verdict (tensor, error);
  if (tensor == NULL)
    return 0;

  bytes = g_bytes_get_data (apr_tensor_get_bytes (tensor), &n_bytes);
  touch_bytes (bytes, n_bytes);
  header = apr_npy_make_header (tensor, &error);
  g_assert_no_error (error);
  file = g_byte_array_new ();
  g_byte_array_append (file, g_bytes_get_data (header, NULL), (guint) g_bytes_get_size (header));
  if (n_bytes > 0)
    g_byte_array_append (file, bytes, (guint) n_bytes);
  input = (Input){ file->data, file->len };
  again = apr_npy_read (take, &input, &error);
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (tensor, again));

  return 0;
}
