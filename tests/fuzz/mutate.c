/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

/*
 * Keeps most mutated files plausible: one whose first eight bytes do not tell the header's length, or whose data are
 * not as long as the header says, is refused before anything interesting happens.
 */

gsize LLVMFuzzerMutate (guint8 *data, gsize size, gsize max_size);
gsize LLVMFuzzerCustomMutator (guint8 *data, gsize size, gsize max_size, guint seed);

static guint64
get_prefix (const guint8 *data)
{
  guint64 prefix;

  memcpy (&prefix, data, 8);
  return GUINT64_FROM_LE (prefix);
}

static gsize
mutate_header (guint8 *data, gsize length, gsize n_data, gsize max_size)
{
  gsize max_length = max_size - 8 - n_data;
  g_autofree guint8 *header = g_malloc (max_length + 1);
  guint64 prefix;

  memcpy (header, data + 8, length);
  length = LLVMFuzzerMutate (header, length, max_length);
  memmove (data + 8 + length, data + 8 + get_prefix (data), n_data);
  memcpy (data + 8, header, length);
  prefix = GUINT64_TO_LE ((guint64) length);
  memcpy (data, &prefix, 8);
  return 8 + length + n_data;
}

/* Makes the data as long as the largest number in the header, which most often is the end of the last tensor. */
static gsize
fit_data (guint8 *data, gsize length, gsize n_data, gsize max_size)
{
  gsize largest = 0;
  gsize number = 0;
  gsize i;

  for (i = 8; i < 8 + length; i++)
    {
      number = g_ascii_isdigit (data[i]) ? number * 10 + (data[i] - '0') : 0;
      if (number > max_size - 8 - length)
        number = 0;
      largest = MAX (largest, number);
    }
  if (largest > n_data)
    memset (data + 8 + length + n_data, 0x5a, largest - n_data);
  return 8 + length + largest;
}

gsize
LLVMFuzzerCustomMutator (guint8 *data, gsize size, gsize max_size, guint seed)
{
  gsize length, n_data;

  if (size < 8 || max_size < size || get_prefix (data) > size - 8 || seed % 16 == 0)
    return LLVMFuzzerMutate (data, size, max_size);
  length = (gsize) get_prefix (data);
  n_data = size - 8 - length;
  if (seed % 16 == 1)
    return 8 + length + LLVMFuzzerMutate (data + 8 + length, n_data, max_size - 8 - length);
  if (seed % 16 < 5)
    return fit_data (data, length, n_data, max_size);
  size = mutate_header (data, length, n_data, max_size);
  return seed % 16 < 11 ? size : fit_data (data, (gsize) get_prefix (data), n_data, max_size);
}
