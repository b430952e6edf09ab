/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"

#include "aprender/safetensors/apr-safetensors-header-private.h"

/* What the tests of SafeTensors headers need. */

/* The tensor of most verdicts. */
#define T "{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"

/* What is there when a case is not refused. */
#define GOOD -1

/* Makes a file of exactly the right size in memory, so that a sanitizer sees the first byte too far. */
static inline guint8 *
make_file (const char *header, gsize length, guint64 claimed, gsize data_size, gsize *size)
{
  guint8 *file;
  guint i;

  *size = 8 + length + data_size;
  file = g_malloc0 (*size);
  for (i = 0; i < 8; i++)
    file[i] = (guint8) (claimed >> (8 * i));
  memcpy (file + 8, header, length);
  return file;
}

static inline AprSafetensorsHeader *
parse (const char *header, gsize length, gsize data_size, GError **error)
{
  gsize size;
  g_autofree guint8 *file = make_file (header, length, length, data_size, &size);

  return apr_safetensors_header_parse (file, size, APR_SAFETENSORS_MAX_HEADER_SIZE, error);
}

typedef struct
{
  const char *header;
  gsize data_size;
  int code;
  const char *message;
} Verdict;

static inline void
check_verdicts (const Verdict *verdicts, gsize n_verdicts)
{
  gsize i;

  for (i = 0; i < n_verdicts; i++)
    {
      const Verdict *verdict = &verdicts[i];
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsHeader) header =
        parse (verdict->header, strlen (verdict->header), verdict->data_size, &error);

      if ((header != NULL) != (verdict->code == GOOD))
        g_error ("%s: %s", verdict->header, error != NULL ? error->message : "accepted");
      if (header != NULL)
        {
          g_assert_no_error (error);
          continue;
        }
      if (!g_error_matches (error, APR_SAFETENSORS_ERROR, verdict->code) ||
          strstr (error->message, verdict->message) == NULL)
        g_error ("%s: code %d, “%s” without “%s”", verdict->header, error->code, error->message,
                 verdict->message);
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
    }
}
