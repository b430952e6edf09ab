/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-least-norm-private.h"

#include <math.h>

#include "aprender/base/apr-parallel-private.h"
#include "aprender/least-squares/apr-refinement-private.h"

/* Let G_I be the products of all features with the independent ones, and c_I those of the independent ones with the target.
 * The coefficients b of least norm are those in the range of G_I with G_I' b = c_I: for some v,
 *
 *   r = G_I v - b = 0 and s = c_I - G_I' b = 0.
 *
 * For any b and v, b is off by r across the range, and within it by no more than |s| over the least singular value of G_I, which is
 * no less than the least eigenvalue of the independent features' own products: they are part of it. So exact residuals
 * bound the error here too.
 *
 * For the correction: G_I = Q A with A the scaled products of the independent ones and Q' the identity and what the dependent ones
 * are combinations of, all unscaled. With u = A dv, db = Q u + r, and Q'Q u = A^-1 s - Q'r.
 *
 * A feature's row of G_I is scaled by the greatest scale of all, for b must not be scaled.
 */
struct _AprLeastNorm
{
  AprPreconditioned *system; /* (unowned) */
  gsize n;                   /* of the features that take part */
  gsize *features;           /* (owned) the independent ones, then the dependent ones */
  gint64 *uniform;           /* (owned) the greatest scale, for all */
  gint64 spread;             /* between the greatest scale and the least of the independent ones */
  double *factors;           /* (owned) of a feature: 2^(its scale - the greatest) */
  gboolean few;              /* dependent features, beside the independent ones */
  AprCholesky squares;       /* of Q'Q, or, where they are few, of what is called S below */
};

#define FIRST_PLACES 9

/* Beyond this, the corrections would underflow sooner or later. */
#define MAX_SPREAD 100

/* Where dependent features are few, and scales so near to each other that nothing is lost by it,
 *
 *   Q'Q = F^2 + W'W, (Q'Q)^-1 = F^-2 - F^-2 W' S^-1 W F^-2, S = I + W F^-2 W'
 *
 * with F the factors of the independent features, and W what the dependent ones are combinations of.
 */
#define FEW 8
#define MAX_NEAR 8

static void
multiply_squares (gpointer data, gsize part, gsize n_parts)
{
  AprLeastNorm *self = data;
  const AprPreconditioned *system = self->system;
  gsize n = system->n_independent;
  gsize stride = self->squares.stride;
  gsize i;
  gsize j;

  for (i = part * APR_DENSE_PAD; i < n; i += n_parts * APR_DENSE_PAD)
    {
      double *rows = self->squares.rows + i * stride;
      gsize n_rows = MIN (APR_DENSE_PAD, n - i);

      for (j = 0; j < n_rows; j++)
        rows[j * stride + i + j] = -self->factors[i + j] * self->factors[i + j];
      self->squares.kernel->subtract_products (rows + i, stride, system->combinations + i, stride,
                                               system->combinations + i, stride, n_rows, stride - i,
                                               system->n_dependent);
      for (j = 0; j < n_rows * stride; j++)
        rows[j] = -rows[j];
    }
}

static void
multiply_few (AprLeastNorm *self)
{
  const AprPreconditioned *system = self->system;
  gsize n = system->n_independent;
  gsize stride = system->cholesky.stride;
  g_autofree double *row = g_new (double, n);
  gsize i;
  gsize j;

  for (i = 0; i < system->n_dependent; i++)
    {
      for (j = 0; j < n; j++)
        row[j] = system->combinations[i * stride + j] / (self->factors[j] * self->factors[j]);
      for (j = i; j < system->n_dependent; j++)
        self->squares.rows[i * self->squares.stride + j] =
          (i == j ? 1 : 0) + self->squares.kernel->dot (row, system->combinations + j * stride, n);
    }
}

static gboolean
factorise (AprLeastNorm *self)
{
  AprPreconditioned *system = self->system;
  gsize n = system->n_independent;
  gsize n_squares;
  g_autofree double *least = NULL;
  g_autofree gsize *positions = NULL;
  gsize i;
  gsize j;

  for (i = 0; i < system->n_dependent; i++)
    for (j = 0; j < n; j++)
      system->combinations[i * system->cholesky.stride + j] *= self->factors[n + i];

  self->few = FEW * system->n_dependent < n && self->spread <= MAX_NEAR;
  n_squares = self->few ? system->n_dependent : n;
  apr_cholesky_init (&self->squares, n_squares);
  if (self->few)
    multiply_few (self);
  else
    apr_parallel_run (multiply_squares, self, system->n_threads,
                      (double) n * (double) n * (double) system->n_dependent / 16);

  least = g_new0 (double, n_squares);
  positions = g_new (gsize, n_squares);
  return apr_cholesky_factorise (&self->squares, least, positions, system->n_threads) == n_squares;
}

/* Divides @x by Q'Q. */
static void
divide_by_squares (const AprLeastNorm *self, double *x)
{
  const AprPreconditioned *system = self->system;
  const AprDenseKernel *kernel = self->squares.kernel;
  gsize n = system->n_independent;
  gsize stride = system->cholesky.stride;
  g_autofree double *product = NULL;
  gsize i;

  if (!self->few)
    {
      apr_cholesky_solve (&self->squares, x);
      return;
    }

  product = g_new (double, system->n_dependent);
  for (i = 0; i < n; i++)
    x[i] /= self->factors[i] * self->factors[i];
  for (i = 0; i < system->n_dependent; i++)
    product[i] = kernel->dot (system->combinations + i * stride, x, n);
  apr_cholesky_solve (&self->squares, product);
  for (i = 0; i < n; i++)
    x[i] *= self->factors[i] * self->factors[i];
  for (i = 0; i < system->n_dependent; i++)
    kernel->subtract_scaled (x, system->combinations + i * stride, product[i], n);
  for (i = 0; i < n; i++)
    x[i] /= self->factors[i] * self->factors[i];
}

AprLeastNorm *
apr_least_norm_new (AprPreconditioned *system)
{
  g_autoptr (AprLeastNorm) self = g_new0 (AprLeastNorm, 1);
  const AprProducts *products = system->products;
  gint64 greatest = 0;
  gsize i;

  self->system = system;
  self->n = system->n_independent + system->n_dependent;
  self->features = g_new (gsize, self->n);
  self->uniform = g_new (gint64, products->n_features);
  self->factors = g_new (double, self->n);
  for (i = 0; i < self->n; i++)
    {
      self->features[i] =
        i < system->n_independent ? system->independent[i] : system->dependent[i - system->n_independent];
      greatest =
        i == 0 ? system->scales[self->features[i]] : MAX (greatest, system->scales[self->features[i]]);
    }
  for (i = 0; i < system->n_independent; i++)
    self->spread = MAX (self->spread, greatest - system->scales[system->independent[i]]);
  for (i = 0; i < products->n_features; i++)
    self->uniform[i] = greatest;
  if (self->spread > MAX_SPREAD)
    return NULL;
  for (i = 0; i < self->n; i++)
    self->factors[i] = ldexp (1, (gint) MAX (system->scales[self->features[i]] - greatest, -1000));

  return factorise (self) ? g_steal_pointer (&self) : NULL;
}

void
apr_least_norm_free (AprLeastNorm *self)
{
  if (self == NULL)
    return;

  apr_cholesky_clear (&self->squares);
  g_free (self->features);
  g_free (self->uniform);
  g_free (self->factors);
  g_free (self);
}

typedef struct
{
  AprLeastNorm *norm; /* (unowned) */
  AprTallProducts tall;
  AprSlices *outward; /* (owned) (nullable) G_I, where the tall products have too few bits */
  AprSlices *inward;  /* (owned) (nullable) G_I' */
  AprFixed across;    /* r */
  AprFixed within;    /* s */
  AprDigits b;
  AprDigits v;
  double *db;        /* (owned) */
  double *dv;        /* (owned) */
  double *u;         /* (owned) */
  double v_size;     /* the sum of the magnitudes */
  double truncation; /* of c_I */
} Residuals;

static void
residuals_clear (Residuals *self)
{
  g_clear_pointer (&self->outward, apr_slices_free);
  g_clear_pointer (&self->inward, apr_slices_free);
  apr_fixed_clear (&self->across);
  apr_fixed_clear (&self->within);
  apr_digits_clear (&self->b);
  apr_digits_clear (&self->v);
  g_clear_pointer (&self->db, g_free);
  g_clear_pointer (&self->dv, g_free);
  g_clear_pointer (&self->u, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Residuals, residuals_clear)

/* With so many slices of the products, or the products as they lie where it is 0. */
static void
residuals_init (Residuals *self, AprLeastNorm *norm, gsize column, gsize n_slices, gsize lead, gsize n_places)
{
  AprPreconditioned *system = norm->system;
  gsize n = system->n_independent;
  g_autoptr (AprSlices) right = NULL;
  gsize n_limbs;

  *self = (Residuals){ .norm = norm };
  self->tall =
    (AprTallProducts){ system->products, norm->uniform[0], system->scales, norm->features, norm->n, n };
  n_limbs = lead + n_places + 3;
  if (n_slices > 0)
    {
      self->outward = apr_slices_new (system->products, norm->uniform, norm->features, norm->n,
                                      system->scales, system->independent, n, n_slices, system->n_threads);
      self->inward = apr_slices_new_transposed (self->outward);
      n_limbs += self->outward->n_slices;
    }
  else
    n_limbs += apr_tall_products_count_slices (&self->tall);
  apr_fixed_init (&self->across, norm->n, n_limbs, lead);
  apr_fixed_init (&self->within, n, n_limbs, lead);
  apr_digits_init (&self->b, norm->n);
  apr_digits_init (&self->v, n);
  self->db = g_new (double, norm->n);
  self->dv = g_new (double, n);
  self->u = g_new (double, n);

  right = apr_slices_new (system->products, system->scales, system->independent, n, system->scales, &column,
                          1, n_limbs - lead, 1);
  self->truncation = apr_slices_get_truncation (right);
  apr_fixed_add_column (&self->within, right, 0);
}

/* Corrections for the residuals @db = r and @dv = s, in place. */
static void
find_corrections (Residuals *self)
{
  AprLeastNorm *norm = self->norm;
  AprPreconditioned *system = norm->system;
  const AprDenseKernel *kernel = system->cholesky.kernel;
  gsize stride = system->cholesky.stride;
  gsize n = system->n_independent;
  gsize i;

  apr_cholesky_solve (&system->cholesky, self->dv);
  for (i = 0; i < n; i++)
    self->u[i] = self->dv[i] - norm->factors[i] * self->db[i];
  for (i = 0; i < system->n_dependent; i++)
    kernel->subtract_scaled (self->u, system->combinations + i * stride, self->db[n + i], n);
  divide_by_squares (norm, self->u);

  for (i = 0; i < n; i++)
    {
      self->dv[i] = self->u[i];
      self->db[i] += norm->factors[i] * self->u[i];
    }
  for (i = 0; i < system->n_dependent; i++)
    self->db[n + i] += kernel->dot (system->combinations + i * stride, self->u, n);
  apr_cholesky_solve (&system->cholesky, self->dv);
}

static gboolean
correct (AprRefinement *refinement, gpointer data)
{
  Residuals *self = data;
  AprPreconditioned *system = self->norm->system;
  gsize across_top = apr_fixed_carry (&self->across);
  gsize within_top = apr_fixed_carry (&self->within);
  gsize top = MIN (across_top, within_top);
  gint64 before = refinement->error;
  double b_size = 0;
  double across;
  double within;
  double truncation;
  gint64 unit;
  gsize i;

  if (top < self->across.n_limbs)
    {
      unit = apr_fixed_get_unit (&self->across, top);
      for (i = 0; i < self->across.n; i++)
        self->db[i] = apr_fixed_get_double (&self->across, i, top);
      for (i = 0; i < self->within.n; i++)
        self->dv[i] = apr_fixed_get_double (&self->within, i, top);
      find_corrections (self);
      apr_digits_set (&self->b, self->db, unit);
      apr_digits_set (&self->v, self->dv, unit);
      if (!apr_fixed_has_place (&refinement->x, self->b.place) ||
          !apr_fixed_has_place (&refinement->x, self->v.place))
        return FALSE;
      apr_fixed_add_digits (&refinement->x, &self->b);
      apr_fixed_add_digits_as_residual (&self->across, &self->b, -1);
      if (self->outward != NULL)
        {
          apr_fixed_add_product (&self->across, self->outward, &self->v, 1, system->n_threads);
          apr_fixed_add_product (&self->within, self->inward, &self->b, -1, system->n_threads);
        }
      else
        apr_fixed_add_tall_products (&self->across, &self->within, &self->tall, &self->v, &self->b,
                                     system->n_threads);
      for (i = 0; i < self->v.n; i++)
        self->v_size += (fabs (self->v.digits[0][i]) + 1) * ldexp (1, -APR_SLICES_BITS * self->v.place);
      across_top = apr_fixed_carry (&self->across);
      within_top = apr_fixed_carry (&self->within);
      top = MIN (across_top, within_top);
    }

  truncation = self->outward != NULL ? apr_slices_get_truncation (self->outward)
                                     : apr_tall_products_get_truncation (&self->tall);
  if (truncation > 0)
    b_size = apr_fixed_get_size (&refinement->x);
  across = self->v_size * truncation * sqrt ((double) refinement->n) * 1.01;
  within = (b_size * truncation + self->truncation) * sqrt ((double) system->n_independent) * 1.01;
  refinement->exact = top == self->across.n_limbs && across == 0 && within == 0;

  unit = apr_fixed_get_unit (&self->across, top);
  refinement->error =
    MAX (MAX (apr_floor_log2 (apr_fixed_get_norm (&self->across, top)) + unit, apr_floor_log2 (across)),
         MAX (apr_floor_log2 (apr_fixed_get_norm (&self->within, top) / system->least) + unit,
              apr_floor_log2 (within / system->least)) +
           self->norm->spread);
  /* Four parts, each up to twice its power of two. */
  refinement->error += 3;

  return refinement->error < before - 2;
}

/* b = G_I (G_I' G_I)^-1 c_I, with a determinant that is no more than the product of the diagonal. */
static void
apply_cramer (AprLeastNorm *self, AprRefinement *refinement)
{
  const AprProducts *products = refinement->products;
  const AprPreconditioned *system = self->system;
  gint64 content = G_MAXINT32;
  gint64 whole = G_MAXINT32;
  gsize i;
  gsize j;

  for (i = 0; i < system->n_independent; i++)
    {
      gsize feature = system->independent[i];
      gint64 bits = 0;

      for (j = 0; j < self->n; j++)
        {
          content = MIN (content, apr_products_count_zeros (products, feature, self->features[j]));
          bits = MAX (bits, apr_products_get_bits (products, feature, self->features[j]) + 1);
        }
      whole = MIN (whole, apr_products_count_zeros (products, refinement->column, feature));
      refinement->denominator_bits += 2 * bits + g_bit_storage (self->n);
    }
  refinement->denominator_bits -= 2 * content * (gint64) system->n_independent;
  refinement->grids = g_new (gint64, self->n);
  for (i = 0; i < self->n; i++)
    refinement->grids[i] = content - whole;
}

static gboolean
solve_with (AprLeastNorm *self,
            gsize column,
            AprDType dtype,
            gsize n_slices,
            gboolean thorough,
            double *unknowns,
            double *intercept,
            gboolean *accurate)
{
  AprPreconditioned *system = self->system;
  gsize n = system->n_independent;
  gsize lead =
    (gsize) (2 * (self->spread - ilogb (system->least)) + 2 * (gint64) g_bit_storage (self->n) + 6) /
      APR_SLICES_BITS +
    2;
  gsize n_places = FIRST_PLACES + (gsize) self->spread / APR_SLICES_BITS;
  gsize top = 0;
  g_auto (AprRefinement) refinement = { 0 };
  g_auto (Residuals) residuals = { 0 };
  gboolean certain;
  gsize i;

  apr_refinement_init (&refinement, system->products, column, dtype, self->features, self->n);
  for (i = 0; i < self->n; i++)
    refinement.exponents[i] = system->scales[column] - self->uniform[0];
  if (thorough)
    {
      apply_cramer (self, &refinement);
      n_places = (gsize) (256 + refinement.denominator_bits + ABS (refinement.grids[0]) +
                          MAX (0, refinement.exponents[0])) /
                 APR_SLICES_BITS;
      if ((double) n_places * 2 * (double) system->products->n_limbs * (GMP_NUMB_BITS / APR_SLICES_BITS) *
            (double) n * (double) self->n >
          APR_PRECONDITIONED_MAX_WORK)
        return FALSE;
    }
  residuals_init (&residuals, self, column, n_slices, lead, n_places);
  apr_fixed_init (&refinement.x, self->n, lead + n_places + 3, lead);
  if (thorough && !residuals.outward->exact)
    return FALSE;

  certain = apr_refinement_run (&refinement, correct, &residuals, unknowns, intercept);
  top = apr_fixed_carry (&refinement.x);
  *accurate = certain || refinement.error < -APR_SLICES_BITS * ((gint64) top - (gint64) lead) - 75;
  return certain;
}

gboolean
apr_least_norm_solve (AprLeastNorm *self,
                      gsize target,
                      AprDType dtype,
                      double *coefficients,
                      double *intercept,
                      gboolean *accurate)
{
  gsize column = self->system->products->n_features + target;
  g_autofree double *unknowns = g_new (double, self->n);
  gboolean certain;
  gsize i;

  apr_preconditioned_scale_column (self->system, column);
  certain =
    solve_with (self, column, dtype, 0, FALSE, unknowns, intercept, accurate) ||
    solve_with (self, column, dtype, APR_PRECONDITIONED_SLICES + (gsize) self->spread / APR_SLICES_BITS,
                FALSE, unknowns, intercept, accurate) ||
    solve_with (self, column, dtype, apr_preconditioned_count_slices (self->system), TRUE, unknowns,
                intercept, accurate);

  for (i = 0; i < self->n; i++)
    coefficients[self->features[i]] = unknowns[i];
  return certain;
}
