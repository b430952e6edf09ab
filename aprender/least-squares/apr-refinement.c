/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-refinement-private.h"

#include <math.h>

#include "aprender/least-squares/apr-normal-equations-private.h"

/* A x = c, where A and c are whole numbers, scaled by powers of two. A factorisation in floating point turns the
 * residual c - A x, which has no rounding, into a correction of x, and a bound on the inverse of A turns the same
 * residual into a bound on the error: |x - A^-1 c| <= |A^-1| |c - A x|. So x can be had to any length, and its
 * rounding is certain as soon as the error is too small to matter (iterative refinement with a posteriori bounds: N.
 * J. Higham, "Accuracy and stability of numerical algorithms", 2002, chapter 12; S. M. Rump, "Verification methods",
 * 2010).
 *
 * Where the error would matter for ever, because an unknown is exactly 0 or halfway between two doubles, Cramer's rule
 * decides: the unknown is a ratio of two determinants, and a ratio that is closer to such a number than the inverse of
 * their common denominator is equal to it.
 */

/* Bits that Cramer's rule needs beyond its own count: those of a sum, and of a division. */
#define SPARE_BITS 64

/* Limb products that one answer may take, some seconds, and the bits behind the point where it would take more. */
#define MAX_WORK 5e8
#define MAX_UNPROVEN_BITS 512

/* Of a long coefficient: it may be a fourth of 2^(its bits). */
#define LONG_SPARE_BITS 2

/* Room for what many corrections add up to, beyond what one may reach. */
#define WHOLE_SPARE_BITS 32

/* Bits of an error that a correction, rounded to double, can take away. */
#define CORRECTION_BITS 51

void
apr_refinement_init (AprRefinement *self,
                     const AprProducts *products,
                     const AprTarget *target,
                     const gsize *features,
                     gsize n,
                     const AprRun *run)
{
  *self = (AprRefinement){ .products = products,
                           .target = target,
                           .column = products->n_features + target->index,
                           .run = run,
                           .n = n,
                           .features = features };
  self->exponents = g_new0 (gint64, n);
  self->error = G_MAXINT32;
}

void
apr_refinement_clear (AprRefinement *self)
{
  g_clear_pointer (&self->exponents, g_free);
  g_clear_pointer (&self->grids, g_free);
}

gint64
apr_floor_log2 (double value)
{
  return value > 0 ? (gint64) ilogb (value) : G_MININT32;
}

/* Returns b such that the sum of the column of unknown @i times its coefficient is below 2^b times the unknown. */
static gint64
get_sum_exponent (const AprRefinement *self, gsize i)
{
  mpz_t *sum = &self->products->sums[1 + self->features[i]];

  return mpz_sgn (*sum) != 0 ? (gint64) mpz_sizeinbase (*sum, 2) + self->exponents[i] : G_MININT32;
}

/* Finds for each feature the power of two that can be divided out of its row and its column of A, and the length of
 * what is left of its square. */
static void
divide_square (
  const AprRefinement *self, const gsize *features, gsize n, gint64 *contents, gint64 *square_bits)
{
  const AprProducts *products = self->products;
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    {
      contents[i] = apr_products_count_zeros (products, features[i], features[i]) / 2;
      for (j = 0; j < i; j++)
        {
          gint64 excess =
            contents[i] + contents[j] - apr_products_count_zeros (products, features[i], features[j]);

          if (excess > 0)
            contents[contents[i] > contents[j] ? i : j] -= excess;
        }
    }
  for (i = 0; i < n; i++)
    square_bits[i] = apr_products_get_bits (products, features[i], features[i]) - 2 * contents[i];
}

/* The same of the columns of G, and of the diagonal of G'G. */
static void
divide_columns (
  const AprRefinement *self, const gsize *features, gsize n, gint64 *contents, gint64 *square_bits)
{
  gsize i;
  gsize j;

  for (j = 0; j < n; j++)
    {
      gint64 bits = 0;

      contents[j] = G_MAXINT32;
      for (i = 0; i < self->n; i++)
        {
          contents[j] =
            MIN (contents[j], apr_products_count_zeros (self->products, self->features[i], features[j]));
          bits = MAX (bits, apr_products_get_bits (self->products, self->features[i], features[j]));
        }
      square_bits[j] = 2 * (bits - contents[j]) + (gint64) g_bit_storage (self->n);
    }
}

/* With D the powers of two that are divided out, A = D B D and v = D^-1 B^-1 (D^-1 c), or G = H D and b = H (H'H)^-1
 * (D^-1 c). The determinant of B, or of H'H, is at most the product of its diagonal (Hadamard). */
void
apr_refinement_apply_cramer (AprRefinement *self, const gsize *features, gsize n)
{
  gboolean square = n == self->n;
  g_autofree gint64 *contents = g_new (gint64, 2 * n);
  gint64 *square_bits = contents + n;
  gint64 whole = G_MAXINT32;
  gsize i;

  if (square)
    divide_square (self, features, n, contents, square_bits);
  else
    divide_columns (self, features, n, contents, square_bits);
  for (i = 0; i < n; i++)
    {
      self->denominator_bits += square_bits[i];
      whole = MIN (whole, apr_products_count_zeros (self->products, self->column, features[i]) - contents[i]);
    }
  self->grids = g_new (gint64, self->n);
  for (i = 0; i < self->n; i++)
    self->grids[i] = (square ? contents[i] : 0) - whole;
}

gint64
apr_refinement_get_max_grid (const AprRefinement *self)
{
  gint64 max = G_MININT32;
  gsize i;

  for (i = 0; i < self->n; i++)
    max = MAX (max, self->grids[i]);

  return max;
}

gint64
apr_refinement_limit_bits (gint64 bits, gint64 lost_bits, double n_products)
{
  /* Some thousand features are too many for even this: GCOVR_EXCL_BR_START */
  return (double) bits * n_products / 64 > MAX_WORK ? MIN (bits, MAX_UNPROVEN_BITS + lost_bits) : bits;
  /* GCOVR_EXCL_BR_STOP */
}

gint64
apr_refinement_count_bits (const AprRefinement *self)
{
  /* Halfway between two numbers there is a multiple of half the smallest one. */
  gint64 smallest = -apr_rounding_get_smallest_exponent (self->target->dtype) + 1;
  gint64 max_grid = MAX (smallest, apr_refinement_get_max_grid (self));
  gint64 max_sum = 0;
  const AprLongCoefficients *wanted = self->target->wanted;
  gint64 bits = 0;
  gsize i;

  for (i = 0; i < self->n; i++)
    {
      max_sum = MAX (max_sum, self->products->centred ? get_sum_exponent (self, i) : 0);
      bits = MAX (bits, self->exponents[i] +
                          (wanted != NULL ? self->grids[i] + wanted->bits : MAX (smallest, self->grids[i])));
    }
  if (self->products->centred && wanted == NULL)
    bits = MAX (bits, max_grid + max_sum);

  return bits + self->denominator_bits + (gint64) g_bit_storage (self->n) + SPARE_BITS;
}

/* Returns whether the coefficient is known to as many bits as are wanted, or known to be 0. */
static gboolean
keep_unknown (const AprRefinement *self, gsize i, const AprApproximation *unknown)
{
  AprLongCoefficients *wanted = self->target->wanted;
  gsize feature = self->features[i];
  gint64 bits = apr_fixed_get_exponent (self->x, i);

  apr_limbs_get_integer (apr_fixed_get (self->x, i), self->x->n_limbs, wanted->significands[feature]);
  wanted->exponents[feature] = unknown->exponent;
  if (self->error == APR_EXACT)
    return TRUE;
  if (bits > self->error)
    return bits - LONG_SPARE_BITS - wanted->bits >= self->error;

  mpz_set_ui (wanted->significands[feature], 0);
  return apr_approximation_is_zero (unknown);
}

/* Where it is not @last, the coefficient is not set if more steps are sure to be needed. */
static gboolean
round_unknown (const AprRefinement *self, gsize i, gboolean last)
{
  AprDType dtype = self->target->dtype;
  const mp_limb_t *limbs = apr_fixed_get (self->x, i);
  AprApproximation unknown = { .exponent = self->exponents[i] - self->x->fraction,
                               .error = apr_scale_error (self->error, self->exponents[i]),
                               .grid = self->grids != NULL ? self->grids[i] : 0,
                               .denominator_bits = self->denominator_bits };
  double *coefficient;
  gboolean rounded;

  if (self->target->wanted != NULL)
    return keep_unknown (self, i, &unknown);
  coefficient = &self->target->coefficients[self->features[i]];
  if (apr_round_leading (limbs, self->x->n_limbs, unknown.exponent, unknown.error, dtype, coefficient))
    return TRUE;
  if (!last && self->grids == NULL)
    return FALSE;

  mpz_init (unknown.significand);
  apr_limbs_get_integer (limbs, self->x->n_limbs, unknown.significand);
  rounded = apr_approximation_round (&unknown, dtype, coefficient);
  mpz_clear (unknown.significand);

  return rounded;
}

/* The intercept is (sum of the target - sums of the features times their coefficients) / sum of the weights. */
static gboolean
round_intercept (const AprRefinement *self)
{
  mpz_t *sums = self->products->sums;
  gint64 sum_exponent = G_MININT32;
  gint64 unit = 0;
  gint64 room = 2 * GMP_NUMB_BITS + (gint64) mpz_sizeinbase (sums[1 + self->column], 2);
  AprApproximation intercept = { .error = APR_EXACT, .denominator_bits = self->denominator_bits };
  gboolean rounded;
  mpz_t part;
  gsize i;

  for (i = 0; i < self->n; i++)
    unit = MIN (unit, self->exponents[i] - self->x->fraction);

  /* Where all is about as large as the largest term, nothing is allocated again. */
  room += MAX (-unit, 0);
  mpz_init2 (part, (mp_bitcnt_t) room);
  mpz_init2 (intercept.significand, (mp_bitcnt_t) room);
  mpz_mul_2exp (intercept.significand, sums[1 + self->column], (mp_bitcnt_t) -unit);
  for (i = 0; i < self->n; i++)
    {
      mpz_t *sum = &sums[1 + self->features[i]];

      if (mpz_sgn (*sum) == 0)
        continue;
      apr_limbs_get_integer (apr_fixed_get (self->x, i), self->x->n_limbs, part);
      mpz_mul_2exp (part, part, (mp_bitcnt_t) (self->exponents[i] - self->x->fraction - unit));
      mpz_submul (intercept.significand, part, *sum);
      sum_exponent = MAX (sum_exponent, get_sum_exponent (self, i));
      if (self->grids != NULL)
        intercept.grid = MAX (intercept.grid, self->grids[i]);
    }

  intercept.exponent = unit;
  /* That of the sum of n products. */
  if (sum_exponent != G_MININT32)
    intercept.error = apr_scale_error (self->error, sum_exponent + (gint64) g_bit_storage (self->n));
  rounded =
    apr_approximation_round_quotient (&intercept, sums[0], self->target->dtype, self->target->intercept);

  mpz_clear (part);
  mpz_clear (intercept.significand);
  return rounded;
}

gboolean
apr_refinement_run (AprRefinement *self, AprRefinementStep step, gpointer data)
{
  gboolean certain = FALSE;
  gboolean more = TRUE;
  gsize doubted = 0;
  double left = 1;
  gsize i;

  while (more && !certain)
    {
      more = step (self, data) && self->error != APR_EXACT;
      if (apr_run_is_cancelled (self->run))
        return FALSE;
      /* How many steps there will be is not known: each is a fourth of what is left. */
      left *= 0.75;
      apr_run_report (self->run, 1 - left);

      /* The one that was in doubt first. */
      if (more && doubted < self->n && !round_unknown (self, doubted, FALSE))
        continue;
      certain = TRUE;
      for (i = 0; i < self->n && (certain || !more); i++)
        if (!round_unknown (self, i, !more))
          {
            certain = FALSE;
            doubted = i;
          }
      if (self->products->centred && self->target->wanted == NULL && (certain || !more))
        certain = round_intercept (self) && certain;
    }

  return certain;
}

static gint64
get_scale (const AprSolution *self, gsize i)
{
  return self->equations->scales[self->equations->independent[i]];
}

/* Finds the magnitude of the residual, and its leading digits. */
static void
measure (AprSolution *self)
{
  gsize i;

  self->top = G_MININT64;
  for (i = 0; i < self->residual.n; i++)
    {
      gint64 exponent = apr_fixed_get_exponent (&self->residual, i);

      if (exponent != G_MININT64)
        self->top = MAX (self->top, exponent - get_scale (self, i));
    }
  for (i = 0; i < self->residual.n && self->top != G_MININT64; i++)
    self->leading[i] = apr_fixed_get_double (&self->residual, i, self->top + get_scale (self, i));
}

void
apr_solution_init (
  AprSolution *self, const AprNormalEquations *equations, gsize column, gint64 fraction, gboolean all_bits)
{
  const AprProducts *products = equations->products;
  gsize n = equations->n_independent;
  gint64 log2_n = (gint64) g_bit_storage (n);
  gint64 bits = apr_scaled_products_get_bits (n);
  gint64 min_scale = 0;
  gint64 max_scale = 0;
  gint64 residual_fraction;
  gsize i;

  *self = (AprSolution){ .equations = equations, .column = column, .all_bits = all_bits };
  for (i = 0; i < n; i++)
    {
      min_scale = i == 0 ? get_scale (self, i) : MIN (min_scale, get_scale (self, i));
      max_scale = MAX (max_scale, get_scale (self, i));
    }

  /* |x| <= |A^-1| |c|, with numbers of c that are below 2. */
  self->whole = equations->inverse_bits + log2_n + 4;
  apr_fixed_init (&self->x, n, fraction, self->whole + WHOLE_SPARE_BITS);

  /* As fine as the products of the last bit of x. */
  residual_fraction =
    all_bits ? MAX (fraction + max_scale, equations->scales[column]) : fraction + bits - min_scale;
  apr_fixed_init (&self->residual, n, residual_fraction, self->whole + max_scale + log2_n + WHOLE_SPARE_BITS);
  self->leading = g_new (double, n);
  apr_correction_init (&self->correction, n);
  for (i = 0; i < n; i++)
    apr_fixed_add (&self->residual, i, apr_products_get (products, column, equations->independent[i]),
                   products->n_limbs, -equations->scales[column]);

  measure (self);
  self->error = self->top != G_MININT64 ? self->top + log2_n + equations->inverse_bits : 0;
}

void
apr_solution_clear (AprSolution *self)
{
  apr_fixed_clear (&self->x);
  apr_fixed_clear (&self->residual);
  g_clear_pointer (&self->leading, g_free);
  apr_correction_clear (&self->correction);
}

/* Returns the exponent of a bound on the error that @norm, in the 2-norm, of a residual stands for. */
static gint64
bound_error (const AprSolution *self, double norm)
{
  const AprNormalEquations *equations = self->equations;

  if (equations->ldlt != NULL)
    return apr_floor_log2 (norm) + 1 + equations->inverse_bits;

  return apr_floor_log2 (norm / equations->min_eigenvalue) + 1;
}

/* Returns the error that what the residual has lost stands for. */
static gint64
bound_truncation (const AprSolution *self)
{
  gsize n = self->residual.n;
  double root = 1.01 * sqrt ((double) n);
  gint64 bits = apr_scaled_products_get_bits (n);
  gint64 min_scale = G_MAXINT32;
  gint64 max_scale = 0;
  gint64 truncation = APR_EXACT;
  double size = 0;
  gsize i;

  if (self->all_bits)
    return truncation;

  for (i = 0; i < n; i++)
    {
      min_scale = MIN (min_scale, get_scale (self, i));
      max_scale = MAX (max_scale, get_scale (self, i));
      size += fabs (apr_fixed_get_double (&self->x, i, self->whole));
    }
  /* A unit of each product, and one of the right-hand side. */
  if (2 * max_scale > bits && size > 0)
    truncation = bound_error (self, root * size) + self->whole - bits;
  if (self->equations->scales[self->column] > self->residual.fraction)
    truncation = MAX (truncation, bound_error (self, root) - (self->residual.fraction + min_scale)) + 1;

  return truncation;
}

gboolean
apr_solution_refine (AprSolution *self, const AprRun *run)
{
  const AprNormalEquations *equations = self->equations;
  gint64 before = self->error;
  gint64 truncation;
  gint64 error = APR_EXACT;
  gsize i;

  self->corrected = FALSE;
  if (self->top != G_MININT64)
    {
      gint64 exponent = self->top;

      if (equations->ldlt != NULL)
        exponent = apr_ldlt_solve (equations->ldlt, &self->residual, self->top, self->leading, run);
      else
        apr_cholesky_solve (&equations->cholesky, self->leading);
      if (!apr_correction_set (&self->correction, self->leading, exponent, self->x.fraction, self->whole))
        return FALSE;
      self->corrected = TRUE;
      apr_fixed_add_correction (&self->x, &self->correction, 0, 1);
      if (self->all_bits)
        apr_fixed_add_products (&self->residual, equations->products, equations->independent,
                                equations->independent, equations->scales, 0, &self->correction, -1, run);
      else
        {
          AprScaledProducts scaled = apr_normal_equations_get_scaled (equations);

          apr_fixed_subtract_scaled (&self->residual, &scaled, &self->correction, run);
        }
      measure (self);
    }

  truncation = bound_truncation (self);
  if (self->top != G_MININT64)
    {
      double sum = 0;

      for (i = 0; i < self->residual.n; i++)
        sum += self->leading[i] * self->leading[i];
      error = bound_error (self, 1.001 * sqrt (sum)) + self->top;
    }
  self->error = error;
  if (error == APR_EXACT && truncation == APR_EXACT)
    return FALSE;

  /* Where A is nearly singular, a residual says little. But a solution for it leaves only a part of the error, and so
   * does rounding that to a correction, which has no bit behind the last of x. */
  if (self->corrected && equations->ldlt != NULL)
    {
      gint64 part = MAX (equations->contraction, -CORRECTION_BITS) + 1 + before;
      gint64 unit = (gint64) g_bit_storage (self->x.n) - self->x.fraction;

      self->error = MIN (self->error, MAX (part, unit));
    }
  /* What the residual has lost counts in either. */
  self->error = MAX (self->error, truncation) + 1;

  return self->error < before - 2;
}
