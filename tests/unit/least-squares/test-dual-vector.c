/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/least-squares/apr-dual-private.h"

/* Coefficients as sums of products with some u, beside exact arithmetic: what is said to be rounded is the number
 * nearest to the sum, and to all sums within the error. */

#define N_TRIES 3000

typedef enum
{
  ROUGHLY,
  LEADING,
  EXACTLY,
  N_WAYS
} Way;

static double
neighbour (double value, double towards, AprDType dtype)
{
  return dtype == APR_DTYPE_F32 ? (double) nextafterf ((float) value, (float) towards)
                                : nextafter (value, towards);
}

/* Whether the last bit of @value is 0. */
static gboolean
is_even (double value, AprDType dtype)
{
  int exponent;
  double fraction = frexp (value, &exponent);
  int min_exponent = dtype == APR_DTYPE_F32 ? -148 : -1073;
  int bits = MIN (dtype == APR_DTYPE_F32 ? 24 : 53, exponent - min_exponent + 1);

  return value == 0 || isinf (value) || fmod (fabs (ldexp (fraction, bits)), 2) == 0;
}

/* What is too large is rounded as if it were the next power of two. */
static void
set_double (mpq_t number, double value, AprDType dtype)
{
  mpq_set_d (number, isinf (value) ? copysign (1, value) : value);
  if (isinf (value))
    mpq_mul_2exp (number, number, dtype == APR_DTYPE_F32 ? 128 : 1024);
}

/* Whether @value is the nearest to @exact, by the middles between it and its neighbours. */
static gboolean
is_nearest (const mpq_t exact, double value, AprDType dtype)
{
  gboolean even = is_even (value, dtype);
  mpq_t sum;
  mpq_t other;
  int below;
  int above;

  mpq_inits (sum, other, NULL);
  set_double (sum, value, dtype);
  set_double (other, neighbour (value, -INFINITY, dtype), dtype);
  mpq_add (sum, sum, other);
  mpq_div_2exp (sum, sum, 1);
  below = mpq_cmp (sum, exact);
  set_double (sum, value, dtype);
  set_double (other, neighbour (value, INFINITY, dtype), dtype);
  mpq_add (sum, sum, other);
  mpq_div_2exp (sum, sum, 1);
  above = mpq_cmp (exact, sum);
  mpq_clears (sum, other, NULL);

  return (value == -INFINITY || below < (even ? 1 : 0)) && (value == INFINITY || above < (even ? 1 : 0));
}

static void
scale (mpq_t number, gint64 exponent)
{
  if (exponent >= 0)
    mpq_mul_2exp (number, number, (mp_bitcnt_t) exponent);
  else
    mpq_div_2exp (number, number, (mp_bitcnt_t) -exponent);
}

/* The sum of the products of all numbers with @values; returns how far another u may be from it. */
static void
find_sum (const AprDualVector *u, const double *values, mpq_t sum, mpq_t error)
{
  mpq_t term;
  mpq_t value;
  gsize i;

  mpq_inits (term, value, NULL);
  mpq_set_ui (sum, 0, 1);
  mpq_set_ui (error, 0, 1);
  for (i = 0; i < u->n; i++)
    {
      mpq_set_d (value, values[i]);
      mpq_set_z (term, u->numbers[i]);
      mpq_mul (term, term, value);
      mpq_add (sum, sum, term);
      mpq_abs (value, value);
      mpq_add (error, error, value);
    }
  scale (sum, u->exponent);
  if (u->error == G_MININT32)
    mpq_set_ui (error, 0, 1);
  else
    scale (error, u->error);
  mpq_clears (term, value, NULL);
}

static gboolean
round_sum (const AprDualVector *u, const double *values, Way way, AprDType dtype, double *rounded)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  g_autofree double *copy = g_new0 (double, apr_dense_pad (u->n));

  memcpy (copy, values, u->n * sizeof *values);
  if (way == ROUGHLY)
    return apr_dual_vector_round_roughly (u, copy, dtype, rounded);
  if (way == LEADING)
    return apr_dual_vector_round (u, copy, dtype, rounded);

  return apr_dual_vector_round_exactly (u, copy, 0, 0, dtype, rounded);
}

/* Returns whether it was certain. */
static gboolean
check (const AprDualVector *u, const double *values, Way way, AprDType dtype)
{
  double rounded = NAN;
  gboolean certain = round_sum (u, values, way, dtype, &rounded);
  mpq_t sum;
  mpq_t error;

  if (!certain)
    return FALSE;

  mpq_inits (sum, error, NULL);
  find_sum (u, values, sum, error);
  mpq_sub (sum, sum, error);
  g_assert_true (is_nearest (sum, rounded, dtype));
  mpq_add (sum, sum, error);
  mpq_add (sum, sum, error);
  g_assert_true (is_nearest (sum, rounded, dtype));
  mpq_clears (sum, error, NULL);

  return TRUE;
}

/* A number of up to @n_bits bits. */
static void
draw_number (GRand *rand, mpz_t number, gint n_bits)
{
  gint i;

  mpz_set_si (number, g_rand_boolean (rand) ? 1 : -1);
  for (i = 0; i < n_bits; i += 31)
    {
      mpz_mul_2exp (number, number, 31);
      mpz_add_ui (number, number, g_rand_int (rand) >> 1);
    }
  mpz_tdiv_q_2exp (number, number, (mp_bitcnt_t) (31 * ((n_bits + 30) / 31) - n_bits + 1));
}

static double
draw_value (GRand *rand, gint spread, gboolean whole)
{
  double value = whole ? (double) g_rand_int_range (rand, -9, 10) : 2 * g_rand_double (rand) - 1;

  return ldexp (value, spread > 0 ? g_rand_int_range (rand, -spread, spread) : 0);
}

/* Makes the sum of the products, by the last of them, what is halfway between two numbers, and @sign times 2^@distance
 * more: in units of the numbers. It has
 * @n_cancelled bits less than the sum of the others. */
static void
aim_at_middle (
  AprDualVector *u, double *values, AprDType dtype, guint odd, gint64 n_cancelled, gint64 distance, gint sign)
{
  gsize last = u->n - 1;
  gint64 bits = dtype == APR_DTYPE_F32 ? 25 : 54;
  mpz_t number;
  mpq_t sum;
  mpq_t error;
  gint64 size;

  values[last] = 1;
  mpz_set_ui (u->numbers[last], 0);
  mpq_inits (sum, error, NULL);
  mpz_init (number);
  find_sum (u, values, sum, error);
  scale (sum, -u->exponent);
  mpz_tdiv_q (u->numbers[last], mpq_numref (sum), mpq_denref (sum));
  size = MAX (bits, (gint64) mpz_sizeinbase (u->numbers[last], 2) + 2 - n_cancelled);
  mpz_neg (u->numbers[last], u->numbers[last]);

  mpz_setbit (number, (mp_bitcnt_t) (bits - 2));
  mpz_add_ui (number, number, odd);
  mpz_mul_2exp (number, number, 1);
  mpz_setbit (number, 0);
  mpz_mul_2exp (number, number, (mp_bitcnt_t) (size - bits));
  mpz_add (u->numbers[last], u->numbers[last], number);
  if (sign != 0)
    {
      mpz_set_ui (number, 1);
      mpz_mul_2exp (number, number, (mp_bitcnt_t) distance);
      if (sign > 0)
        mpz_add (u->numbers[last], u->numbers[last], number);
      else
        mpz_sub (u->numbers[last], u->numbers[last], number);
    }
  mpz_clear (number);
  mpq_clears (sum, error, NULL);
}

/* Multiplies all values by 2^@exponent, and u by the opposite. */
static void
shift (AprDualVector *u, double *values, gint exponent)
{
  gsize i;

  for (i = 0; i < u->n; i++)
    values[i] = ldexp (values[i], exponent);
  u->exponent -= exponent;
}

typedef struct
{
  const char *path;
  AprDType dtype;
  /* So many are to be certain, at least: of exact u, of those within an error, and where errors are largest. Another
   * compiler draws other numbers, as it evaluates arguments in another order: two in a hundred are left for that. */
  guint n_certain[N_WAYS];
  guint n_certain_far[N_WAYS];
  guint n_certain_errors[N_WAYS];
} Expectation;

static const Expectation expectations[] = {
  { "/dual-vector/f64", APR_DTYPE_F64, { 1700, 2400, N_TRIES }, { 705, 950, 995 }, { 620, 1245, 2495 } },
  { "/dual-vector/f32", APR_DTYPE_F32, { 1310, 2485, N_TRIES }, { 775, 1425, 1555 }, { 645, 2000, 3290 } },
};

static void
test_nearest (gconstpointer data)
{
  const Expectation *expected = data;
  AprDType dtype = expected->dtype;
  Way way;
  g_autoptr (GRand) rand = g_rand_new_with_seed (18);
  guint n_certain[N_WAYS] = { 0 };
  guint n_certain_far[N_WAYS] = { 0 };
  guint try;

  for (try = 0; try < N_TRIES; try++)
    {
      const gsize lengths[] = { 1, 2, 5, 30, 127, 128 };
      gsize n = lengths[g_rand_int_range (rand, 0, G_N_ELEMENTS (lengths))];
      const gint all_bits[] = { 1, 20, 62, 110, 124, 125, 200, 300 };
      gint n_bits = all_bits[g_rand_int_range (rand, 0, G_N_ELEMENTS (all_bits))];
      const gint spreads[] = { 0, 0, 4, 40, 300 };
      gint spread = spreads[g_rand_int_range (rand, 0, G_N_ELEMENTS (spreads))];
      const gint shifts[] = { -1068, -1020, -910, -890, 890, 910, 1010 };
      gboolean wide = spread > 100;
      gboolean whole = g_rand_boolean (rand);
      g_auto (AprDualVector) u = { 0 };
      g_autofree double *values = g_new (double, n);
      gsize i;

      apr_dual_vector_init (&u, n);
      u.exponent = g_rand_int_range (rand, -60, 60) - n_bits;
      u.error = G_MININT32;
      for (i = 0; i < n; i++)
        {
          draw_number (rand, u.numbers[i], n_bits);
          values[i] = draw_value (rand, spread, whole);
        }
      if (!wide && g_rand_int_range (rand, 0, 3) == 0)
        aim_at_middle (&u, values, dtype, g_rand_int_range (rand, 0, 1 << 20), g_rand_int_range (rand, 0, 40),
                       g_rand_int_range (rand, 0, 100), g_rand_int_range (rand, -1, 2));
      if (spread <= 4 && g_rand_int_range (rand, 0, 4) == 0)
        shift (&u, values, shifts[g_rand_int_range (rand, 0, G_N_ELEMENTS (shifts))]);
      apr_dual_vector_lead (&u);
      for (way = ROUGHLY; way < N_WAYS; way++)
        n_certain[way] += check (&u, values, way, dtype);

      u.error = u.exponent + g_rand_int_range (rand, -8, n_bits);
      for (way = ROUGHLY; way < N_WAYS; way++)
        n_certain_far[way] += check (&u, values, way, dtype);
    }

  g_test_message ("certain: %u, %u and %u of %u; within an error: %u, %u and %u", n_certain[ROUGHLY],
                  n_certain[LEADING], n_certain[EXACTLY], (guint) N_TRIES, n_certain_far[ROUGHLY],
                  n_certain_far[LEADING], n_certain_far[EXACTLY]);
  for (way = ROUGHLY; way < N_WAYS; way++)
    {
      g_assert_cmpuint (n_certain[way], >=, expected->n_certain[way]);
      g_assert_cmpuint (n_certain_far[way], >=, expected->n_certain_far[way]);
    }
}

static void
test_errors (gconstpointer data)
{
  const Expectation *expected = data;
  AprDType dtype = expected->dtype;
  const gsize lengths[] = { 2, 127 };
  guint n_certain[N_WAYS] = { 0 };
  Way way;
  gsize k;

  g_test_summary (
    "Where all that is cut off is as large as it can be, an error is never larger than it is said to be.");
  for (k = 0; k < G_N_ELEMENTS (lengths); k++)
    {
      gsize n = lengths[k];
      gint64 distance;

      for (distance = 0; distance < 110; distance++)
        {
          gint sign;

          for (sign = -1; sign <= 1; sign += 2)
            {
              g_auto (AprDualVector) u = { 0 };
              g_autofree double *values = g_new (double, n);
              gsize i;

              apr_dual_vector_init (&u, n);
              u.exponent = -124;
              for (i = 0; i < n; i++)
                {
                  values[i] = 1 - 0x1p-53;
                  mpz_setbit (u.numbers[i], 124);
                  mpz_sub_ui (u.numbers[i], u.numbers[i], 1);
                }
              aim_at_middle (&u, values, dtype, 12345, 0, distance, sign);
              u.error = G_MININT32;
              apr_dual_vector_lead (&u);
              for (way = ROUGHLY; way < N_WAYS; way++)
                n_certain[way] += check (&u, values, way, dtype);
              for (u.error = u.exponent + distance - 12; u.error < u.exponent + distance + 2; u.error++)
                for (way = ROUGHLY; way < N_WAYS; way++)
                  n_certain[way] += check (&u, values, way, dtype);
            }
        }
    }
  g_test_message ("certain: %u, %u and %u", n_certain[ROUGHLY], n_certain[LEADING], n_certain[EXACTLY]);
  for (way = ROUGHLY; way < N_WAYS; way++)
    g_assert_cmpuint (n_certain[way], >=, expected->n_certain_errors[way]);
}

/* u = wholes / denominator 2^-@grid, cut off; the exact sum of the products is returned in @sum. */
static void
set_quotients (
  AprDualVector *u, mpz_t *wholes, const mpz_t denominator, gint64 grid, const double *values, mpq_t sum)
{
  mpq_t value;
  mpq_t term;
  gsize i;

  mpq_inits (value, term, NULL);
  mpq_set_ui (sum, 0, 1);
  for (i = 0; i < u->n; i++)
    {
      mpz_mul_2exp (u->numbers[i], wholes[i], (mp_bitcnt_t) (-u->exponent - grid));
      mpz_fdiv_q (u->numbers[i], u->numbers[i], denominator);
      mpq_set_d (value, values[i]);
      mpz_set (mpq_numref (term), wholes[i]);
      mpz_set (mpq_denref (term), denominator);
      mpq_canonicalize (term);
      mpq_mul (term, term, value);
      mpq_add (sum, sum, term);
    }
  scale (sum, -grid);
  mpq_clears (value, term, NULL);
}

static void
test_quotients (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (19);
  guint n_uncertain = 0;
  guint try;

  g_test_summary (
    "That u is whole numbers over a known one decides what is halfway between two numbers, or 0.");
  for (try = 0; try < N_TRIES; try++)
    {
      AprDType dtype = try % 2 == 0 ? APR_DTYPE_F64 : APR_DTYPE_F32;
      gint64 bits = g_rand_int_range (rand, 2, 60);
      gint64 grid = g_rand_int_range (rand, -20, 40);
      double values[3] = { 1, (double) g_rand_int_range (rand, -9, 10), 0.25 };
      double rounded = NAN;
      g_auto (AprDualVector) u = { 0 };
      mpz_t *wholes = apr_integers_new (G_N_ELEMENTS (values));
      mpz_t denominator;
      mpq_t sum;
      gsize i;

      apr_dual_vector_init (&u, G_N_ELEMENTS (values));
      u.exponent = u.error = -bits - 300;
      mpz_init (denominator);
      mpq_init (sum);
      draw_number (rand, denominator, (gint) bits);
      mpz_abs (denominator, denominator);
      mpz_setbit (denominator, 0);
      for (i = 0; i < G_N_ELEMENTS (values); i++)
        draw_number (rand, wholes[i], 50);
      if (try % 3 == 0)
        {
          mpz_mul_si (wholes[0], wholes[1], -(glong) values[1]);
          mpz_set_ui (wholes[2], 0);
        }
      if (try % 6 >= 3)
        mpz_addmul_ui (wholes[0], denominator, dtype == APR_DTYPE_F32 ? (1ul << 24) + 1 : (1ul << 53) + 1);
      set_quotients (&u, wholes, denominator, grid, values, sum);

      g_assert_true (apr_dual_vector_round_exactly (&u, values, grid, bits, dtype, &rounded));
      g_assert_true (is_nearest (sum, rounded, dtype));
      if (!apr_dual_vector_round_exactly (&u, values, grid, 0, dtype, &rounded))
        {
          /* No more than a guess. */
          n_uncertain++;
          g_assert_cmpfloat (fabs (mpq_get_d (sum) - rounded), <=,
                             (dtype == APR_DTYPE_F32 ? 0x1p-23 : 0x1p-52) * fabs (rounded) + 0x1p-300);
        }
      apr_integers_free (wholes, G_N_ELEMENTS (values));
      mpz_clear (denominator);
      mpq_clear (sum);
    }
  g_assert_cmpuint (n_uncertain, >=, N_TRIES / 3);
  g_assert_cmpuint (n_uncertain, <, N_TRIES / 2);
}

static void
test_zeros (void)
{
  const double zeros[3] = { 0, -0.0, 0 };
  const double values[3] = { 3, -0x1p-1074, 0x1p1023 };
  g_auto (AprDualVector) u = { 0 };
  double rounded = NAN;
  gsize i;

  g_test_summary ("Sums of zeros are 0 whatever u is; those of a u of zeros are 0 if it is exact.");
  apr_dual_vector_init (&u, 3);
  u.exponent = -3;
  for (i = 0; i < 3; i++)
    mpz_set_si (u.numbers[i], 5 - (glong) i);
  u.error = 70;
  apr_dual_vector_lead (&u);
  g_assert_true (round_sum (&u, zeros, LEADING, APR_DTYPE_F64, &rounded));
  assert_same_double (rounded, 0);
  rounded = NAN;
  g_assert_true (round_sum (&u, zeros, EXACTLY, APR_DTYPE_F64, &rounded));
  assert_same_double (rounded, 0);

  for (i = 0; i < 3; i++)
    mpz_set_ui (u.numbers[i], 0);
  u.error = G_MININT32;
  apr_dual_vector_lead (&u);
  rounded = NAN;
  g_assert_false (round_sum (&u, values, ROUGHLY, APR_DTYPE_F64, &rounded));
  g_assert_true (round_sum (&u, values, LEADING, APR_DTYPE_F64, &rounded));
  assert_same_double (rounded, 0);
  rounded = NAN;
  g_assert_true (round_sum (&u, values, EXACTLY, APR_DTYPE_F64, &rounded));
  assert_same_double (rounded, 0);

  u.error = -30;
  for (i = ROUGHLY; i < N_WAYS; i++)
    g_assert_false (round_sum (&u, values, (Way) i, APR_DTYPE_F64, &rounded));
}

static void
test_edges (void)
{
  /* What two numbers of u of 1 and 2^@exponent make of the values 1 and 2^@value. */
  const struct
  {
    AprDType dtype;
    gint64 u_exponent;
    gint value;
    double expected;
  } cases[] = {
    { APR_DTYPE_F64, 0, 0, 2 },
    { APR_DTYPE_F64, -60, 900, 0x1p840 },
    { APR_DTYPE_F64, -1000, 901, 0x1p-99 },
    { APR_DTYPE_F64, 100, 1023, INFINITY },
    { APR_DTYPE_F64, -1060, -1060, 0x1p-1060 },
    { APR_DTYPE_F64, -1074, -40, 0x1p-1074 },
    { APR_DTYPE_F64, -1075, -1074, 0 + 0x1p-1074 },
    { APR_DTYPE_F64, -2000, 1023, 0x1p-977 },
    { APR_DTYPE_F64, 2000, -1074, INFINITY },
    { APR_DTYPE_F32, 0, 0, 2 },
    { APR_DTYPE_F32, -120, -30, 0x1p-120 },
    { APR_DTYPE_F32, -121, -30, 0x1p-121 },
    { APR_DTYPE_F32, -149, -200, 0x1p-149 },
    { APR_DTYPE_F32, 100, 27, 0x1p127 },
    { APR_DTYPE_F32, 100, 28, INFINITY },
  };
  g_auto (AprDualVector) many = { 0 };
  g_autofree double *ones = g_new (double, 1 << 20);
  double rounded;
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const double values[2] = { 1, ldexp (1, cases[i].value) };
      g_auto (AprDualVector) u = { 0 };
      Way way;

      apr_dual_vector_init (&u, 2);
      mpz_set_ui (u.numbers[0], 1);
      mpz_set_ui (u.numbers[1], 1);
      u.exponent = cases[i].u_exponent;
      u.error = G_MININT32;
      apr_dual_vector_lead (&u);
      for (way = ROUGHLY; way < N_WAYS; way++)
        if (round_sum (&u, values, way, cases[i].dtype, &rounded))
          assert_same_double (rounded, cases[i].expected);
        else
          g_assert_cmpint (way, !=, EXACTLY);
    }

  g_test_message ("More than 2^20 - 1 samples are left to the exact way.");
  apr_dual_vector_init (&many, 1 << 20);
  for (i = 0; i < many.n; i++)
    {
      ones[i] = 1;
      mpz_set_ui (many.numbers[i], 3);
    }
  many.error = G_MININT32;
  apr_dual_vector_lead (&many);
  g_assert_false (round_sum (&many, ones, LEADING, APR_DTYPE_F64, &rounded));
  g_assert_true (round_sum (&many, ones, EXACTLY, APR_DTYPE_F64, &rounded));
  assert_same_double (rounded, 3 * 0x1p20);
}

/* Numbers of about as many bits as the leading parts have. */
static void
test_lengths (void)
{
  const double values[2] = { 1, 1 };
  int bits;

  for (bits = 115; bits < 135; bits++)
    {
      g_auto (AprDualVector) u = { 0 };
      double rounded = NAN;

      apr_dual_vector_init (&u, 2);
      mpz_set_ui (u.numbers[0], 3);
      mpz_mul_2exp (u.numbers[0], u.numbers[0], (mp_bitcnt_t) bits - 2);
      mpz_set_ui (u.numbers[1], 1);
      u.error = G_MININT32;
      apr_dual_vector_lead (&u);
      g_assert_true (round_sum (&u, values, LEADING, APR_DTYPE_F64, &rounded));
      assert_same_double (rounded, ldexp (3, bits - 2));
    }
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; i < G_N_ELEMENTS (expectations); i++)
    {
      g_autofree char *path = g_strconcat (expectations[i].path, "/errors", NULL);

      g_test_add_data_func (expectations[i].path, &expectations[i], test_nearest);
      g_test_add_data_func (path, &expectations[i], test_errors);
    }
  g_test_add_func ("/dual-vector/quotients", test_quotients);
  g_test_add_func ("/dual-vector/zeros", test_zeros);
  g_test_add_func ("/dual-vector/edges", test_edges);
  g_test_add_func ("/dual-vector/lengths", test_lengths);

  return g_test_run ();
}
