/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

/* A file: it opens, or there is an error. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, &error);

  assert_verdict (reader, error);
  return 0;
}
