/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-safetensors-header-private.h"

static void
check_header (const AprSafetensorsHeader *header, guint64 data_size)
{
  guint64 total = 0;
  gsize i;

  for (i = 0; i < header->n_entries; i++)
    {
      const AprSafetensorsEntry *entry = &header->entries[i];
      const char *name = apr_safetensors_header_get_name (header, entry);
      const gsize *shape = apr_safetensors_header_get_shape (header, entry);

      g_assert_true (apr_safetensors_header_find (header, name) == entry);
      g_assert_true (g_utf8_validate (name, -1, NULL));
      g_assert_cmpuint (entry->begin, <=, entry->end);
      g_assert_cmpuint (entry->end, <=, data_size);
      touch_bytes (shape, entry->n_dims * sizeof *shape);
      total += entry->end - entry->begin;
    }
  /* They do not overlap, so if there is no gap either it is just this. */
  g_assert_cmpuint (total, ==, data_size);
}

/*
 * Eight bytes with the size of the data, then the header's text. The scanner does not look at the data, so they need
 * not be there: the size may be any.
 */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree guint8 *file = NULL;
  g_autofree guint8 *text = NULL;
  g_autoptr (AprSafetensorsHeader) header = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) array_error = NULL;
  g_auto (GStrv) strings = NULL;
  guint64 data_size, prefix;
  gsize length;

  if (size < 8)
    return 0;
  length = size - 8;
  memcpy (&data_size, data, 8);
  data_size = MIN (GUINT64_FROM_LE (data_size), G_MAXSIZE - size);
  prefix = GUINT64_TO_LE ((guint64) length);
  file = g_memdup2 (data, size);
  memcpy (file, &prefix, 8);
  header =
    apr_safetensors_header_parse (file, size + (gsize) data_size, APR_SAFETENSORS_MAX_HEADER_SIZE, &error);
  assert_verdict (header, error);
  if (header != NULL)
    check_header (header, data_size);

  /* The scanner's other user. */
  text = g_memdup2 (data + 8, length);
  strings = apr_json_scan_string_array ((const char *) text, length, &array_error);
  assert_verdict (strings, array_error);
  return 0;
}
