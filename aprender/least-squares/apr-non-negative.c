/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-non-negative-private.h"

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

/* Of the coefficients of passive features: at first, and where a gradient's sign is in doubt. */
#define FIRST_BITS 56
#define MAX_BITS 4096

/* By how much a feature alone would reduce the sum of squares: fraction 2^exponent, with the fraction below 1 and not
 * below 1/2. */
typedef struct
{
  double fraction;
  gint64 exponent;
} Gain;

typedef struct
{
  const AprProducts *products; /* (unowned) */
  gboolean *excluded;          /* (owned) */
  double rank_tolerance;
  const AprTarget *target; /* (unowned) */

  gboolean *blocked; /* (owned) features beside which passive ones would depend on others, or they on those */
  gboolean *passive; /* (owned) */
  AprLongCoefficients
    values;         /* (owned) the coefficients of the passive features, which may be beyond any double */
  int *signs;       /* (owned) of the gradients of the others: 0 where it cannot be proven */
  Gain *gains;      /* (owned) where these are positive */
  gboolean certain; /* the coefficients are */
  gboolean any_dependent; /* some features depended on passive ones */
} Search;

static void
search_clear (Search *self)
{
  g_clear_pointer (&self->excluded, g_free);
  g_clear_pointer (&self->blocked, g_free);
  g_clear_pointer (&self->passive, g_free);
  apr_integers_free (self->values.significands, self->values.n);
  g_free (self->values.exponents);
  g_clear_pointer (&self->signs, g_free);
  g_clear_pointer (&self->gains, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Search, search_clear)

/* How often the passive features are solved for is not known: each time takes @share of what is left of the work. */
static AprRun
take_part (AprRun *run, double share)
{
  AprRun part = apr_run_get_part (run, 0, share);

  *run = apr_run_get_part (run, share, 1);

  return part;
}

/* Removes passive features that depend on others of them from the set, and makes the equations of the rest. Returns:
 * %FALSE where cancelled */
static gboolean
join_passive (Search *self, AprNormalEquations *equations, AprRun *run)
{
  gsize p = self->products->n_features;
  g_autofree gboolean *excluded = g_new (gboolean, p);
  AprRun part = take_part (run, 0.2);
  gsize i;

  for (i = 0; i < p; i++)
    excluded[i] = !self->passive[i];
  apr_normal_equations_init (equations, self->products, excluded, self->rank_tolerance, &part);
  if (equations->n_dependent > 0)
    {
      self->any_dependent = TRUE;
      for (i = 0; i < equations->n_dependent; i++)
        {
          self->passive[equations->dependent[i]] = FALSE;
          excluded[equations->dependent[i]] = TRUE;
        }
      apr_normal_equations_clear (equations);
      apr_normal_equations_init (equations, self->products, excluded, self->rank_tolerance, &part);
    }

  return !apr_run_is_cancelled (&part);
}

static int
get_sign (const Search *self, gsize feature)
{
  return mpz_sgn (self->values.significands[feature]);
}

/* Finds the values of the passive features. */
static void
solve_passive (Search *self, gint64 bits, AprRun *run)
{
  g_auto (AprNormalEquations) equations = { 0 };
  gboolean joined = join_passive (self, &equations, run);
  AprRun part = take_part (run, 0.05);
  AprTarget values = { .index = self->target->index, .dtype = APR_DTYPE_F64, .wanted = &self->values };

  self->values.bits = bits;
  if (joined)
    self->certain = apr_normal_equations_solve (&equations, &values, &part);
}

/* The square of a gradient by that of its feature. */
static Gain
get_gain (const mpz_t gradient, gint64 unit, const mpz_t square)
{
  signed long exponent;
  signed long square_exponent;
  double fraction = mpz_get_d_2exp (&exponent, gradient);
  double square_fraction = mpz_get_d_2exp (&square_exponent, square);
  Gain gain;
  int shift;

  gain.fraction = frexp (fraction * fraction / square_fraction, &shift);
  gain.exponent = 2 * (exponent + unit) - square_exponent + shift;

  return gain;
}

/* Finds the signs of the gradients, in whole numbers, with a bound on what the values err by. Returns whether all are
 * certain. */
static gboolean
find_signs (Search *self, const AprRun *run)
{
  const AprProducts *products = self->products;
  gsize p = products->n_features;
  gint64 unit = 0;
  gboolean all = TRUE;
  mpz_t gradient;
  mpz_t doubt;
  mpz_t term;
  gsize i;
  gsize j;

  mpz_init (gradient);
  mpz_init (doubt);
  mpz_init (term);
  for (j = 0; j < p; j++)
    if (get_sign (self, j) != 0)
      unit = MIN (unit, self->values.exponents[j]);

  for (i = 0; i < p; i++)
    {
      self->signs[i] = 0;
      if (apr_run_is_cancelled (run) || self->passive[i] || self->excluded[i])
        continue;

      apr_products_get_integer (products, p + self->target->index, i, gradient);
      mpz_mul_2exp (gradient, gradient, (mp_bitcnt_t) -unit);
      mpz_set_ui (doubt, 0);
      for (j = 0; j < p; j++)
        if (get_sign (self, j) != 0)
          {
            apr_products_get_integer (products, i, j, term);
            mpz_mul (term, term, self->values.significands[j]);
            mpz_mul_2exp (term, term, (mp_bitcnt_t) (self->values.exponents[j] - unit));
            mpz_sub (gradient, gradient, term);
            mpz_abs (term, term);
            mpz_add (doubt, doubt, term);
          }
      mpz_tdiv_q_2exp (doubt, doubt, (mp_bitcnt_t) self->values.bits);
      mpz_add_ui (doubt, doubt, 1);
      /* The error is less than this. */
      if (mpz_cmpabs (gradient, doubt) >= 0)
        self->signs[i] = mpz_sgn (gradient);
      if (self->signs[i] > 0)
        {
          apr_products_get_integer (products, i, i, term);
          self->gains[i] = get_gain (gradient, unit, term);
        }
      all = all && self->signs[i] != 0;
    }

  mpz_clear (gradient);
  mpz_clear (doubt);
  mpz_clear (term);

  return all;
}

/* Finds the values of the passive features, and the signs of the gradients of the others. */
static void
evaluate (Search *self, AprRun *run)
{
  solve_passive (self, FIRST_BITS, run);
  if (!apr_run_is_cancelled (run) && !find_signs (self, run))
    {
      solve_passive (self, MAX_BITS, run);
      (void) find_signs (self, run);
    }
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
  return self->passive[feature] ? get_sign (self, feature) < 0 : self->signs[feature] > 0;
}

/* Exchanges all features with a wrong sign as long as that helps; returns whether there are none in the end. */
static gboolean
exchange (Search *self, AprRun *run)
{
  gsize p = self->products->n_features;
  gsize min_wrong = G_MAXSIZE;
  int patience = PATIENCE;

  while (patience > 0 && !apr_run_is_cancelled (run))
    {
      gsize n_wrong = 0;
      gsize i;

      evaluate (self, run);
      if (apr_run_is_cancelled (run))
        break;
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

static void
get_value (const Search *self, gsize feature, mpf_t value)
{
  apr_number_from_integer (value, self->values.significands[feature], self->values.exponents[feature]);
}

/* A point without negative coefficients, which moves to the solution of the passive features as far as it can. */
typedef struct
{
  gsize n;
  mpf_t *coefficients; /* (owned) */
  mpf_t *steps;        /* (owned) the part of the way that a coefficient can go before it is negative, or 2 */
  mpf_t step;          /* (owned) */
  mpf_t way;           /* (owned) from a coefficient to its value */
} Point;

static void
point_init (Point *self, gsize n)
{
  gsize i;

  *self = (Point){ n, g_new (mpf_t, n), g_new (mpf_t, n) };
  for (i = 0; i < n; i++)
    mpf_inits (self->coefficients[i], self->steps[i], NULL);
  mpf_init (self->step);
  mpf_init2 (self->way, 2 * mpf_get_default_prec ());
}

static void
point_clear (Point *self)
{
  gsize i;

  for (i = 0; i < self->n; i++)
    mpf_clears (self->coefficients[i], self->steps[i], NULL);
  mpf_clears (self->step, self->way, NULL);
  g_free (self->coefficients);
  g_free (self->steps);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Point, point_clear)

/* Moves the point, and removes the features that stop it from the passive set; returns whether there were any.
 *
 * GMP truncates. A way has twice as many bits as its coefficient, so that it is not cut to less than that, and no step
 * is above 1. Steps, and what is subtracted, are cut as well, so no coefficient becomes negative. */
static gboolean
move_point (Search *search, Point *self)
{
  gboolean stopped = FALSE;
  gsize i;

  mpf_set_ui (self->step, 1);
  for (i = 0; i < self->n; i++)
    {
      mpf_set_ui (self->steps[i], 2);
      if (search->passive[i] && get_sign (search, i) < 0)
        {
          get_value (search, i, self->way);
          mpf_sub (self->way, self->coefficients[i], self->way);
          mpf_div (self->steps[i], self->coefficients[i], self->way);
          if (mpf_cmp (self->steps[i], self->step) < 0)
            mpf_set (self->step, self->steps[i]);
          stopped = TRUE;
        }
    }

  for (i = 0; i < self->n; i++)
    {
      if (mpf_cmp (self->steps[i], self->step) <= 0)
        search->passive[i] = FALSE;
      if (search->passive[i])
        {
          get_value (search, i, self->way);
          mpf_sub (self->way, self->coefficients[i], self->way);
          mpf_mul (self->way, self->way, self->step);
          mpf_sub (self->coefficients[i], self->coefficients[i], self->way);
        }
      else
        mpf_set_ui (self->coefficients[i], 0);
    }

  return stopped;
}

/* The feature that is to be added, or the number of features where there is none. The first that would do, instead of
 * that with the largest gain, may take thousands of steps where features are of very different scale. */
static gsize
find_best (const Search *self)
{
  gsize p = self->products->n_features;
  gsize best = p;
  gsize i;

  for (i = 0; i < p; i++)
    if (self->signs[i] > 0 && !self->blocked[i] &&
        (best == p || self->gains[i].exponent > self->gains[best].exponent ||
         (self->gains[i].exponent == self->gains[best].exponent &&
          self->gains[i].fraction > self->gains[best].fraction)))
      best = i;

  return best;
}

/* Whether @added has joined the features that were passive @before, and none of them has left. Otherwise some depend on
 * others: the sum of squares need not fall then, and features could go in and out for ever. */
static gboolean
is_only_added (const Search *self, const gboolean *before, gsize added)
{
  gsize i;

  for (i = 0; i < self->products->n_features; i++)
    if (self->passive[i] != (before[i] || i == added))
      return FALSE;

  return TRUE;
}

/* Starts from an empty passive set and adds one feature at a time; a coefficient that would become negative on the way
 * to the new solution stays 0. */
static void
add_one_by_one (Search *self, AprRun *run)
{
  gsize p = self->products->n_features;
  g_autofree gboolean *before = g_new0 (gboolean, p);
  g_auto (Point) point = { 0 };
  gsize added;
  gsize i;

  point_init (&point, p);
  for (i = 0; i < p; i++)
    self->passive[i] = FALSE;
  for (;;)
    {
      evaluate (self, run);
      if (apr_run_is_cancelled (run))
        return;
      added = find_best (self);
      if (added == p)
        return;

      memcpy (before, self->passive, p * sizeof *before);
      self->passive[added] = TRUE;
      solve_passive (self, FIRST_BITS, run);
      if (!is_only_added (self, before, added))
        {
          memcpy (self->passive, before, p * sizeof *before);
          self->blocked[added] = TRUE;
          continue;
        }
      while (!apr_run_is_cancelled (run) && move_point (self, &point))
        solve_passive (self, FIRST_BITS, run);
    }
}

/* Finds the coefficients from @start, whose signs say which features are passive first. Returns whether they are proven
 * to be correctly rounded. */
static gboolean
find_coefficients (Search *self, const double *start, AprRun *run)
{
  double *coefficients = self->target->coefficients;
  gsize p = self->products->n_features;
  g_auto (AprNormalEquations) equations = { 0 };
  gboolean certain;
  gsize i;

  for (i = 0; i < p; i++)
    {
      self->passive[i] = !self->excluded[i] && !is_below_zero (start[i]);
      self->blocked[i] = FALSE;
    }
  if (!exchange (self, run))
    add_one_by_one (self, run);

  /* The values whose signs were used must be proven too. */
  certain = self->certain;
  if (apr_run_is_cancelled (run) || !join_passive (self, &equations, run))
    return FALSE;
  if (!apr_normal_equations_solve (&equations, self->target, run))
    certain = FALSE;
  if (apr_run_is_cancelled (run))
    return FALSE;
  for (i = 0; i < p; i++)
    {
      /* A feature whose gradient may be 0 might be passive too, with other coefficients. */
      if (!self->excluded[i] && !self->passive[i] && self->signs[i] >= 0)
        certain = FALSE;
      coefficients[i] = MAX (coefficients[i], 0.0);
    }

  return certain;
}

/* Returns whether all of the features that are @replaced depend on the passive ones. */
static gboolean
depend (const Search *self, const gboolean *replaced, const AprRun *run)
{
  gsize p = self->products->n_features;
  g_autofree gboolean *excluded = g_new (gboolean, p);
  g_auto (AprNormalEquations) equations = { 0 };
  gsize n_passive = 0;
  gsize i;

  for (i = 0; i < p; i++)
    {
      excluded[i] = !self->passive[i] && !replaced[i];
      n_passive += self->passive[i] ? 1 : 0;
    }
  apr_normal_equations_init (&equations, self->products, excluded, self->rank_tolerance, run);

  return equations.n_independent == n_passive;
}

gboolean
apr_non_negative_solve (const AprProducts *products,
                        const gboolean *excluded,
                        double rank_tolerance,
                        const AprTarget *target,
                        const AprRun *run,
                        gboolean certain)
{
  double *coefficients = target->coefficients;
  gsize p = products->n_features;
  g_autofree double *start = g_memdup2 (coefficients, p * sizeof *coefficients);
  g_autofree gboolean *replaced = g_new0 (gboolean, p);
  g_auto (Search) search = { products, .rank_tolerance = rank_tolerance, .target = target };
  AprRun rest = *run;
  gboolean any_replaced = FALSE;
  gsize i;

  for (i = 0; i < p && !is_below_zero (start[i]); i++)
    ;
  if (i == p)
    return certain;

  search.excluded = g_memdup2 (excluded, p * sizeof *excluded);
  search.blocked = g_new (gboolean, p);
  search.passive = g_new (gboolean, p);
  search.values = (AprLongCoefficients){ p, 0, apr_integers_new (p), g_new0 (gint64, p) };
  search.signs = g_new0 (int, p);
  search.gains = g_new0 (Gain, p);
  for (;;)
    {
      certain = find_coefficients (&search, start, &rest);
      if (apr_run_is_cancelled (run))
        return FALSE;
      /* Where a coefficient is too large for the dtype, other features may do instead of one that depends on them. */
      for (i = 0; i < p && isfinite (coefficients[i]); i++)
        ;
      if (i == p || !search.any_dependent)
        break;
      search.excluded[i] = replaced[i] = any_replaced = TRUE;
    }
  if (any_replaced && !depend (&search, replaced, &rest))
    for (i = 0; i < p; i++)
      coefficients[i] = replaced[i] ? INFINITY : coefficients[i];

  return certain && !any_replaced;
}
