/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/draw.h"
#include "tests/exact-reference.h"

#include "aprender/cross-products/apr-cross-products-private.h"

/* Few rows, whose products are added to the sums where these are, against whole numbers of GMP. */

#define MAX_ROWS 8

static void
add (AprExactSums *sums, AprTensor *x, AprTensor *y, AprTensor *weights, guint n_threads)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_exact_sums_check_rows (x, y, weights, &error));
  g_assert_true (
    apr_exact_sums_add_few_rows (sums, x, y, weights, &(AprRun){ .n_threads = n_threads }, &error));
  g_assert_no_error (error);
}

static void
test_equals_whole_numbers (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  int round;

  g_test_summary ("Data of all kinds, one after the other, with and without weights.");
  for (round = 0; round < 24; round++)
    {
      gsize p = (gsize) g_rand_int_range (rand, 1, 40);
      gboolean weighted = round % 2 == 1;
      g_autoptr (Reference) reference = reference_new (p + 2);
      g_autoptr (AprExactSums) sums = apr_exact_sums_new (p, 1, NULL);
      int kind;

      for (kind = 0; kind < DRAW_N_KINDS; kind++)
        {
          gsize n_rows = (gsize) g_rand_int_range (rand, 1, MAX_ROWS + 1);
          DrawKind own = (DrawKind) ((kind + round) % DRAW_N_KINDS);
          g_autoptr (AprTensor) x = draw_matrix (rand, own, n_rows, p);
          g_autoptr (AprTensor) y = draw_matrix (rand, own, n_rows, 1);
          g_autofree double *values = g_new (double, n_rows);
          g_autoptr (AprTensor) weights = NULL;
          gsize row;

          for (row = 0; row < n_rows; row++)
            values[row] = row % 3 == 2 ? 0 : fabs (draw (rand, own, APR_DTYPE_F64, row));
          if (weighted)
            weights = vector_new (n_rows, values);

          add (sums, x, y, weights, (guint) g_rand_int_range (rand, 1, 4));
          reference_add_rows (reference, x, y, weights);
          reference_assert_equal (reference, sums);
        }
    }
}

static void
test_whole_numbers_of_64_bits (void)
{
  gint64 values[] = { G_MININT64, G_MAXINT64, -1, ((gint64) 1 << 53) + 1 };
  const gsize shape[] = { 2, 2 };
  const gsize y_shape[] = { 2 };
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) y_bytes = NULL;
  g_autoptr (AprTensor) y = NULL;
  gsize i;

  g_test_summary ("Numbers that no double is equal to are added as they are.");
  for (i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = GINT64_TO_LE (values[i]);
  bytes = g_bytes_new (values, sizeof values);
  y_bytes = g_bytes_new (values, 2 * sizeof *values);
  y = apr_tensor_new_from_bytes (APR_DTYPE_I64, y_shape, 1, y_bytes, NULL);

  for (i = 0; i < 2; i++)
    {
      g_autoptr (AprTensor) x =
        apr_tensor_new_from_bytes (i == 0 ? APR_DTYPE_I64 : APR_DTYPE_U64, shape, 2, bytes, NULL);
      g_autoptr (AprExactSums) sums = apr_exact_sums_new (2, 1, NULL);
      g_autoptr (AprExactSums) packed = apr_exact_sums_new (2, 1, NULL);
      mpz_t one;
      mpz_t other;
      gsize row;
      gsize column;

      add (sums, x, y, NULL, 1);
      g_assert_true (
        apr_exact_sums_update (packed, x, y, NULL, APR_PRECISION_EXACT, &(AprRun){ .n_threads = 1 }, NULL));
      mpz_inits (one, other, NULL);
      for (row = 0; row < 4; row++)
        for (column = 0; column <= row; column++)
          {
            apr_exact_sums_get_entry (sums, row, column, one);
            apr_exact_sums_get_entry (packed, row, column, other);
            mpz_mul_2exp (one, one, (mp_bitcnt_t) apr_exact_sums_get_exponent (sums) + 4096);
            mpz_mul_2exp (other, other, (mp_bitcnt_t) apr_exact_sums_get_exponent (packed) + 4096);
            g_assert_cmpint (mpz_cmp (one, other), ==, 0);
          }
      mpz_clears (one, other, NULL);
    }
}

static void
test_full_limbs (void)
{
  /* Each entry: one word below the largest that two words hold, and the smallest. */
  const guint32 max_words[] = { 0xffffffff, 0x7fffffff };
  const guint32 min_words[] = { 0, 0x80000000 };
  const double values[] = { 1, -1 };
  gsize i;
  gsize j;

  g_test_summary ("Sums that fill their topmost limb, as those of a file may, get another one.");
  for (i = 0; i < 2; i++)
    for (j = 0; j < 2; j++)
      {
        g_autoptr (AprExactSums) sums = apr_exact_sums_new (1, 1, NULL);
        g_autoptr (AprTensor) x = matrix_new (1, 1, &values[i]);
        g_autoptr (AprTensor) y = vector_new (1, &values[i]);
        guint32 words[12];
        mpz_t before;
        mpz_t after;
        gsize n_limbs;
        gsize entry;
        guint n;

        for (entry = 0; entry < 6; entry++)
          memcpy (words + 2 * entry, j == 0 ? max_words : min_words, 2 * sizeof *words);
        g_assert_true (apr_exact_sums_set_words (sums, words, 2, 0, NULL, NULL));
        mpz_inits (before, after, NULL);
        apr_exact_sums_get_entry (sums, 1, 0, before);
        for (n = 1; n <= 100; n++)
          {
            add (sums, x, y, NULL, 1);
            apr_exact_sums_get_entry (sums, 1, 0, after);
            mpz_mul_2exp (after, after, (mp_bitcnt_t) apr_exact_sums_get_exponent (sums) + 1024);
            mpz_tdiv_q_2exp (after, after, 1024);
            mpz_sub (after, after, before);
            g_assert_cmpint (mpz_cmp_si (after, (glong) values[i] * (glong) n), ==, 0);
          }
        mpz_clears (before, after, NULL);
        /* Limbs that are not full get no others. */
        (void) apr_exact_sums_get_limbs (sums, &n_limbs);
        g_assert_cmpuint (n_limbs, <=, 12);
      }
}

static void
test_in_pieces (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (12);
  const gsize n_rows = 60;
  const gsize p = 70;
  g_autoptr (AprTensor) x = draw_matrix (rand, DRAW_WIDE_RANGE, n_rows, p);
  g_autoptr (AprTensor) y = draw_matrix (rand, DRAW_ORDINARY, n_rows, 1);
  g_autoptr (AprCrossProducts) whole = apr_cross_products_new (p, 1, NULL);
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (p, 1, NULL);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) whole_bytes = NULL;
  AprExactSums *sums = NULL;
  gsize row;

  g_test_summary (
    "Row by row, samples make the state that they make at once, and the sums stay where they are.");
  g_assert_true (apr_cross_products_update (whole, x, y, NULL, NULL, NULL));
  for (row = 0; row < n_rows; row++)
    {
      g_autoptr (AprTensor) one_x = apr_tensor_slice_rows (x, row, row + 1, NULL);
      g_autoptr (AprTensor) one_y = apr_tensor_slice_rows (y, row, row + 1, NULL);

      g_assert_true (apr_cross_products_update (state, one_x, one_y, NULL, NULL, NULL));
      if (row == p / 2 + 1)
        sums = state->sums;
      g_assert_true (sums == NULL || state->sums == sums);
    }
  bytes = apr_cross_products_to_bytes (state, NULL);
  whole_bytes = apr_cross_products_to_bytes (whole, NULL);
  g_assert_nonnull (sums);
  g_assert_true (g_bytes_equal (bytes, whole_bytes));
}

typedef struct
{
  AprCrossProducts *copy;
  GCancellable *cancellable;
} Heard;

static void
progress_cb (AprCrossProducts *state, GParamSpec *pspec G_GNUC_UNUSED, gpointer user_data)
{
  Heard *heard = user_data;

  g_clear_object (&heard->copy);
  heard->copy = apr_cross_products_copy (state);
  if (apr_cross_products_get_progress (state) == 1)
    g_cancellable_cancel (heard->cancellable);
}

static void
test_state_as_it_was (void)
{
  const double good[] = { 1, 2, 3 };
  const double bad[] = { 1, 2, NAN };
  g_autoptr (AprTensor) x = matrix_new (1, 3, good);
  g_autoptr (AprTensor) bad_x = matrix_new (1, 3, bad);
  g_autoptr (AprTensor) y = vector_new (1, good);
  g_autoptr (AprTensor) bad_weights = vector_new (1, (const double[]){ -1 });
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (3, 1, NULL);
  g_autoptr (AprCrossProducts) before = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Heard heard = { NULL, NULL };

  g_test_summary (
    "What fails, and what hears of progress, finds the state as it was; copies stay as they are.");
  g_assert_true (apr_cross_products_update (state, x, y, NULL, NULL, NULL));
  before = apr_cross_products_copy (state);

  g_assert_false (apr_cross_products_update (state, bad_x, y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  g_assert_cmpstr (error->message, ==, "X has a NaN at row 0, column 2 (counted from 0)");
  g_clear_error (&error);
  g_assert_false (apr_cross_products_update (state, x, y, bad_weights, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_WEIGHTS);
  g_clear_error (&error);
  g_assert_true (apr_cross_products_equal (state, before));

  g_signal_connect (state, "notify::progress", G_CALLBACK (progress_cb), &heard);
  heard.cancellable = cancellable;
  g_assert_false (apr_cross_products_update (state, x, y, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_assert_true (apr_cross_products_equal (state, before));

  heard.cancellable = NULL;
  g_assert_true (apr_cross_products_update (state, x, y, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (apr_cross_products_get_n_samples (state), ==, 2);
  g_assert_true (apr_cross_products_equal (heard.copy, before));
  g_assert_false (apr_cross_products_equal (state, before));
  g_clear_object (&heard.copy);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exact-sums-few-rows/equals-whole-numbers", test_equals_whole_numbers);
  g_test_add_func ("/exact-sums-few-rows/whole-numbers-of-64-bits", test_whole_numbers_of_64_bits);
  g_test_add_func ("/exact-sums-few-rows/full-limbs", test_full_limbs);
  g_test_add_func ("/exact-sums-few-rows/in-pieces", test_in_pieces);
  g_test_add_func ("/exact-sums-few-rows/state-as-it-was", test_state_as_it_was);

  return g_test_run ();
}
