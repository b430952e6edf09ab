/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/exact-sums/kernels/apr-sums-kernel-private.h"

/* Columns that are multiplied whole, cut in two, or of fixed point, against whole numbers. */

/* Columns of whole numbers, as large as they may be where @extreme. */
static void
draw_whole (GRand *rand, gboolean extreme, double *columns)
{
  gsize i;

  for (i = 0; i < APR_SLICE_PANEL * APR_SLICE_STRIDE; i++)
    {
      double max = APR_SLICE_WHOLE_LIMIT - g_rand_int_range (rand, 0, 2);

      columns[i] = extreme ? max : rint (g_rand_double_range (rand, -max, max));
      if (extreme && g_rand_int_range (rand, 0, 3) == 0)
        columns[i] = -columns[i];
      if (!extreme && g_rand_boolean (rand))
        columns[i] = rint (ldexp (columns[i], -g_rand_int_range (rand, 0, 47)));
    }
}

/* Whole numbers times units, as small and as large as they may be. */
static const double units[2][APR_SLICE_PANEL] = { { 1, 0x1p-447, 0x1p-47, 0x1p353 },
                                                  { 0x1p-447, 0x1p-1, 0x1p353, 0x1p-20 } };

static void
multiply_by_units (const double *whole, const double column_units[APR_SLICE_PANEL], double *columns)
{
  gsize i;

  for (i = 0; i < APR_SLICE_PANEL * APR_SLICE_STRIDE; i++)
    columns[i] = whole[i] * column_units[i / APR_SLICE_STRIDE];
}

static AprSliceFetch
get_lines (const double *from, gsize n)
{
  return (AprSliceFetch){ (const guint8 *) from, (const guint8 *) from + n * APR_SLICE_LINE };
}

/* What is fetched: of many lines, one at least for eight rows each; of few, none after the last. */
static void
check_fetched (const AprSliceFetch *many, const AprSliceFetch *few, const double *from, gsize n_rows)
{
  g_assert_cmpuint ((gsize) (many->next - (const guint8 *) from), >=, n_rows / 8 * APR_SLICE_LINE);
  g_assert_true (many->next <= many->end);
  g_assert_true (few->next == MIN (many->next, (const guint8 *) from + 2 * APR_SLICE_LINE));
}

/* The sums of the products of two panels, with what they are added to, against whole numbers of 128 bits. */
static void
check_whole (
  const AprSliceKernel *kernel, const double *left, const double *right, gsize n_rows, gsize first_column)
{
  double left_columns[APR_SLICE_PANEL * APR_SLICE_STRIDE] __attribute__ ((aligned (64)));
  double right_columns[APR_SLICE_PANEL * APR_SLICE_STRIDE] __attribute__ ((aligned (64)));
  gboolean same = left == right;
  AprSliceFetch many = get_lines (left, 1000);
  AprSliceFetch few = get_lines (left, 2);
  gint64 lanes[2][APR_SLICE_TILE][APR_SLICE_LANES];
  gint64 more_lanes[2][APR_SLICE_TILE][APR_SLICE_LANES] = { 0 };
  gsize i;
  gsize j;
  gsize k;

  for (k = 0; k < 2 * APR_SLICE_TILE * APR_SLICE_LANES; k++)
    lanes[k % 2][k / 2 / APR_SLICE_LANES][k / 2 % APR_SLICE_LANES] = (gint64) k * 4;
  multiply_by_units (left, units[0], left_columns);
  multiply_by_units (right, units[1], right_columns);
  kernel->multiply_whole (left_columns, same ? left_columns : right_columns, units[0], units[same ? 0 : 1],
                          n_rows, same, first_column, &many, lanes[0], lanes[1]);
  kernel->multiply_whole (left_columns, same ? left_columns : right_columns, units[0], units[same ? 0 : 1],
                          n_rows, same, first_column, &few, more_lanes[0], more_lanes[1]);
  check_fetched (&many, &few, left, n_rows);

  for (i = 0; i < APR_SLICE_PANEL; i++)
    for (j = 0; j < (left == right ? i + 1 : APR_SLICE_PANEL); j++)
      {
        __int128 expected = 0;
        __int128 sum = 0;

        for (k = 0; k < n_rows && j >= first_column; k++)
          expected += (__int128) left[i * APR_SLICE_STRIDE + k] * (__int128) right[j * APR_SLICE_STRIDE + k];
        for (k = 0; k < APR_SLICE_LANES; k++)
          {
            gsize entry = i * APR_SLICE_PANEL + j;
            gint64 first = (gint64) (2 * (entry * APR_SLICE_LANES + k)) * 4;

            sum += (__int128) (lanes[0][entry][k] - first) * ((gint64) 1 << 48);
            sum += lanes[1][entry][k] - first - 4;
          }
        g_assert_true (sum == expected);
      }
}

static void
test_whole (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (91);
  double *left = g_aligned_alloc (APR_SLICE_PANEL * APR_SLICE_STRIDE, sizeof (double), 64);
  double *right = g_aligned_alloc (APR_SLICE_PANEL * APR_SLICE_STRIDE, sizeof (double), 64);
  const AprSumsKernel *const *kernel;
  gsize round;

  g_test_summary (
    "Columns that are multiplied whole, up to 47 bits, all of the largest magnitude among them.");
  for (round = 0; round < 200; round++)
    {
      draw_whole (rand, round % 4 == 0, left);
      draw_whole (rand, round % 8 == 0, right);
      for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
        if ((*kernel)->slices->multiply_whole != NULL)
          {
            gsize n_rows = round == 0 ? APR_SLICE_ROWS : (gsize) g_rand_int_range (rand, 1, 33) * 8;

            check_whole ((*kernel)->slices, left, right, n_rows, round % 2);
            check_whole ((*kernel)->slices, left, left, n_rows, round % 2);
          }
    }
  g_aligned_free (left);
  g_aligned_free (right);
}

static void
test_sum_whole (void)
{
  const double bad[] = { 0x1p47 + 1,      -0x1p47 - 1, 0x1p48,   -0x1p48,   0x1p51,    -0x1p51,
                         0x1p52,          -0x1p52,     0x1.8p53, 0.5,       -0.5,      0x1p45 + 0.25,
                         0x1p46 + 0x1p-6, NAN,         INFINITY, -INFINITY, 0x1p-1074, 1e300 };
  double *column = g_aligned_alloc0 (APR_SLICE_ROWS, sizeof (double), 64);
  const AprSumsKernel *const *kernel;
  gint64 expected;
  gint64 sum;
  gsize place;
  gsize i;
  gsize j;

  g_test_summary ("What is too large, no multiple of the unit, or no number is found wherever it is.");
  for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
    for (j = 0; j < APR_SLICE_PANEL && (*kernel)->slices->sum_whole != NULL; j++)
      for (i = 0; i < G_N_ELEMENTS (bad); i++)
        for (place = 0; place < APR_SLICE_ROWS; place += 5)
          {
            double unit = units[1][j];
            gsize n_rows = place / 8 * 8 + 8;
            gsize row;

            for (row = 0, expected = 0; row < APR_SLICE_ROWS; row++)
              {
                column[row] = (row % 2 == 0 ? 1 : -1) * (0x1p47 - 1 - (double) row) * unit;
                expected += row < n_rows ? (gint64) (column[row] / unit) : 0;
              }
            g_assert_true ((*kernel)->slices->sum_whole (column, n_rows, unit, &sum));
            g_assert_cmpint (sum, ==, expected);
            column[place] = bad[i] * unit;
            if (column[place] != 0)
              g_assert_false ((*kernel)->slices->sum_whole (column, n_rows, unit, &sum));
          }
  g_aligned_free (column);
}

#define WEIGHTED_ROWS 32

/* Whole numbers, some small, and weights below 1 of @n_bits, whole numbers times 2^(-53 - s); some of both are 0. */
static void
draw_weighted (
  GRand *rand, guint n_bits, gint64 x[WEIGHTED_ROWS], gint64 w[WEIGHTED_ROWS], guint s[WEIGHTED_ROWS])
{
  gsize row;

  for (row = 0; row < WEIGHTED_ROWS; row++)
    {
      guint64 bits = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);

      x[row] = (gint64) (bits >> (18 + (g_rand_boolean (rand) ? g_rand_int_range (rand, 0, 46) : 0)));
      if (g_rand_boolean (rand))
        x[row] = -x[row];
      bits = bits << 32 | g_rand_int (rand);
      w[row] = n_bits == 0 ? 0 : (gint64) (bits >> (64 - n_bits)) << (53 - n_bits);
      s[row] = (guint) g_rand_int_range (rand, 0, g_rand_boolean (rand) ? 45 : 70);
    }
}

/* Whether a product, of which 2^(53 + s) is whole, is what the parts say, which suffice for it. */
static void
check_parts (gint64 x, gint64 w, guint s, double head, double middle, double tail)
{
  __int128 sum = 0;
  gint64 step = s < 43 ? (gint64) 1 << (43 - s) : 1;
  __int128 finer = s < 43 ? 1 : (__int128) 1 << (s - 43);

  g_assert_cmpfloat (fabs (head), <=, APR_SLICE_WHOLE_LIMIT);
  g_assert_cmpfloat (fabs (middle), <=, APR_SLICE_WHOLE_LIMIT);
  g_assert_cmpfloat (fabs (tail), <=, APR_SLICE_WHOLE_LIMIT);
  g_assert_true (rint (head) == head && rint (middle) == middle && rint (tail) == tail);
  g_assert_cmpint ((gint64) tail % step, ==, 0);
  sum += (__int128) (gint64) head * ((__int128) 1 << (53 + s));
  sum += (__int128) (gint64) middle * ((__int128) 1 << (5 + s));
  sum += (gint64) tail / step * finer;
  g_assert_true (sum == (__int128) x * w);
}

/* Whether all products are multiples of 2^-96. */
static gboolean
suffice (const gint64 *x, const gint64 *w, const guint *s, gsize n_rows)
{
  gsize row;

  for (row = 0; row < n_rows; row++)
    if (s[row] > 43 && (__int128) x[row] * w[row] % ((gint64) 1 << (s[row] - 43)) != 0)
      return FALSE;

  return TRUE;
}

static void
check_weighted (const AprSliceKernel *kernel)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (94);
  double column[WEIGHTED_ROWS] __attribute__ ((aligned (64)));
  double weights[WEIGHTED_ROWS] __attribute__ ((aligned (64)));
  double parts[APR_SLICE_WEIGHTED_N_PARTS * WEIGHTED_ROWS] __attribute__ ((aligned (64)));
  guint seen[4] = { 0 };
  guint n_refused = 0;
  guint round;

  for (round = 0; round < 4000; round++)
    {
      gint64 x[WEIGHTED_ROWS];
      gint64 w[WEIGHTED_ROWS];
      guint s[WEIGHTED_ROWS];
      double unit = units[1][round % APR_SLICE_PANEL];
      guint n_bits = (guint[]){ 0, 1, 24, 53 }[round / 4 % 4];
      gsize n_rows = (gsize) g_rand_int_range (rand, 1, WEIGHTED_ROWS / 8 + 1) * 8;
      guint n;
      gsize row;

      draw_weighted (rand, n_bits, x, w, s);
      for (row = 0; row < WEIGHTED_ROWS; row++)
        {
          s[row] = round % 32 < 8 ? 0 : s[row];
          column[row] = (double) x[row] * unit;
          weights[row] = ldexp ((double) w[row], -53 - (gint) s[row]);
        }
      n = kernel->cut_weighted (column, weights, n_rows, 1 / unit, parts, WEIGHTED_ROWS);
      if (n == APR_SLICE_OUTSIDE)
        {
          /* A weight of one bit makes products that are doubles: these are refused only for their bits. */
          g_assert_true (n_bits > 1 || !suffice (x, w, s, n_rows));
          n_refused += suffice (x, w, s, n_rows) ? 1 : 0;
          continue;
        }
      g_assert_cmpuint (n, <=, 3);
      seen[n]++;
      for (row = 0; row < n_rows; row++)
        {
          check_parts (x[row], w[row], s[row], parts[row], parts[WEIGHTED_ROWS + row],
                       parts[2 * WEIGHTED_ROWS + row]);
          g_assert_true (n > 0 || parts[row] == 0);
          g_assert_true (n > 1 || parts[WEIGHTED_ROWS + row] == 0);
          g_assert_true (n > 2 || parts[2 * WEIGHTED_ROWS + row] == 0);
        }
      column[n_rows - 1] = NAN;
      g_assert_cmpuint (kernel->cut_weighted (column, weights, n_rows, 1 / unit, parts, WEIGHTED_ROWS), ==,
                        APR_SLICE_OUTSIDE);
    }
  g_assert_cmpuint (MIN (MIN (seen[0], seen[1]), MIN (seen[2], seen[3])), >, 0);
  g_assert_cmpuint (n_refused, <, seen[3] / 10);
}

static void
test_weighted (void)
{
  const AprSumsKernel *const *kernel;

  g_test_summary ("Weighted columns that are cut in three, against whole numbers of 128 bits.");
  for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
    if ((*kernel)->slices->cut_weighted != NULL)
      check_weighted ((*kernel)->slices);
}

/* Floats of any bits, or of a few values at the ends. */
static float
draw_float (GRand *rand, guint kind)
{
  const float ends[] = {
    0, -0.0f, 1, FLT_MAX, -FLT_MIN, FLT_TRUE_MIN, -FLT_TRUE_MIN, INFINITY, -INFINITY, NAN
  };
  guint32 bits = g_rand_int (rand);
  float value;

  memcpy (&value, &bits, sizeof value);
  return kind == 0 ? 0
       : kind == 1 ? value
       : kind == 2 ? (float) g_rand_double_range (rand, -1, 1)
                   : ends[g_rand_int_range (rand, 0, kind == 3 ? 7 : G_N_ELEMENTS (ends))];
}

static void
check_range (const double *column, gsize n_rows, const AprColumnRange *range)
{
  double max = 0;
  double min = INFINITY;
  double sum = 0;
  gsize row;

  for (row = 0; row < n_rows; row++)
    {
      double size = fabs (column[row]);

      /* What is no number is larger than all. */
      if (!(size <= max) && !isnan (max))
        max = size;
      if (size < min && size > 0)
        min = size;
      sum += column[row];
    }
  if (isnan (max))
    {
      g_assert_true (isnan (range->max));
      return;
    }
  g_assert_cmpfloat (range->max, ==, max);
  if (isinf (max))
    return;
  g_assert_cmpfloat (range->min, ==, min);
  g_assert_cmpfloat (fabs (range->sum - sum), <=, max * 0x1p-40);
}

static void
test_ranges (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (92);
  float *rows = g_new (float, APR_SLICE_ROWS * 9);
  double *columns = g_aligned_alloc (APR_SLICE_STRIDE * 9, sizeof (double), 64);
  const AprSumsKernel *const *kernel;
  guint round;

  g_test_summary (
    "What is found of floats as they are turned into columns: zeros, no numbers, all magnitudes.");
  for (round = 0; round < 200; round++)
    {
      gsize n_rows = (gsize) g_rand_int_range (rand, 1, APR_SLICE_ROWS / 8 + 1) * 8;
      gsize n_columns = (gsize) g_rand_int_range (rand, 1, 10);
      gsize i;
      gsize j;

      for (i = 0; i < n_rows * n_columns; i++)
        rows[i] = draw_float (rand, round % 5);
      for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
        {
          AprColumnRange ranges[9];

          if ((*kernel)->slices->transpose_floats == NULL)
            continue;
          for (j = 0; j < n_columns; j++)
            ranges[j].max = -1;
          (*kernel)->slices->transpose_floats (rows, n_rows, n_columns, APR_SLICE_STRIDE, columns, ranges);
          for (j = 0; j < n_columns; j++)
            {
              for (i = 0; i < n_rows; i++)
                {
                  double expected = (double) rows[i * n_columns + j];

                  g_assert_true (memcmp (&columns[j * APR_SLICE_STRIDE + i], &expected, sizeof expected) ==
                                   0 ||
                                 isnan (expected));
                }
              if (ranges[j].max != -1)
                check_range (columns + j * APR_SLICE_STRIDE, n_rows, &ranges[j]);
            }
          /* Not every kernel finds them. */
          if (g_str_equal ((*kernel)->name, "avx2") && n_columns >= 4)
            g_assert_true (ranges[0].max != -1 && ranges[n_columns - 1].max != -1);
        }
    }
  g_free (rows);
  g_aligned_free (columns);
}

static gboolean
cuts_parts (const AprSliceKernel *kernel)
{
  return kernel->cut_fixed != NULL || kernel->cut_in_two != NULL;
}

static guint
cut_parts (const AprSliceKernel *kernel,
           const double *column,
           gsize n_rows,
           double factor,
           double *parts,
           gsize distance,
           gint64 sums[2])
{
  return (kernel->cut_fixed != NULL ? kernel->cut_fixed : kernel->cut_in_two) (column, n_rows, factor, parts,
                                                                               distance, sums);
}

/* The two parts of a column: whole numbers, what is left of them, and what does not fit. */
static void
check_in_two (const AprSliceKernel *kernel, const double *column, double factor)
{
  const gsize distance = APR_SLICE_STRIDE;
  double *parts = g_aligned_alloc0 (3 * distance, sizeof (double), 64);
  gint64 sums[2];
  guint n = cut_parts (kernel, column, APR_SLICE_ROWS, factor, parts, distance, sums);
  gint64 heads = 0;
  gint64 tails = 0;
  gboolean any = FALSE;
  gboolean any_rest = FALSE;
  double max = 0;
  gsize i;

  for (i = 0; i < APR_SLICE_ROWS; i++)
    {
      double head = rint (column[i] * factor);
      double rest = (column[i] * factor - head) * 0x1p24;

      any |= column[i] != 0;
      any_rest |= rest != rint (rest);
      max = MAX (max, MAX (fabs (head), fabs (head + rint (rest))));
      g_assert_cmpfloat (fabs (rint (rest)), <=, 0x1p23);
      heads += (gint64) head;
      tails += (gint64) rint (rest);
      if (kernel->cut_fixed != NULL)
        {
          guint64 bits;

          memcpy (&bits, parts + distance + i, sizeof bits);
          g_assert_cmpfloat (parts[i], ==, head + rint (rest) * 0x1p-24);
          /* Of the integers, the last 52 bits count at least. */
          g_assert_cmpuint (bits << 12, ==,
                            (((guint64) (gint64) head << 24) + (guint64) (gint64) rint (rest)) << 12);
          continue;
        }
      g_assert_cmpfloat (parts[APR_SLICE_HEAD * distance + i], ==, head);
      g_assert_cmpfloat (parts[APR_SLICE_TAIL * distance + i], ==, rint (rest));
      g_assert_cmpfloat (parts[APR_SLICE_BOTH * distance + i], ==, head + rint (rest));
    }
  /* It may refuse what is near the limit, and nothing that is half of it. */
  if (max >= APR_SLICE_WHOLE_LIMIT || (n == APR_SLICE_OUTSIDE && max > APR_SLICE_WHOLE_LIMIT / 2))
    g_assert_cmpuint (n, ==, APR_SLICE_OUTSIDE);
  else
    g_assert_cmpuint (n, ==, any_rest ? 3 : any ? 2 : 0);
  if (n != APR_SLICE_OUTSIDE)
    {
      g_assert_cmpint (sums[0], ==, heads);
      g_assert_cmpint (sums[1], ==, tails);
    }
  g_aligned_free (parts);
}

static void
test_in_two (void)
{
  const double bad[] = { NAN, INFINITY, -INFINITY, 0x1p47 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (93);
  double *column = g_aligned_alloc (APR_SLICE_ROWS, sizeof (double), 64);
  double *parts = g_aligned_alloc0 (3 * APR_SLICE_STRIDE, sizeof (double), 64);
  const AprSumsKernel *const *kernel;
  gint64 sums[2];
  gsize round;
  gsize place;
  gsize i;

  g_test_summary ("Columns of up to 80 bits below their exponent, up to it, and halves of the last bits.");
  for (round = 0; round < 200; round++)
    {
      int bits = g_rand_int_range (rand, 20, 81);
      double high = round % 3 == 0 ? 0x1p47 - (double) (round * round * round * round) : 0x1p47;

      for (i = 0; i < APR_SLICE_ROWS; i++)
        {
          double value = g_rand_double_range (rand, -1, 1);

          column[i] = ldexp (rint (ldexp (value, MIN (bits, 53))), 46 - bits + (int) (i % 4 == 0));
          if (round % 5 == 0)
            column[i] = rint (column[i]) + 0.5;
        }
      column[round] = round % 2 == 0 ? high - 0x1p-6 : 0.5 - high;
      if (round == 77)
        memset (column, 0, APR_SLICE_ROWS * sizeof (double));
      for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
        if (cuts_parts ((*kernel)->slices))
          check_in_two ((*kernel)->slices, column, 1);
    }

  for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
    for (i = 0; i < G_N_ELEMENTS (bad) && cuts_parts ((*kernel)->slices); i++)
      for (place = 0; place < APR_SLICE_ROWS; place += 5)
        {
          memset (column, 0, APR_SLICE_ROWS * sizeof (double));
          column[place] = bad[i] / 0x1p10;
          g_assert_cmpuint (
            cut_parts ((*kernel)->slices, column, APR_SLICE_ROWS, 0x1p10, parts, APR_SLICE_STRIDE, sums), ==,
            isnan (bad[i]) ? 3 : APR_SLICE_OUTSIDE);
        }

  /* A sum of what stands for it as an integer would overflow. */
  for (i = 0; i < APR_SLICE_ROWS; i++)
    column[i] = NAN;
  for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
    if (cuts_parts ((*kernel)->slices))
      g_assert_cmpuint (
        cut_parts ((*kernel)->slices, column, APR_SLICE_ROWS, 1, parts, APR_SLICE_STRIDE, sums), ==, 3);
  g_aligned_free (column);
  g_aligned_free (parts);
}

/* Panels of columns of fixed point up to the greatest magnitude: heads, tails, and what is multiplied. */
typedef struct
{
  gint64 heads[APR_SLICE_PANEL][APR_SLICE_ROWS];
  gint64 tails[APR_SLICE_PANEL][APR_SLICE_ROWS];
  double *parts; /* (owned) the values, and behind them the integers */
} FixedPanel;

static void
draw_fixed (GRand *rand, gsize round, FixedPanel *panel)
{
  gsize distance = APR_SLICE_PANEL * APR_SLICE_STRIDE;
  gsize i;
  gsize row;

  panel->parts = g_aligned_alloc0 (2 * distance, sizeof (double), 64);
  for (i = 0; i < APR_SLICE_PANEL; i++)
    for (row = 0; row < APR_SLICE_ROWS; row++)
      {
        gsize place = i * APR_SLICE_STRIDE + row;
        double max = 0x1p47 - 0x1p24;
        double value = round % 4 == 0 ? max - 0x1p-6 : g_rand_double_range (rand, -max, max);
        guint64 integer;

        /* Of those with 53 bits, all sizes down to the last bit. */
        if (round % 4 != 0)
          value = rint (ldexp (value, 24 - g_rand_int_range (rand, 0, round % 2 == 0 ? 72 : 8))) * 0x1p-24;
        else if (round % 8 == 0 && g_rand_boolean (rand))
          value = -value;
        panel->heads[i][row] = (gint64) rint (value);
        panel->tails[i][row] = (gint64) ((value - rint (value)) * 0x1p24);
        integer = ((guint64) panel->heads[i][row] << 24) + (guint64) panel->tails[i][row];
        panel->parts[place] = value;
        memcpy (panel->parts + distance + place, &integer, sizeof integer);
      }
}

/* The sums of the products of two panels, with what they are added to, against whole numbers of 128 bits. */
static void
check_fixed (
  const AprSliceKernel *kernel, const FixedPanel *left, const FixedPanel *right, gsize n_rows, gsize first)
{
  AprSliceFetch many = get_lines (left->parts, 1000);
  AprSliceFetch few = get_lines (left->parts, 2);
  gint64 lanes[3][APR_SLICE_TILE][APR_SLICE_LANES];
  gint64 more_lanes[3][APR_SLICE_TILE][APR_SLICE_LANES] = { 0 };
  gsize i;
  gsize j;
  gsize k;

  for (k = 0; k < APR_SLICE_TILE * APR_SLICE_LANES; k++)
    for (i = 0; i < 3; i++)
      lanes[i][k / APR_SLICE_LANES][k % APR_SLICE_LANES] = (gint64) (i + 1) << 40;
  kernel->multiply_fixed (left->parts, right->parts, APR_SLICE_PANEL * APR_SLICE_STRIDE, n_rows, first, &many,
                          lanes[0], lanes[1], lanes[2]);
  kernel->multiply_fixed (left->parts, right->parts, APR_SLICE_PANEL * APR_SLICE_STRIDE, n_rows, first, &few,
                          more_lanes[0], more_lanes[1], more_lanes[2]);
  check_fetched (&many, &few, left->parts, n_rows);

  for (i = 0; i < APR_SLICE_PANEL; i++)
    for (j = 0; j < (left == right ? i + 1 : APR_SLICE_PANEL); j++)
      {
        /* Multiples of 1 and of 2^-48. */
        __int128 whole = 0;
        __int128 rest = 0;

        for (k = 0; k < n_rows && j >= first; k++)
          {
            whole += (__int128) left->heads[i][k] * right->heads[j][k];
            rest += ((__int128) left->heads[i][k] * right->tails[j][k] +
                     (__int128) left->tails[i][k] * right->heads[j][k]) *
                    (1 << 24);
            rest += (__int128) left->tails[i][k] * right->tails[j][k];
          }
        for (k = 0; k < APR_SLICE_LANES; k++)
          {
            const gsize entry = i * APR_SLICE_PANEL + j;

            whole -= (__int128) (lanes[0][entry][k] - ((gint64) 1 << 40)) * ((gint64) 1 << 48);
            whole -= lanes[1][entry][k] - ((gint64) 2 << 40);
            rest -= lanes[2][entry][k] - ((gint64) 3 << 40);
            /* So small that it is known modulo 2^64 after as many rows as there may be. */
            g_assert_cmpfloat (fabs ((double) (lanes[2][entry][k] - ((gint64) 3 << 40))), <=, 0x1.04p53);
          }
        g_assert_true (whole * ((gint64) 1 << 48) + rest == 0);
      }
}

static void
test_fixed (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (94);
  const AprSumsKernel *const *kernel;
  gsize round;

  g_test_summary ("Columns of fixed point, of up to 71 bits, all of the largest magnitude among them.");
  for (round = 0; round < 200; round++)
    {
      FixedPanel left;
      FixedPanel right;

      draw_fixed (rand, round, &left);
      draw_fixed (rand, round / 2, &right);
      for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
        if ((*kernel)->slices->multiply_fixed != NULL)
          {
            gsize n_rows = round == 0 ? APR_SLICE_ROWS : (gsize) g_rand_int_range (rand, 1, 33) * 8;

            check_fixed ((*kernel)->slices, &left, &right, n_rows, round % 3 % 2);
            check_fixed ((*kernel)->slices, &left, &left, n_rows, round % 3 % 2);
          }
      g_aligned_free (left.parts);
      g_aligned_free (right.parts);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/whole-kernel/whole", test_whole);
  g_test_add_func ("/whole-kernel/sum-whole", test_sum_whole);
  g_test_add_func ("/whole-kernel/weighted", test_weighted);
  g_test_add_func ("/whole-kernel/ranges", test_ranges);
  g_test_add_func ("/whole-kernel/fixed", test_fixed);
  g_test_add_func ("/whole-kernel/in-two", test_in_two);

  return g_test_run ();
}
