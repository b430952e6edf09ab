/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-dual-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-parallel-private.h"
#include "aprender/least-squares/apr-refinement-private.h"
#include "aprender/least-squares/apr-rounding-private.h"

/* Solves M v = c to any length, as far as it takes to round each sum b = X'u with u = B v. */

/* How exact v is made before sums are tried. */
#define DOUBLE_BITS 100
#define FLOAT_BITS 64

/* One target. */
typedef struct
{
  AprDualSystem *system; /* (unowned) */
  const AprRun *run;     /* (unowned) */
  gsize target;
  AprDType dtype;
  double *coefficients; /* (unowned) */
  double *intercept;    /* (unowned) */
  guint8 *open;         /* (owned) of each feature: it is not rounded yet */
  gsize n_open;
  gboolean intercept_open;
  AprDualVector u;
  gint64 error_bits; /* an error of v, in its scales, is at most 2^this times as large in u */

  /* v is a multiple of 2^-grid when multiplied by a whole number below 2^denominator_bits; 0 where not known. */
  gint64 grid;
  gint64 denominator_bits;
} Rounding;

static void
rounding_clear (Rounding *self)
{
  g_clear_pointer (&self->open, g_free);
  apr_dual_vector_clear (&self->u);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Rounding, rounding_clear)

static void
rounding_init (Rounding *self, AprDualSystem *system, gsize target, AprDType dtype, const AprRun *run)
{
  const AprNormalEquations *equations = &system->equations;
  gint64 max = G_MININT32;
  gsize bits = 1;
  gsize k;

  *self = (Rounding){ .system = system, .run = run, .target = target, .dtype = dtype };
  apr_dual_vector_init (&self->u, system->rows->n);
  for (k = 0; k < system->n; k++)
    {
      max = MAX (max, -equations->scales[k]);
      if (system->factors != NULL)
        bits = MAX (bits, mpz_sizeinbase (system->factors[k], 2));
    }
  for (k = 0; k < system->rows->n * system->n && system->dense != NULL; k++)
    bits = MAX (bits, mpz_sizeinbase (system->dense[k], 2));
  self->error_bits = equations->scales[system->n + target] + max + system->exponent + (gint64) bits +
                     (gint64) g_bit_storage (system->n);
}

/* u = B v */
static void
load (Rounding *self, const AprSolution *solution)
{
  AprDualSystem *system = self->system;
  AprDualVector *u = &self->u;
  const gint64 *scales = system->equations.scales;
  gint64 max_scale = 0;
  mpz_t *v = apr_integers_new (system->n);
  gsize i;
  gsize k;

  for (k = 0; k < system->n; k++)
    max_scale = MAX (max_scale, scales[k]);
  for (k = 0; k < system->n; k++)
    {
      apr_limbs_get_integer (apr_fixed_get (&solution->x, k), solution->x.n_limbs, v[k]);
      mpz_mul_2exp (v[k], v[k], (mp_bitcnt_t) (max_scale - scales[k]));
    }
  for (i = 0; i < u->n; i++)
    mpz_set_ui (u->numbers[i], 0);
  for (k = 0; k < system->n && system->dense == NULL; k++)
    {
      mpz_t *number = &u->numbers[system->samples[k]];

      if (system->factors != NULL)
        mpz_mul (*number, v[k], system->factors[k]);
      else
        mpz_set (*number, v[k]);
      if (system->reference >= 0)
        mpz_sub (u->numbers[system->reference], u->numbers[system->reference], *number);
    }
  for (i = 0; i < u->n && system->dense != NULL; i++)
    for (k = 0; k < system->n; k++)
      mpz_addmul (u->numbers[i], system->dense[i * system->n + k], v[k]);
  apr_integers_free (v, system->n);

  u->exponent = scales[system->n + self->target] - max_scale - solution->x.fraction + system->exponent;
  u->error = apr_scale_error (solution->error, self->error_bits);
  apr_dual_vector_lead (u);
}

static gboolean
round_feature (Rounding *self, gsize feature, gboolean exactly, double *values)
{
  double *coefficient = &self->coefficients[feature];

  if (apr_dual_vector_round_feature (&self->u, self->system->rows, feature, self->dtype, values, coefficient))
    return TRUE;

  return exactly && apr_dual_vector_round_exactly (&self->u, values, self->grid - self->system->exponent,
                                                   self->denominator_bits, self->dtype, coefficient);
}

typedef struct
{
  Rounding *rounding;
  gboolean exactly;
  gint n_open;
} Round;

static void
round_some (gpointer data, gsize part, gsize n_parts)
{
  Round *round = data;
  Rounding *self = round->rounding;
  gsize n_features = self->system->rows->n_features;
  g_autofree double *values = g_new (double, apr_dense_pad (self->system->rows->n));
  gsize end = n_features * (part + 1) / n_parts;
  gint n_open = 0;
  gsize i;

  for (i = n_features * part / n_parts; i < end && !apr_run_is_cancelled (self->run); i++)
    if (self->open[i] != 0)
      {
        self->open[i] = !round_feature (self, i, round->exactly, values);
        n_open += self->open[i];
      }
  g_atomic_int_add (&round->n_open, n_open);
}

/* (sum of W y - sum of K w times u) / sum of W */
static gboolean
round_intercept (Rounding *self)
{
  const AprDualSystem *system = self->system;
  gint64 k_exponent = system->k_exponent + self->u.exponent;
  gint64 unit = MIN (k_exponent, system->y_exponent);
  gint64 bits = 0;
  AprApproximation value = { .denominator_bits = self->denominator_bits };
  gboolean certain;
  mpz_t sum;
  gsize i;

  mpz_init (sum);
  mpz_init (value.significand);
  for (i = 0; i < self->u.n; i++)
    {
      mpz_addmul (sum, system->products_w[i], self->u.numbers[i]);
      bits = MAX (bits, (gint64) mpz_sizeinbase (system->products_w[i], 2));
    }
  mpz_mul_2exp (sum, sum, (mp_bitcnt_t) (k_exponent - unit));
  mpz_mul_2exp (value.significand, system->targets[self->target], (mp_bitcnt_t) (system->y_exponent - unit));
  mpz_sub (value.significand, value.significand, sum);

  value.exponent = unit;
  /* That of the sum of n products. */
  value.error =
    apr_scale_error (self->u.error, bits + system->k_exponent + (gint64) g_bit_storage (self->u.n));
  value.grid = MAX (self->grid - system->exponent - system->k_exponent, -system->y_exponent);
  certain = apr_approximation_round_quotient (&value, system->weight, self->dtype, self->intercept);
  mpz_clear (sum);
  mpz_clear (value.significand);

  return certain;
}

/* Rounds what is open; returns whether nothing is any more. */
static gboolean
round_open (Rounding *self, const AprSolution *solution, gboolean exactly)
{
  Round round = { self, exactly };
  gsize n_features = self->system->rows->n_features;

  if (apr_run_is_cancelled (self->run))
    return FALSE;

  load (self, solution);
  if (self->n_open > 0)
    apr_parallel_run (round_some, &round, self->run->n_threads,
                      8 * (double) self->n_open * (double) self->u.n + (double) n_features);
  self->n_open = (gsize) round.n_open;
  if (self->intercept_open)
    self->intercept_open = !round_intercept (self);

  return self->n_open == 0 && !self->intercept_open && !apr_run_is_cancelled (self->run);
}

static gboolean
solve_with_leading_bits (Rounding *self)
{
  AprDualSystem *system = self->system;
  gint64 enough = self->dtype == APR_DTYPE_F32 ? -FLOAT_BITS : -DOUBLE_BITS;
  gboolean more = TRUE;
  g_auto (AprSolution) solution = { 0 };

  apr_solution_init (&solution, &system->equations, system->n + self->target, APR_REFINEMENT_FIRST_BITS,
                     FALSE);
  while (more && solution.error > enough)
    more = apr_solution_refine (&solution, self->run) && !apr_run_is_cancelled (self->run);
  if (round_open (self, &solution, solution.error == APR_EXACT || !more))
    return TRUE;

  while (more)
    more = apr_solution_refine (&solution, self->run) && !apr_run_is_cancelled (self->run);

  return round_open (self, &solution, TRUE);
}

/* The bits behind the point that v needs for Cramer's rule to decide what is still open. */
static gint64
count_bits (const Rounding *self)
{
  const AprDualSystem *system = self->system;
  const AprSampleRows *rows = system->rows;
  g_autofree double *values = g_new (double, rows->n);
  /* Halfway between two numbers there is a multiple of half the smallest one. */
  gint64 smallest = -apr_rounding_get_smallest_exponent (self->dtype) + 1;
  gint64 bits = 0;
  gsize i;
  gsize j;

  for (i = 0; i < rows->n_features; i++)
    if (self->open[i] != 0)
      {
        gint64 lowest = G_MAXINT32;
        gint64 size = G_MININT32;

        apr_sample_rows_read_feature (rows, i, values);
        for (j = 0; j < rows->n; j++)
          if (values[j] != 0)
            {
              gint exponent;

              (void) frexp (values[j], &exponent);
              size = MAX (size, exponent);
              lowest = MIN (lowest, exponent - 53);
            }
        /* Zeros have a coefficient of 0, which is not open. */
        bits = MAX (bits, MAX (smallest, self->grid - system->exponent - lowest) + size);
      }
  if (self->intercept_open)
    for (i = 0; i < rows->n; i++)
      bits = MAX (
        bits, MAX (MAX (smallest, self->grid - system->exponent - system->k_exponent), -system->y_exponent) +
                (gint64) mpz_sizeinbase (system->products_w[i], 2) + system->k_exponent);

  return bits + self->denominator_bits + self->error_bits + (gint64) g_bit_storage (rows->n) + 64;
}

/* Finds what Cramer's rule says of v. */
static void
apply_cramer (Rounding *self)
{
  const AprDualSystem *system = self->system;
  AprTarget target = { .index = self->target, .dtype = self->dtype };
  g_auto (AprRefinement) refinement = { 0 };

  apr_refinement_init (&refinement, &system->products, &target, system->equations.independent, system->n,
                       self->run);
  apr_refinement_apply_cramer (&refinement, refinement.features, refinement.n);
  self->denominator_bits = refinement.denominator_bits;
  self->grid = apr_refinement_get_max_grid (&refinement);
}

static gboolean
solve_with_all_bits (Rounding *self)
{
  const AprNormalEquations *equations = &self->system->equations;
  gsize n = self->system->n;
  double n_products = (double) n * (double) n * (double) self->system->products.n_limbs;
  gint64 enough = self->dtype == APR_DTYPE_F32 ? -FLOAT_BITS : -DOUBLE_BITS;
  gint64 fraction;
  gboolean more = TRUE;
  g_auto (AprSolution) solution = { 0 };

  apply_cramer (self);
  fraction = MAX (APR_REFINEMENT_FIRST_BITS, count_bits (self) + equations->inverse_bits);
  fraction = apr_refinement_limit_bits (fraction, equations->inverse_bits, n_products);

  apr_solution_init (&solution, equations, n + self->target, fraction, TRUE);
  while (more)
    {
      more = apr_solution_refine (&solution, self->run) && !apr_run_is_cancelled (self->run);
      /* Bits are tried whenever there are twice as many. */
      if (!more || solution.error > enough)
        continue;
      if (round_open (self, &solution, TRUE))
        return TRUE;
      enough *= 2;
    }

  return round_open (self, &solution, TRUE);
}

/* Without unknowns all is exact. */
static void
round_mean (Rounding *self)
{
  self->u.error = APR_EXACT;
  if (self->intercept_open)
    (void) round_intercept (self);
}

gboolean
apr_dual_system_solve (AprDualSystem *self,
                       gsize target,
                       AprDType dtype,
                       const AprRun *run,
                       const gboolean *excluded,
                       double *coefficients,
                       double *intercept)
{
  gsize n_features = self->rows->n_features;
  g_auto (Rounding) rounding = { 0 };
  gsize i;

  memset (coefficients, 0, n_features * sizeof *coefficients);
  if (self->n == 0)
    {
      rounding = (Rounding){ .system = self, .target = target, .dtype = dtype };
      apr_dual_vector_init (&rounding.u, self->rows->n);
      rounding.intercept = intercept;
      rounding.intercept_open = self->centred;

      round_mean (&rounding);

      return TRUE;
    }

  /* Without rounding, M is definite. */
  g_assert (self->equations.n_independent == self->n);
  apr_normal_equations_scale_column (&self->equations, self->n + target);
  rounding_init (&rounding, self, target, dtype, run);
  rounding.coefficients = coefficients;
  rounding.intercept = intercept;
  rounding.intercept_open = self->centred;
  rounding.open = g_new (guint8, n_features);
  for (i = 0; i < n_features; i++)
    {
      rounding.open[i] = !excluded[i];
      rounding.n_open += rounding.open[i];
    }

  return (self->equations.inverse_bits < APR_REFINEMENT_MAX_INVERSE_BITS &&
          solve_with_leading_bits (&rounding)) ||
         (!apr_run_is_cancelled (run) && solve_with_all_bits (&rounding));
}
