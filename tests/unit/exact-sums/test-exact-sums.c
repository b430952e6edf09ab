/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/draw.h"

#include <math.h>

#include "aprender/exact-sums/apr-exact-sums-parts-private.h"

/* Compares every entry with the same sums in rational arithmetic, up to the power of two that all entries share. */
static void
assert_equals_rational (
  AprExactSums *state, const double *z, const double *weights, gsize n_rows, gsize n_columns)
{
  mpq_t expected;
  mpq_t actual;
  mpq_t term;
  mpq_t factor;
  mpq_t unit;
  gboolean have_unit = FALSE;
  gsize i;
  gsize j;
  gsize row;

  mpq_inits (expected, actual, term, factor, unit, NULL);
  for (i = 0; i < n_columns; i++)
    for (j = 0; j <= i; j++)
      {
        mpq_set_ui (expected, 0, 1);
        for (row = 0; row < n_rows; row++)
          {
            mpq_set_d (term, z[row * n_columns + i]);
            mpq_set_d (factor, z[row * n_columns + j]);
            mpq_mul (term, term, factor);
            if (weights != NULL)
              {
                mpq_set_d (factor, weights[row]);
                mpq_mul (term, term, factor);
              }
            mpq_add (expected, expected, term);
          }

        mpq_set_ui (actual, 0, 1);
        apr_exact_sums_get_entry (state, i, j, mpq_numref (actual));
        if (!have_unit && mpq_sgn (expected) != 0)
          {
            g_assert_cmpint (mpq_sgn (actual), !=, 0);
            mpq_div (unit, expected, actual);
            have_unit = TRUE;
          }
        mpq_mul (actual, actual, unit);
        g_assert_true (mpq_equal (actual, expected));
      }
  mpq_clears (expected, actual, term, factor, unit, NULL);
}

static void
test_equals_rational (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (4);
  int round;

  g_test_summary (
    "Ordinary data, whole numbers, every exponent, subnormals, the greatest doubles, zeros; weights too.");
  for (round = 0; round < 60; round++)
    {
      /* Rows of one block, and of several, of which the last one is shorter. */
      gsize n_rows =
        (gsize) (round < 40 ? g_rand_int_range (rand, 1, 12) : g_rand_int_range (rand, 250, 1200));
      gsize p = (gsize) g_rand_int_range (rand, 1, 5);
      gsize k = (gsize) g_rand_int_range (rand, 1, 3);
      gsize n_columns = 1 + p + k;
      gboolean weighted = round % 2 == 1;
      g_autofree double *z = g_new (double, n_rows *n_columns);
      g_autofree double *x_values = g_new (double, n_rows *p);
      g_autofree double *y_values = g_new (double, n_rows *k);
      g_autofree double *weights = g_new (double, n_rows);
      DrawKind kind = (DrawKind) (round % DRAW_N_KINDS);
      AprDType dtype = round % 3 == 2 ? APR_DTYPE_F32 : APR_DTYPE_F64;
      g_autoptr (AprExactSums) state = apr_exact_sums_new (p, k, NULL);
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprTensor) y = NULL;
      g_autoptr (AprTensor) w = NULL;
      g_autoptr (GError) error = NULL;
      gsize row;
      gsize i;

      for (row = 0; row < n_rows; row++)
        {
          z[row * n_columns] = 1;
          weights[row] = row % 3 == 2 ? 0 : fabs (draw (rand, kind, APR_DTYPE_F64, row));
          for (i = 1; i < n_columns; i++)
            z[row * n_columns + i] = draw (rand, kind, dtype, row);
          memcpy (x_values + row * p, z + row * n_columns + 1, p * sizeof (double));
          memcpy (y_values + row * k, z + row * n_columns + 1 + p, k * sizeof (double));
        }
      x = matrix_new (n_rows, p, x_values);
      y = matrix_new (n_rows, k, y_values);
      w = weighted ? vector_new (n_rows, weights) : NULL;

      g_assert_true (apr_exact_sums_update (state, x, y, w, APR_PRECISION_EXACT, &(AprRun){ 0 }, &error));
      g_assert_no_error (error);
      assert_equals_rational (state, z, weighted ? weights : NULL, n_rows, n_columns);
    }
}

/* Floats just below 1, all of one sign, so that their sum is as large as it can be. The first rows, from which the
 * exponent is guessed, are half as large. Some columns have the smallest float that can be multiplied as it is beside
 * these, or the next smaller one. */
static double
draw_at_end (GRand *rand, gsize row, gsize column)
{
  const double least = column % 2 == 0 ? 0x1p-22 * (1 + 0x1p-23) : 0x1p-22 * (1 - 0x1p-24);

  if (row < 64)
    return 0.5 - 0x1p-25;
  /* Twice as large as they may be. */
  if (row >= 512 && row < 700 && column == 4)
    return 2 - 0x1p-23;
  return row % 97 == 0 && column < 3 ? least
       : column > 3                  ? 1 - 0x1p-24
                                     : 1 - 0x1p-24 * g_rand_int_range (rand, 1, 1 << 20);
}

static void
test_floats_at_ends (void)
{
  enum
  {
    N_ROWS = 2045, /* of which the last block has no multiple of eight */
    P = 5,
    K = 4
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  g_autofree double *z = g_new (double, N_ROWS *(1 + P + K));
  double x_values[N_ROWS * P];
  double y_values[N_ROWS * K];
  gint exponent;

  g_test_summary ("Floats whose range just says that they can be multiplied as they are, and just not.");
  for (exponent = -140; exponent <= 120; exponent += 65)
    {
      g_autoptr (AprTensor) x_doubles = NULL;
      g_autoptr (AprTensor) y_doubles = NULL;
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprTensor) y = NULL;
      g_autoptr (GError) error = NULL;
      const AprSumsKernel *const *kernel;
      gsize row;
      gsize i;

      for (row = 0; row < N_ROWS; row++)
        {
          double *to = z + row * (1 + P + K);

          to[0] = 1;
          for (i = 0; i < P; i++)
            x_values[row * P + i] = to[1 + i] = (double) (float) ldexp (draw_at_end (rand, row, i), exponent);
          for (i = 0; i < K; i++)
            y_values[row * K + i] = to[1 + P + i] = (double) (float) draw_at_end (rand, row, i);
        }
      x_doubles = matrix_new (N_ROWS, P, x_values);
      y_doubles = matrix_new (N_ROWS, K, y_values);
      x = apr_tensor_cast (x_doubles, APR_DTYPE_F32, &error);
      g_assert_no_error (error);
      y = apr_tensor_cast (y_doubles, APR_DTYPE_F32, &error);
      g_assert_no_error (error);

      for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
        {
          g_autoptr (AprExactSums) state = apr_exact_sums_new (P, K, NULL);

          g_assert_true (apr_exact_sums_update_with (state, x, y, NULL, APR_PRECISION_EXACT, *kernel,
                                                     &(AprRun){ .n_threads = 1 }, &error));
          g_assert_no_error (error);
          assert_equals_rational (state, z, NULL, N_ROWS, 1 + P + K);
        }
    }
}

static void
test_order_of_rows (void)
{
  /* In double, 2^60 + 1 - 2^60 depends on the order: here it must not. */
  const double there[] = { 0x1p60, 1, -0x1p60, 0x1p-60 };
  const double back[] = { 0x1p-60, -0x1p60, 1, 0x1p60 };
  const double ones[] = { 1, 1, 1, 1 };
  g_autoptr (AprTensor) x = matrix_new (4, 1, there);
  g_autoptr (AprTensor) reversed = matrix_new (4, 1, back);
  g_autoptr (AprTensor) y = vector_new (4, ones);
  g_autoptr (AprExactSums) state = apr_exact_sums_new (1, 1, NULL);
  g_autoptr (AprExactSums) other = apr_exact_sums_new (1, 1, NULL);
  mpq_t ratio;
  mpq_t expected;

  g_assert_true (apr_exact_sums_update (state, x, y, NULL, APR_PRECISION_EXACT, &(AprRun){ 0 }, NULL));
  g_assert_true (apr_exact_sums_update (other, reversed, y, NULL, APR_PRECISION_EXACT, &(AprRun){ 0 }, NULL));

  mpq_inits (ratio, expected, NULL);
  apr_exact_sums_get_entry (state, 1, 0, mpq_numref (ratio));
  apr_exact_sums_get_entry (state, 0, 0, mpq_denref (ratio));
  mpq_canonicalize (ratio);

  /* (1 + 2^-60) / 4 */
  mpz_set_ui (mpq_numref (expected), 1);
  mpz_mul_2exp (mpq_numref (expected), mpq_numref (expected), 60);
  mpz_add_ui (mpq_numref (expected), mpq_numref (expected), 1);
  mpz_set_ui (mpq_denref (expected), 4);
  mpz_mul_2exp (mpq_denref (expected), mpq_denref (expected), 60);
  mpq_canonicalize (expected);
  g_assert_true (mpq_equal (ratio, expected));

  apr_exact_sums_get_entry (other, 1, 0, mpq_numref (ratio));
  apr_exact_sums_get_entry (other, 0, 0, mpq_denref (ratio));
  mpq_canonicalize (ratio);
  g_assert_true (mpq_equal (ratio, expected));
  mpq_clears (ratio, expected, NULL);
}

static void
test_adds_far_exponents (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  int round;

  g_test_summary (
    "Sums of numbers of either sign that overlap, lie above, or lie below those they are added to; and "
    "away again.");
  for (round = 0; round < 200; round++)
    {
      g_autoptr (AprExactSums) sums = apr_exact_sums_new (1, 1, NULL);
      g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify) apr_exact_sums_unref);
      g_autoptr (GError) error = NULL;
      double z[3 * 8];
      gsize n_rows = (gsize) g_rand_int_range (rand, 1, 9);
      gsize i;

      for (i = 0; i < n_rows; i++)
        {
          g_autoptr (AprTensor) x = NULL;
          g_autoptr (AprTensor) y = NULL;
          AprExactSums *part = apr_exact_sums_new (1, 1, NULL);

          z[3 * i] = 1;
          z[3 * i + 1] = ldexp (g_rand_double_range (rand, -1, 1), g_rand_int_range (rand, -400, 400));
          z[3 * i + 2] = ldexp (g_rand_double_range (rand, -1, 1), g_rand_int_range (rand, -400, 400));
          x = matrix_new (1, 1, &z[3 * i + 1]);
          y = vector_new (1, &z[3 * i + 2]);
          g_assert_true (
            apr_exact_sums_update (part, x, y, NULL, APR_PRECISION_EXACT, &(AprRun){ 0 }, &error));
          g_assert_true (apr_exact_sums_add (sums, part, 1, NULL, &error));
          g_ptr_array_add (parts, part);
        }
      assert_equals_rational (sums, z, NULL, n_rows, 3);

      /* To itself, and away: there remain whole numbers of 32 bits each, which are all 0. */
      g_assert_true (apr_exact_sums_add (sums, sums, 1, NULL, &error));
      for (i = 0; i < 2 * n_rows; i++)
        g_assert_true (apr_exact_sums_add (sums, g_ptr_array_index (parts, i % n_rows), -1, NULL, &error));
      g_assert_no_error (error);
      for (i = 0; i < 3; i++)
        {
          mpz_t entry;

          mpz_init_set_ui (entry, 1);
          apr_exact_sums_get_entry (sums, 2, i, entry);
          g_assert_cmpint (mpz_sgn (entry), ==, 0);
          mpz_clear (entry);
        }
      g_assert_false (apr_exact_sums_has_weight (sums));
    }
}

static void
test_adds_until_top_is_full (void)
{
  /* The entries -2^31, 2^31 - 1 and -1, each in one word. */
  const guint32 words[6] = { 0x80000000, 0x7fffffff, 0xffffffff, 1, 0, 0 };
  const double values[6] = { -0x1p31, 0x1p31 - 1, -1, 1, 0, 0 };
  g_autoptr (AprExactSums) one = apr_exact_sums_new (1, 1, NULL);
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (1, 1, NULL);
  g_autofree guint32 *written = NULL;
  gsize n_words;
  gint first_word;
  guint n;
  gsize i;
  mpz_t entry;

  g_assert_true (apr_exact_sums_set_words (one, words, 1, -5, NULL, NULL));
  mpz_init (entry);
  for (n = 1; n <= 20; n++)
    {
      g_assert_true (apr_exact_sums_add (sums, one, 1, NULL, NULL));
      for (i = 0; i < 6; i++)
        {
          gsize row = i < 1 ? 0 : i < 3 ? 1 : 2;

          apr_exact_sums_get_entry (sums, row, i - row * (row + 1) / 2, entry);
          g_assert_cmpint (apr_exact_sums_get_exponent (sums), ==, -160);
          g_assert_cmpfloat (mpz_get_d (entry), ==, values[i] * n);
        }
    }
  mpz_clear (entry);

  written = apr_exact_sums_to_words (one, &n_words, &first_word, NULL, NULL);
  g_assert_cmpuint (n_words, ==, 1);
  g_assert_cmpint (first_word, ==, -5);
  g_assert_cmpmem (written, sizeof words, words, sizeof words);
}

static void
test_carries_signs_far_up (void)
{
  const guint32 low[6] = { 0xfffffffb, 7, 0, 0, 0, 0 };
  const guint32 high[6] = { 2, 2, 2, 2, 2, 0xffffffff };
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (1, 1, NULL);
  g_autoptr (AprExactSums) other = apr_exact_sums_new (1, 1, NULL);
  g_autofree guint32 *words = NULL;
  gsize n_words;
  gint first_word;
  gsize entry;
  gsize i;

  g_test_summary (
    "Sums that end far below those that are added to them, and are negative, reach up to them.");
  g_assert_true (apr_exact_sums_set_words (sums, low, 1, -10, NULL, NULL));
  g_assert_true (apr_exact_sums_set_words (other, high, 1, 3, NULL, NULL));
  g_assert_true (apr_exact_sums_add (sums, other, 1, NULL, NULL));

  words = apr_exact_sums_to_words (sums, &n_words, &first_word, NULL, NULL);
  g_assert_cmpint (first_word, ==, -10);
  g_assert_cmpuint (n_words, ==, 14);
  for (entry = 0; entry < 6; entry++)
    for (i = 0; i < n_words; i++)
      {
        guint32 sign = low[entry] >> 31 != 0 ? 0xffffffff : 0;

        g_assert_cmphex (words[entry * n_words + i], ==,
                         i == 0            ? low[entry]
                         : i < n_words - 1 ? sign
                                           : high[entry] + sign);
      }
}

/* What is done to all entries ends where it is cancelled: they are many, and a window waits. */
static void
test_cancelled_between_entries (void)
{
  const guint32 words[6] = { 1, 2, 3, 4, 5, 6 };
  g_autoptr (AprExactSums) one = apr_exact_sums_new (1, 1, NULL);
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (1, 1, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_exact_sums_set_words (one, words, 1, -5, NULL, NULL));
  g_assert_true (apr_exact_sums_add (sums, one, 1, NULL, NULL));
  g_assert_true (apr_exact_sums_cover (sums, -200, 10, 1, cancellable, NULL));
  g_cancellable_cancel (cancellable);
  g_assert_false (apr_exact_sums_cover (sums, -900, 10, 1, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_false (apr_exact_sums_add (sums, one, 1, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_check (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  guint n_good = 0;
  guint n_bad = 0;
  int round;

  g_test_summary ("Cauchy's inequality, also where it nearly is an equation.");
  for (round = 0; round < 20000; round++)
    {
      g_autoptr (AprExactSums) sums = apr_exact_sums_new (1, 1, NULL);
      g_autoptr (GError) error = NULL;
      gint64 entries[6];
      guint32 words[6 * 4];
      gint64 roots[3];
      gboolean good = TRUE;
      int bits = g_rand_int_range (rand, 1, 31);
      gsize n_zeros = (gsize) g_rand_int_range (rand, 0, 2);
      gsize row;
      gsize column;
      gsize i;

      for (i = 0; i < 3; i++)
        roots[i] = g_rand_int_range (rand, -(1 << (bits - 1)), 1 << (bits - 1));
      for (row = 0, i = 0; row < 3; row++)
        for (column = 0; column <= row; column++, i++)
          entries[i] = roots[row] * roots[column] +
                       (g_rand_int_range (rand, 0, 8) == 0 ? g_rand_int_range (rand, -1, 2) : 0);
      if (g_rand_int_range (rand, 0, 20) == 0)
        entries[g_rand_int_range (rand, 0, 6)] >>= g_rand_int_range (rand, 1, 40);

      for (row = 0; row < 3; row++)
        {
          __int128 square = entries[row * (row + 1) / 2 + row];

          good = good && square >= 0;
          for (column = 0; column < row && good; column++)
            {
              __int128 product = entries[row * (row + 1) / 2 + column];

              good = product * product <= square * entries[column * (column + 1) / 2 + column];
            }
        }

      /* Not always at the same place in the words. */
      for (i = 0; i < 6; i++)
        {
          __int128 shifted = (__int128) entries[i] * ((gint64) 1 << (round % 29));
          gsize word;

          for (word = 0; word < 4; word++)
            words[4 * i + word] = word < n_zeros ? 0 : (guint32) (shifted >> 32 * (word - n_zeros));
        }
      g_assert_true (apr_exact_sums_set_words (sums, words, 4, -7, NULL, NULL));
      g_assert_true (apr_exact_sums_check (sums, &(AprRun){ 0 }, &error) == good);
      if (good)
        n_good++;
      else
        {
          g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
          n_bad++;
        }
    }
  g_assert_cmpuint (n_good, >, 1000);
  g_assert_cmpuint (n_bad, >, 1000);
}

static void
test_too_wide (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (apr_exact_sums_new (G_MAXSIZE / 2, 1, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_clear_error (&error);
  g_assert_null (apr_exact_sums_new (G_MAXSIZE, 1, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
}

static void
test_cancelled (void)
{
  const double values[] = { 1, 2 };
  g_autoptr (AprTensor) x = matrix_new (2, 1, values);
  g_autoptr (AprTensor) y = vector_new (2, values);
  g_autoptr (AprExactSums) state = apr_exact_sums_new (1, 1, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_false (apr_exact_sums_update (state, x, y, NULL, APR_PRECISION_EXACT,
                                         &(AprRun){ .cancellable = cancellable }, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_changed_meanwhile (void)
{
  /* So far apart that they are measured, and then cut. */
  const double values[] = { 1, 0x1p-300, 4, 3 };
  g_autoptr (AprTensor) x = matrix_new (4, 1, values);
  g_autoptr (AprTensor) y = vector_new (4, values);
  g_autoptr (AprTensor) weights = vector_new (4, (const double[]){ 1, 2, (double) NAN, 1 });
  g_autoptr (AprExactSums) state = apr_exact_sums_new (1, 1, NULL);
  const AprSumsKernel *const *kernel;
  AprRows x_rows;
  AprRows y_rows;
  AprRows weight_rows;

  g_test_summary ("A weight that another program has changed since it was found finite ends no program.");
  apr_rows_init (&x_rows, "X", x);
  apr_rows_init (&y_rows, "y", y);
  apr_rows_init (&weight_rows, "sample_weight", weights);
  for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (apr_exact_sums_add_rows (state, &x_rows, &y_rows, &weight_rows, APR_PRECISION_EXACT,
                                               *kernel, &(AprRun){ .n_threads = 1 }, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/exact-sums/equals-rational", test_equals_rational);
  g_test_add_func ("/exact-sums/floats-at-ends", test_floats_at_ends);
  g_test_add_func ("/exact-sums/order-of-rows", test_order_of_rows);
  g_test_add_func ("/exact-sums/adds-far-exponents", test_adds_far_exponents);
  g_test_add_func ("/exact-sums/adds-until-top-is-full", test_adds_until_top_is_full);
  g_test_add_func ("/exact-sums/carries-signs-far-up", test_carries_signs_far_up);
  g_test_add_func ("/exact-sums/check", test_check);
  g_test_add_func ("/exact-sums/too-wide", test_too_wide);
  g_test_add_func ("/exact-sums/changed-meanwhile", test_changed_meanwhile);
  g_test_add_func ("/exact-sums/cancelled", test_cancelled);
  g_test_add_func ("/exact-sums/cancelled-between-entries", test_cancelled_between_entries);

  return g_test_run ();
}
