/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tensor/apr-tensor-private.h"
#include "tests/apr-test.h"

#include <fenv.h>
#include <math.h>

#ifdef __SSE2__
# include <xmmintrin.h>
#endif

/* What IEEE 754 says of each: ties to even, subnormals, overflow, sign of zero. */
static void
test_cast_rounds_to_nearest_even (void)
{
  const struct
  {
    double value;
    AprDType dtype;
    double expected;
  } cases[] = {
    { 1 + 0x1p-24, APR_DTYPE_F32, 1 },
    { 1 + 0x1p-24 + 0x1p-50, APR_DTYPE_F32, 1 + 0x1p-23 },
    { 1 + 3 * 0x1p-24, APR_DTYPE_F32, 1 + 0x1p-22 },
    { 0x1p-150, APR_DTYPE_F32, 0 },
    { 0x1.8p-150, APR_DTYPE_F32, 0x1p-149 },
    { 0x1.ffffffp127, APR_DTYPE_F32, INFINITY },
    { 0x1.fffffefp127, APR_DTYPE_F32, 0x1.fffffep127 },
    { -1e300, APR_DTYPE_F32, -INFINITY },
    { -0.0, APR_DTYPE_F32, -0.0 },
    { 1 + 0x1p-11, APR_DTYPE_F16, 1 },
    { 1 + 3 * 0x1p-11, APR_DTYPE_F16, 1 + 0x1p-9 },
    { 1 + 0x1p-11 + 0x1p-40, APR_DTYPE_F16, 1 + 0x1p-10 }, /* as a float, it would be a tie */
    { 100000, APR_DTYPE_F16, INFINITY },
    { -1e300, APR_DTYPE_F16, -INFINITY },
    { 65519, APR_DTYPE_F16, 65504 },
    { 65520, APR_DTYPE_F16, INFINITY },
    { 0x1p-25, APR_DTYPE_F16, 0 },
    { 0x1.1p-25, APR_DTYPE_F16, 0x1p-24 },
    { 3 * 0x1p-25, APR_DTYPE_F16, 0x1p-23 },
    { 0x1.ffcp-15, APR_DTYPE_F16, 0x1p-14 },
    { 0x1.ff8p-15, APR_DTYPE_F16, 0x1.ff8p-15 },
    { 1 + 0x1p-8, APR_DTYPE_BF16, 1 },
    { 1 + 3 * 0x1p-8, APR_DTYPE_BF16, 1 + 0x1p-6 },
    { 0x1.ffp127, APR_DTYPE_BF16, INFINITY },
    { -1e300, APR_DTYPE_BF16, -INFINITY },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprTensor) x = vector_new (1, &cases[i].value);
      g_autoptr (AprTensor) y = apr_tensor_cast (x, cases[i].dtype, NULL);

      g_assert_cmpint (apr_tensor_get_dtype (y), ==, cases[i].dtype);
      assert_same_double (element (y, 0), cases[i].expected);
    }
}

/* Whether @rounded is the float nearest to @value: of two that are equally near, the one whose last bit is 0. */
static gboolean
is_nearest (double value, float rounded)
{
  const float ends[] = { -INFINITY, INFINITY };
  guint32 bits;
  gsize i;

  if (isnan (rounded))
    return FALSE;
  if (isinf (rounded))
    return fabs (value) >= 0x1.ffffffp127 && (value > 0) == (rounded > 0);

  memcpy (&bits, &rounded, sizeof bits);
  for (i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      double other = (double) nextafterf (rounded, ends[i]);
      double distance = fabs (value - (double) rounded);
      double other_distance = fabs (value - (isinf (other) ? copysign (0x1p128, other) : other));

      if (other_distance < distance || (other_distance == distance && bits % 2 != 0))
        return FALSE;
    }

  return TRUE;
}

static void
test_cast_to_the_nearest_float (void)
{
  guint64 bits = 1;
  int i;

  g_test_summary ("Random doubles of every exponent, and ties between two floats.");
  for (i = 0; i < 20000; i++)
    {
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (AprTensor) y = NULL;
      double value;

      bits = bits * G_GUINT64_CONSTANT (6364136223846793005) + G_GUINT64_CONSTANT (1442695040888963407);
      memcpy (&value, &bits, sizeof value);
      if (i % 2 == 0)
        value = ldexp (frexp (value, &(int){ 0 }), i % 300 - 160);
      if (i % 4 == 0)
        value = ldexp ((double) (2 * (bits >> 40) + 1), i % 300 - 174);
      if (isnan (value))
        continue;
      x = vector_new (1, &value);
      y = apr_tensor_cast (x, APR_DTYPE_F32, NULL);
      g_assert_true (is_nearest (value, (float) element (y, 0)));
    }
}

static void
test_cast_of_halves_is_a_round_trip (void)
{
  guint16 halves[65536];
  const gsize shape[] = { 65536 };
  g_autoptr (GBytes) bytes = NULL;
  gsize i;
  const AprDType dtypes[] = { APR_DTYPE_F16, APR_DTYPE_BF16 };

  for (i = 0; i < 65536; i++)
    {
      /* Signalling NaNs become quiet, so they are left out. */
      gboolean nan =
        ((i & 0x7c00) == 0x7c00 && (i & 0x3ff) != 0) || ((i & 0x7f80) == 0x7f80 && (i & 0x7f) != 0);

      halves[i] = GUINT16_TO_LE (nan ? 0 : (guint16) i);
    }
  bytes = g_bytes_new (halves, sizeof halves);

  for (i = 0; i < 2; i++)
    {
      g_autoptr (AprTensor) x = apr_tensor_new_from_bytes (dtypes[i], shape, 1, bytes, NULL);
      g_autoptr (AprTensor) wide = apr_tensor_cast (x, APR_DTYPE_F32, NULL);
      g_autoptr (AprTensor) wider = apr_tensor_cast (wide, APR_DTYPE_F64, NULL);
      g_autoptr (AprTensor) back = apr_tensor_cast (wider, dtypes[i], NULL);

      g_assert_true (apr_tensor_equal (x, back));
    }
}

/* A vector of a dtype of 64 bits. */
static AprTensor *
bits_vector_new (AprDType dtype, gsize n, const guint64 *bits)
{
  g_autofree guint64 *ordered = g_new (guint64, n);
  g_autoptr (GBytes) bytes = NULL;
  gsize i;

  for (i = 0; i < n; i++)
    ordered[i] = GUINT64_TO_LE (bits[i]);
  bytes = g_bytes_new (ordered, n * sizeof *ordered);

  return apr_tensor_new_from_bytes (dtype, &n, 1, bytes, NULL);
}

static void
test_cast_of_nan (void)
{
  const guint64 nans[] = { G_GUINT64_CONSTANT (0x7ff0123456789abc), G_GUINT64_CONSTANT (0xfffedcba98765432) };
  const struct
  {
    AprDType dtype;
    guint32 expected[2];
  } cases[] = { { APR_DTYPE_F32, { 0x7fc00000, 0xffc00000 } },
                { APR_DTYPE_F16, { 0x7e00, 0xfe00 } },
                { APR_DTYPE_BF16, { 0x7fc0, 0xffc0 } } };
  g_autoptr (AprTensor) x = bits_vector_new (APR_DTYPE_F64, 2, nans);
  gsize i;
  gsize j;

  g_test_summary ("A NaN keeps its sign and nothing else, on every processor.");
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprTensor) y = apr_tensor_cast (x, cases[i].dtype, NULL);
      const guint8 *data = g_bytes_get_data (apr_tensor_get_bytes (y), NULL);
      gsize width = apr_dtype_get_bits (cases[i].dtype) / 8;

      for (j = 0; j < 2; j++)
        {
          guint32 bits = 0;

          memcpy (&bits, data + j * width, width);
          g_assert_cmphex (GUINT32_FROM_LE (bits), ==, cases[i].expected[j]);
        }
    }
}

static void
test_cast_of_large_integers_rounds_once (void)
{
  const gint64 low = (G_GINT64_CONSTANT (1) << 53) + (G_GINT64_CONSTANT (1) << 29) + 1;
  const struct
  {
    AprDType from;
    guint64 value;
    AprDType to;
    double expected;
  } cases[] = {
    /* Through a double it would become a tie, and go the wrong way. */
    { APR_DTYPE_I64, (guint64) low, APR_DTYPE_F32, 0x1p53 + 0x1p30 },
    { APR_DTYPE_I64, (guint64) -low, APR_DTYPE_F32, -0x1p53 - 0x1p30 },
    { APR_DTYPE_U64, (guint64) low, APR_DTYPE_F32, 0x1p53 + 0x1p30 },
    { APR_DTYPE_U64, (G_GUINT64_CONSTANT (1) << 63) + (1ull << 39) + 1, APR_DTYPE_F32, 0x1p63 + 0x1p40 },
    { APR_DTYPE_U64, (G_GUINT64_CONSTANT (1) << 63) + (1ull << 39), APR_DTYPE_F32, 0x1p63 },
    { APR_DTYPE_U64, (G_GUINT64_CONSTANT (1) << 63) + (1ull << 55) + 1, APR_DTYPE_BF16, 0x1p63 + 0x1p56 },
    { APR_DTYPE_U64, (guint64) low, APR_DTYPE_F16, INFINITY },
    { APR_DTYPE_U64, G_MAXUINT64, APR_DTYPE_F64, 0x1p64 },
    { APR_DTYPE_I64, (1ull << 53) + 3, APR_DTYPE_F64, 0x1p53 + 4 },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprTensor) x = bits_vector_new (cases[i].from, 1, &cases[i].value);
      g_autoptr (AprTensor) y = apr_tensor_cast (x, cases[i].to, NULL);

      assert_same_double (element (y, 0), cases[i].expected);
    }
}

static void
test_cast_errors (void)
{
  const double value = 1;
  const gsize shape[] = { 2 };
  g_autoptr (AprTensor) x = vector_new (1, &value);
  g_autoptr (GBytes) bytes = g_bytes_new ("x", 1);
  g_autoptr (AprTensor) small = apr_tensor_new_from_bytes (APR_DTYPE_F4, shape, 1, bytes, NULL);
  g_autoptr (AprTensor) same = apr_tensor_cast (small, APR_DTYPE_F4, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (same == small);
  g_assert_null (apr_tensor_cast (x, APR_DTYPE_I32, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_DTYPE);
  assert_message_has (error, "F64 cannot be cast to I32");
  g_clear_error (&error);
  g_assert_null (apr_tensor_cast (small, APR_DTYPE_F32, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_DTYPE);
  g_clear_error (&error);
  g_assert_null (apr_tensor_cast (x, (AprDType) 99, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_DTYPE);
}

static void
keep_result (GObject *object, GAsyncResult *result, gpointer user_data)
{
  g_assert_null (object);
  *(GAsyncResult **) user_data = g_object_ref (result);
}

static void
test_cast_async (void)
{
  const double values[] = { 0.1, 1, 1e300 };
  const float expected[] = { 0.1f, 1, INFINITY };
  g_autoptr (AprTensor) x = vector_new (3, values);
  g_autoptr (AprTensor) other = vector_new (3, values);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  guint i;

  g_test_summary ("A thread gives what the call gives; what is cancelled and what is another tensor's fail.");

  for (i = 0; i < 4; i++)
    {
      g_autoptr (GAsyncResult) result = NULL;
      g_autoptr (AprTensor) y = NULL;

      if (i == 1)
        g_cancellable_cancel (cancellable);
      apr_tensor_cast_async (x, i == 3 ? APR_DTYPE_I32 : APR_DTYPE_F32, G_PRIORITY_DEFAULT,
                             i < 2 ? cancellable : NULL, keep_result, &result);
      while (result == NULL)
        g_main_context_iteration (NULL, TRUE);
      y = apr_tensor_cast_finish (i == 2 ? other : x, result, &error);
      if (i == 0)
        {
          gsize n;

          g_assert_no_error (error);
          g_assert_cmpmem (apr_tensor_get_floats (y, &n, NULL), n * sizeof (float), expected,
                           sizeof expected);
          continue;
        }
      g_assert_null (y);
      if (i == 1)
        {
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
        }
      else
        {
          g_assert_true (g_error_matches (error, APR_ERROR, i == 2 ? APR_ERROR_FAILED : APR_ERROR_DTYPE));
        }
      g_clear_error (&error);
      if (i == 2)
        {
          /* It is still there for its own tensor, once. */
          y = apr_tensor_cast_finish (x, result, &error);
          g_assert_no_error (error);
          g_assert_nonnull (y);
          g_assert_null (apr_tensor_cast_finish (x, result, &error));
          g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
          g_clear_error (&error);
        }
    }

  g_cancellable_push_current (cancellable);
  g_assert_null (apr_tensor_cast (x, APR_DTYPE_F32, &error));
  g_cancellable_pop_current (cancellable);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_cast_in_other_arithmetic (void)
{
  /* Numbers that have to be rounded, and subnormal ones. */
  const double doubles[] = { 1 + 0x1.8p-24, -1 - 0x1.8p-24, 0x1.8p-150, 0x1.fffffep127, 0x1.ffffffp127 };
  const float floats[] = { 0x1p-149f, -0x1p-130f, 1 };
  const guint64 integers[] = { (1ull << 53) + 1, -((1ull << 53) + 1), 16777217 };
  g_autoptr (AprTensor) of_doubles = vector_new (G_N_ELEMENTS (doubles), doubles);
  g_autoptr (AprTensor) of_floats = float_vector_new (G_N_ELEMENTS (floats), floats);
  g_autoptr (AprTensor) of_integers = bits_vector_new (APR_DTYPE_I64, G_N_ELEMENTS (integers), integers);
  const struct
  {
    AprTensor *x;
    AprDType dtype;
  } cases[] = { { of_doubles, APR_DTYPE_F32 },
                { of_floats, APR_DTYPE_F64 },
                { of_integers, APR_DTYPE_F32 },
                { of_integers, APR_DTYPE_F64 } };
  const int ways[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST };
  gsize i;
  gsize j;

  g_test_summary (
    "Whatever the program around has set: other roundings, and subnormal numbers flushed to zero.");
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    for (j = 0; j < G_N_ELEMENTS (ways); j++)
      {
        g_autoptr (AprTensor) expected = apr_tensor_cast (cases[i].x, cases[i].dtype, NULL);
        g_autoptr (AprTensor) y = NULL;
        fenv_t environment;

        fegetenv (&environment);
        if (fesetround (ways[j]) != 0)
          {
            g_test_skip ("this processor rounds in one way only");
            return;
          }
#ifdef __SSE2__
        /* Flush to zero, and take what is subnormal for zero. */
        if (ways[j] == FE_TONEAREST)
          _mm_setcsr (_mm_getcsr () | 0x8040);
#endif
        y = apr_tensor_cast (cases[i].x, cases[i].dtype, NULL);
        g_assert_cmpint (fegetround (), ==, ways[j]);
        fesetenv (&environment);
        g_assert_true (apr_tensor_equal (y, expected));
      }
}

/* More than are cast between two looks at whether that is cancelled. */
#define N_MANY ((1 << 17) + 5)

static void
test_cast_of_many (void)
{
  const AprDType to[] = { APR_DTYPE_F16, APR_DTYPE_BF16, APR_DTYPE_F32, APR_DTYPE_F64 };
  const gsize shape[] = { N_MANY };
  g_autoptr (GRand) rand = g_rand_new_with_seed (21);
  g_autofree guint32 *random = g_new (guint32, 2 * N_MANY);
  AprDType from;
  gsize i;
  gsize j;

  g_test_summary ("Each element of a long tensor is cast as it is alone, and to a double as it is read.");
  for (i = 0; i < 2 * N_MANY; i++)
    random[i] = g_rand_int (rand);
  for (from = APR_DTYPE_BOOL; from <= APR_DTYPE_U64; from++)
    for (j = 0; apr_dtype_is_numeric (from) && j < G_N_ELEMENTS (to); j++)
      {
        g_autoptr (GBytes) bytes = g_bytes_new (random, N_MANY * apr_dtype_get_bits (from) / 8);
        g_autoptr (AprTensor) x = apr_tensor_new_from_bytes (from, shape, 1, bytes, NULL);
        g_autoptr (AprTensor) y = apr_tensor_cast (x, to[j], NULL);

        for (i = 0; i < N_MANY; i += i % (1 << 16) < 16 || i % (1 << 16) > 65520 ? 1 : 61)
          {
            g_autoptr (AprTensor) one = apr_tensor_slice_rows (x, i, i + 1, NULL);
            g_autoptr (AprTensor) alone = apr_tensor_cast (one, to[j], NULL);
            g_autoptr (AprTensor) same = apr_tensor_slice_rows (y, i, i + 1, NULL);

            g_assert_true (apr_tensor_equal (alone, same));
            if (to[j] == APR_DTYPE_F64)
              assert_same_double (element (y, i), element (x, i));
          }
      }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/cast/rounds-to-nearest-even", test_cast_rounds_to_nearest_even);
  g_test_add_func ("/cast/to-the-nearest-float", test_cast_to_the_nearest_float);
  g_test_add_func ("/cast/halves-are-a-round-trip", test_cast_of_halves_is_a_round_trip);
  g_test_add_func ("/cast/of-nan", test_cast_of_nan);
  g_test_add_func ("/cast/large-integers-round-once", test_cast_of_large_integers_rounds_once);
  g_test_add_func ("/cast/errors", test_cast_errors);
  g_test_add_func ("/cast/async", test_cast_async);
  g_test_add_func ("/cast/in-other-arithmetic", test_cast_in_other_arithmetic);
  g_test_add_func ("/cast/of-many", test_cast_of_many);

  return g_test_run ();
}
