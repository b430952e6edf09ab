/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

#include "aprender/least-squares/apr-fixed-private.h"

/* Fixed-point numbers, and the limbs that they are made of, against whole numbers of GMP: what every proof rests on. */

#define MAX_LIMBS 5

/* Any bits, or few: 0, -1, powers of two and numbers beside them, of either sign. */
static gsize
draw_limbs (GRand *rand, mp_limb_t *limbs)
{
  gsize n = (gsize) g_rand_int_range (rand, 1, MAX_LIMBS + 1);
  int kind = g_rand_int_range (rand, 0, 4);
  gsize bit = (gsize) g_rand_int_range (rand, 0, (gint) n * 64);
  gsize i;

  for (i = 0; i < n; i++)
    limbs[i] = kind == 0 ? (mp_limb_t) g_rand_int (rand) << 32 | g_rand_int (rand) : 0;
  if (kind >= 1)
    limbs[bit / 64] |= (mp_limb_t) 1 << bit % 64;
  if (kind == 2)
    (void) mpn_sub_1 (limbs, limbs, (mp_size_t) n, (mp_limb_t) g_rand_int_range (rand, 0, 3));
  if (kind == 3)
    (void) mpn_neg (limbs, limbs, (mp_size_t) n);

  return n;
}

static void
set_reference (mpz_t value, const mp_limb_t *limbs, gsize n)
{
  mpz_t power;

  mpz_init_set_ui (power, 1);
  mpz_import (value, n, -1, sizeof *limbs, 0, 0, limbs);
  mpz_mul_2exp (power, power, n * 64);
  if (limbs[n - 1] >> 63 != 0)
    mpz_sub (value, value, power);
  mpz_clear (power);
}

/* As a number of @n limbs, of which more is cut off. */
static void
assert_limbs (const mp_limb_t *limbs, gsize n, const mpz_t expected)
{
  mpz_t actual;
  mpz_t wrapped;

  mpz_inits (actual, wrapped, NULL);
  mpz_import (actual, n, -1, sizeof *limbs, 0, 0, limbs);
  mpz_fdiv_r_2exp (wrapped, expected, n * 64);
  g_assert_cmpint (mpz_cmp (actual, wrapped), ==, 0);
  mpz_clears (actual, wrapped, NULL);
}

static void
test_limbs (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (60);
  int round;

  for (round = 0; round < 5000; round++)
    {
      mp_limb_t limbs[MAX_LIMBS];
      mp_limb_t part_limbs[2];
      gsize n = draw_limbs (rand, limbs);
      gint64 place = g_rand_int_range (rand, -200, 400);
      gint64 bits = apr_limbs_get_bits (limbs, n);
      unsigned __int128 part = apr_limbs_get_part (limbs, (gint64) n, place);
      mpz_t value;
      mpz_t other;

      mpz_inits (value, other, NULL);
      set_reference (value, limbs, n);
      apr_limbs_get_integer (limbs, n, other);
      g_assert_cmpint (mpz_cmp (value, other), ==, 0);

      g_assert_cmpint (bits == 0, ==, mpz_sgn (value) == 0);
      mpz_set_ui (other, 1);
      mpz_mul_2exp (other, other, (mp_bitcnt_t) bits);
      g_assert_cmpint (mpz_cmpabs (value, other), <=, 0);
      mpz_fdiv_q_2exp (other, other, 2);
      g_assert_true (bits <= 1 || mpz_cmpabs (value, other) > 0);

      if (place >= 0)
        mpz_fdiv_q_2exp (other, value, (mp_bitcnt_t) place);
      else
        mpz_mul_2exp (other, value, (mp_bitcnt_t) -place);
      part_limbs[0] = (mp_limb_t) part;
      part_limbs[1] = (mp_limb_t) (part >> 64);
      assert_limbs (part_limbs, 2, other);
      mpz_clears (value, other, NULL);
    }
}

static void
test_double_of_limbs (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (61);
  guint n_large = 0;
  int round;

  g_test_summary ("A number below 4 is a double to 61 bits behind the point, and any other is told.");

  for (round = 0; round < 5000; round++)
    {
      mp_limb_t limbs[MAX_LIMBS];
      gsize n = draw_limbs (rand, limbs);
      gint64 bits = apr_limbs_get_bits (limbs, n);
      gint64 below = bits - g_rand_int_range (rand, -70, 6);
      gint64 scale = MAX (0, below);
      guint64 too_large = 0;
      double found = apr_limbs_get_double (limbs, (gint64) n, scale, &too_large);
      gboolean is_large;
      mpz_t value;
      mpz_t limit;

      mpz_inits (value, limit, NULL);
      set_reference (value, limbs, n);
      mpz_set_ui (limit, 4);
      mpz_mul_2exp (limit, limit, (mp_bitcnt_t) scale);
      is_large = mpz_cmp (value, limit) >= 0;
      mpz_neg (limit, limit);
      is_large = is_large || mpz_cmp (value, limit) < 0;
      g_assert_cmpint (too_large != 0, ==, is_large);
      n_large += is_large ? 1 : 0;
      if (!is_large)
        {
          gint64 place = scale - 61;

          if (place >= 0)
            mpz_fdiv_q_2exp (value, value, (mp_bitcnt_t) place);
          else
            mpz_mul_2exp (value, value, (mp_bitcnt_t) -place);
          assert_same_double (found, (double) mpz_get_si (value) * 0x1p-61);
        }
      mpz_clears (value, limit, NULL);
    }
  g_assert_cmpuint (n_large, >, 100);
}

static void
test_add (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (62);
  int round;

  g_test_summary ("What is added is rounded down to the unit, and wraps where it is too long.");

  for (round = 0; round < 2000; round++)
    {
      gint64 fraction = g_rand_int_range (rand, -100, 300);
      AprFixed fixed;
      mpz_t sum;
      mpz_t term;
      int i;

      apr_fixed_init (&fixed, 2, fraction, g_rand_int_range (rand, 1, 200));
      mpz_inits (sum, term, NULL);
      for (i = 0; i < 6; i++)
        {
          mp_limb_t limbs[MAX_LIMBS];
          gsize n = draw_limbs (rand, limbs);
          gint64 exponent = g_rand_int_range (rand, -400, 200);
          gint64 shift = exponent + fraction;

          apr_fixed_add (&fixed, 1, limbs, n, exponent);
          set_reference (term, limbs, n);
          if (shift >= 0)
            mpz_mul_2exp (term, term, (mp_bitcnt_t) shift);
          else
            mpz_fdiv_q_2exp (term, term, (mp_bitcnt_t) -shift);
          mpz_add (sum, sum, term);
          assert_limbs (apr_fixed_get (&fixed, 1), fixed.n_limbs, sum);
        }
      mpz_set_ui (term, 0);
      assert_limbs (apr_fixed_get (&fixed, 0), fixed.n_limbs, term);
      mpz_clears (sum, term, NULL);
      apr_fixed_clear (&fixed);
    }
}

static void
test_magnitude (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (63);
  int round;

  for (round = 0; round < 2000; round++)
    {
      gint64 fraction = g_rand_int_range (rand, -100, 500);
      mp_limb_t limbs[MAX_LIMBS];
      gsize n = draw_limbs (rand, limbs);
      signed long exponent;
      double expected;
      double found;
      AprFixed fixed;
      mpz_t value;

      apr_fixed_init (&fixed, 1, fraction, (gint64) n * 64 - fraction);
      apr_fixed_add (&fixed, 0, limbs, n, -fraction);
      mpz_init (value);
      set_reference (value, limbs, n);
      if (mpz_sgn (value) == 0)
        g_assert_cmpint (apr_fixed_get_exponent (&fixed, 0), ==, G_MININT64);
      else
        g_assert_cmpint (apr_fixed_get_exponent (&fixed, 0), ==, apr_limbs_get_bits (limbs, n) - fraction);
      expected = mpz_get_d_2exp (&exponent, value);
      found = apr_fixed_get_double (&fixed, 0, exponent - fraction);
      g_assert_cmpfloat (fabs (found - expected), <=, 0x1p-52 * fabs (expected));
      mpz_clear (value);
      apr_fixed_clear (&fixed);
    }
}

static void
test_far_exponents (void)
{
  g_auto (AprFixed) fixed = { 0 };
  g_auto (AprCorrection) correction = { 0 };
  const mp_limb_t one = 1;

  g_test_summary ("Exponents beyond those of doubles give 0 or an infinity.");

  apr_fixed_init (&fixed, 1, 6000, 6000);
  apr_fixed_add (&fixed, 0, &one, 1, 0);
  assert_same_double (apr_fixed_get_double (&fixed, 0, 0), 1);
  assert_same_double (apr_fixed_get_double (&fixed, 0, 1074), 0x1p-1074);
  assert_same_double (apr_fixed_get_double (&fixed, 0, -1023), 0x1p1023);
  assert_same_double (apr_fixed_get_double (&fixed, 0, 6000), 0);
  assert_same_double (apr_fixed_get_double (&fixed, 0, G_MAXINT32 * G_GINT64_CONSTANT (5)), 0);
  assert_same_double (apr_fixed_get_double (&fixed, 0, -6000), INFINITY);
  assert_same_double (apr_fixed_get_double (&fixed, 0, G_MAXINT32 * G_GINT64_CONSTANT (-5)), INFINITY);

  apr_correction_init (&correction, 1);
  g_assert_false (apr_correction_set (&correction, (double[]){ 1 }, 0, -6000, 100));
  g_assert_false (apr_correction_set (&correction, (double[]){ 1 }, G_MININT32, 100, 100));
}

static void
test_correction (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (64);
  AprCorrection correction;
  int round;

  g_test_summary (
    "Half a unit of 2^-55 of the largest is lost, or half of the last place that there may be.");

  apr_correction_init (&correction, 3);
  for (round = 0; round < 2000; round++)
    {
      const double values[] = { ldexp (g_rand_double_range (rand, -1, 1), g_rand_int_range (rand, -80, 3)),
                                g_rand_double_range (rand, -1, 1), 0 };
      double max = MAX (fabs (values[0]), fabs (values[1]));
      gint64 exponent = g_rand_int_range (rand, -300, 300);
      gint64 max_place = 60 - exponent + g_rand_int_range (rand, -40, 40);
      gint64 least = ilogb (max) + 1 + exponent;
      AprFixed fixed;
      gsize i;

      g_assert_false (apr_correction_set (&correction, values, exponent, max_place, least - 1));
      g_assert_true (apr_correction_set (&correction, values, exponent, max_place, least));
      g_assert_cmpint (correction.place, ==, MIN (55 - least, max_place));
      apr_fixed_init (&fixed, 3, correction.place, least + 8);
      apr_fixed_add_correction (&fixed, &correction, 5, -1);
      for (i = 0; i < 3; i++)
        {
          double scaled = ldexp (values[i], (gint) (exponent + correction.place));
          double got = (double) correction.values[i];

          g_assert_cmpfloat (fabs (got - scaled), <=, 0.5 + 0x1p-52 * fabs (scaled));
          assert_same_double (apr_fixed_get_double (&fixed, i, 5 - correction.place) + 0.0, -got + 0.0);
        }
      apr_fixed_clear (&fixed);
    }

  g_assert_false (apr_correction_set (&correction, (double[]){ 1, NAN, 0 }, 0, 100, 100));
  g_assert_false (apr_correction_set (&correction, (double[]){ INFINITY, 1, 0 }, 0, 100, 100));
  g_assert_false (apr_correction_set (&correction, (double[]){ 0, 0, 0 }, 0, 100, 100));
  g_assert_false (apr_correction_set (&correction, (double[]){ 0x1p-9, 0, 0 }, 0, 5, 100));
  apr_correction_clear (&correction);
}

/* A number that is too large by its third limb, and 0 in large units, after a limb of something else. */
static void
test_ends_of_limbs (void)
{
  const mp_limb_t large[] = { 0, 0, 1, 0 };
  const mp_limb_t beside[] = { 5, 0 };
  guint64 too_large = 0;

  (void) apr_limbs_get_double (large, 4, 61, &too_large);
  g_assert_cmpuint (too_large, !=, 0);
  too_large = 0;
  assert_same_double (apr_limbs_get_double (beside + 1, 1, -300, &too_large), 0);
  g_assert_cmpuint (too_large, ==, 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/fixed/limbs", test_limbs);
  g_test_add_func ("/fixed/limbs/double", test_double_of_limbs);
  g_test_add_func ("/fixed/limbs/ends", test_ends_of_limbs);
  g_test_add_func ("/fixed/add", test_add);
  g_test_add_func ("/fixed/magnitude", test_magnitude);
  g_test_add_func ("/fixed/far-exponents", test_far_exponents);
  g_test_add_func ("/fixed/correction", test_correction);

  return g_test_run ();
}
