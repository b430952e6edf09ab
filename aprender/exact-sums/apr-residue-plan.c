/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-residue-plan-private.h"

#include <math.h>
#include <string.h>

#include "aprender/exact-sums/apr-residue-short-rests-private.h"
#include "aprender/exact-sums/kernels/apr-slice-kernel-private.h"

/* More moduli make products dearer, fewer leave more rests: a sample tells what is cheapest. */

/* Rows that tell the scale of each column. */
#define SCALE_ROWS 64

/* One of so many values is looked at, within these limits. */
#define VALUES_PER_SAMPLE 64
#define MIN_SAMPLES 1024
#define MAX_SAMPLES 16384

/* How many of them lie side by side, in rows: fetching one from memory takes as long as fetching all. */
#define SAMPLES_TOGETHER 64

#define MAX_BITS 256

/* How many bits the largest value of a column has above its scale, as a rule, and how many values of the sample may be
 * too long to be multiplied whole: a block that has such a value is cut. */
#define MAX_BITS_ABOVE 3
#define MAX_SAMPLES_MORE 1

/* What a rest takes for each column, in cycles, and what a short one does, as if it had so many columns more. Where
 * some are short, their sums also take so many cycles for each pair of columns. */
#define REST_CYCLES 80.0
#define SHORT_REST_CYCLES 1.0
#define SHORT_REST_MORE 40.0
#define SHORT_REST_PAIR_CYCLES 40.0

/* What cutting takes for a value and a modulus, in cycles, for a word and beside words. */
#define CUT_CYCLES 0.05

/* The squares are known but for rounding, and the reconstruction needs a distance from M / 2. */
#define MARGIN 0.03

double
apr_residue_plan_get_max_sum (const AprResidueModuli *moduli)
{
  return moduli->bits - 1 - MARGIN;
}

double
apr_residue_plan_get_max_value (const AprResidueModuli *moduli)
{
  return moduli->max_bits - MARGIN;
}

/* So many values of X and y, row by row, from a column of a row on. */
static void
read_values (const AprRows *x, const AprRows *y, gsize row, gsize column, gsize n, double *values)
{
  gsize n_read;

  for (; n > 0; n -= n_read, values += n_read)
    if (column < x->n_columns)
      {
        n_read = MIN (n, x->n_columns - column);
        apr_rows_read (x, row, 1, column, n_read, n_read, values);
        column += n_read;
      }
    else
      {
        n_read = MIN (n, x->n_columns + y->n_columns - column);
        apr_rows_read (y, row++, 1, column - x->n_columns, n_read, n_read, values);
        column = 0;
      }
}

/* The binary logarithms of the scales of the columns of X and Y, rounded up. A scale is the root of a mean square;
 * where its logarithm is not finite, it is of no use. Returns: (transfer full) */
static double *
find_log_scales (const AprRows *x, const AprRows *y)
{
  gsize n_columns = x->n_columns + y->n_columns;
  gsize n = MIN (x->n_rows, SCALE_ROWS);
  g_autofree double *row = g_new (double, n_columns);
  double *scales = g_new0 (double, n_columns);
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    {
      apr_rows_read (x, x->n_rows * i / n, 1, 0, x->n_columns, n_columns, row);
      apr_rows_read (y, x->n_rows * i / n, 1, 0, y->n_columns, n_columns, row + x->n_columns);
      for (j = 0; j < n_columns; j++)
        scales[j] += row[j] * row[j] / (double) n;
    }
  for (j = 0; j < n_columns; j++)
    scales[j] = ceil (0.5 * log2 (scales[j]));

  return scales;
}

/* The bits that a value has below the scale of its column. */
static guint
count_bits (double value, double log_scale)
{
  guint64 bits;
  gint exponent;

  memcpy (&bits, &value, sizeof bits);
  exponent = MAX ((gint) (bits >> 52 & 0x7ff), 1) - 1075;
  bits &= ((guint64) 1 << 52) - 1;
  bits |= fabs (value) >= 0x1p-1022 ? (guint64) 1 << 52 : 0;
  exponent += __builtin_ctzll (bits);

  return (guint) CLAMP (log_scale - exponent, 0, MAX_BITS - 1);
}

/* How many values need how many bits; returns how many values that are not 0 there were. Pieces of rows that are
 * equally far apart begin at multiples of the golden ratio of a row, so that few of them are spread over all columns,
 * whatever the shape is. */
static gsize
sample (const AprRows *x, const AprRows *y, gsize counts[MAX_BITS], gsize *n_samples)
{
  gsize n_columns = x->n_columns + y->n_columns;
  gsize n_values = x->n_rows * n_columns;
  g_autofree double *log_scales = find_log_scales (x, y);
  gsize most = CLAMP (n_values / VALUES_PER_SAMPLE, MIN_SAMPLES, MAX_SAMPLES);
  gsize n_pieces = (MIN (n_values, most) + SAMPLES_TOGETHER - 1) / SAMPLES_TOGETHER;
  gsize row = 0;
  gsize column = 0;
  gsize n = 0;
  gsize piece;
  gsize i;

  *n_samples = 0;
  for (piece = 0; piece < n_pieces; piece++)
    {
      double values[SAMPLES_TOGETHER];
      double turns = (double) piece * 0.6180339887498949;
      gsize n_read;

      /* Else all are read, one piece after the other. */
      if (n_values > most)
        {
          row = piece * x->n_rows / n_pieces;
          column = (gsize) ((turns - floor (turns)) * (double) n_columns);
        }
      n_read = MIN (SAMPLES_TOGETHER, (x->n_rows - row) * n_columns - column);
      read_values (x, y, row, column, n_read, values);
      *n_samples += n_read;
      for (i = 0; i < n_read; i++)
        {
          double log_scale = log_scales[column++];

          if (column == n_columns)
            {
              column = 0;
              row++;
            }
          if (values[i] == 0 || !isfinite (values[i]) || !isfinite (log_scale))
            continue;
          counts[count_bits (values[i], log_scale)]++;
          n++;
        }
    }

  return n;
}

gboolean
apr_residue_plan_suits_whole (const AprRows *x, const AprRows *y)
{
  gsize counts[MAX_BITS] = { 0 };
  gsize n_samples;
  gsize n_more = sample (x, y, counts, &n_samples);
  guint bits;

  for (bits = 0; bits <= APR_SLICE_WHOLE_BITS - MAX_BITS_ABOVE; bits++)
    n_more -= counts[bits];

  return n_more <= MAX_SAMPLES_MORE;
}

/* How many values of the sample need more bits. */
static gsize
count_above (const gsize counts[MAX_BITS], double bits)
{
  gsize n = 0;
  guint i;

  for (i = 0; i < MAX_BITS; i++)
    n += i > bits ? counts[i] : 0;

  return n;
}

AprResiduePlan
apr_residue_plan_find (const AprResidueKernel *kernel, const AprRows *x, const AprRows *y, guint weight_bits)
{
  gsize counts[MAX_BITS] = { 0 };
  gsize n_samples;
  gsize n_rows = MIN (x->n_rows, APR_RESIDUE_GROUP);
  double n_columns = (double) (x->n_columns + y->n_columns + 1);
  double least = INFINITY;
  AprResiduePlan plan = { 0, FALSE };
  guint n;

  (void) sample (x, y, counts, &n_samples);
  for (n = 3; n <= apr_residue_moduli_get_max (kernel->residue_size); n++)
    {
      AprResidueModuli moduli;
      double bits;
      guint short_bits;
      guint alternative;

      apr_residue_moduli_init (&moduli, kernel->residue_size, kernel->long_words, n);
      /* Where a mean square is of that size, and the largest of a column a few times that. */
      bits =
        (apr_residue_plan_get_max_sum (&moduli) - weight_bits - log2 ((double) n_rows * APR_RESIDUE_GROWTH)) /
          2 -
        1;
      bits = MIN (bits, apr_residue_plan_get_max_value (&moduli) - 1 - MAX_BITS_ABOVE);
      short_bits = weight_bits == 0 ? apr_residue_short_rests_count_bits (&moduli, (gsize) n_columns) : 0;
      /* Without short rests, and with them. */
      for (alternative = 0; alternative < (short_bits > 0 ? 2 : 1); alternative++)
        {
          gsize n_long = count_above (counts, bits + alternative * short_bits);
          gsize n_short = count_above (counts, bits) - n_long;
          double rests = (double) n_long * n_columns * REST_CYCLES +
                         (double) n_short * (n_columns + SHORT_REST_MORE) * SHORT_REST_CYCLES;
          double cost = n_columns / 2 * n / kernel->rate + CUT_CYCLES * n * (moduli.n_words + 2) +
                        rests / (double) n_samples +
                        alternative * n_columns / 2 / (double) n_rows * SHORT_REST_PAIR_CYCLES;

          if (cost < least &&
              n_long * APR_RESIDUE_VALUES_PER_REST + n_short * APR_RESIDUE_VALUES_PER_SHORT_REST <= n_samples)
            {
              least = cost;
              plan = (AprResiduePlan){ n, alternative > 0 };
            }
        }
    }

  return plan;
}
