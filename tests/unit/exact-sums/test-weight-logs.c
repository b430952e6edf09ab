/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

#include "aprender/exact-sums/apr-weight-logs-private.h"

/* A sum of logarithms that has the same bits for every order, split, number of threads and machine. */

static void
assert_text (AprWeightLogs sum, const char *expected)
{
  g_autofree char *text = apr_weight_logs_to_text (sum);

  g_assert_cmpstr (text, ==, expected);
}

static AprWeightLogs
sum_of (const double *weights, gsize n, guint n_threads, guint64 *n_samples)
{
  g_autoptr (AprTensor) tensor = vector_new (n, weights);

  return apr_weight_logs_of (tensor, n_threads, n_samples);
}

static AprWeightLogs
log_of (double weight)
{
  guint64 n_samples;

  return sum_of (&weight, 1, 1, &n_samples);
}

static void
test_powers_of_two (void)
{
  int exponent;

  g_test_summary ("The logarithm of a power of two, subnormal ones too, is exact.");
  for (exponent = -1074; exponent <= 1023; exponent++)
    g_assert_true (log_of (ldexp (1, exponent)) == (AprWeightLogs) exponent * ((gint64) 1 << 52));
}

static void
test_accuracy (void)
{
  const double edges[] = { 0x1.6a09e667f3bccp0, 0x1.6a09e667f3bcdp0,  0x1.fffffffffffffp0,
                           0x1.0000000000001p0, 0x1.6a09e667f3bcdp-1, 0x0.0000000000003p-1022,
                           G_MAXDOUBLE,         0x1.fffffffffffffp-1 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  int round;

  g_test_summary ("One logarithm is within two units of 2^-52 of that of the C library.");
  for (round = 0; round < 20000; round++)
    {
      double weight = round < (int) G_N_ELEMENTS (edges)
                      ? edges[round]
                      : ldexp (g_rand_double_range (rand, 0.25, 4), g_rand_int_range (rand, -1060, 1000));
      int exponent;
      double mantissa = frexp (weight, &exponent);
      AprWeightLogs rest = log_of (weight) - (AprWeightLogs) exponent * ((gint64) 1 << 52);

      g_assert_cmpfloat (fabs ((double) rest * APR_WEIGHT_LOGS_UNIT - (double) log2l (mantissa)), <=,
                         0x1p-51);
    }
}

static void
test_bits (void)
{
  double weights[1990];
  guint64 n_samples;
  AprWeightLogs sum;
  gsize i;

  g_test_summary ("Every machine has these bits: Python 3.11's doubles give them for the same series.");
  for (i = 0; i < 1990; i++)
    weights[i] = ldexp (1 + (double) i / 997, (int) i - 1000);
  assert_text (sum_of (weights, 1990, 1, &n_samples), "-40929788232024787354");

  for (i = 0; i < 1000; i++)
    weights[i] = (double) (i + 1) * 0.1;
  sum = sum_of (weights, 1000, 1, &n_samples);
  assert_text (sum, "23452359543144964138");
  /* mpmath 1.3.0 has 23452359543144964145.8 for the sum of these logarithms. */
  g_assert_cmpfloat_with_epsilon (apr_weight_logs_to_natural (sum),
                                  23452359543144964145.8 * APR_WEIGHT_LOGS_UNIT * G_LN2, 1e-12);
}

static void
test_any_cut (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  const guint n_threads[] = { 1, 2, 7, 0 };
  const gsize n = 150001;
  g_autofree double *weights = g_new (double, n);
  guint64 n_samples = 0;
  guint64 n_positive = 0;
  AprWeightLogs whole;
  gsize round;
  gsize i;

  for (i = 0; i < n; i++)
    {
      weights[i] = i % 5 == 0 ? 0 : ldexp (g_rand_double (rand), g_rand_int_range (rand, -1070, 1000));
      n_positive += weights[i] > 0 ? 1 : 0;
    }
  whole = sum_of (weights, n, 1, &n_samples);
  g_assert_cmpuint (n_samples, ==, n_positive);

  for (round = 0; round < 12; round++)
    {
      AprWeightLogs sum = 0;
      guint64 n_counted = 0;
      gsize start;
      gsize stop;

      for (i = n - 1; i > 0; i--)
        {
          gsize other = (gsize) g_rand_int_range (rand, 0, (gint) i + 1);
          double weight = weights[i];

          weights[i] = weights[other];
          weights[other] = weight;
        }
      for (start = 0; start < n; start = stop)
        {
          gsize length = (gsize) g_rand_int_range (rand, 1, 130000);

          stop = MIN (start + length, n);
          g_assert_true (apr_weight_logs_add (
            &sum, sum_of (weights + start, stop - start, n_threads[round % 4], &n_samples), 1, NULL));
          n_counted += n_samples;
        }
      g_assert_true (sum == whole);
      g_assert_cmpuint (n_counted, ==, n_positive);
    }

  g_assert_true (apr_weight_logs_add (&whole, whole, -1, NULL));
  assert_text (whole, "0");
}

static void
test_dtypes (void)
{
  const AprDType dtypes[] = { APR_DTYPE_F32, APR_DTYPE_F16, APR_DTYPE_BF16 };
  double values[100];
  guint8 bytes[100];
  g_autoptr (GBytes) data = NULL;
  g_autoptr (AprTensor) doubles = NULL;
  g_autoptr (AprTensor) integers = NULL;
  guint64 n_samples;
  AprWeightLogs sum;
  gsize i;

  for (i = 0; i < 100; i++)
    {
      values[i] = (double) i;
      bytes[i] = (guint8) i;
    }
  doubles = vector_new (100, values);
  sum = apr_weight_logs_of (doubles, 1, &n_samples);
  g_assert_cmpuint (n_samples, ==, 99);
  for (i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_autoptr (AprTensor) weights = apr_tensor_cast (doubles, dtypes[i], NULL);

      g_assert_true (apr_weight_logs_of (weights, 1, &n_samples) == sum);
      g_assert_cmpuint (n_samples, ==, 99);
    }
  data = g_bytes_new (bytes, sizeof bytes);
  integers = apr_tensor_new_from_bytes (APR_DTYPE_U8, (gsize[]){ 100 }, 1, data, NULL);
  g_assert_true (apr_weight_logs_of (integers, 1, &n_samples) == sum);
  g_assert_cmpuint (n_samples, ==, 99);
}

static void
test_text (void)
{
  const char *const good[] = { "0",
                               "1",
                               "-1",
                               "4503599627370496",
                               "18446744073709551616",
                               "-340282366920938463463",
                               "85070591730234615865843651857942052863",
                               "-85070591730234615865843651857942052863" };
  const char *const bad[] = {
    "",
    "-",
    "+1",
    "01",
    "-0",
    "-01",
    " 1",
    "1 ",
    "1.0",
    "1e3",
    "0x10",
    "--1",
    "85070591730234615865843651857942052864",
    "-85070591730234615865843651857942052864",
    "850705917302346158658436518579420528630",
    "999999999999999999999999999999999999999999999999999999999999999999999999999999999"
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (good); i++)
    {
      AprWeightLogs sum;

      g_assert_true (apr_weight_logs_from_text (good[i], &sum));
      assert_text (sum, good[i]);
    }
  for (i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      AprWeightLogs sum;

      if (apr_weight_logs_from_text (bad[i], &sum))
        g_error ("“%s” was taken", bad[i]);
    }
}

static void
test_limits (void)
{
  AprWeightLogs most;
  AprWeightLogs sum;
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_weight_logs_from_text ("85070591730234615865843651857942052863", &most));
  sum = most;
  g_assert_false (apr_weight_logs_add (&sum, 1, 1, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_clear_error (&error);
  g_assert_false (apr_weight_logs_add (&sum, most, 1, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_clear_error (&error);
  g_assert_false (apr_weight_logs_add (&sum, -most, -1, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_assert_true (sum == most);

  /* 2^63 weights of the least double. */
  g_assert_true (log_of (0x1p-1074) * ((AprWeightLogs) 1 << 63) > -most);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/weight-logs/powers-of-two", test_powers_of_two);
  g_test_add_func ("/weight-logs/accuracy", test_accuracy);
  g_test_add_func ("/weight-logs/bits", test_bits);
  g_test_add_func ("/weight-logs/any-cut", test_any_cut);
  g_test_add_func ("/weight-logs/dtypes", test_dtypes);
  g_test_add_func ("/weight-logs/text", test_text);
  g_test_add_func ("/weight-logs/limits", test_limits);

  return g_test_run ();
}
