/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"
#include "tests/folder.h"

/* What the tests of SafeTensors files need. */

/* A file of this header and these data. */
static inline GBytes *
make_file (const char *header, gconstpointer data, gsize size)
{
  gsize length = strlen (header);
  guint8 *file = g_malloc (8 + length + size);
  guint i;

  for (i = 0; i < 8; i++)
    file[i] = (guint8) ((guint64) length >> (8 * i));
  memcpy (file + 8, header, length);
  memcpy (file + 8 + length, data, size);
  return g_bytes_new_take (file, 8 + length + size);
}

static inline AprSafetensorsReader *
reader_open (const char *path, AprSafetensorsLoadMode load_mode, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);

  return g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, error, "file", file, "load-mode", load_mode,
                         NULL);
}

static inline void
assert_bytes (AprTensor *tensor, const char *expected)
{
  gsize size;
  gconstpointer bytes;

  g_assert_nonnull (tensor);
  bytes = g_bytes_get_data (apr_tensor_get_bytes (tensor), &size);
  g_assert_cmpmem (bytes, size, expected, strlen (expected));
}
