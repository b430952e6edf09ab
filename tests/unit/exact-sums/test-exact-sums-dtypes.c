/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/draw.h"
#include "tests/exact-reference.h"

#include <math.h>

/* Data of every dtype that is a number, read in place, and of sizes that change, against whole numbers of GMP. */

static const AprDType dtypes[] = { APR_DTYPE_BOOL, APR_DTYPE_I8,  APR_DTYPE_U8,  APR_DTYPE_I16, APR_DTYPE_U16,
                                   APR_DTYPE_I32,  APR_DTYPE_U32, APR_DTYPE_I64, APR_DTYPE_U64, APR_DTYPE_F16,
                                   APR_DTYPE_BF16, APR_DTYPE_F32, APR_DTYPE_F64 };

static void
check (AprTensor *x, AprTensor *y, AprTensor *weights)
{
  gsize n_rows = apr_tensor_get_shape (x, NULL)[0];
  gsize p = apr_tensor_get_shape (x, NULL)[1];
  g_autoptr (Reference) expected = reference_new (p + 2);
  const AprSumsKernel *const *kernel;
  g_autofree mpz_t *row = g_new (mpz_t, p + 2);
  mpz_t weight;
  gsize i;
  gsize j;

  mpz_init (weight);
  for (j = 0; j < p + 2; j++)
    mpz_init (row[j]);
  for (i = 0; i < n_rows; i++)
    {
      reference_whole (row[0], 1);
      for (j = 0; j < p; j++)
        reference_element (row[j + 1], x, i * p + j);
      reference_element (row[p + 1], y, i);
      if (weights != NULL)
        reference_element (weight, weights, i);
      else
        reference_whole (weight, 1);
      reference_add_whole_row (expected, row, weight);
    }

  for (kernel = get_all_kernels (); *kernel != NULL; kernel++)
    {
      g_autoptr (AprExactSums) sums = apr_exact_sums_new (p, 1, NULL);
      g_autoptr (GError) error = NULL;

      g_assert_true (apr_exact_sums_update_with (sums, x, y, weights, APR_PRECISION_EXACT, *kernel,
                                                 &(AprRun){ .n_threads = 2 }, &error));
      g_assert_no_error (error);
      reference_assert_equal (expected, sums);
    }

  for (j = 0; j < p + 2; j++)
    mpz_clear (row[j]);
  mpz_clear (weight);
}

static void
test_every_dtype (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (21);
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (dtypes); i++)
    for (j = runs_slowly () ? i % 4 : 0; j < G_N_ELEMENTS (dtypes); j += runs_slowly () ? 4 : 1)
      {
        /* Where every value has a scale of its own, there are remainder columns without end. */
        gsize n_rows = dtypes[i] == APR_DTYPE_F64 || dtypes[j] == APR_DTYPE_F64 ? 13 : 270;
        g_autoptr (AprTensor) x = draw_patterns (rand, dtypes[i], n_rows, i % 3 + 1);
        g_autoptr (AprTensor) y = draw_patterns (rand, dtypes[j], n_rows, 1);
        g_autoptr (AprTensor) weights = draw_patterns (rand, APR_DTYPE_U8, n_rows, 1);
        const gsize shape[] = { n_rows };
        g_autoptr (AprTensor) vector =
          apr_tensor_new_from_bytes (APR_DTYPE_U8, shape, 1, apr_tensor_get_bytes (weights), NULL);

        check (x, y, NULL);
        check (x, y, vector);
      }
}

static void
test_great_integers (void)
{
  const guint64 x_values[] = { G_MAXUINT64, (1ull << 63) + 1, (1ull << 53) + 1, 3 };
  const gint64 y_values[] = { G_MININT64, G_MAXINT64, -(1ll << 53) - 1, -1 };
  const gsize shape[] = { 4, 1 };
  g_autoptr (GBytes) x_bytes = g_bytes_new (x_values, sizeof x_values);
  g_autoptr (GBytes) y_bytes = g_bytes_new (y_values, sizeof y_values);
  g_autoptr (AprTensor) x = apr_tensor_new_from_bytes (APR_DTYPE_U64, shape, 2, x_bytes, NULL);
  g_autoptr (AprTensor) y = apr_tensor_new_from_bytes (APR_DTYPE_I64, shape, 2, y_bytes, NULL);
  g_autoptr (AprTensor) weights = apr_tensor_new_from_bytes (APR_DTYPE_U64, shape, 1, x_bytes, NULL);
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (1, 1, NULL);
  g_autoptr (GError) error = NULL;

  g_test_summary ("Integers that no double is equal to count as they are; as weights they are an error.");
  check (x, y, NULL);

  g_assert_false (
    apr_exact_sums_update (sums, x, y, weights, APR_PRECISION_EXACT, &(AprRun){ .n_threads = 1 }, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_WEIGHTS);
  assert_message_has (error, "18446744073709551615 at row 0");
}

static void
test_small_weights (void)
{
  const double x_values[] = { 1, 2, 3, 4, 5 };
  const double y_values[] = { 0.1, 0.7, 1e300, -1e-300, 3 };
  const double weight_values[] = { 1e300, 1, 1e-300, 4.9e-324, 0 };
  g_autoptr (AprTensor) x = matrix_new (5, 1, x_values);
  g_autoptr (AprTensor) y = vector_new (5, y_values);
  g_autoptr (AprTensor) weights = vector_new (5, weight_values);

  check (x, y, weights);
}

/* The rows that are multiplied at once, where there are so many blocks. */
#define BLOCK 240
#define N_BLOCKS 14

/* A whole number of 24 bits, times 2^@exponent. */
static float
draw_float (GRand *rand, int exponent)
{
  float value = ldexpf ((float) g_rand_int_range (rand, 1, 1 << 24), exponent);

  return g_rand_boolean (rand) ? value : -value;
}

static void
test_weighted_blocks (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (22);
  guint round;

  g_test_summary (
    "Floats and weights whose sizes change from block to block; some blocks cannot be multiplied whole.");
  for (round = 0; round < (runs_slowly () ? 4 : 12); round++)
    {
      const gsize n_rows = N_BLOCKS * BLOCK;
      float x_values[N_BLOCKS * BLOCK * 3];
      float y_values[N_BLOCKS * BLOCK];
      double weight_values[N_BLOCKS * BLOCK];
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprTensor) y = NULL;
      g_autoptr (AprTensor) weights = NULL;
      int exponent = 0;
      int n_bits = 0;
      int spread = 0;
      gsize row;
      gsize i;

      for (row = 0; row < n_rows; row++)
        {
          if (row % BLOCK == 0)
            {
              exponent = round % 3 == 0 ? 0
                       : round % 3 == 1 ? (int) (row / BLOCK) * 8 - 50
                                        : g_rand_int_range (rand, -30, 30);
              /* What is 20 powers of two apart in a column can be multiplied whole, and 40 is too much. */
              spread = round % 2 == 0 ? 0 : g_rand_int_range (rand, 0, 4) == 0 ? 40 : 20;
              n_bits = g_rand_boolean (rand) ? 53 : 20;
            }
          for (i = 0; i < 3; i++)
            x_values[row * 3 + i] = draw_float (rand, row % 3 == 0 ? exponent - spread : exponent);
          y_values[row] = draw_float (rand, exponent);
          weight_values[row] = ldexp (floor (ldexp (g_rand_double_range (rand, 0.5, 1), n_bits)), -n_bits);
        }
      x = float_matrix_new (n_rows, 3, x_values);
      y = float_matrix_new (n_rows, 1, y_values);
      weights = vector_new (n_rows, weight_values);
      check (x, y, weights);
    }
}

static void
test_not_finite (void)
{
  const struct
  {
    AprDType dtype;
    guint32 nan;
    guint32 infinity;
  } cases[] = { { APR_DTYPE_F16, 0x7e00, 0xfc00 },
                { APR_DTYPE_BF16, 0x7fc0, 0xff80 },
                { APR_DTYPE_F32, 0x7fc00000, 0xff800000 } };
  gsize i;
  int infinite;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    for (infinite = 0; infinite < 2; infinite++)
      {
        const gsize shape[] = { 600, 3 };
        gsize width = apr_dtype_get_bits (cases[i].dtype) / 8;
        guint8 *data = g_malloc0 (600 * 3 * width);
        g_autofree double *y_values = g_new0 (double, 600);
        guint32 bits = GUINT32_TO_LE (infinite ? cases[i].infinity : cases[i].nan);
        g_autoptr (GBytes) bytes = NULL;
        g_autoptr (AprTensor) x = NULL;
        g_autoptr (AprTensor) y = vector_new (600, y_values);
        g_autoptr (AprExactSums) sums = apr_exact_sums_new (3, 1, NULL);
        g_autoptr (GError) error = NULL;

        memcpy (data + (599 * 3 + 1) * width, &bits, width);
        bytes = g_bytes_new_take (data, 600 * 3 * width);
        x = apr_tensor_new_from_bytes (cases[i].dtype, shape, 2, bytes, NULL);
        g_assert_false (
          apr_exact_sums_update (sums, x, y, NULL, APR_PRECISION_EXACT, &(AprRun){ .n_threads = 2 }, &error));
        g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
        assert_message_has (error, infinite ? "X has an infinity at row 599, column 1"
                                            : "X has a NaN at row 599, column 1");
      }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/exact-sums-dtypes/every-dtype", test_every_dtype);
  g_test_add_func ("/exact-sums-dtypes/great-integers", test_great_integers);
  g_test_add_func ("/exact-sums-dtypes/small-weights", test_small_weights);
  g_test_add_func ("/exact-sums-dtypes/weighted-blocks", test_weighted_blocks);
  g_test_add_func ("/exact-sums-dtypes/not-finite", test_not_finite);

  return g_test_run ();
}
