/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-non-negative-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/least-squares/apr-normal-equations-private.h"

/* The solution is the unconstrained one of some features, the passive ones, and 0 for the others, if no passive
 * coefficient is negative and no gradient c_i - G_i b of the others is positive (the Karush-Kuhn-Tucker conditions).
 * The passive coefficients are correctly rounded, so the signs of the gradients can be proven.
 *
 * The passive set is found by exchanging all features with a wrong sign (block principal pivoting: L. F. Portugal, J.
 * J. Judice and L. N. Vicente, 1994), which takes a few steps as a rule; where the number of wrong signs does not fall
 * for PATIENCE steps, by the algorithm of C. L. Lawson and R. J. Hanson, "Solving least squares problems", 1974, which
 * ends because every step reduces the sum of squares.
 */
#define PATIENCE 5

typedef struct
{
  const AprProducts *products; /* (unowned) */
  const gboolean *excluded;    /* (unowned) */
  double rank_tolerance;
  gsize target;
  AprRun run; /* of what is left of the work */

  gboolean *blocked; /* (owned) features that depend on the passive ones */
  gboolean *passive; /* (owned) */
  double *values;    /* (owned) the coefficients of the passive features, as doubles */
  int *signs;        /* (owned) of the gradients of the others: 0 where it cannot be proven */
  gboolean certain;  /* the coefficients are */
} Search;

static void
search_clear (Search *self)
{
  g_clear_pointer (&self->blocked, g_free);
  g_clear_pointer (&self->passive, g_free);
  g_clear_pointer (&self->values, g_free);
  g_clear_pointer (&self->signs, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Search, search_clear)

/* Solves for the passive features, and removes those that depend on others of them from the set. */
static void
solve_passive (Search *self, AprDType dtype, double *coefficients, double *intercept)
{
  gsize p = self->products->n_features;
  g_autofree gboolean *excluded = g_new (gboolean, p);
  g_autoptr (AprNormalEquations) equations = NULL;
  AprRun part = apr_run_get_part (&self->run, 0, 0.25);
  gsize i;

  /* How often this is done is not known: each time is a fourth of what is left. */
  self->run = apr_run_get_part (&self->run, 0.25, 1);
  for (i = 0; i < p; i++)
    excluded[i] = !self->passive[i];
  equations = apr_normal_equations_new (self->products, excluded, self->rank_tolerance, &part);
  if (equations->n_dependent > 0)
    {
      for (i = 0; i < equations->n_dependent; i++)
        {
          self->passive[equations->dependent[i]] = FALSE;
          excluded[equations->dependent[i]] = TRUE;
        }
      apr_normal_equations_free (equations);
      equations = apr_normal_equations_new (self->products, excluded, self->rank_tolerance, &part);
    }

  if (apr_run_is_cancelled (&part))
    return;
  self->certain = apr_normal_equations_solve (equations, self->target, dtype, coefficients, intercept);
}

/* Half the smallest subnormal number: a bound on the rounding error of values near it. */
#define MIN_DOUBT (DBL_MIN_EXP - DBL_MANT_DIG - 1)

/* Finds the signs of the gradients, in whole numbers, with a bound on what the rounding of the coefficients changed. */
static void
find_signs (Search *self)
{
  const AprProducts *products = self->products;
  gsize p = products->n_features;
  gint min_exponent = 0;
  gboolean finite = TRUE;
  mpz_t *whole = apr_integers_new (p);
  mpz_t gradient;
  mpz_t doubt;
  mpz_t min_doubt;
  mpz_t entry;
  gsize i;
  gsize j;

  mpz_init (gradient);
  mpz_init (doubt);
  mpz_init (min_doubt);
  mpz_init (entry);
  for (j = 0; j < p; j++)
    finite = finite && (!self->passive[j] || isfinite (self->values[j]));
  for (j = 0; finite && j < p; j++)
    if (self->passive[j] && self->values[j] != 0)
      min_exponent = MIN (min_exponent, ilogb (self->values[j]) - DBL_MANT_DIG - 1);
  min_exponent = MAX (min_exponent, MIN_DOUBT);
  for (j = 0; finite && j < p; j++)
    if (self->passive[j] && self->values[j] != 0)
      {
        gint exponent;

        mpz_set_d (whole[j], ldexp (frexp (self->values[j], &exponent), DBL_MANT_DIG));
        exponent -= DBL_MANT_DIG + min_exponent;
        if (exponent >= 0)
          mpz_mul_2exp (whole[j], whole[j], (mp_bitcnt_t) exponent);
        else
          mpz_tdiv_q_2exp (whole[j], whole[j], (mp_bitcnt_t) -exponent);
      }

  for (i = 0; i < p; i++)
    {
      self->signs[i] = 0;
      if (apr_run_is_cancelled (&self->run) || self->passive[i] || self->excluded[i])
        continue;

      apr_products_get_integer (products, p + self->target, i, gradient);
      mpz_mul_2exp (gradient, gradient, (mp_bitcnt_t) -min_exponent);
      mpz_set_ui (doubt, 0);
      mpz_set_ui (min_doubt, 0);
      for (j = 0; j < p; j++)
        if (self->passive[j])
          {
            apr_products_get_integer (products, i, j, entry);
            if (mpz_sgn (entry) < 0)
              mpz_sub (min_doubt, min_doubt, entry);
            else
              mpz_add (min_doubt, min_doubt, entry);
            mpz_mul (entry, entry, whole[j]);
            mpz_sub (gradient, gradient, entry);
            /* Half a unit in the last place: less than this part. */
            mpz_abs (entry, entry);
            mpz_add (doubt, doubt, entry);
          }
      mpz_tdiv_q_2exp (doubt, doubt, DBL_MANT_DIG - 1);
      mpz_tdiv_q_2exp (min_doubt, min_doubt, (mp_bitcnt_t) (min_exponent - MIN_DOUBT));
      mpz_add (doubt, doubt, min_doubt);
      mpz_add_ui (doubt, doubt, 2);
      if (finite && mpz_cmpabs (gradient, doubt) > 0)
        self->signs[i] = mpz_sgn (gradient);
    }

  mpz_clear (gradient);
  mpz_clear (doubt);
  mpz_clear (min_doubt);
  mpz_clear (entry);
  apr_integers_free (whole, p);
}

/* -0.0 is a negative number that is too small for the dtype. */
static gboolean
is_below_zero (double value)
{
  return signbit (value) != 0;
}

static gboolean
is_wrong (const Search *self, gsize feature)
{
  return self->passive[feature] ? is_below_zero (self->values[feature]) : self->signs[feature] > 0;
}

/* Exchanges all features with a wrong sign as long as that helps; returns whether there are none in the end. */
static gboolean
exchange (Search *self)
{
  gsize p = self->products->n_features;
  gsize min_wrong = G_MAXSIZE;
  int patience = PATIENCE;
  double intercept;

  while (patience > 0 && !apr_run_is_cancelled (&self->run))
    {
      gsize n_wrong = 0;
      gsize i;

      solve_passive (self, APR_DTYPE_F64, self->values, &intercept);
      if (apr_run_is_cancelled (&self->run))
        break;
      find_signs (self);
      for (i = 0; i < p; i++)
        n_wrong += is_wrong (self, i) ? 1 : 0;
      if (n_wrong == 0)
        return TRUE;

      patience = n_wrong < min_wrong ? PATIENCE : patience - 1;
      min_wrong = MIN (min_wrong, n_wrong);
      for (i = 0; i < p; i++)
        if (is_wrong (self, i))
          self->passive[i] = !self->passive[i];
    }

  return FALSE;
}

/* Starts from an empty passive set and adds one feature at a time; a coefficient that would become negative on the way
 * to the new solution stays 0. */
static void
add_one_by_one (Search *self)
{
  gsize p = self->products->n_features;
  g_autofree double *point = g_new0 (double, p);
  double intercept;
  gsize added;
  gsize i;

  for (i = 0; i < p; i++)
    self->passive[i] = FALSE;
  for (;;)
    {
      memset (self->values, 0, p * sizeof *self->values);
      solve_passive (self, APR_DTYPE_F64, self->values, &intercept);
      if (!apr_run_is_cancelled (&self->run))
        find_signs (self);
      if (apr_run_is_cancelled (&self->run))
        return;
      for (i = 0; i < p && (self->signs[i] <= 0 || self->blocked[i]); i++)
        ;
      if (i == p)
        return;
      self->passive[i] = TRUE;
      added = i;

      for (;;)
        {
          double step = 1;

          solve_passive (self, APR_DTYPE_F64, self->values, &intercept);
          if (apr_run_is_cancelled (&self->run))
            return;
          self->blocked[added] = !self->passive[added];
          for (i = 0; i < p; i++)
            if (self->passive[i] && self->values[i] < 0)
              step = MIN (step, point[i] / (point[i] - self->values[i]));
          for (i = 0; i < p; i++)
            {
              gboolean stops =
                self->passive[i] && self->values[i] < 0 && point[i] / (point[i] - self->values[i]) <= step;

              point[i] = stops || !self->passive[i] ? 0 : point[i] + step * (self->values[i] - point[i]);
              if (stops)
                self->passive[i] = FALSE;
            }
          if (step == 1)
            break;
        }
    }
}

gboolean
apr_non_negative_solve (const AprProducts *products,
                        const gboolean *excluded,
                        double rank_tolerance,
                        gsize target,
                        AprDType dtype,
                        const AprRun *run,
                        gboolean certain,
                        double *coefficients,
                        double *intercept)
{
  gsize p = products->n_features;
  gboolean any = FALSE;
  g_auto (Search) search = { products, excluded, rank_tolerance, target, *run };
  gsize i;

  search.blocked = g_new0 (gboolean, p);
  search.passive = g_new0 (gboolean, p);
  search.values = g_new0 (double, p);
  search.signs = g_new0 (int, p);
  for (i = 0; i < p; i++)
    {
      search.passive[i] = !excluded[i] && !is_below_zero (coefficients[i]);
      any = any || is_below_zero (coefficients[i]);
    }
  if (!any)
    return certain;

  if (!exchange (&search))
    add_one_by_one (&search);

  /* The values whose signs were used must be proven too. */
  certain = search.certain;
  if (!apr_run_is_cancelled (run))
    solve_passive (&search, dtype, coefficients, intercept);
  if (apr_run_is_cancelled (run))
    return FALSE;
  certain = certain && search.certain;
  for (i = 0; i < p; i++)
    {
      /* A feature whose gradient may be 0 might be passive too, with other coefficients. */
      if (!excluded[i] && (search.passive[i] ? is_below_zero (search.values[i]) : search.signs[i] >= 0))
        certain = FALSE;
      coefficients[i] = MAX (coefficients[i], 0.0);
    }

  return certain;
}
