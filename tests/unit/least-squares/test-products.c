/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

#include "aprender/base/apr-parallel-private.h"
#include "aprender/least-squares/apr-normal-equations-private.h"
#include "aprender/least-squares/apr-scaled-products-private.h"
#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"

/* The normal equations in whole numbers, and what is multiplied with them, against rational arithmetic. */

/* Sums that no samples have: any bits, but for the sum of the weights, which is the greatest. */
static AprExactSums *
make_up_sums (GRand *rand, gsize n_features, gsize n_words)
{
  AprExactSums *sums = apr_exact_sums_new (n_features, 1, NULL);
  gsize n = apr_exact_sums_get_n_entries (sums) * n_words;
  g_autofree guint32 *words = g_new (guint32, n);
  GError *error = NULL;
  gsize i;

  for (i = 0; i < n; i++)
    words[i] = g_rand_int_range (rand, 0, 4) == 0 ? 0 : g_rand_int (rand);
  words[0] |= 1;
  words[n_words - 1] = G_MAXINT32;
  /* Every other time, products alone have the lowest word and the topmost ones. */
  if (n_words >= 4 && g_rand_boolean (rand))
    for (i = 0; i <= n_features + 1; i++)
      {
        guint32 *square = words + apr_triangle (i, i) * n_words;
        guint32 *sum = words + apr_triangle (i, 0) * n_words;

        memset (square, 0, n_words * sizeof *square);
        memset (sum, 0, n_words * sizeof *sum);
        square[1] = g_rand_int (rand) | 1;
        sum[1] = g_rand_int (rand) | 1;
      }
  apr_exact_sums_set_words (sums, words, n_words, g_rand_int_range (rand, -6, 3), NULL, &error);
  g_assert_no_error (error);

  return sums;
}

/* S00 Sij - Si0 Sj0, or Sij where not centred, with alpha. */
static void
get_expected (
  AprExactSums *sums, gsize i, gsize j, gsize n_features, gboolean centred, double alpha, mpq_t value)
{
  gint exponent = apr_exact_sums_get_exponent (sums);
  mpz_t weight;
  mpz_t left;
  mpz_t right;
  mpq_t penalty;

  mpz_inits (weight, left, right, NULL);
  mpq_init (penalty);
  mpz_set_ui (weight, 1);
  mpq_set_ui (value, 0, 1);
  apr_exact_sums_get_entry (sums, 1 + i, 1 + j, mpq_numref (value));
  if (centred)
    {
      apr_exact_sums_get_entry (sums, 0, 0, weight);
      apr_exact_sums_get_entry (sums, 1 + i, 0, left);
      apr_exact_sums_get_entry (sums, 1 + j, 0, right);
      mpz_mul (mpq_numref (value), mpq_numref (value), weight);
      mpz_submul (mpq_numref (value), left, right);
    }
  if (i == j && i < n_features)
    {
      mpq_set_d (penalty, alpha);
      if (exponent < 0)
        mpq_mul_2exp (penalty, penalty, (mp_bitcnt_t) -exponent);
      else
        mpq_div_2exp (penalty, penalty, (mp_bitcnt_t) exponent);
      mpz_mul (mpq_numref (penalty), mpq_numref (penalty), weight);
      mpq_canonicalize (penalty);
      mpq_add (value, value, penalty);
    }
  mpz_clears (weight, left, right, NULL);
  mpq_clear (penalty);
}

static void
test_centring (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (60);
  const double alphas[] = { 0, 3, 0x1p-200, 0x1.8p90 };
  int round;

  g_test_summary (
    "Made-up sums have bits beyond those of the squares, which tell how much is read as a rule.");

  for (round = 0; round < 200; round++)
    {
      /* So many are worth two threads, neither of which may write past the end of its rows. */
      gsize p = round % 25 == 0 ? 270 : (gsize) g_rand_int_range (rand, 1, 6);
      g_autoptr (AprExactSums) sums = make_up_sums (rand, p, (gsize) g_rand_int_range (rand, 1, 12));
      gboolean centred = g_rand_boolean (rand);
      double alpha = alphas[round % 4];
      AprRun run = { .n_threads = (guint) g_rand_int_range (rand, 1, 4) };
      g_auto (AprProducts) products = { 0 };
      gboolean have_unit = FALSE;
      gsize i;
      gsize j;
      mpq_t expected;
      mpq_t actual;
      mpq_t unit;

      apr_products_init (&products, sums, centred, alpha, &run);
      mpq_inits (expected, actual, unit, NULL);
      for (i = 0; i <= p; i++)
        for (j = 0; j <= i; j++)
          {
            get_expected (sums, i, j, p, centred, alpha, expected);
            mpq_set_ui (actual, 0, 1);
            apr_products_get_integer (&products, i, j, mpq_numref (actual));
            g_assert_cmpint (mpq_sgn (expected), ==, mpq_sgn (actual));
            if (!have_unit && mpq_sgn (expected) != 0)
              {
                mpq_div (unit, expected, actual);
                have_unit = TRUE;
              }
            mpq_mul (actual, actual, unit);
            g_assert_true (mpq_equal (actual, expected));
          }
      mpq_clears (expected, actual, unit, NULL);
    }
}

static void
test_ones (void)
{
  const guint32 ones[] = { 1, 1, 1, 1, 1, 1 };
  const guint32 negative[] = { 1, -1u, -1u, -1u, -1u, -1u };
  gboolean is_negative;
  gboolean centred;
  mpz_t value;

  g_test_summary ("Where all sums are the unit itself, or its opposite but for the weights, it is read.");
  mpz_init (value);
  for (is_negative = FALSE; is_negative <= TRUE; is_negative++)
    for (centred = FALSE; centred <= TRUE; centred++)
      {
        g_autoptr (AprExactSums) sums = apr_exact_sums_new (1, 1, NULL);
        g_auto (AprProducts) products = { 0 };
        /* Less the product of two sums, which is 1. */
        glong expected = (is_negative ? -1 : 1) - (centred ? 1 : 0);

        apr_exact_sums_set_words (sums, is_negative ? negative : ones, 1, 0, NULL, NULL);
        apr_products_init (&products, sums, centred, 0, &(AprRun){ .n_threads = 1 });
        apr_products_get_integer (&products, 0, 0, value);
        g_assert_cmpint (mpz_get_si (value), ==, expected);
        apr_products_get_integer (&products, 1, 0, value);
        g_assert_cmpint (mpz_get_si (value), ==, expected);
      }
  mpz_clear (value);
}

/* Products of samples of @bits bits whose columns have scales @spread powers of two apart, at the most. */
static void
make_products (AprProducts *self, GRand *rand, gsize n_features, gint bits, gint spread)
{
  gsize n_rows = n_features + 3;
  g_autofree double *x = g_new (double, n_rows *n_features);
  g_autofree double *y = g_new (double, n_rows);
  g_autofree gint *scales = g_new (gint, n_features);
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (n_features, 1, NULL);
  g_autoptr (AprTensor) x_tensor = NULL;
  g_autoptr (AprTensor) y_tensor = NULL;
  gsize i;

  for (i = 0; i < n_features; i++)
    scales[i] = g_rand_int_range (rand, -spread, spread + 1);
  for (i = 0; i < n_rows * n_features; i++)
    x[i] = ldexp (rint (ldexp (g_rand_double_range (rand, -1, 1), bits)), scales[i % n_features]);
  for (i = 0; i < n_rows; i++)
    y[i] = g_rand_double_range (rand, -1, 1);
  x_tensor = matrix_new (n_rows, n_features, x);
  y_tensor = vector_new (n_rows, y);
  g_assert_true (apr_exact_sums_update (sums, x_tensor, y_tensor, NULL, APR_PRECISION_EXACT,
                                        &(AprRun){ .n_threads = 1 }, NULL));

  apr_products_init (self, sums, TRUE, 0, &(AprRun){ .n_threads = 1 });
}

static void
test_nothing (void)
{
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (2, 1, NULL);
  gboolean centred;

  for (centred = FALSE; centred <= TRUE; centred++)
    {
      g_auto (AprProducts) products = { 0 };

      apr_products_init (&products, sums, centred, 0, &(AprRun){ .n_threads = 1 });
      g_assert_cmpint (apr_products_get_bits (&products, 1, 0), ==, 0);
      g_assert_cmpint (apr_products_get_bits (&products, 2, 2), ==, 0);
      g_assert_false (apr_products_is_negative (&products, 1, 1));
      g_assert_true (apr_products_is_constant (&products, 1, 0x1p-100));
    }

  apr_integers_free (NULL, 0);
}

/* The sum of squares of a feature is @square, and its sum @sum 2^@sum_exponent. */
static gboolean
is_constant (gint square, gint sum, guint sum_exponent, double rank_tolerance)
{
  mpz_t sums[2];
  mp_limb_t limb = (mp_limb_t) (gint64) square;
  AprProducts products = { .n_features = 1, .centred = TRUE, .n_limbs = 1, .limbs = &limb, .sums = sums };
  gboolean constant;

  mpz_init (sums[0]);
  mpz_init_set_si (sums[1], sum);
  mpz_mul_2exp (sums[1], sums[1], sum_exponent);
  constant = apr_products_is_constant (&products, 0, rank_tolerance);
  mpz_clears (sums[0], sums[1], NULL);

  return constant;
}

static void
test_constant (void)
{
  g_test_summary ("Less than the tolerance of the raw sum of squares, n S2, is left: S2 is that and S1^2.");

  g_assert_true (is_constant (0, 5, 0, 0));
  g_assert_true (is_constant (0, 0, 0, 0x1p-100));
  g_assert_true (is_constant (-1, 5, 0, 0));
  g_assert_true (is_constant (-100, 1, 0, 0x1p-100));
  g_assert_false (is_constant (1, 0, 0, 0x1p-1));
  g_assert_false (is_constant (1, 0, 0, 1));
  g_assert_true (is_constant (1, 0, 0, 1 + 0x1p-52));
  g_assert_false (is_constant (1, 1, 0, 0.5));
  g_assert_true (is_constant (1, 1, 0, 0.5 + 0x1p-53));
  g_assert_false (is_constant (7, 3, 0, 7 / 16.0));
  g_assert_true (is_constant (7, 3, 0, 7 / 16.0 + 0x1p-54));
  g_assert_true (is_constant (7, -3, 0, 7 / 16.0 + 0x1p-54));
  g_assert_true (is_constant (1, 1, 51, 0x1p-102));
  g_assert_false (is_constant (1, 1, 50, 0x1p-102));
  g_assert_true (is_constant (1, 1, 3000, 0x1p-102));
  g_assert_true (is_constant (1, 1, 3000, 0x1p-1000));
}

static void
divide_by_power (mpq_t value, gint64 exponent)
{
  if (exponent >= 0)
    mpq_div_2exp (value, value, (mp_bitcnt_t) exponent);
  else
    mpq_mul_2exp (value, value, (mp_bitcnt_t) -exponent);
}

static void
get_scaled (const AprScaledProducts *matrix, gsize i, gsize j, mpq_t value)
{
  mpq_set_ui (value, 0, 1);
  apr_products_get_integer (matrix->products, matrix->columns[i], matrix->columns[j], mpq_numref (value));
  divide_by_power (value, matrix->scales[matrix->columns[i]] + matrix->scales[matrix->columns[j]]);
}

/* The value of a correction. */
static void
get_correction (const AprCorrection *correction, gsize i, mpq_t value)
{
  mpq_set_si (value, correction->values[i], 1);
  divide_by_power (value, correction->place);
}

static void
check_doubles (const AprScaledProducts *matrix, guint n_threads)
{
  gsize n = matrix->n;
  gsize stride = apr_dense_pad (n);
  g_autofree double *rows = g_new0 (double, n *stride);
  g_autofree double *copy = g_new0 (double, n *stride);
  gsize i;
  gsize j;
  mpq_t exact;
  mpq_t value;

  mpq_inits (exact, value, NULL);
  g_assert_true (
    apr_scaled_products_get_doubles (matrix, rows, copy, stride, &(AprRun){ .n_threads = n_threads }));
  for (i = 0; i < n; i++)
    for (j = i; j < n; j++)
      {
        double size = fabs (rows[i * stride + j]);

        assert_same_double (copy[i * stride + j], rows[i * stride + j]);
        get_scaled (matrix, i, j, exact);
        mpq_set_d (value, rows[i * stride + j]);
        mpq_sub (exact, exact, value);
        g_assert_cmpfloat (fabs (mpq_get_d (exact)), <=, size * 0x1p-53 + 0x1p-60);
      }
  mpq_clears (exact, value, NULL);
}

/* The value of a number. */
static void
get_fixed (const AprFixed *fixed, gsize i, mpq_t value)
{
  mpq_set_ui (value, 0, 1);
  apr_limbs_get_integer (apr_fixed_get (fixed, i), fixed->n_limbs, mpq_numref (value));
  divide_by_power (value, fixed->fraction);
}

static void
draw_correction (GRand *rand, AprCorrection *correction, gsize n, double *size)
{
  g_autofree double *x = g_new (double, n);
  gint exponent = g_rand_int_range (rand, -60, 20);
  gsize i;

  *size = 0;
  for (i = 0; i < n; i++)
    {
      x[i] = i % 5 == 4 ? 1 - 2 * (double) (i % 2) : g_rand_double_range (rand, -1, 1);
      *size += ldexp (fabs (x[i]), exponent) * 1.001;
    }
  apr_correction_init (correction, n);
  g_assert_true (apr_correction_set (correction, x, exponent, G_MAXINT32, 100));
}

/* What is multiplied, as it is with all bits. */
static void
multiply_exactly (const AprScaledProducts *matrix, const AprCorrection *x, gsize i, mpq_t sum)
{
  mpq_t term;
  mpq_t factor;
  gsize j;

  mpq_inits (term, factor, NULL);
  mpq_set_ui (sum, 0, 1);
  for (j = 0; j < matrix->n; j++)
    {
      get_scaled (matrix, MAX (i, j), MIN (i, j), term);
      get_correction (x, j, factor);
      mpq_mul (factor, factor, term);
      mpq_add (sum, sum, factor);
    }
  divide_by_power (sum, -matrix->scales[matrix->columns[i]]);
  mpq_clears (term, factor, NULL);
}

static void
check_exact_product (const AprScaledProducts *matrix, const AprCorrection *x, guint n_threads)
{
  g_auto (AprFixed) all = { 0 };
  mpq_t sum;
  mpq_t got;
  gsize i;

  apr_fixed_init (&all, matrix->n, 300, 600);
  apr_fixed_add_products (&all, matrix->products, matrix->columns, matrix->columns, matrix->scales, 0, x, -1,
                          &(AprRun){ .n_threads = n_threads });

  mpq_inits (sum, got, NULL);
  for (i = 0; i < matrix->n; i++)
    {
      multiply_exactly (matrix, x, i, sum);
      get_fixed (&all, i, got);
      mpq_add (got, got, sum);
      g_assert_cmpint (mpq_sgn (got), ==, 0);
    }
  mpq_clears (sum, got, NULL);
}

/* Subtracts the product with the columns of the matrix, with some of the bits or with all. */
static void
check_product (const AprScaledProducts *matrix, GRand *rand, guint n_threads, gboolean exact)
{
  gsize n = matrix->n;
  double size;
  g_auto (AprCorrection) x = { 0 };
  g_auto (AprFixed) fixed = { 0 };
  gsize i;
  mpq_t sum;
  mpq_t got;

  draw_correction (rand, &x, n, &size);
  check_exact_product (matrix, &x, n_threads);
  apr_fixed_init (&fixed, n, 300, 200);
  apr_fixed_subtract_scaled (&fixed, matrix, &x, &(AprRun){ .n_threads = n_threads });

  mpq_inits (sum, got, NULL);
  for (i = 0; i < n; i++)
    {
      multiply_exactly (matrix, &x, i, sum);
      get_fixed (&fixed, i, got);
      mpq_add (sum, sum, got);
      divide_by_power (sum, matrix->scales[matrix->columns[i]]);
      if (exact)
        g_assert_cmpint (mpq_sgn (sum), ==, 0);
      g_assert_cmpfloat (fabs (mpq_get_d (sum)), <=, ldexp (size, -apr_scaled_products_get_bits (n)));
    }
  mpq_clears (sum, got, NULL);
}

static void
test_scaled (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (61);
  int round;

  for (round = 0; round < 60; round++)
    {
      /* Enough of them for more than one thread now and then; with few bits, nothing is cut off. */
      gsize p = (gsize) (round == 0 ? 600 : g_rand_int_range (rand, 1, 40));
      gint bits = round % 3 == 0 ? 10 : 53;
      g_auto (AprProducts) products = { 0 };
      g_autofree gint64 *scales = g_new (gint64, p + 1);
      g_autofree gsize *columns = g_new (gsize, p);
      AprScaledProducts matrix = { &products, scales, columns, 0 };
      gsize i;

      make_products (&products, rand, p, bits, round % 4 * 7);
      for (i = 0; i < p; i++)
        {
          scales[i] = apr_products_get_scale (&products, i);
          if (g_rand_int_range (rand, 0, 10) != 0)
            columns[matrix.n++] = i;
        }
      if (round == 0)
        {
          /* A few of many. */
          check_doubles (&matrix, 3);
          g_assert_cmpuint (
            apr_parallel_count (2, 4 * (double) (matrix.n * matrix.n) / APR_PARALLEL_OPERATIONS), ==, 2);
          check_product (&matrix, rand, 2, TRUE);
        }
      else if (matrix.n > 0)
        {
          check_doubles (&matrix, 1);
          check_product (&matrix, rand, 1, bits == 10);
        }
    }
}

#define N_CARRYING 12

static void
test_carries (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (62);
  gsize n_words;
  gsize i;

  g_test_summary ("Sums of products of any bits carry into the next limbs, however many an entry has.");

  for (n_words = 2; n_words <= 12; n_words++)
    {
      g_autoptr (AprExactSums) sums = make_up_sums (rand, N_CARRYING, n_words);
      g_auto (AprProducts) products = { 0 };
      g_auto (AprCorrection) x = { 0 };
      gint64 scales[N_CARRYING];
      gsize columns[N_CARRYING];

      apr_products_init (&products, sums, FALSE, 0, &(AprRun){ .n_threads = 1 });
      apr_correction_init (&x, N_CARRYING);
      x.place = 100;
      for (i = 0; i < N_CARRYING; i++)
        {
          gint64 value = (G_GINT64_CONSTANT (1) << 62) - 1 - g_rand_int (rand);

          scales[i] = (gint64) (7 * i);
          columns[i] = i;
          x.values[i] = g_rand_boolean (rand) ? value : -value;
        }
      check_exact_product (&(AprScaledProducts){ &products, scales, columns, N_CARRYING }, &x, 1);
    }
}

/* All columns against the first ones, and the other way round. */
static void
check_tall_product (const AprTallProducts *matrix, GRand *rand, guint n_threads, gboolean exact)
{
  g_auto (AprCorrection) v = { 0 };
  g_auto (AprCorrection) b = { 0 };
  g_auto (AprFixed) primal = { 0 };
  g_auto (AprFixed) dual = { 0 };
  double v_size;
  double b_size;
  gsize i;
  gsize j;
  mpq_t sum;
  mpq_t term;
  mpq_t factor;

  draw_correction (rand, &v, matrix->n_first, &v_size);
  draw_correction (rand, &b, matrix->n, &b_size);
  apr_fixed_init (&primal, matrix->n, 300, 200);
  apr_fixed_init (&dual, matrix->n_first, 300, 200);
  apr_fixed_add_tall (&primal, &dual, matrix, &v, &b, &(AprRun){ .n_threads = n_threads });

  mpq_inits (sum, term, factor, NULL);
  for (i = 0; i < matrix->n + matrix->n_first; i++)
    {
      gboolean is_primal = i < matrix->n;
      gsize row = is_primal ? i : i - matrix->n;
      gsize n_terms = is_primal ? matrix->n_first : matrix->n;

      get_fixed (is_primal ? &primal : &dual, row, sum);
      divide_by_power (sum, is_primal ? matrix->row_scale : matrix->scales[matrix->columns[row]]);
      for (j = 0; j < n_terms; j++)
        {
          gsize column = is_primal ? j : row;

          get_correction (is_primal ? &v : &b, j, factor);
          mpq_set_ui (term, 0, 1);
          apr_products_get_integer (matrix->products, matrix->columns[row], matrix->columns[j],
                                    mpq_numref (term));
          divide_by_power (term, matrix->row_scale + matrix->scales[matrix->columns[column]]);
          mpq_mul (factor, factor, term);
          if (is_primal)
            mpq_sub (sum, sum, factor);
          else
            mpq_add (sum, sum, factor);
        }
      if (exact)
        g_assert_cmpint (mpq_sgn (sum), ==, 0);
      g_assert_cmpfloat (fabs (mpq_get_d (sum)), <=,
                         ldexp (is_primal ? v_size : b_size, -apr_scaled_products_get_bits (matrix->n)));
    }
  mpq_clears (sum, term, factor, NULL);
}

static void
test_tall (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (63);
  int round;

  for (round = 0; round < 60; round++)
    {
      gsize p = (gsize) (round == 0 ? 500 : g_rand_int_range (rand, 1, 30));
      gint bits = round % 3 == 0 ? 10 : 53;
      g_auto (AprProducts) products = { 0 };
      g_autofree gint64 *scales = g_new (gint64, p + 1);
      g_autofree gsize *columns = g_new (gsize, p);
      AprTallProducts matrix = { &products, 0, scales, columns, p, 0 };
      gsize i;
      gsize n_others = 0;

      make_products (&products, rand, p, bits, round % 4 * 3);
      /* The first ones in order, then the others. */
      for (i = 0; i < p; i++)
        {
          scales[i] = apr_products_get_scale (&products, i);
          matrix.row_scale = MAX (matrix.row_scale, scales[i]);
          if (g_rand_int_range (rand, 0, 3) == 0)
            columns[p - ++n_others] = i;
          else
            columns[matrix.n_first++] = i;
        }
      if (matrix.n_first > 0)
        check_tall_product (&matrix, rand, round == 0 ? 2 : 1, bits == 10);
    }
}

/* Entries that are greater than the squares of their columns allow. */
static void
test_scaled_made_up (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (62);
  int round;

  for (round = 0; round < 100; round++)
    {
      gsize p = 3;
      g_autoptr (AprExactSums) sums = make_up_sums (rand, p, (gsize) g_rand_int_range (rand, 1, 9));
      g_auto (AprProducts) products = { 0 };
      const gsize columns[] = { 0, 1, 2 };
      gint64 scales[3];
      AprScaledProducts matrix = { &products, scales, columns, p };
      double rows[3 * APR_DENSE_PAD];
      gboolean fits = TRUE;
      gsize i;
      gsize j;
      mpq_t value;

      apr_products_init (&products, sums, FALSE, 0, &(AprRun){ .n_threads = 1 });
      mpq_init (value);
      for (i = 0; i < p; i++)
        scales[i] = apr_products_get_scale (&products, i) - (round % 2) * (gint64) (40 * i);
      for (i = 0; i < p; i++)
        for (j = 0; j <= i; j++)
          {
            get_scaled (&matrix, i, j, value);
            fits = fits && mpq_cmp_si (value, 4, 1) < 0 && mpq_cmp_si (value, -4, 1) >= 0;
          }
      g_assert_cmpint (
        apr_scaled_products_get_doubles (&matrix, rows, NULL, APR_DENSE_PAD, &(AprRun){ .n_threads = 1 }), ==,
        fits);
      mpq_clear (value);
    }
}

static void
test_scaled_to_the_top (void)
{
  enum
  {
    N = 3,
    N_LIMBS = 4
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (63);
  const gsize columns[N] = { 0, 1, 2 };
  int round;

  g_test_summary ("Entries whose highest bit is that below the sign, or a few bits further down.");

  for (round = 0; round < 100; round++)
    {
      mp_limb_t limbs[N * (N + 1) / 2 * N_LIMBS];
      AprProducts products = { .n_features = N, .n_limbs = N_LIMBS, .limbs = limbs };
      gint64 scales[N];
      AprScaledProducts matrix = { &products, scales, columns, N };
      gsize i;

      for (i = 0; i < G_N_ELEMENTS (limbs); i++)
        limbs[i] = (mp_limb_t) g_rand_int (rand) << 32 | g_rand_int (rand);
      for (i = N_LIMBS - 1; i < G_N_ELEMENTS (limbs); i += N_LIMBS)
        limbs[i] = (limbs[i] | (mp_limb_t) 1 << 63) >> (2 + round % 40);
      for (i = 0; i < N; i++)
        scales[i] = apr_products_get_scale (&products, i);
      check_product (&matrix, rand, 1, FALSE);
    }
}

static void
test_scaled_from_the_bottom (void)
{
  enum
  {
    N = 3,
    N_LIMBS = 3
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (64);
  const gsize columns[N] = { 0, 1, 2 };
  const int tops[] = { 124, 122, 124 };
  int round;

  g_test_summary (
    "Entries that have all bits but one that multiplications use, beside others that are negative.");

  for (round = 0; round < 20; round++)
    {
      g_auto (AprProducts) products = { 0 };
      gint64 scales[N];
      AprScaledProducts matrix = { &products, scales, columns, N };
      gsize i;
      gsize j;
      mpz_t entry;

      (void) apr_products_init_zeros (&products, N, 1, N_LIMBS, &(AprRun){ 0 });
      mpz_init (entry);
      for (i = 0; i < N; i++)
        for (j = 0; j <= i; j++)
          {
            mpz_set_si (entry, g_rand_int_range (rand, -1000, 1000));
            if (i == j)
              mpz_setbit (entry, (mp_bitcnt_t) tops[i]);
            mpz_abs (entry, entry);
            if (i != j && g_rand_boolean (rand))
              mpz_neg (entry, entry);
            apr_products_set_integer (&products, i, j, entry);
          }
      mpz_clear (entry);
      for (i = 0; i < N; i++)
        scales[i] = tops[i] / 2;
      g_assert_cmpint (scales[1] + scales[2], ==, apr_scaled_products_get_bits (N) - 1);
      check_product (&matrix, rand, 1, TRUE);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/products/centring", test_centring);
  g_test_add_func ("/products/nothing", test_nothing);
  g_test_add_func ("/products/ones", test_ones);
  g_test_add_func ("/products/constant", test_constant);
  g_test_add_func ("/products/scaled", test_scaled);
  g_test_add_func ("/products/carries", test_carries);
  g_test_add_func ("/products/tall", test_tall);
  g_test_add_func ("/products/scaled/made-up", test_scaled_made_up);
  g_test_add_func ("/products/scaled/to-the-top", test_scaled_to_the_top);
  g_test_add_func ("/products/scaled/from-the-bottom", test_scaled_from_the_bottom);

  return g_test_run ();
}
