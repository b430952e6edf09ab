/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-weight-windows-private.h"

#include <string.h>

#include "aprender/tensor/apr-tensor-private.h"

/* The exponents at which a double may end. */
#define MIN_EXPONENT (-1074)
#define N_EXPONENTS (1074 + 1024)

guint64
apr_weight_split (double weight, gint *exponent)
{
  guint64 bits;
  guint64 whole;
  gint n_zeros;

  memcpy (&bits, &weight, sizeof bits);
  whole = bits & (((guint64) 1 << 52) - 1);
  *exponent = (gint) (bits >> 52 & 0x7ff);
  if (*exponent > 0)
    whole |= (guint64) 1 << 52;
  else
    *exponent = 1;
  if (whole == 0)
    return 0;
  n_zeros = __builtin_ctzll (whole);
  *exponent += n_zeros - 1075;

  return whole >> n_zeros;
}

static guint64
read_weight (const AprRows *weights, gsize row, gint *exponent)
{
  return apr_weight_split (apr_dtype_read_double (weights->dtype, weights->data, row), exponent);
}

static gint
count_bits (guint64 whole)
{
  return 64 - __builtin_clzll (whole);
}

/* The same as apr_weight_windows_find_exponents(), and the bits that any weight has at most. */
static gboolean
measure (const AprRows *weights, gint *min, gint *max, gint *most_bits)
{
  gsize row;

  *min = G_MAXINT;
  *max = G_MININT;
  *most_bits = 0;
  for (row = 0; row < weights->n_rows; row++)
    {
      gint exponent;
      guint64 whole = read_weight (weights, row, &exponent);

      if (whole == 0)
        continue;
      *min = MIN (*min, exponent);
      *max = MAX (*max, exponent + count_bits (whole));
      *most_bits = MAX (*most_bits, count_bits (whole));
    }

  return *min <= *max;
}

gboolean
apr_weight_windows_find_exponents (const AprRows *weights, gint *min, gint *max)
{
  gint most_bits;

  return measure (weights, min, max, &most_bits);
}

/* Chooses the window where the most weights end. */
static void
choose_main (AprWeightWindows *self, const gsize counts[N_EXPONENTS], gint n_ends)
{
  gsize n = 0;
  gint end;

  for (end = 0; end < N_EXPONENTS; end++)
    {
      n += counts[end];
      if (end >= n_ends)
        n -= counts[end - n_ends];
      if (n > self->n_main)
        {
          self->n_main = n;
          self->main_last = end + MIN_EXPONENT;
          self->main_first = self->main_last - n_ends + 1;
        }
    }
}

static gboolean
is_main (const AprWeightWindows *self, gint exponent)
{
  return self->n_main > 0 && exponent >= self->main_first && exponent <= self->main_last;
}

/* Cuts what is not in the main window into others, from the lowest exponent on. Sets the places among all rows where
 * those of each exponent go: a window's are not told apart. */
static void
cut (AprWeightWindows *self, const gsize counts[N_EXPONENTS], gint n_ends, guint windows[N_EXPONENTS])
{
  AprRange range = { 0, 0 };
  gint first = 0;
  gint i;

  for (i = 0; i < N_EXPONENTS; i++)
    {
      if (counts[i] == 0 || is_main (self, i + MIN_EXPONENT))
        continue;
      if (self->windows->len == 0 || i >= first + n_ends)
        {
          range.first = range.end;
          g_array_append_val (self->windows, range);
          first = i;
        }
      windows[i] = self->windows->len - 1;
      range.end += counts[i];
      g_array_index (self->windows, AprRange, windows[i]).end = range.end;
    }
  self->rows = g_new (gsize, range.end);
}

gboolean
apr_weight_windows_init (AprWeightWindows *self, const AprRows *weights)
{
  gsize counts[N_EXPONENTS] = { 0 };
  guint windows[N_EXPONENTS];
  g_autofree gsize *next = NULL;
  gsize n_weights = 0;
  gint most_bits;
  gint n_ends;
  gint min;
  gint max;
  gsize row;
  guint i;

  if (!measure (weights, &min, &max, &most_bits) || max - min <= APR_WEIGHT_WINDOW_BITS)
    return FALSE;

  n_ends = APR_WEIGHT_WINDOW_BITS - most_bits + 1;
  for (row = 0; row < weights->n_rows; row++)
    {
      gint exponent;

      if (read_weight (weights, row, &exponent) == 0)
        continue;
      counts[exponent - MIN_EXPONENT]++;
      n_weights++;
    }

  self->n_main = 0;
  self->windows = g_array_new (FALSE, FALSE, sizeof (AprRange));
  choose_main (self, counts, n_ends);
  /* It takes less time to copy most rows than to multiply them by 0. */
  if (self->n_main < n_weights / 2)
    self->n_main = 0;
  cut (self, counts, n_ends, windows);

  next = g_new (gsize, self->windows->len + 1);
  for (i = 0; i < self->windows->len; i++)
    next[i] = g_array_index (self->windows, AprRange, i).first;
  for (row = 0; row < weights->n_rows; row++)
    {
      gint exponent;

      if (read_weight (weights, row, &exponent) != 0 && !is_main (self, exponent))
        self->rows[next[windows[exponent - MIN_EXPONENT]]++] = row;
    }

  return TRUE;
}

void
apr_weight_windows_clear (AprWeightWindows *self)
{
  g_array_unref (self->windows);
  g_free (self->rows);
}

AprTensor *
apr_weight_windows_get_main (const AprWeightWindows *self, const AprRows *weights)
{
  gsize width = apr_dtype_get_bits (weights->dtype) / 8;
  guint8 *data = g_try_malloc (weights->n_rows * width);
  g_autoptr (GBytes) bytes = NULL;
  gsize row;

  if (data == NULL)
    return NULL;

  memcpy (data, weights->data, weights->n_rows * width);
  for (row = 0; row < weights->n_rows; row++)
    {
      gint exponent;

      if (read_weight (weights, row, &exponent) != 0 && !is_main (self, exponent))
        memset (data + row * width, 0, width);
    }

  bytes = g_bytes_new_take (data, weights->n_rows * width);
  return apr_tensor_new_from_bytes (weights->dtype, &weights->n_rows, 1, bytes, NULL);
}
