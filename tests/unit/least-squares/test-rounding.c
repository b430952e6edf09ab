/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <float.h>
#include <math.h>

#include "aprender/least-squares/apr-rounding-private.h"

static double
round_string (const char *significand, gint64 exponent, AprDType dtype)
{
  mpz_t value;
  double rounded;

  mpz_init_set_str (value, significand, 0);
  rounded = apr_round_dyadic (value, exponent, dtype);
  mpz_clear (value);

  return rounded;
}

static void
test_dyadic (void)
{
  /* Around 1, halfway cases; the greatest numbers; the least ones. */
  assert_same_double (round_string ("0x20000000000001", -53, APR_DTYPE_F64), 1);
  assert_same_double (round_string ("0x20000000000003", -53, APR_DTYPE_F64), 1 + 0x1p-51);
  assert_same_double (round_string ("0x200000000000010000000001", -93, APR_DTYPE_F64), 1 + 0x1p-52);
  assert_same_double (round_string ("-0x20000000000003", -53, APR_DTYPE_F64), -1 - 0x1p-51);
  assert_same_double (round_string ("0", 5, APR_DTYPE_F64), 0);
  assert_same_double (round_string ("0x1fffffffffffff", 971, APR_DTYPE_F64), DBL_MAX);
  assert_same_double (round_string ("0x3fffffffffffff", 970, APR_DTYPE_F64), INFINITY);
  assert_same_double (round_string ("1", 5000, APR_DTYPE_F64), INFINITY);
  assert_same_double (round_string ("-1", 5000, APR_DTYPE_F64), -INFINITY);
  assert_same_double (round_string ("1", -1074, APR_DTYPE_F64), 0x1p-1074);
  assert_same_double (round_string ("1", -1075, APR_DTYPE_F64), 0);
  assert_same_double (round_string ("3", -1076, APR_DTYPE_F64), 0x1p-1074);
  assert_same_double (round_string ("1", -5000, APR_DTYPE_F64), 0);
  assert_same_double (round_string ("0x1000001", -24, APR_DTYPE_F32), 1);
  assert_same_double (round_string ("0x1000003", -24, APR_DTYPE_F32), 1 + 0x1p-22);
  assert_same_double (round_string ("0x1ffffff", 103, APR_DTYPE_F32), INFINITY);
  assert_same_double (round_string ("0xffffff", 104, APR_DTYPE_F32), (double) FLT_MAX);
  assert_same_double (round_string ("3", -151, APR_DTYPE_F32), 0x1p-149);
  assert_same_double (round_string ("1", -150, APR_DTYPE_F32), 0);
}

static void
test_rational_is_division (void)
{
  guint64 bits = 7;
  int i;

  g_test_summary ("The processor's division of two doubles is correctly rounded.");
  for (i = 0; i < 5000; i++)
    {
      mpz_t numerator;
      mpz_t denominator;
      double a;
      double b;

      bits = bits * G_GUINT64_CONSTANT (6364136223846793005) + 1442695040888963407;
      a = (double) (gint64) (bits >> 11) - 0x1p52;
      bits = bits * G_GUINT64_CONSTANT (6364136223846793005) + 1442695040888963407;
      b = (double) ((bits >> (12 + i % 40)) + 1);

      mpz_init_set_d (numerator, a);
      mpz_init_set_d (denominator, b);
      assert_same_double (apr_round_rational (numerator, denominator, 0, APR_DTYPE_F64), a / b + 0.0);
      assert_same_double (apr_round_rational (numerator, denominator, -3, APR_DTYPE_F64), a / b / 8 + 0.0);
      mpz_clear (numerator);
      mpz_clear (denominator);
    }
}

static void
test_rational_ties (void)
{
  /* 2^53 + 1, and a third more or less: of the first alone, the even neighbour is the answer. */
  const struct
  {
    gint64 numerator;
    gulong denominator;
    double expected;
  } cases[] = {
    { (G_GINT64_CONSTANT (1) << 53) + 1, 1, 0x1p53 },
    { (G_GINT64_CONSTANT (1) << 53) + 3, 1, 0x1p53 + 4 },
    { 3 * ((G_GINT64_CONSTANT (1) << 53) + 1) + 1, 3, 0x1p53 + 2 },
    { 3 * ((G_GINT64_CONSTANT (1) << 53) + 3) - 1, 3, 0x1p53 + 2 },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      mpz_t numerator;
      mpz_t denominator;

      mpz_init_set_si (numerator, cases[i].numerator);
      mpz_init_set_ui (denominator, cases[i].denominator);
      assert_same_double (apr_round_rational (numerator, denominator, 0, APR_DTYPE_F64), cases[i].expected);
      mpz_neg (numerator, numerator);
      assert_same_double (apr_round_rational (numerator, denominator, 0, APR_DTYPE_F64), -cases[i].expected);
      mpz_clears (numerator, denominator, NULL);
    }
}

/* Rounds (@middle 10^30 + @more 10^30 2^-14 + @beside) / 10^30, and its negative. */
static double
round_beside (gint64 middle, gint more, gint beside)
{
  mpz_t numerator;
  mpz_t denominator;
  mpz_t part;
  double value;

  mpz_inits (numerator, denominator, part, NULL);
  mpz_ui_pow_ui (denominator, 10, 30);
  mpz_mul_si (numerator, denominator, middle);
  mpz_tdiv_q_2exp (part, denominator, 14);
  mpz_mul_si (part, part, more);
  mpz_add (numerator, numerator, part);
  mpz_set_si (part, beside);
  mpz_add (numerator, numerator, part);
  value = apr_round_rational (numerator, denominator, 0, APR_DTYPE_F64);
  mpz_neg (numerator, numerator);
  assert_same_double (apr_round_rational (numerator, denominator, 0, APR_DTYPE_F64), -value);
  mpz_clears (numerator, denominator, part, NULL);

  return value;
}

static void
test_rational_beside_ties (void)
{
  const gint64 odd = (G_GINT64_CONSTANT (1) << 53) + 1;
  mpz_t numerator;
  mpz_t denominator;

  g_test_summary ("A remainder far below all bits of the quotient decides, and decides only a tie.");

  assert_same_double (round_beside (odd, 0, 0), 0x1p53);
  assert_same_double (round_beside (odd, 0, 1), 0x1p53 + 2);
  assert_same_double (round_beside (odd, 0, -1), 0x1p53);
  assert_same_double (round_beside (odd + 2, 0, 0), 0x1p53 + 4);
  assert_same_double (round_beside (odd + 2, 0, 1), 0x1p53 + 4);
  assert_same_double (round_beside (odd + 2, 0, -1), 0x1p53 + 2);
  assert_same_double (round_beside (odd + 2, -1, 0), 0x1p53 + 2);
  assert_same_double (round_beside (odd, 1, 0), 0x1p53 + 2);

  /* A numerator so long that no bit has to be added. */
  mpz_init_set_ui (denominator, 3);
  mpz_init (numerator);
  mpz_setbit (numerator, 200);
  assert_same_double (apr_round_rational (numerator, denominator, 0, APR_DTYPE_F64), 0x1.5555555555555p198);
  assert_same_double (apr_round_rational (numerator, denominator, -198, APR_DTYPE_F32), (double) (4.0f / 3));
  mpz_clears (numerator, denominator, NULL);
}

/* Whether @significand 2^@exponent, known to 2^@error, with @denominator_bits and @grid, has a nearest value. */
static gboolean
decide (const char *significand,
        gint64 exponent,
        gint64 error,
        gint64 grid,
        gint64 denominator_bits,
        AprDType dtype,
        double *value)
{
  AprApproximation approximation = {
    .exponent = exponent, .error = error, .grid = grid, .denominator_bits = denominator_bits
  };
  gboolean decided;

  mpz_init_set_str (approximation.significand, significand, 0);
  decided = apr_approximation_round (&approximation, dtype, value);
  mpz_clear (approximation.significand);

  return decided;
}

static void
test_approximation (void)
{
  double value = -1;

  /* 1 + 2^-60, known to 2^-58: 1. Known to 2^-53 only: it might be rounded up. */
  g_assert_true (decide ("0x1000000000000001", -60, -58, 0, 1000, APR_DTYPE_F64, &value));
  assert_same_double (value, 1);
  g_assert_false (decide ("0x1000000000000001", -60, -52, 0, 1000, APR_DTYPE_F64, &value));
}

static void
test_approximation_of_a_tie (void)
{
  double value = -1;

  g_test_summary ("What is halfway between two doubles never gets decided by precision alone.");

  /* 1 + 2^-53, within 2^-200: a rational number of denominator 2^10, on the grid of 2^-60, is that or 2^-70 away. */
  g_assert_true (decide ("0x20000000000001", -53, -200, 60, 10, APR_DTYPE_F64, &value));
  assert_same_double (value, 1);
  g_assert_true (decide ("0x20000000000003", -53, -200, 60, 10, APR_DTYPE_F64, &value));
  assert_same_double (value, 1 + 0x1p-51);
  g_assert_true (decide ("-0x20000000000003", -53, -200, 60, 10, APR_DTYPE_F64, &value));
  assert_same_double (value, -1 - 0x1p-51);

  /* The same with a denominator that could make it 2^-250 away. */
  g_assert_false (decide ("0x20000000000001", -53, -200, 60, 190, APR_DTYPE_F64, &value));

  /* Half of the least subnormal is a tie with zero, and rounds to it; three halves round to two. */
  g_assert_true (decide ("1", -150, -1000, 0, 10, APR_DTYPE_F32, &value));
  assert_same_double (value, 0);
  g_assert_true (decide ("3", -150, -1000, 0, 10, APR_DTYPE_F32, &value));
  assert_same_double (value, 0x1p-148);
}

static void
test_approximation_beside_infinity (void)
{
  const AprDType f32 = APR_DTYPE_F32;
  double value = -1;

  g_test_summary ("Half a last place above the greatest number is a tie with infinity, which is even.");

  g_assert_true (decide ("0x1ffffff", 103, -200, 60, 10, f32, &value));
  assert_same_double (value, INFINITY);
  g_assert_true (decide ("-0x1ffffff", 103, -200, 60, 10, f32, &value));
  assert_same_double (value, -INFINITY);
  g_assert_true (decide ("0x3fffffffffffff", 970, -200, 60, 10, APR_DTYPE_F64, &value));
  assert_same_double (value, INFINITY);
  g_assert_false (decide ("0x1ffffff", 103, -200, 60, 190, f32, &value));
  g_assert_false (decide ("0x1ffffff", 103, 100, -1000, 10, f32, &value));
  g_assert_true (decide ("0x3fffffd", 102, 100, 60, 10, f32, &value));
  assert_same_double (value, (double) FLT_MAX);
  g_assert_true (decide ("0x3ffffff", 102, 100, 60, 10, f32, &value));
  assert_same_double (value, INFINITY);
}

static void
test_approximation_between_binades (void)
{
  double value = -1;

  g_test_summary (
    "The middle between a power of two and the number below it is nearer than that to the next.");

  g_assert_true (decide ("0x3fffffffffffff", -54, -200, 60, 10, APR_DTYPE_F64, &value));
  assert_same_double (value, 1);
  g_assert_true (decide ("-0x3fffffffffffff", -54, -200, 60, 10, APR_DTYPE_F64, &value));
  assert_same_double (value, -1);
  g_assert_true (decide ("0x1ffffff", -25, -200, 60, 10, APR_DTYPE_F32, &value));
  assert_same_double (value, 1);
  /* The greatest subnormal float and the least normal one. */
  g_assert_true (decide ("0xffffff", -150, -1000, 0, 10, APR_DTYPE_F32, &value));
  assert_same_double (value, 0x1p-126);
}

static void
test_approximation_as_near_as_can_be (void)
{
  double value;

  g_test_summary ("Two numbers on the grid of 2^-60 / 2^10 are equal where they are within less than 2^-70.");

  g_assert_true (decide ("0x20000000000001", -53, -72, 60, 10, APR_DTYPE_F64, &value));
  g_assert_false (decide ("0x20000000000001", -53, -71, 60, 10, APR_DTYPE_F64, &value));
  /* The middle itself is on the grid of 2^-53. */
  g_assert_true (decide ("0x20000000000001", -53, -65, 0, 10, APR_DTYPE_F64, &value));
  g_assert_false (decide ("0x20000000000001", -53, -64, 0, 10, APR_DTYPE_F64, &value));
  g_assert_true (decide ("0x1000001", -24, -36, 0, 10, APR_DTYPE_F32, &value));
  g_assert_false (decide ("0x1000001", -24, -35, 0, 10, APR_DTYPE_F32, &value));
  /* That of the middle between the greatest float and infinity, 2^103. */
  g_assert_true (decide ("0x1ffffff", 103, 91, -1000, 10, APR_DTYPE_F32, &value));
  assert_same_double (value, INFINITY);
  g_assert_false (decide ("0x1ffffff", 103, 92, -1000, 10, APR_DTYPE_F32, &value));
  /* That of the middle between 1 and the number below it, 2^-54. */
  g_assert_true (decide ("0x3fffffffffffff", -54, -66, 0, 10, APR_DTYPE_F64, &value));
  g_assert_false (decide ("0x3fffffffffffff", -54, -65, 0, 10, APR_DTYPE_F64, &value));
  /* More than one number is between the bounds. */
  g_assert_false (decide ("0x20000000000001", -53, -51, -1000, 1, APR_DTYPE_F64, &value));
}

static void
test_leading_bits (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (70);
  guint n_rounded = 0;
  guint n_missed = 0;
  guint n_integers = 0;
  int round;

  g_test_summary ("Where the leading bits of a number decide, it is as all of its bits do.");

  for (round = 0; round < 20000; round++)
    {
      AprDType dtype = round % 2 == 0 ? APR_DTYPE_F64 : APR_DTYPE_F32;
      gint precision = dtype == APR_DTYPE_F64 ? DBL_MANT_DIG : FLT_MANT_DIG;
      gint max_exponent = dtype == APR_DTYPE_F64 ? 1100 : 160;
      gsize n = (gsize) g_rand_int_range (rand, 1, 5);
      gint bits = g_rand_int_range (rand, 2, (gint) n * 64);
      AprApproximation approximation = { 0 };
      mp_limb_t limbs[4] = { 0 };
      double expected;
      double value = -1;
      gint i;

      /* Few bits after those of the dtype, so that many are near the middle of two numbers. */
      for (i = bits - 1; i >= 0; i--)
        if (i == bits - 1 || (i >= bits - precision - 1 && g_rand_boolean (rand)) ||
            g_rand_int_range (rand, 0, 90) == 0)
          limbs[i / 64] |= (mp_limb_t) 1 << i % 64;
      if (g_rand_boolean (rand))
        (void) mpn_neg (limbs, limbs, (mp_size_t) n);
      approximation.exponent = g_rand_int_range (rand, -max_exponent, max_exponent) - bits;
      approximation.error = approximation.exponent + bits - g_rand_int_range (rand, -3, 200);
      mpz_init (approximation.significand);
      apr_limbs_get_integer (limbs, n, approximation.significand);
      if (apr_round_leading (limbs, n, approximation.exponent, approximation.error, dtype, &value))
        {
          g_assert_true (apr_approximation_round (&approximation, dtype, &expected));
          assert_same_double (value, expected);
          n_rounded++;
        }
      else if (approximation.error < approximation.exponent + bits - precision - 20 &&
               apr_approximation_round (&approximation, dtype, &expected))
        n_missed++;
      if (apr_round_leading_integer (approximation.significand, approximation.exponent, approximation.error,
                                     dtype, &value))
        {
          g_assert_true (apr_approximation_round (&approximation, dtype, &expected));
          assert_same_double (value, expected);
          n_integers++;
        }
      mpz_clear (approximation.significand);
    }
  g_test_message ("%u rounded, %u missed", n_rounded, n_missed);
  g_assert_cmpuint (n_rounded, >, 5000);
  g_assert_cmpuint (n_missed, <, 1000);
  g_assert_cmpuint (n_integers, >, 5000);
}

static void
test_scale (void)
{
  const double values[] = { 1, -0x1.fffffffffffffp0, 0x1p52 + 1, 0, 0x1p-1074, DBL_MAX, INFINITY };
  gint exponent;
  gsize i;

  g_test_summary ("A value times a power of two is that of ldexp (), beyond what a power can be too.");

  for (i = 0; i < G_N_ELEMENTS (values); i++)
    for (exponent = -2200; exponent <= 2200; exponent++)
      assert_same_double (apr_scale_double (values[i], exponent), ldexp (values[i], exponent));
  assert_same_double (apr_scale_double (1, G_MININT64), 0);
  assert_same_double (apr_scale_double (1, G_MAXINT64), INFINITY);
}

/* Rounds 2^123 + @above, a number of 124 bits, within 2^@error: its last place as a double is 2^71. */
static gboolean
round_leading (gint64 above_middle, gboolean odd, gint64 error, gint64 exponent, double *value)
{
  mp_limb_t limbs[2] = { 0, (mp_limb_t) 1 << 59 };
  mp_limb_t above = (mp_limb_t) ABS (above_middle);

  limbs[1] |= (mp_limb_t) 1 << 6 | (odd ? (mp_limb_t) 1 << 7 : 0);
  if (above_middle < 0)
    (void) mpn_sub_1 (limbs, limbs, 2, above);
  else
    (void) mpn_add_1 (limbs, limbs, 2, above);

  return apr_round_leading (limbs, 2, exponent, error + exponent, APR_DTYPE_F64, value);
}

static void
test_leading_bits_at_a_tie (void)
{
  double value = -1;

  g_test_summary ("A bound may be the middle itself, which rounds to the even neighbour.");

  /* The radius is 2^10 and one unit. */
  g_assert_false (round_leading (0x401, FALSE, 10, -123, &value));
  g_assert_true (round_leading (0x402, FALSE, 10, -123, &value));
  assert_same_double (value, 1 + 0x1p-52);
  g_assert_true (round_leading (-0x401, FALSE, 10, -123, &value));
  assert_same_double (value, 1);
  g_assert_false (round_leading (-0x400, FALSE, 10, -123, &value));
  g_assert_true (round_leading (0x401, TRUE, 10, -123, &value));
  assert_same_double (value, 1 + 0x1p-51);
  g_assert_false (round_leading (0x400, TRUE, 10, -123, &value));
  g_assert_false (round_leading (-0x401, TRUE, 10, -123, &value));
  g_assert_true (round_leading (-0x402, TRUE, 10, -123, &value));
  assert_same_double (value, 1 + 0x1p-52);

  /* An error below the last bit counts as that. */
  g_assert_false (round_leading (2, FALSE, -500, -123, &value));
  g_assert_true (round_leading (3, FALSE, -500, -123, &value));
  /* So large that bounds would have another length. */
  g_assert_true (round_leading (G_GINT64_CONSTANT (1) << 62, FALSE, 60, -123, &value));
  g_assert_false (round_leading (0, FALSE, 111, -123, &value));
}

static void
test_leading_bits_at_the_ends (void)
{
  double value = -1;

  g_assert_true (round_leading (100, FALSE, 0, 5000, &value));
  assert_same_double (value, INFINITY);
  g_assert_true (round_leading (100, FALSE, 0, 1024 - 123, &value));
  assert_same_double (value, INFINITY);
  g_assert_true (round_leading (100, FALSE, 0, 1023 - 123, &value));
  assert_same_double (value, 0x1p1023 + 0x1p971);
  g_assert_true (round_leading (100, FALSE, 0, -5000, &value));
  assert_same_double (value, 0);
  g_assert_true (round_leading (100, FALSE, 0, -1076 - 123, &value));
  assert_same_double (value, 0);
  {
    /* The largest double itself, and the number after it. */
    mp_limb_t limbs[2] = { 0, (((mp_limb_t) 1 << 53) - 1) << 7 };

    g_assert_true (apr_round_leading (limbs, 2, 971 - 71, -500, APR_DTYPE_F64, &value));
    assert_same_double (value, DBL_MAX);
    limbs[1] = (mp_limb_t) 1 << 60;
    limbs[0] = 100;
    g_assert_true (apr_round_leading (limbs, 2, 971 - 71, -500, APR_DTYPE_F64, &value));
    assert_same_double (value, INFINITY);
    limbs[0] = limbs[1] = 0;
    g_assert_false (apr_round_leading (limbs, 2, 0, -500, APR_DTYPE_F64, &value));
  }
  /* A little more than half of the smallest number. */
  g_assert_true (round_leading (100, FALSE, 0, -1075 - 123, &value));
  assert_same_double (value, 0x1p-1074);
}

static void
test_guess (void)
{
  double value = -1;

  g_assert_false (decide ("0x1f", -4, 0, 0, 0, APR_DTYPE_F64, &value));
  assert_same_double (value, 1.9375);
  g_assert_false (decide ("0x1f", -4, 1, 0, 0, APR_DTYPE_F64, &value));
  assert_same_double (value, 0);
  g_assert_false (decide ("0", -4, 1, 0, 0, APR_DTYPE_F64, &value));
  assert_same_double (value, 0);
}

static void
test_exact (void)
{
  double value = -1;

  g_test_summary ("What is exactly known is rounded, halfway too, without knowing of a denominator.");

  g_assert_true (decide ("0", -4, APR_EXACT, 0, 0, APR_DTYPE_F64, &value));
  assert_same_double (value, 0);
  g_assert_true (decide ("0x20000000000001", -53, APR_EXACT, 0, 0, APR_DTYPE_F64, &value));
  assert_same_double (value, 1);
  g_assert_true (decide ("-0x1000003", -24, APR_EXACT, 0, 0, APR_DTYPE_F32, &value));
  assert_same_double (value, -0x1.000004p+0);
  g_assert_false (decide ("0x20000000000001", -53, -1000, 0, 0, APR_DTYPE_F64, &value));
}

static void
test_approximation_of_zero (void)
{
  double value = -1;

  /* Below 2^-300, but a multiple of 2^-20 / (something below 2^100): zero. With 2^400 it need not be. */
  g_assert_true (decide ("0", 0, -300, 20, 100, APR_DTYPE_F64, &value));
  assert_same_double (value, 0);
  g_assert_true (decide ("-1", -301, -300, 20, 100, APR_DTYPE_F64, &value));
  assert_same_double (value, 0);
  g_assert_false (decide ("0", 0, -300, 20, 400, APR_DTYPE_F64, &value));

  /* At least 0, and below half of the smallest number. */
  g_assert_true (decide ("1", -1080, -1080, 20, 4000, APR_DTYPE_F64, &value));
  assert_same_double (value, 0);

  /* It may be 0, which is no -0.0. */
  g_assert_false (decide ("-1", -1080, -1080, 20, 4000, APR_DTYPE_F64, &value));

  /* So small that only the sign matters. */
  g_assert_false (decide ("0", 0, -1080, 20, 4000, APR_DTYPE_F64, &value));
  g_assert_true (decide ("3", -1080, -1080, 20, 4000, APR_DTYPE_F64, &value));
  assert_same_double (value, 0);
  g_assert_true (decide ("-3", -1080, -1080, 20, 4000, APR_DTYPE_F64, &value));
  assert_same_double (value, -0.0);
}

/* A denominator of one bit, and one that a divisor makes longer: a number beside 0 is 0 where the error is less than
 * a unit of the denominator, and only there. */
static void
test_approximation_of_a_short_denominator (void)
{
  const AprApproximation whole = { .error = -3, .denominator_bits = 1 };
  mpz_t divisor;
  double value;
  gint64 error;

  g_assert_true (apr_approximation_is_zero (&whole));
  mpz_init_set_ui (divisor, (gulong) 1 << 40);
  for (error = -60; error < 0; error++)
    {
      /* A multiple of 1/2 by 2^40, known to 2^(error - 39) at least, where there may be one of 2^-41. */
      AprApproximation quotient = { .error = error, .denominator_bits = 1 };
      gboolean certain;

      mpz_init (quotient.significand);
      certain = apr_approximation_round_quotient (&quotient, divisor, APR_DTYPE_F64, &value);
      if (error - 39 >= -41)
        g_assert_false (certain);
      if (error < -10)
        g_assert_true (certain);
      mpz_clear (quotient.significand);
    }
  mpz_clear (divisor);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/rounding/dyadic", test_dyadic);
  g_test_add_func ("/rounding/rational-is-division", test_rational_is_division);
  g_test_add_func ("/rounding/rational-ties", test_rational_ties);
  g_test_add_func ("/rounding/rational-beside-ties", test_rational_beside_ties);
  g_test_add_func ("/rounding/approximation", test_approximation);
  g_test_add_func ("/rounding/approximation/tie", test_approximation_of_a_tie);
  g_test_add_func ("/rounding/approximation/beside-infinity", test_approximation_beside_infinity);
  g_test_add_func ("/rounding/approximation/between-binades", test_approximation_between_binades);
  g_test_add_func ("/rounding/approximation/as-near-as-can-be", test_approximation_as_near_as_can_be);
  g_test_add_func ("/rounding/leading-bits", test_leading_bits);
  g_test_add_func ("/rounding/leading-bits/tie", test_leading_bits_at_a_tie);
  g_test_add_func ("/rounding/leading-bits/ends", test_leading_bits_at_the_ends);
  g_test_add_func ("/rounding/scale", test_scale);
  g_test_add_func ("/rounding/guess", test_guess);
  g_test_add_func ("/rounding/exact", test_exact);
  g_test_add_func ("/rounding/approximation/zero", test_approximation_of_zero);
  g_test_add_func ("/rounding/approximation/short-denominator", test_approximation_of_a_short_denominator);

  return g_test_run ();
}
