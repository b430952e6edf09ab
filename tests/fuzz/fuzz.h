/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

/* What libFuzzer, or else driver.c, calls with each input. The names are libFuzzer's own. */
int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* Reads every byte, so that a sanitizer notices one that is not there. */
static inline guint
touch_bytes (gconstpointer data, gsize size)
{
  const guint8 *bytes = data;
  volatile guint sum = 0;
  gsize i;

  for (i = 0; i < size; i++)
    sum += bytes[i];
  return sum;
}

/* Whatever the verdict, there is either a result or an error, and the message can be shown. */
static inline void
assert_verdict (gconstpointer result, const GError *error)
{
  g_assert_cmpint (result != NULL, ==, error == NULL);
  g_assert_true (error == NULL || g_utf8_validate (error->message, -1, NULL));
}
