/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-non-negative-private.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "aprender/least-squares/apr-normal-equations-private.h"

/* The answer is the one without constraint for some of the features, the passive ones, and 0 for the others, when no coefficient
 * of the former is below 0 and no coefficient of the latter would become greater than 0 if it were free: when no gradient
 * c_i - G_i b of theirs is above 0. Since the coefficients of the passive features are exact but for a last rounding, so are
 * these signs, which prove the answer.
 *
 * The passive features are found by exchanging all that have the wrong sign (block principal pivoting: L. F. Portugal,
 * J. J. Judice and L. N. Vicente, 1994), a few steps as a rule; where the number of wrong signs does not get less for a
 * while, by the algorithm of C. L. Lawson and R. J. Hanson, "Solving least squares problems", 1974, every step of
 * which makes the sum of squares smaller, so that it ends.
 */
#define PATIENCE 5

typedef struct
{
  const AprProducts *products; /* (unowned) */
  const gboolean *left_out;    /* (unowned) */
  double negligible;
  gsize target;
  guint n_threads;

  gboolean *blocked; /* (owned) features of which nothing is left beside the passive ones */
  gboolean *passive; /* (owned) */
  double *values;    /* (owned) the coefficients of the passive features alone, in double */
  int *signs;        /* (owned) of the gradients of the others: 0 for what cannot be told from it */
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

/* Solves for the passive features; those that depend on others of them are passive no more. */
static void
solve_passive (Search *self, AprDType dtype, double *coefficients, double *intercept)
{
  gsize p = self->products->n_features;
  g_autofree gboolean *left_out = g_new (gboolean, p);
  g_autoptr (AprNormalEquations) equations = NULL;
  gsize i;

  for (i = 0; i < p; i++)
    left_out[i] = !self->passive[i];
  equations = apr_normal_equations_new (self->products, left_out, self->negligible, self->n_threads);
  if (equations->n_dependent > 0)
    {
      for (i = 0; i < equations->n_dependent; i++)
        {
          self->passive[equations->dependent[i]] = FALSE;
          left_out[equations->dependent[i]] = TRUE;
        }
      apr_normal_equations_free (equations);
      equations = apr_normal_equations_new (self->products, left_out, self->negligible, self->n_threads);
    }

  self->certain = apr_normal_equations_solve (equations, self->target, dtype, coefficients, intercept);
}

/* Half the least subnormal: how far a value may be from what is rounded to it, where that is more than half of its last place. */
#define LEAST_DOUBT (DBL_MIN_EXP - DBL_MANT_DIG - 1)

/* The gradients with the rounded coefficients, as whole numbers, and what the rounding can have made of their signs. */
static void
find_signs (Search *self)
{
  const AprProducts *products = self->products;
  gsize p = products->n_features;
  gint least = 0;
  gboolean finite = TRUE;
  mpz_t *whole = apr_integers_new (p);
  mpz_t gradient;
  mpz_t doubt;
  mpz_t least_doubt;
  mpz_t entry;
  gsize i;
  gsize j;

  mpz_init (gradient);
  mpz_init (doubt);
  mpz_init (least_doubt);
  mpz_init (entry);
  for (j = 0; j < p; j++)
    finite = finite && (!self->passive[j] || isfinite (self->values[j]));
  for (j = 0; finite && j < p; j++)
    if (self->passive[j] && self->values[j] != 0)
      least = MIN (least, ilogb (self->values[j]) - DBL_MANT_DIG - 1);
  least = MAX (least, LEAST_DOUBT);
  for (j = 0; finite && j < p; j++)
    if (self->passive[j] && self->values[j] != 0)
      {
        gint exponent;

        mpz_set_d (whole[j], ldexp (frexp (self->values[j], &exponent), DBL_MANT_DIG));
        exponent -= DBL_MANT_DIG + least;
        if (exponent >= 0)
          mpz_mul_2exp (whole[j], whole[j], (mp_bitcnt_t) exponent);
        else
          mpz_tdiv_q_2exp (whole[j], whole[j], (mp_bitcnt_t) -exponent);
      }

  for (i = 0; i < p; i++)
    {
      self->signs[i] = 0;
      if (self->passive[i] || self->left_out[i])
        continue;

      apr_products_get_integer (products, p + self->target, i, gradient);
      mpz_mul_2exp (gradient, gradient, (mp_bitcnt_t) -least);
      mpz_set_ui (doubt, 0);
      mpz_set_ui (least_doubt, 0);
      for (j = 0; j < p; j++)
        if (self->passive[j])
          {
            apr_products_get_integer (products, i, j, entry);
            if (mpz_sgn (entry) < 0)
              mpz_sub (least_doubt, least_doubt, entry);
            else
              mpz_add (least_doubt, least_doubt, entry);
            mpz_mul (entry, entry, whole[j]);
            mpz_sub (gradient, gradient, entry);
            /* Half a unit in the last place: less than this part. */
            mpz_abs (entry, entry);
            mpz_add (doubt, doubt, entry);
          }
      mpz_tdiv_q_2exp (doubt, doubt, DBL_MANT_DIG - 1);
      mpz_tdiv_q_2exp (least_doubt, least_doubt, (mp_bitcnt_t) (least - LEAST_DOUBT));
      mpz_add (doubt, doubt, least_doubt);
      mpz_add_ui (doubt, doubt, 2);
      if (finite && mpz_cmpabs (gradient, doubt) > 0)
        self->signs[i] = mpz_sgn (gradient);
    }

  mpz_clear (gradient);
  mpz_clear (doubt);
  mpz_clear (least_doubt);
  mpz_clear (entry);
  apr_integers_free (whole, p);
}

/* What is too small for the dtype still has its sign: -0.0 is below 0. */
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

/* Exchanges all wrong signs as long as that helps; true where there are none. */
static gboolean
exchange (Search *self)
{
  gsize p = self->products->n_features;
  gsize fewest = G_MAXSIZE;
  int patience = PATIENCE;
  double intercept;

  while (patience > 0)
    {
      gsize n_wrong = 0;
      gsize i;

      solve_passive (self, APR_DTYPE_F64, self->values, &intercept);
      find_signs (self);
      for (i = 0; i < p; i++)
        n_wrong += is_wrong (self, i) ? 1 : 0;
      if (n_wrong == 0)
        return TRUE;

      patience = n_wrong < fewest ? PATIENCE : patience - 1;
      fewest = MIN (fewest, n_wrong);
      for (i = 0; i < p; i++)
        if (is_wrong (self, i))
          self->passive[i] = !self->passive[i];
    }

  return FALSE;
}

/* From none, one after the other becomes passive, and what would cross 0 on the way stays there. */
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
      find_signs (self);
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
                        const gboolean *left_out,
                        double negligible,
                        gsize target,
                        AprDType dtype,
                        guint n_threads,
                        gboolean certain,
                        double *coefficients,
                        double *intercept)
{
  gsize p = products->n_features;
  gboolean any = FALSE;
  g_auto (Search) search = { products, left_out, negligible, target, n_threads };
  gsize i;

  search.blocked = g_new0 (gboolean, p);
  search.passive = g_new (gboolean, p);
  search.values = g_new0 (double, p);
  search.signs = g_new0 (int, p);
  for (i = 0; i < p; i++)
    {
      search.passive[i] = !left_out[i] && !is_below_zero (coefficients[i]);
      any = any || is_below_zero (coefficients[i]);
    }
  if (!any)
    return certain;

  if (!exchange (&search))
    add_one_by_one (&search);

  /* So are the values whose signs were told. */
  certain = search.certain;
  solve_passive (&search, dtype, coefficients, intercept);
  certain = certain && search.certain;
  for (i = 0; i < p; i++)
    {
      /* What cannot be told from 0 might be passive just as well, with other coefficients then. */
      if (!left_out[i] && (search.passive[i] ? is_below_zero (search.values[i]) : search.signs[i] >= 0))
        certain = FALSE;
      coefficients[i] = MAX (coefficients[i], 0.0);
    }

  return certain;
}
