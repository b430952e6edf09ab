/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-weight-windows-private.h"

#include <string.h>

#include "aprender/base/apr-power-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* The exponents at which a double may end, and that of an infinity: another program may change the weights after they
 * were checked. */
#define MIN_EXPONENT (-1074)
#define N_EXPONENTS (1074 + 1025)

/* Of exponents that are in the main window, or at which no weight ended when they were counted. */
#define NO_WINDOW G_MAXUINT

/* Weights that are read at once. */
#define READ 256

/* Calls @visit for each weight that is not 0. */
static inline void
visit_all (const AprRows *weights,
           void (*visit) (gpointer data, gsize row, guint64 whole, gint exponent),
           gpointer data)
{
  double values[READ];
  gsize first;
  gsize i;

  for (first = 0; first < weights->n_rows; first += READ)
    {
      gsize n = MIN (READ, weights->n_rows - first);

      apr_rows_read (weights, first, n, 0, 1, 1, values);
      for (i = 0; i < n; i++)
        {
          gint exponent;
          guint64 whole = apr_split_double (values[i], &exponent);

          if (whole != 0)
            visit (data, first + i, whole, exponent);
        }
    }
}

typedef struct
{
  gint min;       /* exponent of a lowest bit */
  gint max;       /* exponent above a highest one */
  gint most_bits; /* that a weight has */
} Measure;

static inline void
measure (gpointer data, gsize row G_GNUC_UNUSED, guint64 whole, gint exponent)
{
  Measure *found = data;
  gint n_bits = 64 - __builtin_clzll (whole);

  found->min = MIN (found->min, exponent);
  found->max = MAX (found->max, exponent + n_bits);
  found->most_bits = MAX (found->most_bits, n_bits);
}

static Measure
measure_all (const AprRows *weights)
{
  Measure found = { G_MAXINT, G_MININT, 0 };

  visit_all (weights, measure, &found);

  return found;
}

gboolean
apr_weight_windows_find_exponents (const AprRows *weights, gint *min, gint *max)
{
  Measure found = measure_all (weights);

  *min = found.min;
  *max = found.max;

  return found.most_bits > 0;
}

/* How many weights end at each exponent. */
static inline void
count (gpointer data, gsize row G_GNUC_UNUSED, guint64 whole G_GNUC_UNUSED, gint exponent)
{
  gsize *counts = data;

  counts[exponent - MIN_EXPONENT]++;
}

/* Finds the window where the most weights end. */
static void
find_main (const gsize counts[N_EXPONENTS], gint n_ends, gint *first, gint *last)
{
  gsize n = 0;
  gsize most = 0;
  gint end;

  *first = *last = 0;
  for (end = 0; end < N_EXPONENTS; end++)
    {
      n += counts[end];
      if (end >= n_ends)
        n -= counts[end - n_ends];
      if (n > most)
        {
          most = n;
          *last = end;
          *first = end - n_ends + 1;
        }
    }
}

/* Cuts what is not in the main window into others, from the lowest exponent on; finds which one each exponent is in.
 * Returns the number of their rows. */
static gsize
cut (AprWeightWindows *self, const gsize counts[N_EXPONENTS], gint n_ends, guint windows[N_EXPONENTS])
{
  AprRange range = { 0, 0 };
  gint first = 0;
  gint main_first;
  gint main_last;
  gint i;

  find_main (counts, n_ends, &main_first, &main_last);
  for (i = 0; i < N_EXPONENTS; i++)
    {
      windows[i] = NO_WINDOW;
      if (counts[i] == 0 || (i >= main_first && i <= main_last))
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

  return range.end;
}

typedef struct
{
  AprWeightWindows *self;
  const guint *windows;
  gsize *next; /* place of each window */
} Fill;

static inline void
fill (gpointer data, gsize row, guint64 whole G_GNUC_UNUSED, gint exponent)
{
  Fill *job = data;
  guint window = job->windows[exponent - MIN_EXPONENT];

  /* Where another program changes the weights, there may be more than were counted. */
  if (window != NO_WINDOW && job->next[window] < g_array_index (job->self->windows, AprRange, window).end)
    job->self->rows[job->next[window]++] = row;
}

/* Where weights that are gone by now were counted, there are fewer rows. */
static void
end_windows (Fill *job)
{
  guint i;

  for (i = 0; i < job->self->windows->len; i++)
    g_array_index (job->self->windows, AprRange, i).end = job->next[i];
}

gboolean
apr_weight_windows_init (AprWeightWindows *self, const AprRows *weights, GError **error)
{
  Measure found = measure_all (weights);
  gsize counts[N_EXPONENTS] = { 0 };
  guint windows[N_EXPONENTS];
  g_autofree gsize *next = NULL;
  Fill job = { self, windows, NULL };
  gsize n_rows;
  gint n_ends;
  guint i;

  *self = (AprWeightWindows){ 0 };
  if (found.most_bits == 0 || found.max - found.min <= APR_WEIGHT_WINDOW_BITS)
    return TRUE;

  n_ends = APR_WEIGHT_WINDOW_BITS - found.most_bits + 1;
  visit_all (weights, count, counts);
  self->windows = g_array_new (FALSE, FALSE, sizeof (AprRange));
  n_rows = cut (self, counts, n_ends, windows);
  self->rows = g_try_new (gsize, n_rows);
  if (self->rows == NULL && n_rows > 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                   "No memory for a list of %" G_GSIZE_FORMAT
                   " rows whose weights are many powers of two away from those of most",
                   n_rows);
      apr_weight_windows_clear (self);
      return FALSE;
    }

  job.next = next = g_new (gsize, self->windows->len);
  for (i = 0; i < self->windows->len; i++)
    next[i] = g_array_index (self->windows, AprRange, i).first;
  visit_all (weights, fill, &job);
  end_windows (&job);

  return TRUE;
}

void
apr_weight_windows_clear (AprWeightWindows *self)
{
  g_clear_pointer (&self->windows, g_array_unref);
  g_clear_pointer (&self->rows, g_free);
}

AprTensor *
apr_weight_windows_get_main (const AprWeightWindows *self, const AprRows *weights, GError **error)
{
  gsize width = apr_dtype_get_bits (weights->dtype) / 8;
  guint8 *data = g_try_malloc (weights->n_rows * width);
  g_autoptr (GBytes) bytes = NULL;
  gsize row;
  guint i;

  if (data == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                   "No memory for a copy of %" G_GSIZE_FORMAT " weights", weights->n_rows);
      return NULL;
    }

  memcpy (data, weights->data, weights->n_rows * width);
  for (i = 0; i < self->windows->len; i++)
    {
      const AprRange *window = &g_array_index (self->windows, AprRange, i);

      for (row = window->first; row < window->end; row++)
        memset (data + self->rows[row] * width, 0, width);
    }

  bytes = g_bytes_new_take (data, weights->n_rows * width);
  return apr_tensor_new_from_bytes (weights->dtype, &weights->n_rows, 1, bytes, error);
}
