/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-preconditioned-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/linear-model/apr-rounding-private.h"

/* Places of digits behind the first in the first attempt: 189 bits. */
#define FIRST_PLACES 9

/* Slices that are multiplied for one answer, at the most: some seconds. */
#define MAX_WORK 2e10
#define MAX_SLICES 96

typedef struct
{
  AprPreconditioned *system; /* (unowned) */
  const AprSlices *slices;   /* (unowned) */
  gsize column;
  AprDType dtype;
  gsize n;
  AprFixed residual;
  AprFixed x;     /* limb q counts 2^-(21 (q - lead)) */
  gsize top;      /* of x */
  gint64 error;   /* x is within 2^this */
  gboolean exact; /* x is the solution */
  gboolean right_exact;
  gsize right_slices;

  /* For Cramer's rule, known when it is needed. */
  gint64 *content; /* (owned) (nullable) by position */
  gint64 determinant_bits;
  gint64 grid;
} Refinement;

static void
refinement_clear (Refinement *self)
{
  apr_fixed_clear (&self->residual);
  apr_fixed_clear (&self->x);
  g_clear_pointer (&self->content, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Refinement, refinement_clear)

static gint64
floor_log2 (double value)
{
  return value > 0 ? (gint64) ilogb (value) : G_MININT32;
}

/* So that no entry of the right-hand side is 2 or more. */
static gint64
scale_of_right_side (const AprPreconditioned *system, gsize column)
{
  gint64 scale = G_MININT64;
  gsize i;

  for (i = 0; i < system->n_independent; i++)
    {
      gsize feature = system->independent[i];
      gint64 bits = apr_products_get_bits (system->products, column, feature);

      if (bits > 0)
        scale = MAX (scale, bits - system->scales[feature]);
    }

  return scale == G_MININT64 ? 0 : scale;
}

static void
refinement_init (Refinement *self,
                 AprPreconditioned *system,
                 const AprSlices *slices,
                 gsize column,
                 AprDType dtype,
                 gsize n_places)
{
  g_autoptr (AprSlices) right = NULL;
  gsize lead;

  *self = (Refinement){ .system = system, .slices = slices, .column = column, .dtype = dtype };
  self->n = system->n_independent;

  /* |x| <= |c| / least, with entries of c below 2. */
  lead =
    (gsize) MAX (0, 3 + floor_log2 (sqrt ((double) self->n)) - floor_log2 (system->least)) / APR_SLICE_BITS +
    1;
  apr_fixed_init (&self->x, self->n, lead + n_places + 3, lead);
  apr_fixed_init (&self->residual, self->n, lead + n_places + 3 + slices->n_slices, lead);

  system->scales[column] = scale_of_right_side (system, column);
  right = apr_slices_new (system->products, system->scales, system->independent, self->n, &column, 1,
                          n_places + 3 + slices->n_slices, 1);
  self->right_exact = right->exact;
  self->right_slices = right->n_slices;
  apr_fixed_add_column (&self->residual, right, 0);
}

/* The 2-norm of what the residual does not know because slices are left out. */
static double
bound_truncation (const Refinement *self)
{
  double sum = 0;
  double bound = 0;
  gsize i;

  if (!self->slices->exact)
    {
      for (i = 0; i < self->n; i++)
        sum += fabs (apr_fixed_get_double (&self->x, i, self->x.lead));
      bound +=
        sum * 1.001 * ldexp (1, -(APR_SLICE_TOP + APR_SLICE_BITS * ((gint) self->slices->n_slices - 1)));
    }
  if (!self->right_exact)
    bound += ldexp (1, -(APR_SLICE_TOP + APR_SLICE_BITS * ((gint) self->right_slices - 1)));

  return bound * sqrt ((double) self->n) * 1.001;
}

/* One correction, but for the first time, and what then is known of the error; false where nothing more can be had. */
static gboolean
refine (Refinement *self, AprDigits *digits, double *correction)
{
  AprPreconditioned *system = self->system;
  gsize top = apr_fixed_carry (&self->residual);
  gint64 unit = -(APR_SLICE_TOP + APR_SLICE_BITS * ((gint64) top - (gint64) self->residual.lead));
  gint64 before = self->error;
  double truncation;
  double norm;
  gsize i;

  if (top < self->residual.n_limbs)
    {
      for (i = 0; i < self->n; i++)
        correction[i] = apr_fixed_get_double (&self->residual, i, top);
      apr_cholesky_solve (&system->cholesky, correction);
      apr_digits_set (digits, correction, unit);
      if ((gint) self->x.lead + digits->place < 0 ||
          (gsize) ((gint) self->x.lead + digits->place) + 3 > self->x.n_limbs)
        return FALSE;
      apr_fixed_add_digits (&self->x, digits);
      apr_fixed_subtract_product (&self->residual, self->slices, digits, system->n_threads);
      top = apr_fixed_carry (&self->residual);
      unit = -(APR_SLICE_TOP + APR_SLICE_BITS * ((gint64) top - (gint64) self->residual.lead));
    }
  self->top = apr_fixed_carry (&self->x);

  truncation = bound_truncation (self);
  self->exact = top == self->residual.n_limbs && truncation == 0;
  if (self->exact)
    return TRUE;

  norm = 0;
  for (i = 0; i < self->n && top < self->residual.n_limbs; i++)
    {
      double value = apr_fixed_get_double (&self->residual, i, top);

      norm += value * value;
    }
  norm = sqrt (norm) * 1.001;

  self->error =
    MAX (floor_log2 (norm / system->least) + 1 + unit, floor_log2 (truncation / system->least) + 1) + 1;
  return self->error < before - 2;
}

static void
get_unknown (const Refinement *self, gsize position, mpz_t z)
{
  const gint64 *limbs = self->x.limbs + position * self->x.n_limbs;
  gsize q;

  mpz_set_ui (z, 0);
  for (q = self->top; q < self->x.n_limbs; q++)
    {
      mpz_mul_2exp (z, z, APR_SLICE_BITS);
      if (limbs[q] >= 0)
        mpz_add_ui (z, z, (unsigned long) limbs[q]);
      else
        mpz_sub_ui (z, z, (unsigned long) -limbs[q]);
    }
}

/* The exponent of the last limb of x. */
static gint64
last_exponent (const Refinement *self)
{
  return -APR_SLICE_BITS * ((gint64) self->x.n_limbs - 1 - (gint64) self->x.lead);
}

/* The exponent of an unknown, beside that of x. */
static gint64
unscale (const Refinement *self, gsize position)
{
  return self->system->scales[self->column] - self->system->scales[self->system->independent[position]];
}

/* Halfway between two floats, so that one rounding to double may hide which is nearer. */
static gboolean
is_between_floats (double value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);

  return (bits & 0x1fffffff) == 0x10000000;
}

/* Rounds what is clear from the first three limbs; all else is false. */
static gboolean
round_quickly (const Refinement *self, gsize position, double *value)
{
  const gint64 *limbs = self->x.limbs + position * self->x.n_limbs;
  gboolean narrow = self->dtype == APR_DTYPE_F32;
  gint64 exponent;
  gint64 whole;
  double high;
  double rest;
  double error;
  double least;
  double most;
  gsize q;

  for (q = self->top; q < self->x.n_limbs && limbs[q] == 0; q++)
    ;
  if (q + 5 > self->x.n_limbs)
    return FALSE;
  exponent = -APR_SLICE_BITS * ((gint64) q + 2 - (gint64) self->x.lead);
  if (self->error - exponent > 20 || ABS (limbs[q]) > 1 << APR_SLICE_BITS)
    return FALSE;

  whole = (limbs[q] * (1 << APR_SLICE_BITS) + limbs[q + 1]) * (1 << APR_SLICE_BITS) + limbs[q + 2];
  high = (double) whole;
  rest = (double) (whole - (gint64) high) +
         ((double) limbs[q + 3] + (double) limbs[q + 4] * (1.0 / (1 << APR_SLICE_BITS))) *
           (1.0 / (1 << APR_SLICE_BITS));
  error = 0x1p-40 + ldexp (1, (gint) MAX (self->error - exponent, -100));
  least = high + (rest - error);
  most = high + (rest + error);
  exponent += unscale (self, position);
  if (least != most || exponent < (narrow ? -120 : -1000) || exponent > (narrow ? 60 : 900) ||
      (narrow && is_between_floats (least)))
    return FALSE;

  *value = ldexp (narrow ? (double) (float) least : least, (gint) exponent);
  return TRUE;
}

/* Powers of two that can be divided out of rows and columns, and the size of the determinant of what then is left, which is no
 * more than the product of the diagonal. */
static void
bound_determinant (Refinement *self)
{
  const AprProducts *products = self->system->products;
  const gsize *independent = self->system->independent;
  gboolean any = FALSE;
  gsize i;
  gsize j;
  mpz_t entry;

  mpz_init (entry);
  self->content = g_new (gint64, self->n);
  for (i = 0; i < self->n; i++)
    {
      apr_products_get_integer (products, independent[i], independent[i], entry);
      self->content[i] = (gint64) mpz_scan1 (entry, 0) / 2;
      for (j = 0; j < i; j++)
        {
          gint64 excess;

          apr_products_get_integer (products, independent[i], independent[j], entry);
          if (mpz_sgn (entry) == 0)
            continue;
          excess = self->content[i] + self->content[j] - (gint64) mpz_scan1 (entry, 0);
          if (excess > 0)
            self->content[self->content[i] > self->content[j] ? i : j] -= excess;
        }
    }
  for (i = 0; i < self->n; i++)
    {
      gint64 whole;

      self->determinant_bits +=
        apr_products_get_bits (products, independent[i], independent[i]) - 2 * self->content[i];
      apr_products_get_integer (products, self->column, independent[i], entry);
      if (mpz_sgn (entry) == 0)
        continue;
      whole = (gint64) mpz_scan1 (entry, 0) - self->content[i];
      self->grid = any ? MIN (self->grid, whole) : whole;
      any = TRUE;
    }
  mpz_clear (entry);
}

static gboolean
round_unknown (Refinement *self, gsize position, double *value)
{
  AprApproximation unknown;
  gboolean rounded;

  if (round_quickly (self, position, value))
    return TRUE;

  mpz_init (unknown.significand);
  get_unknown (self, position, unknown.significand);
  unknown.exponent = last_exponent (self) + unscale (self, position);
  if (self->exact)
    {
      *value = apr_round_dyadic (unknown.significand, unknown.exponent, self->dtype);
      rounded = TRUE;
    }
  else
    {
      unknown.error = self->error + unscale (self, position);
      unknown.grid = self->content != NULL ? self->content[position] - self->grid : 0;
      unknown.denominator_bits = self->content != NULL ? self->determinant_bits : G_MAXINT32;
      rounded = apr_approximation_round (&unknown, self->dtype, value);
      if (!rounded)
        *value = apr_approximation_guess (&unknown, self->dtype);
    }
  mpz_clear (unknown.significand);

  return rounded;
}

/* The intercept is (sum of the target - sums of the features times their coefficients) / sum of the weights. */
static gboolean
round_intercept (Refinement *self, double *value)
{
  const AprPreconditioned *system = self->system;
  const mpz_t *sums = (const mpz_t *) system->products->sums;
  gint64 weight_bits = (gint64) mpz_sizeinbase (sums[0], 2);
  gint64 sum_bits = G_MININT32;
  gint64 greatest_scale = 0;
  gint64 unit;
  gboolean rounded = TRUE;
  AprApproximation intercept = { .denominator_bits = G_MAXINT32 };
  mpz_t part;
  gsize i;

  for (i = 0; i < self->n; i++)
    greatest_scale = i == 0 ? system->scales[system->independent[i]]
                            : MAX (greatest_scale, system->scales[system->independent[i]]);
  /* x is in units of 2^last_exponent, and the unknowns in units of 2^unit. */
  unit = MIN (0, last_exponent (self) + system->scales[self->column] - greatest_scale);

  mpz_init (part);
  mpz_init (intercept.significand);
  mpz_mul_2exp (intercept.significand, sums[1 + self->column], (mp_bitcnt_t) -unit);
  for (i = 0; i < self->n; i++)
    {
      gsize feature = system->independent[i];

      get_unknown (self, i, part);
      mpz_mul_2exp (part, part, (mp_bitcnt_t) (last_exponent (self) + unscale (self, i) - unit));
      mpz_submul (intercept.significand, part, sums[1 + feature]);
      sum_bits = MAX (sum_bits, (gint64) mpz_sizeinbase (sums[1 + feature], 2) + unscale (self, i));
      if (self->content != NULL)
        intercept.grid = MAX (intercept.grid, self->content[i] - self->grid);
    }

  if (self->exact || self->n == 0)
    *value = apr_round_rational (intercept.significand, sums[0], unit, self->dtype);
  else
    {
      gint64 shift;

      /* The error is that of the sum of n products, and what the division cuts off. */
      intercept.error = self->error + sum_bits + (gint64) g_bit_storage (self->n) - (weight_bits - 1) + 1;
      if (self->content != NULL)
        intercept.denominator_bits = self->determinant_bits + weight_bits;
      shift = MAX (0, unit - intercept.error);
      mpz_mul_2exp (intercept.significand, intercept.significand, (mp_bitcnt_t) shift);
      mpz_tdiv_q (intercept.significand, intercept.significand, sums[0]);
      intercept.exponent = unit - shift;
      intercept.error = MAX (intercept.error, intercept.exponent) + 1;
      rounded = apr_approximation_round (&intercept, self->dtype, value);
      if (!rounded)
        *value = apr_approximation_guess (&intercept, self->dtype);
    }

  mpz_clear (part);
  mpz_clear (intercept.significand);
  return rounded;
}

/* Refines until every rounding is certain, or no more can be had: then what there is is rounded. */
static gboolean
run (Refinement *self, double *unknowns, double *intercept)
{
  g_auto (AprDigits) digits = { 0 };
  g_autofree double *correction = g_new (double, apr_dense_pad (self->n));
  gboolean certain = FALSE;
  gboolean more = TRUE;
  gsize first = 0;
  gsize i;

  apr_digits_init (&digits, self->n);
  self->error = G_MAXINT32;
  while (more && !certain)
    {
      more = refine (self, &digits, correction) && !self->exact;

      /* The one that was in doubt first. */
      if (more && first < self->n && !round_unknown (self, first, &unknowns[first]))
        continue;
      certain = TRUE;
      for (i = 0; i < self->n && (certain || !more); i++)
        if (!round_unknown (self, i, &unknowns[i]))
          {
            certain = FALSE;
            first = i;
          }
      if (intercept != NULL && (certain || !more))
        certain = round_intercept (self, intercept) && certain;
    }

  return certain;
}

gboolean
apr_preconditioned_solve (
  AprPreconditioned *self, gsize target, AprDType dtype, double *unknowns, double *intercept)
{
  gsize column = self->products->n_features + target;
  gsize n = self->n_independent;
  g_autoptr (AprSlices) all = NULL;
  const AprSlices *slices = self->slices;
  double work;
  gint64 bits;

  if (!self->products->centred)
    intercept = NULL;

  {
    g_auto (Refinement) quick = { 0 };

    refinement_init (&quick, self, slices, column, dtype, FIRST_PLACES);
    if (run (&quick, unknowns, intercept))
      return TRUE;
  }

  /* All that there is to know, and as far as it takes to tell what lies halfway between two doubles, or is 0. */
  if (!slices->exact)
    slices = all = apr_slices_new (self->products, self->scales, self->independent, n, self->independent, n,
                                   MAX_SLICES, self->n_threads);
  {
    g_auto (Refinement) thorough = { 0 };
    g_auto (Refinement) bounds = { .system = self, .column = column, .n = n };

    bound_determinant (&bounds);
    bits = bounds.determinant_bits + ABS (bounds.grid) + 256;
    work = (double) bits / APR_SLICE_BITS * (double) slices->n_slices * (double) n * (double) slices->stride;
    if (!slices->exact || work > MAX_WORK)
      return FALSE;

    refinement_init (&thorough, self, slices, column, dtype, (gsize) bits / APR_SLICE_BITS);
    thorough.content = g_steal_pointer (&bounds.content);
    thorough.determinant_bits = bounds.determinant_bits;
    thorough.grid = bounds.grid;
    return run (&thorough, unknowns, intercept);
  }
}
