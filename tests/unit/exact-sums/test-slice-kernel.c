/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/draw.h"
#include "tests/exact-reference.h"
#include "tests/portable-byte-kernel.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

/* Every kernel, over any number of threads, against the same sums taken row by row in whole numbers. */

/* Those of this processor, and plain C for bytes, which no processor takes as it is slow, where there are three
 * features. */
static const AprSumsKernel *const *
get_kernels (gsize n_rows, gsize p)
{
  static const AprSumsKernel *kernels[3 * APR_CPU_N_SETS + 2];
  static AprSumsKernel with_bytes;
  gsize n;

  for (n = 0; get_all_kernels ()[n] != NULL; n++)
    kernels[n] = get_all_kernels ()[n];
  with_bytes = (AprSumsKernel){ "portable bytes", &apr_slice_kernel_portable, &portable_byte_kernel };
  kernels[n] = n_rows <= 1200 && p == 3 && !runs_in_valgrind () ? &with_bytes : NULL;
  kernels[n + 1] = NULL;

  return kernels;
}

static void
check_all (GRand *rand, DrawKind kind, gsize n_rows, gsize p, gboolean narrow, gboolean weighted)
{
  const guint threads[] = { 1, 2, 7 };
  AprDType dtype = narrow ? APR_DTYPE_F32 : APR_DTYPE_F64;
  const AprSumsKernel *const *kernel;
  g_autofree double *x_values = g_new (double, n_rows *p);
  g_autofree double *y_values = g_new (double, n_rows);
  g_autofree double *weight_values = g_new (double, n_rows);
  g_autofree double *z = g_new (double, p + 1);
  g_autoptr (Reference) expected = reference_new (p + 2);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) weights = NULL;
  gsize i;
  gsize j;

  for (i = 0; i < n_rows; i++)
    {
      for (j = 0; j < p; j++)
        x_values[i * p + j] = draw (rand, kind, dtype, i);
      y_values[i] = draw (rand, kind, dtype, i);
      weight_values[i] = i % 5 == 0 ? 0 : fabs (draw (rand, kind, APR_DTYPE_F64, i));
      if (i % 7 == 1)
        weight_values[i] = 3;

      if (weighted && weight_values[i] == 0)
        continue;
      memcpy (z, x_values + i * p, p * sizeof (double));
      z[p] = y_values[i];
      reference_add_row (expected, z, weighted ? weight_values[i] : 1);
    }

  x = matrix_new (n_rows, p, x_values);
  y = vector_new (n_rows, y_values);
  weights = weighted ? vector_new (n_rows, weight_values) : NULL;
  if (narrow)
    {
      AprTensor *narrow_x = apr_tensor_cast (x, APR_DTYPE_F32, NULL);
      AprTensor *narrow_y = apr_tensor_cast (y, APR_DTYPE_F32, NULL);

      apr_tensor_unref (x);
      apr_tensor_unref (y);
      x = narrow_x;
      y = narrow_y;
    }

  for (kernel = get_kernels (n_rows, p); *kernel != NULL; kernel++)
    for (i = 0; i < G_N_ELEMENTS (threads); i++)
      {
        g_autoptr (AprExactSums) state = apr_exact_sums_new (p, 1, NULL);
        g_autoptr (GError) error = NULL;

        g_assert_true (apr_exact_sums_update_with (state, x, y, weights, APR_PRECISION_EXACT, *kernel,
                                                   &(AprRun){ .n_threads = threads[i] }, &error));
        g_assert_no_error (error);
        reference_assert_equal (expected, state);
      }
}

static void
test_sums (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  const gsize widths[] = { 1, 2, 3, 8, 37 };
  gsize i;
  int kind;
  int flags;

  for (kind = 0; kind < DRAW_N_KINDS; kind++)
    for (i = 0; i < G_N_ELEMENTS (widths); i++)
      for (flags = 0; flags < 4; flags += runs_slowly () ? 3 : 1)
        {
          /* Where every value has a scale of its own, there are remainder columns without end. */
          gsize most =
            kind == DRAW_EVERY_EXPONENT || kind == DRAW_WIDE_RANGE ? 400 / widths[i] : 3000 / widths[i];

          check_all (rand, (DrawKind) kind, (gsize) g_rand_int_range (rand, 2, (gint32) MIN (most, 1200) + 3),
                     widths[i], (flags & 1) != 0, (flags & 2) != 0);
        }
}

/* Columns of doubles that begin wherever doubles can. */
static void
check_columns (GRand *rand, DrawKind kind, gsize n_rows, gboolean not_finite)
{
  enum
  {
    P = 5
  };
  g_autofree double *values = g_new (double, (P + 1) * (n_rows + 1));
  g_autofree double *copy = NULL;
  g_autoptr (Reference) expected = reference_new (P + 2);
  g_autoptr (AprExactSums) state = apr_exact_sums_new (P, 1, NULL);
  g_autoptr (GError) error = NULL;
  const guint8 *places[P + 1];
  AprRows x;
  AprRows y;
  gsize i;
  gsize j;

  for (j = 0; j <= P; j++)
    places[j] = (const guint8 *) (values + j * (n_rows + 1));
  for (i = 0; i < (P + 1) * (n_rows + 1); i++)
    values[i] = draw (rand, kind, APR_DTYPE_F64, i % (n_rows + 1));
  if (not_finite)
    values[2 * (n_rows + 1) + n_rows / 2] = g_rand_boolean (rand) ? NAN : -INFINITY;
  for (i = 0; i < n_rows && !not_finite; i++)
    {
      double z[P + 1];

      for (j = 0; j <= P; j++)
        z[j] = values[j * (n_rows + 1) + i];
      reference_add_row (expected, z, 1);
    }

  copy = g_memdup2 (values, (P + 1) * (n_rows + 1) * sizeof (double));
  apr_rows_init_columns (&x, "X", APR_DTYPE_F64, places, n_rows, P);
  apr_rows_init_columns (&y, "y", APR_DTYPE_F64, places + P, n_rows, 1);
  g_assert_cmpint (apr_exact_sums_update_columns (state, &x, &y, NULL, APR_PRECISION_EXACT,
                                                  &(AprRun){ .n_threads = 1 }, &error),
                   ==, !not_finite);
  g_assert_cmpmem (values, (P + 1) * (n_rows + 1) * sizeof (double), copy,
                   (P + 1) * (n_rows + 1) * sizeof (double));
  if (not_finite)
    {
      g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
      return;
    }
  g_assert_no_error (error);
  reference_assert_equal (expected, state);
}

static void
test_columns (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (95);
  int kind;
  gsize i;

  g_test_summary ("Columns that are read where they are, and not changed.");
  for (kind = 0; kind < DRAW_N_KINDS; kind++)
    for (i = 0; i < 6; i++)
      check_columns (rand, (DrawKind) kind, 8 * (gsize) g_rand_int_range (rand, 1, 100) + i % 2, i > 3);
}

/* What a target is, and how often its range is looked for, while it is changed. */
static struct
{
  const AprSliceKernel *kernel;
  double *values;
  gsize n_values;
  guint n_looks;
} changed;

/* As a program does that writes to what it has given away. */
static gboolean
find_range_and_change (const double *column, gsize n_rows, double *max, double *min)
{
  gboolean found = changed.kernel->find_range (column, n_rows, max, min);

  g_assert_cmpuint (++changed.n_looks, <, 1000);
  /* Not in the few rows that exponents are guessed from. */
  if (n_rows == APR_SLICE_ROWS && column >= changed.values && column < changed.values + changed.n_values)
    changed.values[column - changed.values + 100] = NAN;

  return found;
}

static void
test_changed_columns (void)
{
  enum
  {
    N = 4 * APR_SLICE_ROWS
  };
  const AprSumsKernel *const *kernel;
  gsize i;

  g_test_summary (
    "A target that is changed while it is summed makes sums of whatever was there, in good time.");
  for (kernel = get_all_kernels (); *kernel != NULL; kernel++)
    {
      AprSliceKernel slices = *(*kernel)->slices;
      AprSumsKernel changing = { "changing", &slices };
      double values[N];
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprTensor) y = NULL;
      g_autoptr (AprExactSums) state = apr_exact_sums_new (1, 1, NULL);
      g_autoptr (GError) error = NULL;

      /* So many bits that something is left of the slices. */
      for (i = 0; i < N; i++)
        values[i] = (i % 5 == 3 ? 1e-30 : 1.0) / (double) (3 + i);
      x = matrix_new (N, 1, values);
      y = vector_new (N, values);
      changed.kernel = (*kernel)->slices;
      changed.values = (double *) g_bytes_get_data (apr_tensor_get_bytes (y), NULL);
      changed.n_values = N;
      changed.n_looks = 0;
      slices.find_range = find_range_and_change;
      if (!apr_exact_sums_update_with (state, x, y, NULL, APR_PRECISION_EXACT, &changing,
                                       &(AprRun){ .n_threads = 1 }, &error))
        g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
      g_assert_cmpuint (changed.n_looks, >, 0);
    }
}

static void
test_wide_matrix (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);

  g_test_summary ("More columns than are multiplied at a time.");
  check_all (rand, DRAW_ORDINARY, 70, 130, FALSE, FALSE);
  check_all (rand, DRAW_WIDE_RANGE, 40, 130, TRUE, FALSE);
  check_all (rand, DRAW_WHOLE_NUMBERS, 300, 100, TRUE, TRUE);
  check_all (rand, DRAW_MOSTLY_ZERO, 600, 70, FALSE, FALSE);
}

static void
test_shares (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (12);

  g_test_summary ("So many columns that two threads have a share of the matrix each.");
  check_all (rand, DRAW_ORDINARY, 40, 260, TRUE, FALSE);
  check_all (rand, DRAW_WIDE_RANGE, 4, 260, FALSE, FALSE);
  check_all (rand, DRAW_WIDE_RANGE, 3, 260, FALSE, TRUE);
}

/* What rounding to multiples of 2^48 takes from a square. */
static double
get_lower (gint64 value)
{
  guint64 square = (guint64) ((__int128) value * value) & (((guint64) 1 << 48) - 1);

  return square >= (guint64) 1 << 47 ? (double) square - 0x1p48 : (double) square;
}

/* A value from 1/2 to 1, whose parts, where it is cut in two, have nearly the largest sums that lower sums and the
 * products of tails can have together. */
static double
draw_large_parts (GRand *rand)
{
  const gint64 tail = 63 << 17;

  while (TRUE)
    {
      gint64 head = ((gint64) 1 << 45) + g_rand_int_range (rand, 0, G_MAXINT32) * (gint64) 16001;

      if (get_lower (head) > 0x1.ccp46 && get_lower (head + tail) < -0x1.ccp46)
        return ((double) head + (double) tail * 0x1p-24) * 0x1p-46;
    }
}

/* A value from 1/2 to 1, of whose square, as a number of fixed point, both roundings take nearly the most that they
 * can: 1 and 2^-7, to the same side in every row. */
static double
draw_large_lack (GRand *rand)
{
  const guint64 most = ((guint64) 1 << 48) + ((guint64) 1 << 41);

  while (TRUE)
    {
      guint64 bits = (guint64) 1 << 52 | (guint64) g_rand_int (rand) << 20 | g_rand_int (rand) >> 12;
      /* In units of 2^-48, as the integer of fixed point is 2^17 times the bits; modulo 2^96, nearest to 0. */
      __int128 lower = (__int128) ((unsigned __int128) bits * bits << 66) >> 32;
      unsigned __int128 size = lower < 0 ? -(unsigned __int128) lower : (unsigned __int128) lower;
      guint64 lack = (guint64) size & (((guint64) 1 << 50) - 1);

      if (size >> 94 != 0 && lack < most && lack > most - ((guint64) 1 << 36))
        return (double) bits * 0x1p-53;
    }
}

/* N times the same value is exact. */
static void
check_same (const AprSumsKernel *kernel, gsize n_rows, double value)
{
  g_autofree double *values = g_new (double, n_rows);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprExactSums) state = apr_exact_sums_new (1, 1, NULL);
  mpz_t corner;
  mpz_t entry;
  mpz_t square;
  gsize i;

  for (i = 0; i < n_rows; i++)
    values[i] = value;
  x = matrix_new (n_rows, 1, values);
  y = vector_new (n_rows, values);
  g_assert_true (apr_exact_sums_update_with (state, x, y, NULL, APR_PRECISION_EXACT, kernel,
                                             &(AprRun){ .n_threads = 1 }, NULL));

  /* N (2^53 value)^2 over N. */
  mpz_inits (corner, entry, NULL);
  mpz_init_set_d (square, value * 0x1p53);
  mpz_mul (square, square, square);
  apr_exact_sums_get_entry (state, 0, 0, corner);
  apr_exact_sums_get_entry (state, 1, 1, entry);
  mpz_mul_2exp (entry, entry, 106);
  mpz_mul (square, square, corner);
  g_assert_cmpint (mpz_cmp (entry, square), ==, 0);
  mpz_clears (corner, entry, square, NULL);
}

static void
test_many_blocks (void)
{
  enum
  {
    N = 300000
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (94);
  const AprSumsKernel *const *kernel;

  g_test_summary ("Sums that must be emptied into the state more than once, of the largest parts.");
  for (kernel = get_all_kernels (); *kernel != NULL; kernel++)
    {
      check_same (*kernel, N, 1 - DBL_EPSILON / 2);
      check_same (*kernel, N / 5, draw_large_parts (rand));
      check_same (*kernel, N / 5, draw_large_lack (rand));
    }
}

static void
test_long_matrix (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);

  g_test_summary ("More rows than the sums of a thread take before they are moved.");
  check_all (rand, DRAW_ORDINARY, 70001, 1, FALSE, FALSE);
  check_all (rand, DRAW_ORDINARY, 70001, 1, TRUE, TRUE);
}

static void
test_floating_point_environment (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (10);
  fenv_t environment;

  g_test_summary ("A program that rounds upwards gets the same sums, and its rounding back.");
  fegetenv (&environment);
  if (fesetround (FE_UPWARD) != 0)
    {
      g_test_skip ("this processor rounds in one way only");
      return;
    }
  check_all (rand, DRAW_WIDE_RANGE, 500, 3, FALSE, FALSE);
  g_assert_cmpint (fegetround (), ==, FE_UPWARD);
  fesetenv (&environment);
}

static void
test_not_finite (void)
{
  const double bad[] = { NAN, INFINITY, -INFINITY };
  const AprSumsKernel *const *kernel;
  gsize i;
  gsize place;

  for (kernel = get_all_kernels (); *kernel != NULL; kernel++)
    for (i = 0; i < G_N_ELEMENTS (bad); i++)
      for (place = 0; place < 1400; place += 97)
        {
          g_autofree double *values = g_new0 (double, 1400);
          g_autofree char *expected =
            g_strdup_printf ("X has %s at row %" G_GSIZE_FORMAT ", column %" G_GSIZE_FORMAT,
                             i == 0 ? "a NaN" : "an infinity", place / 2, place % 2);
          g_autoptr (AprTensor) x = NULL;
          g_autoptr (AprTensor) y = vector_new (700, values);
          g_autoptr (AprExactSums) state = apr_exact_sums_new (2, 1, NULL);
          g_autoptr (GError) error = NULL;

          values[place] = bad[i];
          values[1399] = NAN;
          x = matrix_new (700, 2, values);
          g_assert_false (apr_exact_sums_update_with (state, x, y, NULL, APR_PRECISION_EXACT, *kernel,
                                                      &(AprRun){ .n_threads = 2 }, &error));
          g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
          assert_message_has (error, expected);
        }
}

/* The slices of a column, which the sums rely on: whole numbers of at most 2^23, sums of two, and what is left. */
static void
check_slices (const AprSliceKernel *kernel, const double *column, double factor, gboolean all)
{
  const gsize distance = APR_SLICE_STRIDE;
  double *slices = g_aligned_alloc0 (APR_SLICE_N_SLICES * distance, sizeof (double), 64);
  const double *s0 = slices + APR_SLICE_S0 * distance;
  const double *s1 = slices + APR_SLICE_S1 * distance;
  const double *s2 = slices + APR_SLICE_S2 * distance;
  guint n = (all ? kernel->slice_all : kernel->slice) (column, APR_SLICE_ROWS, factor, slices, distance);
  guint expected = 0;
  gsize i;

  for (i = 0; i < APR_SLICE_ROWS; i++)
    {
      double rest = column[i] * factor;

      g_assert_cmpfloat (s0[i], ==, rint (s0[i]));
      g_assert_cmpfloat (fabs (s0[i]), <=, 0x1p23);
      rest = (rest - s0[i]) * 0x1p24;
      g_assert_cmpfloat (fabs (rest), <=, 0x1p23);
      expected = MAX (expected, s0[i] != 0 ? 1 : 0);
      g_assert_cmpfloat (s1[i], ==, rint (rest));
      g_assert_cmpfloat (slices[APR_SLICE_S01 * distance + i], ==, s0[i] + s1[i]);
      expected = MAX (expected, s1[i] != 0 ? 2 : 0);
      rest = (rest - s1[i]) * 0x1p24;
      expected = MAX (expected, rest != 0 ? 3 : 0);
      if (!all)
        continue;
      g_assert_cmpfloat (s2[i], ==, rint (rest));
      g_assert_cmpfloat (slices[APR_SLICE_S02 * distance + i], ==, s0[i] + s2[i]);
      g_assert_cmpfloat (slices[APR_SLICE_S12 * distance + i], ==, s1[i] + s2[i]);
      expected = MAX (expected, rest != s2[i] ? 4 : 0);
    }
  g_assert_cmpuint (n, ==, expected);
  g_aligned_free (slices);
}

/* The sums of products of two panels, one by one, in integers. */
static void
check_products (const AprSliceKernel *kernel, const double *left, const double *right, gsize n_steps)
{
  const gint8 signs[APR_SLICE_PARTS] = { 1, -1 };
  gint64 sums[APR_SLICE_PARTS * APR_SLICE_TILE] __attribute__ ((aligned (64))) = { 0 };
  gint64 lanes[APR_SLICE_TILE][APR_SLICE_LANES] __attribute__ ((aligned (64))) = { 0 };
  gsize i;
  gsize j;
  gsize row;

  kernel->multiply (left, right, APR_SLICE_ROWS, n_steps, signs, sums);
  kernel->multiply_lanes (left, right, APR_SLICE_ROWS, n_steps, lanes);
  for (i = 0; i < APR_SLICE_PANEL; i++)
    for (j = 0; j < APR_SLICE_PANEL; j++)
      {
        gint64 expected = 0;
        gint64 counted = 0;

        for (row = 0; row < APR_SLICE_ROWS; row++)
          expected += (gint64) left[i * APR_SLICE_STRIDE + row] * (gint64) right[j * APR_SLICE_STRIDE + row];
        for (row = 0; row < APR_SLICE_LANES; row++)
          counted += lanes[i * APR_SLICE_PANEL + j][row];
        if (left == right && i < j)
          continue;
        g_assert_cmpint (sums[i * APR_SLICE_PANEL + j], ==, expected);
        g_assert_cmpint (sums[APR_SLICE_TILE + i * APR_SLICE_PANEL + j], ==, -expected);
        g_assert_cmpint (counted, ==, expected);
      }
}

static void
test_products (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (91);
  double *panels = g_aligned_alloc0 (2 * APR_SLICE_PANEL * APR_SLICE_STRIDE, sizeof (double), 64);
  gsize size = APR_SLICE_PANEL * APR_SLICE_STRIDE;
  const AprSumsKernel *const *kernel;
  int round;
  gsize i;

  g_test_summary (
    "Sums of slices up to the greatest that there can be, of either sign: of their sums, 2^53 in each lane.");

  for (round = 0; round < 80; round++)
    {
      gboolean plain = round >= 40;
      gsize n_steps = plain ? APR_SLICE_PLAIN_STEPS : APR_SLICE_STEPS;
      double max = plain ? 0x1p23 : 0x1p24;
      gint32 spread = (gint32) 1 << round % 20;
      gboolean mixed = round % 40 >= 20;

      for (i = 0; i < 2 * size; i++)
        {
          double value = max - (round % 40 == 0 ? 0 : g_rand_int_range (rand, 0, spread));

          panels[i] = (mixed && g_rand_boolean (rand)) || (i < size && round % 2 == 1) ? -value : value;
        }
      for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
        {
          check_products ((*kernel)->slices, panels, panels + size, n_steps);
          check_products ((*kernel)->slices, panels, panels, n_steps);
        }
    }
  g_aligned_free (panels);
}

static void
test_slices (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (90);
  double *column = g_aligned_alloc (APR_SLICE_ROWS, sizeof (double), 64);
  int round;

  g_test_summary ("Columns of 1 to 80 bits below their exponent, some of them 0.");

  for (round = 0; round < 200; round++)
    {
      const AprSumsKernel *const *kernel;
      int exponent = g_rand_int_range (rand, -300, 300);
      int bits = g_rand_int_range (rand, 1, 81);
      gsize i;

      for (i = 0; i < APR_SLICE_ROWS; i++)
        {
          double value = g_rand_int_range (rand, 0, 9) == 0 ? 0 : g_rand_double_range (rand, -1, 1);

          /* Multiples of 2^-bits. */
          column[i] = bits < 53 ? rint (ldexp (value, bits)) : ldexp (value, bits - 8 * (int) (i % 4));
          column[i] = ldexp (column[i], exponent - MAX (bits, 53));
        }
      for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
        {
          check_slices ((*kernel)->slices, column, ldexp (1, 23 - exponent), FALSE);
          check_slices ((*kernel)->slices, column, ldexp (1, 23 - exponent), TRUE);
        }
    }
  g_aligned_free (column);
}

static void
test_kernels (void)
{
  const AprSumsKernel *const *kernel;
  g_autoptr (GString) names = g_string_new (NULL);

  for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
    g_string_append_printf (names, " %s", (*kernel)->name);
  g_test_message ("kernels of this processor:%s", names->str);
  g_assert_true (g_str_has_suffix (names->str, " portable"));
}

static void
test_choice (void)
{
  const AprByteKernel *bytes = &portable_byte_kernel;
  const AprResidueKernel *residues = &apr_residue_kernel_portable;
  const AprSumsKernel kernel = {
    "", &apr_slice_kernel_portable, bytes, residues, 100, 40, 20, 60, .n_sliced = 12
  };

  g_test_summary ("Which kernel serves a shape, and in how many rows at once, on both sides of each limit.");
  g_assert_null (apr_sums_kernel_get_bytes (&kernel, 12, FALSE));
  g_assert_true (apr_sums_kernel_get_bytes (&kernel, 13, FALSE) == bytes);
  g_assert_true (apr_sums_kernel_get_bytes (&kernel, 1, TRUE) == bytes);

  g_assert_null (apr_sums_kernel_get_residues (&kernel, 99, 79, FALSE, FALSE));
  g_assert_true (apr_sums_kernel_get_residues (&kernel, 99, 80, FALSE, FALSE) == residues);
  g_assert_null (apr_sums_kernel_get_residues (&kernel, 100, 39, FALSE, FALSE));
  g_assert_true (apr_sums_kernel_get_residues (&kernel, 100, 40, FALSE, FALSE) == residues);
  g_assert_null (apr_sums_kernel_get_residues (&kernel, 99, 79, FALSE, TRUE));
  g_assert_true (apr_sums_kernel_get_residues (&kernel, 99, 80, FALSE, TRUE) == residues);
  g_assert_null (apr_sums_kernel_get_residues (&kernel, 100, 59, FALSE, TRUE));
  g_assert_true (apr_sums_kernel_get_residues (&kernel, 100, 60, FALSE, TRUE) == residues);
  g_assert_null (apr_sums_kernel_get_residues (&kernel, 99, 39, TRUE, FALSE));
  g_assert_true (apr_sums_kernel_get_residues (&kernel, 99, 40, TRUE, FALSE) == residues);
  g_assert_null (apr_sums_kernel_get_residues (&kernel, 100, 19, TRUE, FALSE));
  g_assert_true (apr_sums_kernel_get_residues (&kernel, 100, 20, TRUE, FALSE) == residues);
  g_assert_null (apr_sums_kernel_get_residues (&kernel, 100, 59, TRUE, TRUE));
  g_assert_true (apr_sums_kernel_get_residues (&kernel, 100, 60, TRUE, TRUE) == residues);

  g_assert_cmpuint (apr_sums_kernel_get_block_rows (&kernel, 8191, 12, FALSE), ==, 256);
  g_assert_cmpuint (apr_sums_kernel_get_block_rows (&kernel, 8192, 12, FALSE), ==, 240);
  g_assert_cmpuint (apr_sums_kernel_get_block_rows (&kernel, 8192, 13, FALSE), ==, 512);
  g_assert_cmpuint (apr_sums_kernel_get_block_rows (&kernel, 8192, 12, TRUE), ==, 512);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/slice-kernel/kernels", test_kernels);
  g_test_add_func ("/slice-kernel/choice", test_choice);
  g_test_add_func ("/slice-kernel/slices", test_slices);
  g_test_add_func ("/slice-kernel/products", test_products);
  g_test_add_func ("/slice-kernel/sums", test_sums);
  g_test_add_func ("/slice-kernel/columns", test_columns);
  g_test_add_func ("/slice-kernel/changed-columns", test_changed_columns);
  g_test_add_func ("/slice-kernel/wide-matrix", test_wide_matrix);
  /* It takes minutes there. */
  if (!runs_in_valgrind ())
    g_test_add_func ("/slice-kernel/shares", test_shares);
  g_test_add_func ("/slice-kernel/long-matrix", test_long_matrix);
  g_test_add_func ("/slice-kernel/many-blocks", test_many_blocks);
  g_test_add_func ("/slice-kernel/floating-point-environment", test_floating_point_environment);
  g_test_add_func ("/slice-kernel/not-finite", test_not_finite);

  return g_test_run ();
}
