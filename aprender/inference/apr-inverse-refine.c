/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-inverse-private.h"

#include <float.h>
#include <math.h>

#include "aprender/inference/apr-exact-fit-private.h"
#include "aprender/inference/apr-inference-private.h"
#include "aprender/least-squares/apr-products-private.h"

/* Bits that a solution has behind its point at first, and those that each step adds. */
#define FIRST_FRACTION 110
#define STEP 40

/* Steps without an exact fit: a sum of squares this small is none of doubles. */
#define MAX_STEPS 400

/* Bits by which a solution's sum of squares, less the least one, is below that: so that the least one can be told, or
 * so that what the solution leaves of each sample can. */
#define SQUARES_MARGIN 8
#define SAMPLES_MARGIN 116

/* Steps after which the root, which was rounded, is taken to be too coarse. */
#define FEW_STEPS 8

/* A solution b = z 2^-fraction in scaled numbers, and what is exactly true of it, with s the scales and t the target's:
 *
 *   residual[j] = 2^fine (c[j] - sum over i of P[j][i] b[i] 2^(t - s[i]))
 *   value = 2^(2 fine) (c'c - 2 b'c + b'P b), the sum of squares that b leaves
 */
typedef struct
{
  const AprDesign *design; /* (unowned) */
  gsize column;
  mpz_t *z;        /* (owned) */
  mpz_t *residual; /* (owned) */
  mpz_t value;
  gint64 fraction;
  gint64 max_scale; /* of the features */
  gint64 fine;
} Solution;

static void
solution_init (Solution *self, const AprInverse *inverse, const AprDesign *design, gsize target)
{
  gsize i;

  *self = (Solution){ .design = design, .column = inverse->n + target };
  self->z = apr_integers_new (inverse->n);
  self->residual = apr_integers_new (inverse->n);
  mpz_init (self->value);
  for (i = 0; i < inverse->n; i++)
    self->max_scale = MAX (self->max_scale, design->scale[i]);
  self->fraction = MAX (FIRST_FRACTION, design->scale[self->column] - self->max_scale);
}

static void
solution_clear (Solution *self)
{
  apr_integers_free (self->z, self->design->n);
  apr_integers_free (self->residual, self->design->n);
  mpz_clear (self->value);
}

/* Adds @value 2^fraction to @z, cut off. */
static void
add_double (mpz_t z, double value, gint64 fraction)
{
  gint exponent;
  mpz_t addend;

  if (value == 0 || !isfinite (value))
    return;

  mpz_init_set_d (addend, ldexp (frexp (value, &exponent), DBL_MANT_DIG));
  fraction += exponent - DBL_MANT_DIG;
  if (fraction >= 0)
    mpz_mul_2exp (addend, addend, (mp_bitcnt_t) fraction);
  else
    mpz_tdiv_q_2exp (addend, addend, (mp_bitcnt_t) -fraction);
  mpz_add (z, z, addend);
  mpz_clear (addend);
}

/* False where cancelled. */
static gboolean
find_residual (Solution *self, const AprRun *run)
{
  const AprDesign *design = self->design;
  mpz_t *shifted = apr_integers_new (design->n);
  mpz_t product;
  gsize i;
  gsize j;

  mpz_init (product);
  self->fine = self->fraction + self->max_scale - design->scale[self->column];
  for (i = 0; i < design->n; i++)
    {
      mpz_mul_2exp (shifted[i], self->z[i], (mp_bitcnt_t) (self->max_scale - design->scale[i]));
      apr_design_get_product (design, i, self->column, self->residual[i]);
      mpz_mul_2exp (self->residual[i], self->residual[i], (mp_bitcnt_t) self->fine);
    }
  for (i = 0; i < design->n && !apr_run_is_cancelled (run); i++)
    for (j = 0; j <= i; j++)
      {
        apr_design_get_product (design, i, j, product);
        mpz_submul (self->residual[i], product, shifted[j]);
        if (i != j)
          mpz_submul (self->residual[j], product, shifted[i]);
      }

  /* c'c - b'(c + residual) */
  apr_design_get_product (design, self->column, self->column, self->value);
  mpz_mul_2exp (self->value, self->value, 2 * (mp_bitcnt_t) self->fine);
  for (i = 0; i < design->n; i++)
    {
      apr_design_get_product (design, i, self->column, product);
      mpz_mul_2exp (product, product, (mp_bitcnt_t) self->fine);
      mpz_add (product, product, self->residual[i]);
      mpz_submul (self->value, shifted[i], product);
    }
  mpz_clear (product);
  apr_integers_free (shifted, design->n);

  return !apr_run_is_cancelled (run);
}

/* root' of root times the residual, which is what b lacks; returns the sum of squares that it would take away. */
static double
find_correction (const AprInverse *self, const Solution *solution, AprDoubleDouble *correction, gint64 unit)
{
  g_autofree AprDoubleDouble *right = g_new (AprDoubleDouble, self->n + 1);
  g_autofree AprDoubleDouble *product = g_new (AprDoubleDouble, self->n + 1);
  double squares = 0;
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    right[i] = apr_dd_from_integer (solution->residual[i], -unit - solution->design->scale[i]);
  apr_inverse_multiply_root (self, right, product);
  for (j = 0; j < self->n; j++)
    {
      correction[j] = (AprDoubleDouble){ 0, 0 };
      squares += product[j].high * product[j].high;
      for (i = j; i < self->n; i++)
        correction[j] =
          apr_dd_add (correction[j], apr_dd_multiply (apr_double_doubles_get (self->root, i, j), product[i]));
    }

  return squares;
}

static void
take_solution (AprInverse *self, const Solution *solution, gsize target)
{
  mpf_t number;
  gsize i;

  mpf_init2 (number, 192);
  for (i = 0; i < self->n; i++)
    {
      mpf_set_z (number, solution->z[i]);
      mpf_div_2exp (number, number, (mp_bitcnt_t) solution->fraction);
      apr_double_doubles_set (self->solutions, target, i, apr_inference_to_double_double (number, 0));
    }
  mpf_clear (number);
}

/* Nothing is left. Takes @exact. */
static void
take_exact (AprInverse *self, const Solution *solution, gsize target, guint64 *exact)
{
  mpf_set_ui (self->residuals[target], 0);
  take_solution (self, solution, target);
  if (self->exact != NULL)
    g_ptr_array_index (self->exact, target) = exact;
  else
    g_free (exact);
}

/* Of the sum of squares that a solution leaves, (b - b*)'P(b - b*) = r'P^-1 r is above the least one: a part that is
 * small, and known to some 50 bits. */
static gboolean
refine (AprInverse *self, Solution *solution, gsize target, int margin, int max_steps, const AprRun *run)
{
  gsize n = self->n;
  g_autofree AprDoubleDouble *correction = g_new (AprDoubleDouble, n + 1);
  gint64 target_scale = solution->design->scale[solution->column];
  int step;
  gsize i;

  for (step = 0; step < max_steps; step++)
    {
      gint64 top = 0; /* the residual's top bit, scaled */
      gint64 bits;
      g_autofree guint64 *exact = NULL;
      double excess;
      mpf_t low;

      if (!find_residual (solution, run))
        return FALSE;
      if (mpz_sgn (solution->value) == 0)
        {
          take_exact (self, solution, target,
                      apr_exact_solution_new (solution->design, target, solution->z, solution->fraction));
          return TRUE;
        }
      if (mpz_sgn (solution->value) < 0)
        return FALSE;

      for (i = 0; i < n; i++)
        top = MAX (top, (gint64) mpz_sizeinbase (solution->residual[i], 2) + solution->max_scale -
                          solution->design->scale[i]);
      top -= solution->max_scale;
      excess = find_correction (self, solution, correction, top);

      /* In units of 2^(2 top): the value is that times 2^bits. */
      mpf_init2 (low, 192);
      mpf_set_prec (self->residuals[target], 192);
      mpf_set_z (self->residuals[target], solution->value);
      bits = (gint64) mpz_sizeinbase (solution->value, 2) - 1;
      if (bits - 2 * top - margin > ilogb (excess > 0 ? excess : DBL_MIN) + 1)
        {
          mpf_set_d (low, excess);
          if (top >= 0)
            mpf_mul_2exp (low, low, 2 * (mp_bitcnt_t) top);
          else
            mpf_div_2exp (low, low, 2 * (mp_bitcnt_t) -top);
          mpf_sub (self->residuals[target], self->residuals[target], low);
          mpf_div_2exp (self->residuals[target], self->residuals[target], 2 * (mp_bitcnt_t) solution->fine);
          mpf_clear (low);
          take_solution (self, solution, target);
          return TRUE;
        }
      mpf_clear (low);

      if (step == 2 &&
          (solution->design->saturated || apr_is_exact_fit (solution->design, target, &exact, run)))
        {
          take_exact (self, solution, target, g_steal_pointer (&exact));
          return TRUE;
        }

      for (i = 0; i < n; i++)
        mpz_mul_2exp (solution->z[i], solution->z[i], STEP);
      solution->fraction += STEP;
      if (self->factor != NULL)
        apr_inverse_correct_long (self, solution->design, solution->residual, solution->fine + target_scale,
                                  solution->z, solution->fraction, run);
      for (i = 0; i < n && self->factor == NULL; i++)
        {
          gint64 exponent = top - solution->fine - target_scale + solution->fraction;

          add_double (solution->z[i], correction[i].high, exponent);
          add_double (solution->z[i], correction[i].low, exponent);
        }
    }

  return FALSE;
}

gboolean
apr_inverse_refine (AprInverse *self, const AprDesign *design, gsize target, const AprRun *run)
{
  Solution solution;
  gboolean known;
  gsize i;

  if (design->saturated)
    {
      mpf_set_ui (self->residuals[target], 0);
      return TRUE;
    }

  solution_init (&solution, self, design, target);
  for (i = 0; i < self->n; i++)
    {
      AprDoubleDouble near = apr_double_doubles_get (self->solutions, target, i);

      add_double (solution.z[i], near.high, solution.fraction);
      add_double (solution.z[i], near.low, solution.fraction);
    }
  known = refine (self, &solution, target, SQUARES_MARGIN, MAX_STEPS, run);
  solution_clear (&solution);

  return known;
}

/* Refines from @near; false where that does not get there. */
static gboolean
refine_from (AprInverse *self,
             const AprDesign *design,
             gsize target,
             const double *near,
             int max_steps,
             mpz_t *numbers,
             gint64 *fraction,
             const AprRun *run)
{
  Solution solution;
  gboolean known;
  gsize i;

  solution_init (&solution, self, design, target);
  for (i = 0; i < self->n; i++)
    add_double (solution.z[i], near[i], solution.fraction);
  known = refine (self, &solution, target, SAMPLES_MARGIN, max_steps, run);
  *fraction = solution.fraction;
  for (i = 0; i < self->n; i++)
    mpz_swap (numbers[i], solution.z[i]);
  solution_clear (&solution);

  return known;
}

gint64
apr_inverse_solve_exactly (AprDoubleDoubles root,
                           const AprDesign *design,
                           gsize target,
                           const double *near,
                           mpz_t *numbers,
                           const AprRun *run)
{
  AprInverse inverse = {
    .n = design->n, .n_targets = design->n_targets, .n_right = design->n_columns - design->n, .root = root
  };
  gint64 fraction;
  gboolean known;
  gsize i;

  inverse.solutions = apr_double_doubles_new (inverse.n_right, inverse.n, run);
  inverse.residuals = g_new (mpf_t, inverse.n_targets);
  for (i = 0; i < inverse.n_targets; i++)
    mpf_init2 (inverse.residuals[i], 64);

  known = refine_from (&inverse, design, target, near, FEW_STEPS, numbers, &fraction, run);
  inverse.root = known ? (AprDoubleDoubles){ NULL } : apr_double_doubles_new (inverse.n, inverse.n, run);
  if (!known && inverse.root.high != NULL && inverse.solutions.high != NULL && !apr_run_is_cancelled (run) &&
      apr_inverse_factorise_long (&inverse, design, run))
    known = refine_from (&inverse, design, target, near, MAX_STEPS, numbers, &fraction, run);
  apr_inverse_clear (&inverse);

  /* No samples have such products, but for their rounding. */
  for (i = 0; i < design->n && !known; i++)
    {
      if (i == 0)
        fraction = FIRST_FRACTION;
      mpz_set_ui (numbers[i], 0);
      add_double (numbers[i], near[i], fraction);
    }

  return fraction;
}
