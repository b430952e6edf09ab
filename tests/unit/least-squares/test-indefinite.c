/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

#include <fenv.h>

#include "aprender/least-squares/apr-indefinite-private.h"

/* Whether products are those of any samples: what samples have is never doubted, what none have is refused before it is
 * solved. */

#define MAX_N 12
#define MAX_ROWS 20

/* How often work has asked whether it is cancelled, and the question at which it is. */
static gint n_questions;
static gint last_question = G_MAXINT;

gboolean __real_g_cancellable_is_cancelled (GCancellable *cancellable);

gboolean __wrap_g_cancellable_is_cancelled (GCancellable *cancellable);

gboolean
__wrap_g_cancellable_is_cancelled (GCancellable *cancellable)
{
  if (g_atomic_int_add (&n_questions, 1) + 1 == last_question)
    g_cancellable_cancel (cancellable);

  return __real_g_cancellable_is_cancelled (cancellable);
}

static gboolean memory_is_short;

gpointer __real_apr_run_new_pages (const AprRun *self, gsize n, gsize size, gboolean cleared);

gpointer __wrap_apr_run_new_pages (const AprRun *self, gsize n, gsize size, gboolean cleared);

gpointer
__wrap_apr_run_new_pages (const AprRun *self, gsize n, gsize size, gboolean cleared)
{
  return __real_apr_run_new_pages (self, memory_is_short ? G_MAXSIZE : n, size, cleared);
}

static const AprRun one_thread = { .n_threads = 1 };
static const gboolean none_excluded[MAX_N] = { FALSE };

/* Numbers of up to @bits, the last @n_dependent columns being sums of others. */
static void
draw (GRand *rand, gint64 x[MAX_ROWS][MAX_N], gsize n, gsize n_dependent, int bits)
{
  gsize i;
  gsize j;

  for (i = 0; i < MAX_ROWS; i++)
    for (j = 0; j < n; j++)
      x[i][j] = j < n - n_dependent ? g_rand_int_range (rand, -(1 << bits), (1 << bits) + 1)
                                    : x[i][j - 2] - 3 * x[i][(j * j) % (n - n_dependent)];
}

static void
test_samples (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  const int modes[] = { FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO };
  int round;

  g_test_summary ("What samples have is never refused, however processors round.");

  for (round = 0; round < 400; round++)
    {
      gsize n = (gsize) g_rand_int_range (rand, 5, MAX_N + 1);
      mp_bitcnt_t exponents[MAX_N] = { 0 };
      gint64 x[MAX_ROWS][MAX_N];
      g_auto (AprProducts) products = { 0 };
      gsize feature;
      gsize i;

      draw (rand, x, n, (gsize) round % 4, g_rand_int_range (rand, 1, 25));
      for (i = 0; i < n; i++)
        exponents[i] = round % 3 == 0 ? (mp_bitcnt_t) g_rand_int_range (rand, 0, 1100) : 0;
      set_products (&products, *x, MAX_ROWS, MAX_N, n, exponents);
      fesetround (modes[round % (int) G_N_ELEMENTS (modes)]);
      g_assert_false (apr_products_prove_indefinite (&products, none_excluded, &one_thread, &feature));
      fesetround (FE_TONEAREST);
    }
}

static void
test_one_too_little (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  int round;

  g_test_summary ("Of a feature that depends on others, a square that is less by 1 is none of samples.");

  for (round = 0; round < 100; round++)
    {
      gsize n = (gsize) g_rand_int_range (rand, 5, MAX_N);
      mp_bitcnt_t exponents[MAX_N] = { 0 };
      gint64 x[MAX_ROWS][MAX_N];
      gboolean excluded[MAX_N] = { FALSE };
      g_auto (AprProducts) products = { 0 };
      g_auto (AprProducts) wrong = { 0 };
      gsize feature = MAX_N;
      gsize i;
      gsize j;
      mpz_t entry;

      draw (rand, x, n, 1, g_rand_int_range (rand, 4, 25));
      for (i = 0; i < n; i++)
        exponents[i] = round % 3 == 0 ? (mp_bitcnt_t) g_rand_int_range (rand, 0, 30) : 0;
      exponents[n - 1] = 0;
      set_products (&products, *x, MAX_ROWS, MAX_N, n, exponents);
      (void) apr_products_init_zeros (&wrong, n + 1, 0, products.n_limbs, &(AprRun){ 0 });
      mpz_init (entry);
      for (i = 0; i < n; i++)
        for (j = 0; j <= i; j++)
          {
            apr_products_get_integer (&products, i, j, entry);
            if (i == n - 1 && j == i)
              mpz_sub_ui (entry, entry, 1);
            apr_products_set_integer (&wrong, i, j, entry);
          }
      /* One that has nothing to do with the others, after those that matter. */
      mpz_set_ui (entry, 5);
      apr_products_set_integer (&wrong, n, n, entry);
      mpz_clear (entry);

      g_assert_true (apr_products_prove_indefinite (&wrong, none_excluded, &one_thread, &feature));
      g_assert_cmpuint (feature, ==, n - 1);
      excluded[n - 1] = TRUE;
      g_assert_false (apr_products_prove_indefinite (&wrong, excluded, &one_thread, &feature));
    }
}

static void
test_ones (void)
{
  /* Two features with squares of 4 and @square, and a product that combines them with 1 and 1, or with -1 and 1. */
  const struct
  {
    glong product;
    gulong square;
  } cases[] = { { 4, 4 }, { -4, 4 }, { 4, 3 }, { -4, 3 } };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (AprProducts) products = { 0 };
      gsize feature = MAX_N;
      mpz_t entry;

      (void) apr_products_init_zeros (&products, 2, 0, 1, &(AprRun){ 0 });
      mpz_init_set_ui (entry, 4);
      apr_products_set_integer (&products, 0, 0, entry);
      mpz_set_si (entry, cases[i].product);
      apr_products_set_integer (&products, 1, 0, entry);
      mpz_set_ui (entry, cases[i].square);
      apr_products_set_integer (&products, 1, 1, entry);
      mpz_clear (entry);
      g_assert_cmpint (apr_products_prove_indefinite (&products, none_excluded, &one_thread, &feature), ==,
                       cases[i].square < 4);
      if (cases[i].square < 4)
        g_assert_cmpuint (feature, ==, 1);
    }
}

static void
test_too_large (void)
{
  g_auto (AprProducts) products = { 0 };
  const gboolean excluded[3] = { FALSE, TRUE, FALSE };
  gsize missing = 0;
  const AprRun watching = apr_run_watch_memory (&one_thread, &missing);
  gsize feature = MAX_N;
  gsize i;
  mpz_t entry;

  g_test_summary ("Products that no double holds beside their squares; without memory, it is not known.");

  (void) apr_products_init_zeros (&products, 3, 0, 20, &(AprRun){ 0 });
  mpz_init_set_ui (entry, 1);
  for (i = 0; i < 3; i++)
    apr_products_set_integer (&products, i, i, entry);
  mpz_setbit (entry, 1200);
  apr_products_set_integer (&products, 2, 1, entry);
  mpz_clear (entry);

  g_assert_true (apr_products_prove_indefinite (&products, none_excluded, &one_thread, &feature));
  g_assert_cmpuint (feature, ==, 2);
  g_assert_false (apr_products_prove_indefinite (&products, excluded, &one_thread, &feature));

  memory_is_short = TRUE;
  g_assert_false (apr_products_prove_indefinite (&products, none_excluded, &watching, &feature));
  g_assert_true (apr_run_is_cancelled (&watching));
  memory_is_short = FALSE;
}

#define N_HOSTILE 60

/* Sums with squares of a million and products that are each a little less, with the sign of a coin: no two columns show
 * that no samples have these. */
static AprExactSums *
sums_new (void)
{
  gsize n_columns = N_HOSTILE + 2;
  g_autofree gint32 *words = g_new0 (gint32, apr_triangle (n_columns, 0));
  AprExactSums *sums = apr_exact_sums_new (N_HOSTILE, 1, NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  g_autoptr (GError) error = NULL;
  gsize i;
  gsize j;

  words[0] = 1000;
  for (i = 1; i < n_columns; i++)
    for (j = 1; j <= i; j++)
      {
        gint32 product = g_rand_boolean (rand) ? 900000 : -900000;

        words[apr_triangle (i, j)] = i == j ? 1000000 : i == n_columns - 1 ? 0 : product;
      }
  g_assert_true (apr_exact_sums_set_words (sums, (guint32 *) words, 1, 0, NULL, &error));
  g_assert_no_error (error);

  return sums;
}

/* Returns whether it is solved, and how often work asked whether it is cancelled. */
static gboolean
solve_counted (AprExactSums *sums, double alpha, gboolean positive, gint *n_asked, GError **error)
{
  const AprLeastSquaresOptions options = { .fit_intercept = TRUE,
                                           .alpha = alpha,
                                           .positive = positive,
                                           .data_dtype = APR_DTYPE_F64,
                                           .dtype = APR_DTYPE_F64 };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_auto (AprLeastSquares) answer = { NULL };
  gboolean solved;

  g_atomic_int_set (&n_questions, 0);
  solved = apr_least_squares_solve (&answer, sums, &options,
                                    &(AprRun){ .n_threads = 1, .cancellable = cancellable }, error);
  *n_asked = g_atomic_int_get (&n_questions);

  return solved;
}

static void
test_refused_early (void)
{
  g_autoptr (AprExactSums) hostile = sums_new ();
  const double alphas[] = { 0, 1, 1e-200 };
  gsize i;

  g_test_summary ("What no samples have is refused before numbers get long, in which each entry asks.");

  for (i = 0; i < 2 * G_N_ELEMENTS (alphas); i++)
    {
      g_autoptr (GError) error = NULL;
      gint n_asked;

      g_assert_false (solve_counted (hostile, alphas[i / 2], i % 2 == 1, &n_asked, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
      assert_message_has (error, "The sums are not those of any samples");
      g_assert_cmpint (n_asked, <, 4 * N_HOSTILE);
    }
}

/* The packed lower triangle of [1 X y]'[1 X y], where X'X is [3 2^200, 2^200; 2^200, the third of 2^200 less @less]. */
static AprExactSums *
sums_new_subtle (guint less)
{
  AprExactSums *sums = apr_exact_sums_new (2, 1, NULL);
  g_autoptr (GError) error = NULL;
  guint32 words[10][8] = { { 9 } };
  gsize i;

  words[2][6] = 3 << 8;
  words[4][6] = 1 << 8;
  words[5][6] = 0x55;
  for (i = 0; i < 6; i++)
    words[5][i] = 0x55555555;
  words[5][0] -= less;
  words[9][0] = 1;
  g_assert_true (apr_exact_sums_set_words (sums, words[0], 8, 0, NULL, &error));
  g_assert_no_error (error);

  return sums;
}

static void
test_subtle (void)
{
  g_autoptr (AprExactSums) possible = sums_new_subtle (0);
  g_autoptr (AprExactSums) impossible = sums_new_subtle (2);
  const AprLeastSquaresOptions options = { .alpha = 1, .data_dtype = APR_DTYPE_F64, .dtype = APR_DTYPE_F64 };
  g_auto (AprLeastSquares) answer = { NULL };
  g_auto (AprLeastSquares) none = { NULL };
  g_autoptr (GError) error = NULL;

  g_test_summary ("What no double shows, a penalty in longer numbers does.");

  /* Less by a third than samples allow, to which the penalty is added. */
  g_assert_true (apr_least_squares_solve (&answer, possible, &options, &one_thread, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (answer.rank, ==, 2);
  g_assert_false (apr_least_squares_solve (&none, impossible, &options, &one_thread, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
  assert_message_has (error, "the sum of squares of feature 1 (counted from 0) is negative");
}

static void
test_cancelled (void)
{
  g_autoptr (AprExactSums) hostile = sums_new ();
  gint n_asked;
  gint question;
  gint n_cancelled = 0;

  g_test_summary ("Refusing is cancelled at each place that asks.");

  for (question = 1;; question++)
    {
      g_autoptr (GError) error = NULL;

      last_question = question;
      g_assert_false (solve_counted (hostile, 1, FALSE, &n_asked, &error));
      if (n_asked < question)
        {
          g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
          break;
        }
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      n_cancelled++;
    }
  last_question = G_MAXINT;
  g_assert_cmpint (n_cancelled, >, N_HOSTILE);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/indefinite/samples", test_samples);
  g_test_add_func ("/indefinite/one-too-little", test_one_too_little);
  g_test_add_func ("/indefinite/ones", test_ones);
  g_test_add_func ("/indefinite/too-large", test_too_large);
  g_test_add_func ("/indefinite/refused-early", test_refused_early);
  g_test_add_func ("/indefinite/subtle", test_subtle);
  g_test_add_func ("/indefinite/cancelled", test_cancelled);

  return g_test_run ();
}
