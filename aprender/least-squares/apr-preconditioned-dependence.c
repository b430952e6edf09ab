/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-preconditioned-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-parallel-private.h"

/* What is left of a feature a once the independent ones before it are taken out of it is the least that q (w) = a'a - 2 w'X'a +
 * w'X'X w can be. So any w gives an upper bound, and one that is nearly the best a good one, for q is flat there. With the
 * residual r = X'a - X'X w, q (w) = (a'a - w'X'a) - w'r. A bound that is clearly below 0 proves that there are no such samples.
 */

#define MAX_ROUNDS 4
#define PLACES 16

typedef struct
{
  AprPreconditioned *system; /* (unowned) */
  const AprSlices *slices; /* (unowned) of the products of the dependent features with the independent ones */
  const AprSlices *square; /* (unowned) of those of the independent ones */
  double negligible;
  const gboolean *proven; /* (unowned) those that are already */
  gint failed;
  gboolean *negative; /* (unowned) by dependent feature: the products are not those of samples */
} Proof;

static gboolean
prove_one (const Proof *proof, gsize index)
{
  AprPreconditioned *system = proof->system;
  const AprSlices *of_feature = proof->slices;
  gsize feature = system->dependent[index];
  gsize lead = (gsize) MAX (0, 8 - ilogb (system->least)) / APR_SLICES_BITS + 1;
  double *w = system->combinations + index * system->cholesky.stride;
  AprCholesky before = system->cholesky;
  AprSlices of_before = *proof->square;
  AprSlices row = *of_feature;
  g_autoptr (AprSlices) square =
    apr_slices_new (system->products, system->scales, &feature, 1, system->scales, &feature, 1,
                    MAX (of_feature->n_slices, APR_PRECONDITIONED_SLICES), 1);
  g_auto (AprFixed) residual = { 0 };
  g_auto (AprFixed) left = { 0 };
  g_auto (AprDigits) digits = { 0 };
  g_autofree double *correction = g_new (double, system->n_independent);
  double truncation =
    MAX (MAX (apr_slices_get_truncation (of_feature), apr_slices_get_truncation (proof->square)),
         apr_slices_get_truncation (square));
  double whole = apr_slices_get_double (square, 0, 0);
  gboolean proven = FALSE;
  gsize n = 0;
  int round;
  gsize i;

  /* Of the independent ones, those before it. */
  while (n < system->n_independent && system->independent[n] < feature)
    n++;
  before.n = n;
  of_before.n_rows = n;
  row.n_rows = 1;
  row.values += index * row.n_slices * row.stride;

  apr_digits_init (&digits, system->n_independent);
  digits.n = n;
  apr_fixed_init (&residual, n, lead + PLACES + of_feature->n_slices, lead);
  apr_fixed_add_row (&residual, &row, 0);
  apr_fixed_init (&left, 1, residual.n_limbs, lead);
  apr_fixed_add_row (&left, square, 0);

  for (round = 0; round < MAX_ROUNDS && !proven; round++)
    {
      gsize top = apr_fixed_carry (&residual);
      double sum = 0;
      double sizes = 0;
      double length = 1;
      double unit;
      double most;

      if (top < residual.n_limbs)
        {
          for (i = 0; i < n; i++)
            correction[i] = apr_fixed_get_double (&residual, i, top);
          apr_cholesky_solve (&before, correction);
          apr_digits_set (&digits, correction, apr_fixed_get_unit (&residual, top));
          if (!(digits.place >= -(gint) lead && digits.place <= PLACES - 3))
            return FALSE;
          apr_fixed_add_product (&residual, &of_before, &digits, -1, 1);
          apr_fixed_add_product (&left, &row, &digits, -1, 1);
          unit = ldexp (1, -APR_SLICES_BITS * digits.place);
          for (i = 0; i < n; i++)
            w[i] +=
              ((digits.digits[2][i] / (1 << APR_SLICES_BITS) + digits.digits[1][i]) / (1 << APR_SLICES_BITS) +
               digits.digits[0][i]) *
              unit;
          top = apr_fixed_carry (&residual);
        }

      unit = ldexp (1, (gint) apr_fixed_get_unit (&residual, top));
      for (i = 0; i < n; i++)
        {
          double value = top < residual.n_limbs ? apr_fixed_get_double (&residual, i, top) * unit : 0;

          sum += w[i] * value;
          sizes += fabs (w[i] * value);
          length += fabs (w[i]);
        }
      top = apr_fixed_carry (&left);
      most = top < left.n_limbs
             ? apr_fixed_get_double (&left, 0, top) * ldexp (1, (gint) apr_fixed_get_unit (&left, top))
             : 0;
      most += 0x1p-50 * fabs (most) - sum + 0x1p-40 * sizes + 1.01 * truncation * length * length;
      proven = most < proof->negligible * whole * (1 - 0x1p-40);
      proof->negative[index] = most < -proof->negligible * whole;
    }

  return proven;
}

static void
prove_some (gpointer data, gsize part, gsize n_parts)
{
  Proof *proof = data;
  gsize i;

  for (i = part; i < proof->system->n_dependent && !g_atomic_int_get (&proof->failed); i += n_parts)
    if (!proof->proven[i] && !prove_one (proof, i))
      g_atomic_int_set (&proof->failed, TRUE);
}

gboolean
apr_preconditioned_prove_dependence (AprPreconditioned *self, double negligible)
{
  double n = (double) self->n_independent;
  g_autoptr (AprSlices) slices = NULL;
  g_autoptr (AprSlices) square = NULL;
  g_autofree gboolean *proven = g_new0 (gboolean, self->n_dependent);
  g_autofree gboolean *negative = g_new0 (gboolean, self->n_dependent);
  Proof proof = { self, NULL, NULL, negligible, proven, FALSE, negative };
  gsize n_left = 0;
  gsize i;

  self->combinations = g_aligned_alloc0 (self->n_dependent * self->cholesky.stride + 1, sizeof (double), 64);
  apr_preconditioned_combine (self, negligible, proven);
  for (i = 0; i < self->n_dependent; i++)
    if (!proven[i])
      {
        memset (self->combinations + i * self->cholesky.stride, 0, self->cholesky.stride * sizeof (double));
        n_left++;
      }
  if (n_left == 0)
    return TRUE;

  /* The others one by one, with more digits and slices. */
  proof.slices = slices =
    apr_slices_new (self->products, self->scales, self->dependent, self->n_dependent, self->scales,
                    self->independent, self->n_independent, APR_PRECONDITIONED_SLICES, self->n_threads);
  proof.square = square =
    apr_slices_new (self->products, self->scales, self->independent, self->n_independent, self->scales,
                    self->independent, self->n_independent, APR_PRECONDITIONED_SLICES, self->n_threads);
  apr_parallel_run (prove_some, &proof, self->n_threads, n * n * APR_PRECONDITIONED_SLICES * (double) n_left);

  for (i = 0; i < self->n_dependent && self->negative < 0; i++)
    if (negative[i])
      self->negative = (gssize) self->dependent[i];

  return !proof.failed;
}
