/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "corpus-contents.h"

#include <stdio.h>
#include <string.h>

/*
 * Gives its verdict on many files in one process: reads them from the standard input, each after its length as a
 * little-endian number of 32 bits, and writes as many answers in the same form: “accept”, a newline and what the file
 * holds, or the nick of the error, a newline and the message.
 */

static char *
judge (char *content, gsize length)
{
  g_autoptr (GBytes) bytes = g_bytes_new_take (content, length);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, &error);
  g_autoptr (GEnumClass) codes = g_type_class_ref (APR_TYPE_SAFETENSORS_ERROR);
  g_autofree char *contents = NULL;

  if (reader != NULL)
    contents = corpus_contents (reader, &error);
  if (contents != NULL)
    return g_strconcat ("accept\n", contents, NULL);
  g_assert_true (error->domain == APR_SAFETENSORS_ERROR);
  return g_strconcat (g_enum_get_value (codes, error->code)->value_nick, "\n", error->message, NULL);
}

int
main (void)
{
  guint32 length;

  while (fread (&length, sizeof length, 1, stdin) == 1)
    {
      gsize n_bytes = GUINT32_FROM_LE (length);
      char *content = g_malloc (n_bytes);
      g_autofree char *answer = NULL;

      if (fread (content, 1, n_bytes, stdin) != n_bytes)
        return 1;
      answer = judge (content, n_bytes);
      length = GUINT32_TO_LE ((guint32) strlen (answer));
      if (fwrite (&length, sizeof length, 1, stdout) != 1 || fputs (answer, stdout) < 0 ||
          fflush (stdout) != 0)
        return 1;
    }
  return 0;
}
