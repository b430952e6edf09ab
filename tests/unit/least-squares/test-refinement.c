/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

#include "aprender/least-squares/apr-refinement-private.h"

/* Steps that are made up, to see when a rounding is taken for certain. */

#define FRACTION 300

typedef struct
{
  AprFixed x;
  const gint64 *errors; /* (unowned) after each step */
  gsize n_errors;
  gsize n_steps;
  gboolean exact; /* after the last */
} Steps;

static gboolean
step (AprRefinement *refinement, gpointer data)
{
  Steps *self = data;

  g_assert_cmpuint (self->n_steps, <, self->n_errors);
  refinement->error = self->errors[self->n_steps++];
  if (self->exact && self->n_steps == self->n_errors)
    refinement->error = APR_EXACT;

  return self->n_steps < self->n_errors;
}

/* Products of which only the sums of columns matter: those of the weights, the features and the target. */
static void
set_sums (AprProducts *products, const gint *sums, gsize n_features)
{
  gsize i;

  *products = (AprProducts){ .n_features = n_features, .n_targets = 1, .centred = sums != NULL };
  if (sums == NULL)
    return;

  products->sums = apr_integers_new (2 + n_features);
  for (i = 0; i < 2 + n_features; i++)
    mpz_set_si (products->sums[i], sums[i]);
}

typedef struct
{
  const char *name;
  gsize n;
  double x[3]; /* and 2^small[i] more */
  gint small[3];
  gint exponents[3];
  gint sums[5]; /* of the weights, the features and the target; no intercept where the first is 0 */
  gint grid;    /* with @denominator_bits; neither is known where that is 0 */
  gint denominator_bits;
  gint64 errors[4]; /* up to one that is 0 */
  gboolean exact;
  AprDType dtype;

  gsize n_steps; /* that are taken */
  gboolean certain;
  double expected[3];
  double intercept;
} Case;

#define NONE -1000

static const Case cases[] = {
  { "at-once",
    1,
    { 1.5 },
    { -60 },
    { 0 },
    { 0 },
    0,
    0,
    { -80, -90 },
    FALSE,
    APR_DTYPE_F64,
    1,
    TRUE,
    { 1.5 },
    0 },
  { "second-step",
    1,
    { 1.5 },
    { -60 },
    { 0 },
    { 0 },
    0,
    0,
    { -50, -90, -100 },
    FALSE,
    APR_DTYPE_F64,
    2,
    TRUE,
    { 1.5 },
    0 },
  /* The second one is in doubt for longer. */
  { "two",
    2,
    { 1.5, 1 },
    { -60, -54 },
    { 0, 3 },
    { 0 },
    0,
    0,
    { -50, -54, -60, -70 },
    FALSE,
    APR_DTYPE_F64,
    3,
    TRUE,
    { 1.5, 8 },
    0 },
  /* Halfway, and nothing tells on which side. */
  { "halfway",
    1,
    { 1 },
    { -53 },
    { 0 },
    { 0 },
    0,
    0,
    { -90, -100, -110 },
    FALSE,
    APR_DTYPE_F64,
    3,
    FALSE,
    { 1 },
    0 },
  { "exactly-halfway",
    1,
    { 1 },
    { -53 },
    { 0 },
    { 0 },
    0,
    0,
    { -90 },
    TRUE,
    APR_DTYPE_F64,
    1,
    TRUE,
    { 1 },
    0 },
  { "exactly-halfway-float",
    1,
    { 1 + 0x1p-23 },
    { -24 },
    { 0 },
    { 0 },
    0,
    0,
    { -90 },
    TRUE,
    APR_DTYPE_F32,
    1,
    TRUE,
    { 1 + 0x1p-22 },
    0 },
  /* A denominator below 2^40 keeps a number 2^-93 away from a multiple of 2^-53. */
  { "halfway-by-cramer",
    1,
    { 1 },
    { -53 },
    { 0 },
    { 0 },
    0,
    40,
    { -90, -94, -95, -96 },
    FALSE,
    APR_DTYPE_F64,
    3,
    TRUE,
    { 1 },
    0 },
  { "zero-by-cramer",
    1,
    { 0 },
    { NONE },
    { 0 },
    { 0 },
    5,
    40,
    { -40, -46, -47, -48 },
    FALSE,
    APR_DTYPE_F64,
    3,
    TRUE,
    { 0 },
    0 },
  { "zero-in-doubt",
    1,
    { 0 },
    { NONE },
    { 0 },
    { 0 },
    0,
    0,
    { -90, -95 },
    FALSE,
    APR_DTYPE_F64,
    2,
    FALSE,
    { 0 },
    0 },
  /* (7 - 2 * 1.5) / 3 */
  { "intercept",
    1,
    { 1.5 },
    { -80 },
    { 0 },
    { 3, 2, 7 },
    0,
    0,
    { -70, -100, -101 },
    FALSE,
    APR_DTYPE_F64,
    1,
    TRUE,
    { 1.5 },
    4.0 / 3 },
  /* (7 - 2 * 3.5) / 3 = 0, when it is known that nothing is missing. */
  { "intercept-zero",
    1,
    { 3.5 },
    { NONE },
    { 0 },
    { 3, 2, 7 },
    0,
    0,
    { -90 },
    TRUE,
    APR_DTYPE_F64,
    1,
    TRUE,
    { 3.5 },
    0 },
  { "intercept-in-doubt",
    1,
    { 3.5 },
    { -100 },
    { 0 },
    { 3, 2, 7 },
    0,
    0,
    { -80, -90 },
    FALSE,
    APR_DTYPE_F64,
    2,
    FALSE,
    { 3.5 },
    0 },
  { "intercept-by-cramer",
    1,
    { 3.5 },
    { NONE },
    { 0 },
    { 3, 2, 7 },
    1,
    40,
    { -40, -90, -91 },
    FALSE,
    APR_DTYPE_F64,
    2,
    TRUE,
    { 3.5 },
    0 },
  /* Sums of features that are 0 leave the intercept alone: 7 / 3 is known before the coefficient is. */
  { "intercept-alone",
    1,
    { 1 },
    { -53 },
    { 0 },
    { 3, 0, 7 },
    0,
    0,
    { -90, -95 },
    FALSE,
    APR_DTYPE_F64,
    2,
    FALSE,
    { 1 },
    7.0 / 3 },
  { "no-features",
    0,
    { 0 },
    { NONE },
    { 0 },
    { 3, 7 },
    0,
    0,
    { -90, -91 },
    FALSE,
    APR_DTYPE_F64,
    1,
    TRUE,
    { 0 },
    7.0 / 3 },
};

static void
add_power (AprFixed *x, gsize i, double value, gint exponent)
{
  mp_limb_t limb = (mp_limb_t) (gint64) ldexp (value, 53);

  apr_fixed_add (x, i, &limb, 1, -53);
  limb = 1;
  if (exponent != NONE)
    apr_fixed_add (x, i, &limb, 1, exponent);
}

static void
test_case (gconstpointer user_data)
{
  const Case *c = user_data;
  const gsize features[] = { 0, 1, 2 };
  g_auto (AprRefinement) refinement = { 0 };
  Steps steps = { .errors = c->errors, .exact = c->exact };
  AprProducts products;
  double coefficients[3] = { NAN, NAN, NAN };
  double intercept = 0;
  AprTarget target = { 0, c->dtype, coefficients, &intercept };
  gsize i;

  set_sums (&products, c->sums[0] != 0 ? c->sums : NULL, c->n);
  while (steps.n_errors < 4 && c->errors[steps.n_errors] != 0)
    steps.n_errors++;
  apr_fixed_init (&steps.x, c->n, FRACTION, 10);
  apr_refinement_init (&refinement, &products, &target, features, c->n, &(AprRun){ 0 });
  refinement.x = &steps.x;
  for (i = 0; i < c->n; i++)
    {
      add_power (&steps.x, i, c->x[i], c->small[i]);
      refinement.exponents[i] = c->exponents[i];
    }
  if (c->denominator_bits > 0)
    {
      refinement.grids = g_new (gint64, c->n);
      refinement.denominator_bits = c->denominator_bits;
      for (i = 0; i < c->n; i++)
        refinement.grids[i] = c->grid;
    }

  g_assert_true (apr_refinement_run (&refinement, step, &steps) == c->certain);
  g_assert_cmpuint (steps.n_steps, ==, c->n_steps);
  for (i = 0; i < c->n; i++)
    assert_same_double (coefficients[i], c->expected[i]);
  if (products.centred)
    assert_same_double (intercept, c->intercept);
  apr_integers_free (products.sums, 2 + c->n);
  apr_fixed_clear (&steps.x);
}

static void
test_bits (void)
{
  const gsize features[] = { 0, 1 };
  const gint sums[] = { 3, 256, 0, 7 };
  AprTarget target = { .dtype = APR_DTYPE_F64 };
  g_auto (AprRefinement) refinement = { 0 };
  AprProducts products;
  gint64 bits;

  g_test_summary ("Cramer's rule needs the bits of the denominator, and half the smallest number.");

  set_sums (&products, NULL, 2);
  apr_refinement_init (&refinement, &products, &target, features, 2, &(AprRun){ 0 });
  refinement.grids = g_new0 (gint64, 2);
  refinement.denominator_bits = 1000;
  bits = apr_refinement_count_bits (&refinement);
  g_assert_cmpint (bits, >=, 1000 + 1075);
  target.dtype = APR_DTYPE_F32;
  g_assert_cmpint (bits - apr_refinement_count_bits (&refinement), ==, 1074 - 149);
  refinement.grids[1] = 5000;
  g_assert_cmpint (apr_refinement_count_bits (&refinement) - bits, ==, 5000 - 1075);
  refinement.exponents[1] = 77;
  g_assert_cmpint (apr_refinement_count_bits (&refinement) - bits, ==, 5000 - 1075 + 77);

  /* The intercept takes the sums of the features times their coefficients, and a sum that is 0 takes nothing. */
  set_sums (&products, sums, 2);
  g_assert_cmpint (apr_refinement_count_bits (&refinement) - bits, ==, 5000 - 1075 + 77);
  refinement.exponents[0] = 100;
  g_assert_cmpint (apr_refinement_count_bits (&refinement) - bits, ==, 5000 - 1075 + 109);
  apr_integers_free (products.sums, 4);
}

/* Whether a number is known to 100 bits, or known to be 0, with an error of 2^@error; it is (1 and 2^@small) 2^@scale
 * where it is not 0, and with a denominator below 2^@denominator_bits a multiple of 2^-5, where that is not 0. */
static gboolean
is_kept (gboolean zero, gint small, gint scale, gint denominator_bits, gint64 error, gboolean exact)
{
  const gsize features[] = { 0 };
  const gint64 errors[] = { error };
  g_auto (AprRefinement) refinement = { 0 };
  Steps steps = { .errors = errors, .n_errors = 1, .exact = exact };
  AprLongCoefficients wanted = { .n = 1, .bits = 100 };
  AprTarget target = { .dtype = APR_DTYPE_F64, .wanted = &wanted };
  AprProducts products;
  mpz_t expected;
  gboolean kept;

  set_sums (&products, NULL, 1);
  apr_fixed_init (&steps.x, 1, FRACTION, 10);
  add_power (&steps.x, 0, zero ? 0 : 1, small);
  apr_refinement_init (&refinement, &products, &target, features, 1, &(AprRun){ 0 });
  refinement.x = &steps.x;
  refinement.exponents[0] = scale;
  if (denominator_bits > 0)
    {
      refinement.grids = g_new (gint64, 1);
      refinement.grids[0] = 5;
      refinement.denominator_bits = denominator_bits;
    }
  wanted.significands = apr_integers_new (1);
  wanted.exponents = g_new0 (gint64, 1);
  kept = apr_refinement_run (&refinement, step, &steps);

  mpz_init (expected);
  if (!zero)
    mpz_setbit (expected, FRACTION);
  if (small != NONE && (!zero || exact))
    mpz_setbit (expected, (mp_bitcnt_t) (FRACTION + small));
  if (kept)
    g_assert_cmpint (mpz_cmp (wanted.significands[0], expected), ==, 0);
  if (kept && !zero)
    g_assert_cmpint (wanted.exponents[0], ==, scale - FRACTION);
  mpz_clear (expected);
  apr_integers_free (wanted.significands, 1);
  g_free (wanted.exponents);
  apr_fixed_clear (&steps.x);

  return kept;
}

static void
test_long (void)
{
  g_test_summary (
    "Long coefficients are known when their error is small enough, or too small for them not to be 0.");

  /* 1 and a little more is below 2^1, and at least a fourth of that. */
  g_assert_true (is_kept (FALSE, -90, 7, 0, 1 - 2 - 100, FALSE));
  g_assert_false (is_kept (FALSE, -90, 7, 0, 1 - 2 - 99, FALSE));
  g_assert_true (is_kept (FALSE, -90, 7, 0, 0, TRUE));
  g_assert_true (is_kept (TRUE, -200, -3, 0, 0, TRUE));

  /* What is below 2^(error + 1), and a whole number times 2^-45 or 0. */
  g_assert_true (is_kept (TRUE, NONE, 0, 40, -47, FALSE));
  g_assert_false (is_kept (TRUE, NONE, 0, 40, -46, FALSE));
  g_assert_true (is_kept (TRUE, -60, 0, 40, -47, FALSE));
  g_assert_true (is_kept (TRUE, NONE, -3, 40, -44, FALSE));
  g_assert_false (is_kept (TRUE, NONE, -3, 40, -43, FALSE));
  g_assert_false (is_kept (TRUE, NONE, 0, 0, -200, FALSE));
}

#define MAX_UNKNOWNS 4

/* The largest e such that an intercept of 0 is known with an error of 2^e of each of @n coefficients, which are 1, and
 * multiples of 2^-@grids with a denominator below 2^80. */
static gint64
find_intercept_error (gsize n, const gint64 *grids)
{
  const gsize features[] = { 0, 1, 2, 3 };
  gint64 error = -40;
  gboolean certain = FALSE;

  while (!certain)
    {
      g_auto (AprRefinement) refinement = { 0 };
      Steps steps = { .errors = &error, .n_errors = 1 };
      gint sums[2 + MAX_UNKNOWNS] = { 1 };
      double coefficients[MAX_UNKNOWNS];
      double intercept = NAN;
      AprTarget target = { 0, APR_DTYPE_F64, coefficients, &intercept };
      AprProducts products;
      gsize i;

      error--;
      apr_fixed_init (&steps.x, n, FRACTION, 10);
      for (i = 0; i < n; i++)
        {
          sums[1 + i] = 1;
          add_power (&steps.x, i, 1, NONE);
        }
      sums[1 + n] = (gint) n;
      set_sums (&products, sums, n);
      apr_refinement_init (&refinement, &products, &target, features, n, &(AprRun){ 0 });
      refinement.x = &steps.x;
      refinement.grids = g_memdup2 (grids, n * sizeof *grids);
      refinement.denominator_bits = 80;
      certain = apr_refinement_run (&refinement, step, &steps);
      if (certain)
        assert_same_double (intercept, 0);
      apr_integers_free (products.sums, 2 + n);
      apr_fixed_clear (&steps.x);
    }

  return error;
}

static void
test_intercept_errors (void)
{
  const gint64 none[MAX_UNKNOWNS] = { 0 };
  const gint64 first[] = { 30, 0 };
  const gint64 second[] = { 0, 30 };
  gint64 of_one = find_intercept_error (1, none);
  gint64 of_two = find_intercept_error (2, none);

  g_test_summary ("The errors of all coefficients add up in an intercept, and the finest one sets its unit.");

  g_assert_cmpint (of_one, <, -80);
  g_assert_cmpint (of_two, <=, of_one - 1);
  g_assert_cmpint (find_intercept_error (4, none), <=, of_one - 2);
  g_assert_cmpint (find_intercept_error (2, first), ==, of_two - 30);
  g_assert_cmpint (find_intercept_error (2, second), ==, of_two - 30);
}

static void
test_limit (void)
{
  g_test_summary ("Bits are not limited unless they take long, and then to what serves for most answers.");

  g_assert_cmpint (apr_refinement_limit_bits (6400, 10, 1e6), ==, 6400);
  g_assert_cmpint (apr_refinement_limit_bits (6400, 10, 1e7), ==, 512 + 10);
  g_assert_cmpint (apr_refinement_limit_bits (400, 10, 1e9), ==, 400);
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/refinement/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/refinement/bits", test_bits);
  g_test_add_func ("/refinement/long", test_long);
  g_test_add_func ("/refinement/intercept-errors", test_intercept_errors);
  g_test_add_func ("/refinement/limit", test_limit);

  return g_test_run ();
}
