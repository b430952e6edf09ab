/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

static AprTensor *
every_byte_new (AprDType dtype)
{
  const gsize shape[] = { 256 };
  guint8 data[256];
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;
  AprTensor *tensor;
  guint i;

  for (i = 0; i < 256; i++)
    data[i] = (guint8) i;
  bytes = g_bytes_new (data, sizeof data);
  tensor = apr_tensor_new_from_bytes (dtype, shape, 1, bytes, &error);
  g_assert_no_error (error);

  return tensor;
}

/* Checks what each byte becomes in the four dtypes that a cast makes. F16 has the numbers from 2^-24 up to 65504. */
static void
assert_casts (AprDType dtype, const double *expected)
{
  const AprDType to[] = { APR_DTYPE_F64, APR_DTYPE_F32, APR_DTYPE_BF16, APR_DTYPE_F16 };
  g_autoptr (AprTensor) x = every_byte_new (dtype);
  guint i;
  guint j;

  for (i = 0; i < G_N_ELEMENTS (to); i++)
    {
      g_autoptr (AprTensor) y = apr_tensor_cast (x, to[i], NULL);

      g_assert_nonnull (y);
      for (j = 0; j < 256; j++)
        {
          double wanted = expected[j];

          if (to[i] == APR_DTYPE_F16 && fabs (wanted) >= 0x1p16)
            wanted = copysign (INFINITY, wanted);
          else if (to[i] == APR_DTYPE_F16 && fabs (wanted) < 0x1p-24)
            wanted = copysign (0, wanted);

          if (isnan (wanted))
            g_assert_true (isnan (element (y, j)) && !signbit (element (y, j)) == !signbit (wanted));
          else
            assert_same_double (element (y, j), wanted);
        }
    }
}

/* From 0 on, the numbers are equally far from each other, @n of them to the first normal one, and @n from each power of
 * two to the next, where the distance doubles. */
static void
count_up (double *expected, double smallest, guint n)
{
  double value = 0;
  double step = smallest;
  guint i;

  for (i = 0; i < 128; i++)
    {
      expected[i] = value;
      expected[128 + i] = -value;
      value += step;
      if (i + 1 >= 2 * n && (i + 1) % n == 0)
        step *= 2;
    }
}

static void
test_e4m3 (void)
{
  double expected[256];

  count_up (expected, 0x1p-9, 8);
  g_assert_cmpfloat (expected[0x7e], ==, 448);
  expected[0x7f] = NAN;
  expected[0xff] = copysign (NAN, -1);
  assert_casts (APR_DTYPE_F8_E4M3, expected);
}

static void
test_e5m2 (void)
{
  double expected[256];
  guint i;

  count_up (expected, 0x1p-16, 4);
  g_assert_cmpfloat (expected[0x7b], ==, 57344);
  expected[0x7c] = INFINITY;
  expected[0xfc] = -INFINITY;
  for (i = 0x7d; i <= 0x7f; i++)
    {
      expected[i] = NAN;
      expected[i + 0x80] = copysign (NAN, -1);
    }
  assert_casts (APR_DTYPE_F8_E5M2, expected);
}

static void
test_e4m3fnuz (void)
{
  double expected[256];

  count_up (expected, 0x1p-10, 8);
  g_assert_cmpfloat (expected[0x7f], ==, 240);
  expected[0x80] = NAN;
  assert_casts (APR_DTYPE_F8_E4M3FNUZ, expected);
}

static void
test_e5m2fnuz (void)
{
  double expected[256];

  count_up (expected, 0x1p-17, 4);
  g_assert_cmpfloat (expected[0x7f], ==, 57344);
  expected[0x80] = NAN;
  assert_casts (APR_DTYPE_F8_E5M2FNUZ, expected);
}

static void
test_e8m0 (void)
{
  double expected[256];
  int i;

  for (i = 0; i < 255; i++)
    expected[i] = ldexp (1, i - 127);
  expected[255] = NAN;
  assert_casts (APR_DTYPE_F8_E8M0, expected);
}

/* To round to one of them there is no function, and the packed dtypes are only bytes. */
static void
test_refused (void)
{
  const double value = 1;
  const gsize shape[] = { 4 };
  const AprDType f8[] = { APR_DTYPE_F8_E5M2, APR_DTYPE_F8_E4M3, APR_DTYPE_F8_E8M0, APR_DTYPE_F8_E4M3FNUZ,
                          APR_DTYPE_F8_E5M2FNUZ };
  const AprDType packed[] = { APR_DTYPE_F4, APR_DTYPE_F6_E2M3, APR_DTYPE_F6_E3M2 };
  g_autoptr (AprTensor) x = vector_new (1, &value);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (f8); i++)
    {
      g_autoptr (AprTensor) y = every_byte_new (f8[i]);
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_tensor_cast (x, f8[i], &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_DTYPE);
      g_clear_error (&error);
      g_assert_null (apr_tensor_cast (y, f8[(i + 1) % G_N_ELEMENTS (f8)], &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_DTYPE);
    }
  for (i = 0; i < G_N_ELEMENTS (packed); i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new ("xxx", packed[i] == APR_DTYPE_F4 ? 2 : 3);
      g_autoptr (AprTensor) y = apr_tensor_new_from_bytes (packed[i], shape, 1, bytes, NULL);
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_tensor_cast (y, APR_DTYPE_F32, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_DTYPE);
      assert_message_has (error, "cannot be cast to F32");
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/tensor/f8/e4m3", test_e4m3);
  g_test_add_func ("/tensor/f8/e5m2", test_e5m2);
  g_test_add_func ("/tensor/f8/e4m3fnuz", test_e4m3fnuz);
  g_test_add_func ("/tensor/f8/e5m2fnuz", test_e5m2fnuz);
  g_test_add_func ("/tensor/f8/e8m0", test_e8m0);
  g_test_add_func ("/tensor/f8/refused", test_refused);

  return g_test_run ();
}
