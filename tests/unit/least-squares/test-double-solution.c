/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

#include <float.h>

#include "aprender/least-squares/apr-double-solution-private.h"

/* The bounds of the solution in double, beside exact solutions. Systems are made so that one kind of error is far
 * larger than all others, and comes near to what the bound allows it. */

/* What is given as doubles is held in units of 2^-UNIT, and products in units of 2^-(2 UNIT). */
#define UNIT 400
#define N_LIMBS 15

#define MAX_N (APR_DOUBLE_SOLUTION_MAX_UNKNOWNS + 1)

static const AprRun one_thread = { .n_threads = 1 };
static const gboolean none[MAX_N] = { FALSE };

typedef struct
{
  gsize n;
  mpz_t *matrix; /* (owned) n x n */
  mpz_t *right;  /* (owned) n */
  mpz_t *
    sums; /* (owned) n + 3: of the weights, the features, and two targets, of which the second is solved for */
  mpz_t *solution; /* (owned) n + 1: the unknowns and the intercept */

  AprProducts products;
  AprNormalEquations equations;
  AprTarget target;
  double coefficients[MAX_N];
  double intercept;
} System;

static void
system_init (System *self, gsize n)
{
  *self = (System){ n };
  self->matrix = apr_integers_new (n * n);
  self->right = apr_integers_new (n);
  self->sums = apr_integers_new (n + 3);
  self->solution = apr_integers_new (n + 1);
  self->target = (AprTarget){
    .index = 1, .dtype = APR_DTYPE_F64, .coefficients = self->coefficients, .intercept = &self->intercept
  };
}

static void
system_clear (System *self)
{
  apr_normal_equations_clear (&self->equations);
  self->products.sums = NULL;
  apr_products_clear (&self->products);
  apr_integers_free (self->matrix, self->n * self->n);
  apr_integers_free (self->right, self->n);
  apr_integers_free (self->sums, self->n + 3);
  apr_integers_free (self->solution, self->n + 1);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (System, system_clear)

/* The right-hand side, and the sum of the target, follow from the solution. */
static void
add (mpz_t to, double value)
{
  mpz_t term;

  mpz_init_set_d (term, ldexp (value, UNIT));
  mpz_add (to, to, term);
  mpz_clear (term);
}

static void
add_to_entry (System *self, gsize i, gsize j, double value)
{
  add (self->matrix[i * self->n + j], value);
  if (i != j)
    add (self->matrix[j * self->n + i], value);
}

/* A number of 160 bits, which is at least @min and at most 1 but for few of them */
static void
add_at_random (mpz_t to, double min, GRand *rand)
{
  add (to, g_rand_double_range (rand, min, 1));
  add (to, ldexp (g_rand_double_range (rand, -1, 1), -53));
  add (to, ldexp (g_rand_double_range (rand, -1, 1), -106));
}

/* Makes the normal equations, with an intercept where the sum of the weights is given. */
static void
prepare (System *self)
{
  gsize n = self->n;
  gsize i;
  gsize j;

  (void) apr_products_init_zeros (&self->products, n, 2, N_LIMBS, &(AprRun){ 0 });
  mpz_mul (self->sums[2 + n], self->sums[0], self->solution[n]);
  mpz_mul_2exp (self->sums[0], self->sums[0], UNIT);
  for (i = 0; i < n; i++)
    {
      for (j = 0; j < n; j++)
        mpz_addmul (self->right[i], self->matrix[i * n + j], self->solution[j]);
      apr_products_set_integer (&self->products, n + 1, i, self->right[i]);
      mpz_addmul (self->sums[2 + n], self->sums[1 + i], self->solution[i]);
      mpz_mul_2exp (self->sums[1 + i], self->sums[1 + i], UNIT);
    }
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++)
      {
        mpz_mul_2exp (self->matrix[i * n + j], self->matrix[i * n + j], UNIT);
        apr_products_set_integer (&self->products, i, j, self->matrix[i * n + j]);
      }
  self->products.centred = mpz_sgn (self->sums[0]) != 0;
  self->products.sums = self->sums;
  apr_normal_equations_init (&self->equations, &self->products, none, 0x1p-100, &one_thread);
  g_assert_null (self->equations.ldlt);
  g_assert_cmpuint (self->equations.n_independent, ==, n);
  apr_normal_equations_scale_column (&self->equations, n + 1);
}

static void
get_exact (const System *self, gsize i, mpq_t exact)
{
  mpq_set_z (exact, self->solution[i]);
  mpq_div_2exp (exact, exact, UNIT);
}

/* Returns the error of value 2^exponent, divided by error 2^exponent, which it must not be larger than. */
static double
compare (const System *self, gsize i, AprDoubleDouble value, double error, gint64 exponent)
{
  double ratio;
  mpq_t exact;
  mpq_t term;

  g_assert_cmpfloat (error, >, 0);
  mpq_inits (exact, term, NULL);
  get_exact (self, i, exact);
  if (exponent < 0)
    mpq_mul_2exp (exact, exact, (mp_bitcnt_t) -exponent);
  else
    mpq_div_2exp (exact, exact, (mp_bitcnt_t) exponent);
  mpq_set_d (term, value.high);
  mpq_sub (exact, exact, term);
  mpq_set_d (term, value.low);
  mpq_sub (exact, exact, term);
  mpq_set_d (term, error);
  mpq_div (exact, exact, term);
  ratio = fabs (mpq_get_d (exact));
  mpq_clears (exact, term, NULL);
  g_assert_cmpfloat (ratio, <=, 1);

  return ratio;
}

/* Returns the largest error of an unknown, divided by its bound. */
static double
find_ratio (System *self, AprDoubleSolution *solution)
{
  double ratio = 0;
  gsize i;

  g_assert_true (apr_double_solution_init (solution, &self->equations, &self->target, &one_thread));
  for (i = 0; i < self->n; i++)
    {
      gint64 exponent;
      AprDoubleDouble value = apr_double_solution_get_unknown (solution, i, &exponent);

      ratio = MAX (ratio, compare (self, i, value, solution->error, exponent));
    }

  return ratio;
}

/* The same of the intercept. */
static double
find_ratio_of_intercept (const System *self, const AprDoubleSolution *solution)
{
  double error;
  gint64 exponent;
  AprDoubleDouble value = apr_double_solution_find_intercept (solution, &error, &exponent);

  return compare (self, self->n, value, error, exponent);
}

/* What the theorems behind the bound ask for, if all roundings err as far as they can: of Cholesky's factors, of the
 * products, and of the residual. */
static double
find_required (const System *self, const AprDoubleSolution *solution)
{
  const AprCholesky *cholesky = &self->equations.cholesky;
  const double u = DBL_EPSILON / 2;
  gsize n = self->n;
  double c = (3 * (double) n + 1) * u;
  double squares = 0;
  gsize i;
  gsize j;
  gsize k;

  for (i = 0; i < n; i++)
    {
      double error = 0;
      double residual = 0;

      for (j = 0; j < n; j++)
        {
          double entry = 0;
          double size = 0;

          for (k = 0; k <= MIN (i, j); k++)
            {
              double product =
                cholesky->rows[k * cholesky->stride + i] * cholesky->rows[k * cholesky->stride + j];

              entry += product;
              size += fabs (product);
            }
          error += (c / (1 - c) * size + u * fabs (entry)) * fabs (solution->correction[j]);
          residual += entry * solution->correction[j];
        }
      error += 2 * u * fabs (residual);
      squares += error * error;
    }

  return sqrt (squares) / self->equations.min_eigenvalue;
}

/* U'U of U = [I, u; 0, pivot], exactly: the direction of its least eigenvalue is [-u; 1], so that residuals of one sign
 * add up in the last unknown. */
static void
add_arrow (System *self, double u, double pivot)
{
  gsize n = self->n;
  gsize i;

  for (i = 0; i + 1 < n; i++)
    {
      add_to_entry (self, i, i, 1);
      add_to_entry (self, i, n - 1, u);
    }
  add_to_entry (self, n - 1, n - 1, (double) (n - 1) * u * u + pivot * pivot);
}

static void
test_cut_products (void)
{
  const struct
  {
    gsize n;
    double u;
    double pivot;
    gboolean
      single; /* of the unknowns only the last is not 0, and all are small; else the right-hand side is small */
    double least;
    double least_of_intercept;
  } systems[] = { { 2, -1, 0x1p-8, FALSE, 0.65, 0 },          { 4, -0.4375, 0x1p-8, FALSE, 0.65, 0 },
                  { 9, -0.25, 0x1p-8, FALSE, 0.6, 0 },        { 16, -0.1875, 0x1p-8, FALSE, 0.6, 0 },
                  { 16, -0.1875, 0x1p-14, FALSE, 0.3, 0.25 }, { 2, -1, 0x1p-8, TRUE, 0.2, 0 },
                  { 4, -0.4375, 0x1p-8, TRUE, 0.35, 0 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (304);
  gsize k;

  g_test_summary ("The first solution is exact but for its last bits; each product lacks nearly a unit of "
                  "the last bit that is used.");

  for (k = 0; k < 2 * G_N_ELEMENTS (systems); k++)
    {
      gsize n = systems[k / 2].n;
      double u = systems[k / 2].u;
      int sign = k % 2 == 0 ? 1 : -1;
      int bits = apr_scaled_products_get_bits (n);
      g_auto (System) system = { 0 };
      AprDoubleSolution solution;
      double ratio;
      double ratio_of_intercept;
      gsize i;
      gsize j;

      system_init (&system, n);
      add_arrow (&system, u, systems[k / 2].pivot);
      for (i = 0; i < n; i++)
        for (j = 0; j <= i; j++)
          add_to_entry (&system, i, j, ldexp (g_rand_int_range (rand, 1, 1 << 20) - 0x1p-30, -bits));
      for (i = 0; i < n; i++)
        add (system.solution[i], sign * (i + 1 == n ? 1 : systems[k / 2].single ? 0 : -u));
      /* A residual of less than 64 bits, which is none of errors */
      add (system.solution[n - 1], ldexp (g_rand_double_range (rand, 0.5, 1), -94));
      /* The intercept is twice the unknown that errs most, less twice as much. */
      add (system.sums[0], 0.5);
      add (system.sums[n], 1);
      prepare (&system);
      ratio = find_ratio (&system, &solution);
      ratio_of_intercept = find_ratio_of_intercept (&system, &solution);
      g_test_message ("%zu unknowns: an error of %.3f of its bound, the intercept's %.3f", n, ratio,
                      ratio_of_intercept);
      g_assert_cmpfloat (ratio, >, systems[k / 2].least);
      g_assert_cmpfloat (ratio_of_intercept, >, systems[k / 2].least_of_intercept);
    }
}

static void
test_exact_unknowns (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (300);
  double max = 0;
  int round;

  g_test_summary ("The unknowns are exact, so that the intercept errs by its own arithmetic.");

  for (round = 0; round < 300; round++)
    {
      gsize n = 1 + (gsize) round % 4;
      g_auto (System) system = { 0 };
      AprDoubleSolution solution;
      gsize i;

      system_init (&system, n);
      for (i = 0; i < n; i++)
        {
          add_to_entry (&system, i, i, 1);
          add (system.solution[i], g_rand_int_range (rand, 1 << 20, 1 << 30) * 0x1p-30);
        }
      add_at_random (system.solution[n], -1, rand);
      for (i = 0; i <= n; i++)
        add_at_random (system.sums[i], 0.5, rand);
      prepare (&system);
      (void) find_ratio (&system, &solution);
      for (i = 0; i < n; i++)
        g_assert_cmpfloat (solution.correction[i], ==, 0);
      max = MAX (max, find_ratio_of_intercept (&system, &solution));
    }
  g_test_message ("An error of at most %.6f of its bound", max);
  g_assert_cmpfloat (max, >, 1e-4);
}

/* U'U of a U of few bits, exactly, which is nearly that of a matrix whose diagonal is 1 and whose other entries are
 * 3/4: no product of U is negative, and all rows of U'U have nearly the same sum. */
static void
add_alike (System *self)
{
  gsize n = self->n;
  g_autofree double *diagonal = g_new (double, n);
  g_autofree double *beside = g_new (double, n);
  double left = 1;
  gsize i;
  gsize j;
  gsize k;

  for (i = 0; i < n; i++)
    {
      diagonal[i] = rint (sqrt (left) * 0x1p10) * 0x1p-10;
      beside[i] = rint ((left - 0.25) / sqrt (left) * 0x1p10) * 0x1p-10;
      left -= (left - 0.25) * (left - 0.25) / left;
    }
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++)
      {
        double sum = diagonal[j] * (i == j ? diagonal[j] : beside[j]);

        for (k = 0; k < j; k++)
          sum += beside[k] * beside[k];
        add_to_entry (self, i, j, sum);
      }
}

static void
test_required (void)
{
  const gsize sizes[] = { 1, 2, 3, 5, 8, 16, 17, 33, MAX_N - 1 };
  gsize k;

  g_test_summary ("The bound is as large as roundings could make the error if all went the same way.");

  for (k = 0; k < 2 * G_N_ELEMENTS (sizes); k++)
    {
      gsize n = sizes[k / 2];
      g_auto (System) system = { 0 };
      AprDoubleSolution solution;
      double required;
      gsize i;

      system_init (&system, n);
      if (k % 2 == 0)
        add_alike (&system);
      else
        for (i = 0; i < n; i++)
          add_to_entry (&system, i, i, 1);
      /* So near to 1 that double finds this first, and then that all lack the same. */
      for (i = 0; i < n; i++)
        {
          add (system.solution[i], 1);
          add (system.solution[i], 0x1p-55);
        }
      prepare (&system);
      (void) find_ratio (&system, &solution);
      for (i = 0; i < n; i++)
        g_assert_cmpfloat_with_epsilon (solution.correction[i] / solution.correction[0], 1, 1e-6);
      required = find_required (&system, &solution);
      g_test_message ("%zu unknowns: %.3f of the bound is required", n, required / solution.error);
      g_assert_cmpfloat (required, <=, solution.error);
    }
}

/* A definite matrix with 160 bits to an entry, whose diagonal is 1. */
static void
draw_system (System *self, GRand *rand, gsize n, double noise)
{
  gsize n_rows = 2 * n + 3;
  g_autofree double *x = g_new (double, n_rows *n);
  g_autofree double *lengths = g_new0 (double, n);
  gsize i;
  gsize j;
  gsize k;

  for (k = 0; k < n_rows; k++)
    {
      double common = normal (rand);

      for (i = 0; i < n; i++)
        {
          x[k * n + i] = common + noise * normal (rand);
          lengths[i] += x[k * n + i] * x[k * n + i];
        }
    }
  for (i = 0; i < n; i++)
    for (j = 0; j <= i; j++)
      {
        double sum = 0;

        for (k = 0; k < n_rows; k++)
          sum += x[k * n + i] * x[k * n + j];
        add_to_entry (self, i, j, sum / sqrt (lengths[i] * lengths[j]));
        add_to_entry (self, i, j, ldexp (g_rand_double_range (rand, -1, 1), -53));
        add_to_entry (self, i, j, ldexp (g_rand_double_range (rand, -1, 1), -106));
      }
}

static void
test_ordinary (void)
{
  /* Errors are far less than they could be where many add up at random. */
  const struct
  {
    gsize n;
    double least;
    double least_of_intercept;
  } sizes[] = { { 1, 0.05, 0.001 },   { 2, 0.015, 0.001 }, { 3, 0.01, 0.0005 },
                { 5, 0.003, 0.0001 }, { 10, 0.0005, 0 },   { 16, 0.0001, 0 },
                { 17, 0, 0 },         { 40, 0, 0 },        { MAX_N - 1, 0, 0 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (301);
  gsize k;

  g_test_summary (
    "The bound holds, and is not far above what is required of it, nor above errors themselves.");

  for (k = 0; k < G_N_ELEMENTS (sizes); k++)
    {
      gsize n = sizes[k].n;
      int n_rounds = n < 17 ? 200 : 10;
      double max = 0;
      double max_of_intercept = 0;
      double least_required = 1;
      int round;

      for (round = 0; round < n_rounds; round++)
        {
          g_auto (System) system = { 0 };
          AprDoubleSolution solution;
          double required;
          gsize i;

          system_init (&system, n);
          draw_system (&system, rand, n, round % 2 == 0 ? 1 : 0x1p-4);
          for (i = 0; i <= n; i++)
            {
              add_at_random (system.solution[i], -1, rand);
              add_at_random (system.sums[i], 0.5, rand);
            }
          prepare (&system);
          max = MAX (max, find_ratio (&system, &solution));
          max_of_intercept = MAX (max_of_intercept, find_ratio_of_intercept (&system, &solution));
          required = find_required (&system, &solution);
          g_assert_cmpfloat (required, <=, solution.error);
          /* The first solution may be right by chance. */
          if (solution.error > 0x1p-106)
            least_required = MIN (least_required, required / solution.error);
        }
      g_test_message (
        "%zu unknowns: errors of at most %.5f of their bound, intercepts of %.5f; %.2f of it is required", n,
        max, max_of_intercept, least_required);
      g_assert_cmpfloat (max, >, sizes[k].least);
      g_assert_cmpfloat (max_of_intercept, >, sizes[k].least_of_intercept);
      g_assert_cmpfloat (least_required, >, 0.1);
    }
}

static void
test_near_ties (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (302);
  guint n_sure = 0;
  guint n_unsure = 0;
  int round;

  g_test_summary (
    "An unknown, or the intercept, is beside the middle of two numbers: where that is told, it is right.");

  for (round = 0; round < 1600; round++)
    {
      gsize n = 1 + (gsize) round % 5;
      gsize near_one = (gsize) g_rand_int_range (rand, 0, (gint) n + 1);
      AprDType dtype = round % 3 == 0 ? APR_DTYPE_F32 : APR_DTYPE_F64;
      int bits = (dtype == APR_DTYPE_F32 ? 26 : 54) + round / 2 % 64;
      g_auto (System) system = { 0 };
      gboolean sure;
      mpq_t exact;
      gsize i;

      system_init (&system, n);
      draw_system (&system, rand, n, round % 2 == 0 ? 1 : 0x1p-4);
      for (i = 0; i <= n; i++)
        {
          add_at_random (system.sums[i], 0.5, rand);
          if (i != near_one)
            add_at_random (system.solution[i], -1, rand);
        }
      add (system.solution[near_one], dtype == APR_DTYPE_F32
                                        ? 1 + g_rand_int_range (rand, 0, 1 << 23) * 0x1p-23 + 0x1p-24
                                        : 1 + g_rand_int_range (rand, 0, G_MAXINT32) * 0x1p-50);
      if (dtype == APR_DTYPE_F64)
        add (system.solution[near_one], 0x1p-53);
      add (system.solution[near_one], g_rand_boolean (rand) ? ldexp (1, -bits) : -ldexp (1, -bits));
      prepare (&system);
      system.target.dtype = dtype;
      sure = apr_normal_equations_solve_in_doubles (&system.equations, &system.target, &one_thread);
      n_sure += sure;
      n_unsure += !sure;
      /* Well before there is any doubt, and after there is no other answer. */
      if (dtype == APR_DTYPE_F64 ? bits < 75 : bits < 45)
        g_assert_true (sure);
      if (dtype == APR_DTYPE_F64 ? bits > 112 : bits > 55)
        g_assert_false (sure);
      mpq_init (exact);
      for (i = 0; i <= n && sure; i++)
        {
          get_exact (&system, i, exact);
          assert_nearest (i < n ? system.coefficients[i] : system.intercept, exact, dtype);
        }
      mpq_clear (exact);
    }
  g_test_message ("%u are certain, %u are not", n_sure, n_unsure);
  g_assert_cmpuint (n_sure, >, 600);
  g_assert_cmpuint (n_unsure, >, 600);
}

/* Checks the bounds of both, and that the intercept is given near to 1 in its units. Returns its error at most. */
static double
check_near_one (System *system, AprDoubleSolution *solution)
{
  AprDoubleDouble value;
  double error;
  gint64 exponent;

  (void) find_ratio (system, solution);
  (void) find_ratio_of_intercept (system, solution);
  value = apr_double_solution_find_intercept (solution, &error, &exponent);
  g_assert_cmpfloat (fabs (value.high), >, 0x1p-4);
  g_assert_cmpfloat (fabs (value.high), <, 0x1p4);

  return error;
}

static void
test_far_units (void)
{
  const int units[] = { 60, -60, 0, 20, 60 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (305);
  int round;

  g_test_summary (
    "Features and targets in units that are far apart: the intercept's bound is small beside its terms.");

  for (round = 0; round < 3; round++)
    {
      g_auto (System) system = { 0 };
      AprDoubleSolution solution;
      double error;
      gsize i;
      gsize j;

      system_init (&system, 3);
      for (i = 0; i < 3; i++)
        {
          for (j = 0; j <= i; j++)
            add_to_entry (&system, i, j, ldexp (i == j ? 1 : 0.25, units[round + i] + units[round + j]));
          add (system.solution[i], ldexp (g_rand_double_range (rand, 0.5, 1), -units[round + i]));
          add (system.sums[1 + i], ldexp (g_rand_double_range (rand, 0.5, 1), units[round + i]));
        }
      add (system.sums[0], ldexp (0.75, round * 40));
      add (system.solution[3], ldexp (g_rand_double_range (rand, 0.5, 1), -round * 40));
      prepare (&system);
      /* Of the target that is not solved for */
      mpz_setbit (system.sums[4], 3 * UNIT);
      error = check_near_one (&system, &solution);
      g_assert_cmpfloat (solution.error, <, 0x1p-90);
      g_assert_cmpfloat (error, <, 0x1p-90);
    }
}

static void
test_one_large (void)
{
  gsize large;
  gsize i;

  g_test_summary (
    "One of the intercept's terms is far larger than all others, and the intercept is as large.");

  for (large = 0; large < 4; large++)
    {
      g_auto (System) system = { 0 };
      AprDoubleSolution solution;

      system_init (&system, 3);
      for (i = 0; i < 3; i++)
        {
          add_to_entry (&system, i, i, 1);
          add (system.solution[i], 1);
          add (system.sums[1 + i], i == large ? 0x1p100 : 1);
        }
      add (system.sums[0], 0.5);
      /* What a feature adds to the target's sum, the intercept takes away. */
      add (system.solution[3], large < 3 ? -0x1p101 : 0x1p101);
      prepare (&system);
      (void) check_near_one (&system, &solution);
    }
}

static void
test_zero (void)
{
  g_auto (System) system = { 0 };
  AprDoubleSolution solution;

  g_test_summary ("Of a solution that is 0 no bits are known.");

  system_init (&system, 1);
  add_to_entry (&system, 0, 0, 1);
  prepare (&system);
  g_assert_false (apr_double_solution_init (&solution, &system.equations, &system.target, &one_thread));
  g_assert_false (apr_normal_equations_solve_in_doubles (&system.equations, &system.target, &one_thread));
}

static void
test_sizes (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (303);
  gsize n;

  g_test_summary ("As many unknowns as it is meant for, and one more.");

  for (n = MAX_N - 1; n <= MAX_N; n++)
    {
      g_auto (System) system = { 0 };
      gsize i;

      system_init (&system, n);
      draw_system (&system, rand, n, 1);
      for (i = 0; i < n; i++)
        add_at_random (system.solution[i], -1, rand);
      prepare (&system);
      g_assert_true (apr_normal_equations_solve_in_doubles (&system.equations, &system.target, &one_thread) ==
                     (n < MAX_N));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/double-solution/cut-products", test_cut_products);
  g_test_add_func ("/double-solution/exact-unknowns", test_exact_unknowns);
  g_test_add_func ("/double-solution/required", test_required);
  g_test_add_func ("/double-solution/ordinary", test_ordinary);
  g_test_add_func ("/double-solution/near-ties", test_near_ties);
  g_test_add_func ("/double-solution/far-units", test_far_units);
  g_test_add_func ("/double-solution/one-large", test_one_large);
  g_test_add_func ("/double-solution/zero", test_zero);
  g_test_add_func ("/double-solution/sizes", test_sizes);

  return g_test_run ();
}
