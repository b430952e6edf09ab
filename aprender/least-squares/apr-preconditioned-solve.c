/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-preconditioned-private.h"

#include <math.h>

#include "aprender/least-squares/apr-refinement-private.h"

/* G x = c, where G and c are whole numbers. Cholesky's factors turn the exact residual c - G x into a correction of x, and the
 * bound on G's eigenvalues turns the same residual into a bound on the error that is left. So x can be had to any length,
 * and its rounding to a double is known for certain as soon as the error is too small to matter. Where it would matter
 * for ever, because x lies exactly halfway between two doubles or is exactly 0, Cramer's rule tells: x is a ratio of
 * two determinants, and a ratio that is closer to a dyadic number than the inverse of their common denominator is
 * equal to it.
 */

/* Places of digits behind the first in the first attempt: 189 bits. */
#define FIRST_PLACES 9

typedef struct
{
  AprPreconditioned *system; /* (unowned) */
  AprScaledProducts scaled;
  const AprSlices *slices; /* (unowned) (nullable) of the products, where the scaled ones have too few bits */
  AprFixed residual;
  gsize top; /* of the residual */
  AprDigits digits;
  double *correction; /* (owned) */
  double truncation;  /* what is left out of an entry of the right-hand side */
} Residual;

static void
residual_clear (Residual *self)
{
  apr_fixed_clear (&self->residual);
  apr_digits_clear (&self->digits);
  g_clear_pointer (&self->correction, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Residual, residual_clear)

static void
residual_init (Residual *self,
               AprPreconditioned *system,
               const AprSlices *slices,
               gsize column,
               gsize n_places,
               gsize lead)
{
  gsize n = system->n_independent;
  gsize n_limbs = lead + n_places;
  g_autoptr (AprSlices) right = NULL;

  *self = (Residual){ .system = system, .slices = slices };
  self->scaled = apr_preconditioned_get_scaled (system);
  n_limbs += slices != NULL ? slices->n_slices : apr_scaled_products_count_slices (&self->scaled);
  apr_fixed_init (&self->residual, n, n_limbs, lead);
  apr_digits_init (&self->digits, n);
  self->correction = g_new (double, n);

  right = apr_slices_new (system->products, system->scales, system->independent, n, system->scales, &column,
                          1, n_limbs - lead, 1);
  self->truncation = apr_slices_get_truncation (right);
  apr_fixed_add_column (&self->residual, right, 0);
  self->top = apr_fixed_carry (&self->residual);
}

/* The 2-norm of what the residual does not know. */
static double
bound_truncation (const Residual *self, AprRefinement *refinement)
{
  double truncation = self->slices != NULL ? apr_slices_get_truncation (self->slices)
                                           : apr_scaled_products_get_truncation (&self->scaled);
  double left_out = truncation > 0 ? truncation * apr_fixed_get_size (&refinement->x) : 0;

  return (left_out + self->truncation) * sqrt ((double) refinement->n) * 1.01;
}

static gboolean
correct (AprRefinement *refinement, gpointer data)
{
  Residual *self = data;
  AprPreconditioned *system = self->system;
  gsize n = refinement->n;
  gsize top = self->top;
  gint64 before = refinement->error;
  gint64 unit;
  double truncation;
  gsize i;

  if (top < self->residual.n_limbs)
    {
      for (i = 0; i < n; i++)
        self->correction[i] = apr_fixed_get_double (&self->residual, i, top);
      apr_cholesky_solve (&system->cholesky, self->correction);
      apr_digits_set (&self->digits, self->correction, apr_fixed_get_unit (&self->residual, top));
      if (!apr_fixed_has_place (&refinement->x, self->digits.place))
        return FALSE;
      apr_fixed_add_digits (&refinement->x, &self->digits);
      if (self->slices != NULL)
        apr_fixed_add_product (&self->residual, self->slices, &self->digits, -1, system->n_threads);
      else
        apr_fixed_add_scaled_product (&self->residual, &self->scaled, &self->digits, -1, system->n_threads);
      top = self->top = apr_fixed_carry (&self->residual);
    }

  truncation = bound_truncation (self, refinement);
  refinement->exact = top == self->residual.n_limbs && truncation == 0;
  unit = apr_fixed_get_unit (&self->residual, top);
  refinement->error = MAX (apr_floor_log2 (apr_fixed_get_norm (&self->residual, top) / system->least) + unit,
                           apr_floor_log2 (truncation / system->least)) +
                      2;

  return refinement->error < before - 2;
}

/* Powers of two that can be divided out of rows and columns, and the size of the determinant of what then is left, which is no
 * more than the product of the diagonal. */
static void
apply_cramer (AprRefinement *refinement)
{
  const AprProducts *products = refinement->products;
  const gsize *features = refinement->features;
  gint64 *content = refinement->grids = g_new (gint64, refinement->n);
  gint64 whole = G_MAXINT32;
  gsize i;
  gsize j;

  for (i = 0; i < refinement->n; i++)
    {
      content[i] = apr_products_count_zeros (products, features[i], features[i]) / 2;
      for (j = 0; j < i; j++)
        {
          gint64 excess =
            content[i] + content[j] - apr_products_count_zeros (products, features[i], features[j]);

          if (excess > 0)
            content[content[i] > content[j] ? i : j] -= excess;
        }
    }
  for (i = 0; i < refinement->n; i++)
    {
      refinement->denominator_bits +=
        apr_products_get_bits (products, features[i], features[i]) - 2 * content[i];
      whole = MIN (whole, apr_products_count_zeros (products, refinement->column, features[i]) - content[i]);
    }
  for (i = 0; i < refinement->n; i++)
    refinement->grids[i] -= whole;
}

/* The bits behind the point with which every rounding can be told. The intercept is the mean of the target less products of the
 * unknowns and the features' means, which take as many more as they are large beside the features' scales. */
static gint64
count_thorough_bits (const AprRefinement *refinement)
{
  const AprProducts *products = refinement->products;
  gint64 grid = 0;
  gint64 sum_bits = 0;
  gsize i;

  for (i = 0; i < refinement->n; i++)
    {
      mpz_t *sum = &products->sums[1 + refinement->features[i]];

      grid = MAX (grid, ABS (refinement->grids[i]) + MAX (0, refinement->exponents[i]));
      if (products->centred && mpz_sgn (*sum) != 0)
        sum_bits = MAX (sum_bits, (gint64) mpz_sizeinbase (*sum, 2) + refinement->exponents[i]);
    }

  return 256 + refinement->denominator_bits + grid + sum_bits;
}

static gboolean
solve_with (AprPreconditioned *self,
            const AprSlices *slices,
            gsize column,
            AprDType dtype,
            gboolean thorough,
            double *unknowns,
            double *intercept)
{
  gsize n = self->n_independent;
  /* |x| <= |c| / least, with entries of c below 2. */
  gsize lead =
    (gsize) MAX (0, 3 + apr_floor_log2 (sqrt ((double) n)) - apr_floor_log2 (self->least)) / APR_SLICES_BITS +
    1;
  gsize n_places = FIRST_PLACES;
  g_auto (AprRefinement) refinement = { 0 };
  g_auto (Residual) residual = { 0 };
  gsize i;

  apr_refinement_init (&refinement, self->products, column, dtype, self->independent, n);
  for (i = 0; i < n; i++)
    refinement.exponents[i] = self->scales[column] - self->scales[self->independent[i]];
  if (thorough)
    {
      apply_cramer (&refinement);
      n_places = (gsize) count_thorough_bits (&refinement) / APR_SLICES_BITS;
      if ((double) n_places * (double) slices->n_slices * (double) n * (double) n >
          APR_PRECONDITIONED_MAX_WORK)
        return FALSE;
    }
  apr_fixed_init (&refinement.x, n, lead + n_places + 3, lead);
  residual_init (&residual, self, slices, column, n_places + 3, lead);

  return apr_refinement_run (&refinement, correct, &residual, unknowns, intercept);
}

gboolean
apr_preconditioned_solve (
  AprPreconditioned *self, gsize target, AprDType dtype, double *coefficients, double *intercept)
{
  gsize column = self->products->n_features + target;
  gsize n = self->n_independent;
  g_autofree double *unknowns = g_new (double, n);
  g_autoptr (AprSlices) slices = NULL;
  gboolean certain;
  gsize i;

  apr_preconditioned_scale_column (self, column);
  certain = solve_with (self, NULL, column, dtype, FALSE, unknowns, intercept);

  /* With all that there is to know, and as far as it takes to tell what lies halfway between two doubles, or is 0. */
  if (!certain)
    {
      slices = apr_slices_new (self->products, self->scales, self->independent, n, self->scales,
                               self->independent, n, apr_preconditioned_count_slices (self), self->n_threads);
      certain = solve_with (self, slices, column, dtype, FALSE, unknowns, intercept) ||
                solve_with (self, slices, column, dtype, TRUE, unknowns, intercept);
    }

  for (i = 0; i < n; i++)
    coefficients[self->independent[i]] = unknowns[i];
  return certain;
}
