/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/exact-solution.h"

#include <float.h>
#include <gmp.h>
#include <math.h>

/* The products of all columns in whole numbers. The columns are 1, the features, then the targets, each divided by
 * a power of two so that its values are whole; the weights too. */
typedef struct
{
  gsize p;
  gsize q;
  gsize n;           /* columns but the one of ones */
  mpz_t *sums;       /* (owned) n: the product with 1, where there is an intercept */
  mpz_t weight;      /* the sum of the weights */
  mpz_t *entries;    /* (owned) n x n, centred where there is an intercept, with alpha */
  mpz_t *raw;        /* (owned) n: the squares before centring, in the same unit */
  gint64 *exponents; /* (owned) n: a value is a whole number times 2^this */
} Products;

static mpz_t *
numbers_new (gsize n)
{
  mpz_t *numbers = g_new (mpz_t, n);
  gsize i;

  for (i = 0; i < n; i++)
    mpz_init (numbers[i]);

  return numbers;
}

static void
numbers_free (mpz_t *numbers, gsize n)
{
  gsize i;

  for (i = 0; i < n; i++)
    mpz_clear (numbers[i]);
  g_free (numbers);
}

/* The exponent of the last bit of @value that is not 0. */
static gint64
last_bit (double value)
{
  int exponent;
  guint64 whole = (guint64) ldexp (fabs (frexp (value, &exponent)), DBL_MANT_DIG);

  return exponent - DBL_MANT_DIG + g_bit_nth_lsf (whole & G_MAXUINT32, -1) +
         ((whole & G_MAXUINT32) == 0 ? 33 + g_bit_nth_lsf (whole >> 32, -1) : 0);
}

/* @value 2^-@exponent, which is whole. */
static void
set_whole (mpz_t whole, double value, gint64 exponent)
{
  int own;
  double fraction = frexp (value, &own);
  gint64 shift = own - DBL_MANT_DIG - exponent;

  mpz_set_d (whole, ldexp (fraction, DBL_MANT_DIG));
  if (shift >= 0)
    mpz_mul_2exp (whole, whole, (mp_bitcnt_t) shift);
  else
    mpz_tdiv_q_2exp (whole, whole, (mp_bitcnt_t) -shift);
}

static gint64
find_exponent (const double *values, gsize n, gsize stride)
{
  gint64 exponent = 0;
  gboolean any = FALSE;
  gsize i;

  for (i = 0; i < n; i++)
    if (values[i * stride] != 0)
      {
        exponent = any ? MIN (exponent, last_bit (values[i * stride])) : last_bit (values[i * stride]);
        any = TRUE;
      }

  return exponent;
}

static void
products_add_row (Products *self, mpz_t *row, const mpz_t weight)
{
  mpz_t weighted;
  gsize i;
  gsize j;

  mpz_init (weighted);
  mpz_add (self->weight, self->weight, weight);
  for (i = 0; i < self->n; i++)
    {
      mpz_mul (weighted, row[i], weight);
      mpz_add (self->sums[i], self->sums[i], weighted);
      for (j = 0; j < self->n; j++)
        mpz_addmul (self->entries[i * self->n + j], weighted, row[j]);
    }
  mpz_clear (weighted);
}

/* S_ij becomes n S_ij - S_i S_j. */
static void
products_centre (Products *self)
{
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    {
      for (j = 0; j < self->n; j++)
        mpz_mul (self->entries[i * self->n + j], self->entries[i * self->n + j], self->weight);
      mpz_set (self->raw[i], self->entries[i * self->n + i]);
      for (j = 0; j < self->n; j++)
        mpz_submul (self->entries[i * self->n + j], self->sums[i], self->sums[j]);
    }
}

static void
products_penalise (Products *self, double alpha, gint64 weight_exponent, gboolean centred)
{
  gint64 own = last_bit (alpha);
  gint64 shift = 0;
  mpz_t penalty;
  gsize i;

  for (i = 0; i < self->p; i++)
    shift = MIN (shift, own - weight_exponent - 2 * self->exponents[i]);
  for (i = 0; i < self->n * self->n; i++)
    mpz_mul_2exp (self->entries[i], self->entries[i], (mp_bitcnt_t) -shift);

  mpz_init (penalty);
  for (i = 0; i < self->p; i++)
    {
      set_whole (penalty, alpha, weight_exponent + 2 * self->exponents[i] + shift);
      if (centred)
        mpz_mul (penalty, penalty, self->weight);
      mpz_add (self->entries[i * self->n + i], self->entries[i * self->n + i], penalty);
    }
  mpz_clear (penalty);
}

static void
products_init (Products *self, const RandomProblem *problem)
{
  mpz_t *row;
  mpz_t weight;
  gint64 weight_exponent =
    problem->weights != NULL ? find_exponent (problem->weights, problem->n_rows, 1) : 0;
  gsize i;
  gsize j;

  self->p = problem->n_features;
  self->q = problem->n_targets;
  self->n = self->p + self->q;
  self->sums = numbers_new (self->n);
  self->raw = numbers_new (self->n);
  self->entries = numbers_new (self->n * self->n);
  mpz_init (self->weight);
  self->exponents = g_new (gint64, self->n);
  for (j = 0; j < self->n; j++)
    self->exponents[j] = j < self->p ? find_exponent (problem->x + j, problem->n_rows, self->p)
                                     : find_exponent (problem->y + j - self->p, problem->n_rows, self->q);

  row = numbers_new (self->n);
  mpz_init (weight);
  for (i = 0; i < problem->n_rows; i++)
    {
      for (j = 0; j < self->n; j++)
        set_whole (row[j], j < self->p ? problem->x[i * self->p + j] : problem->y[i * self->q + j - self->p],
                   self->exponents[j]);
      set_whole (weight, problem->weights != NULL ? problem->weights[i] : 1, weight_exponent);
      products_add_row (self, row, weight);
    }
  numbers_free (row, self->n);
  mpz_clear (weight);

  for (i = 0; i < self->n; i++)
    mpz_set (self->raw[i], self->entries[i * self->n + i]);
  if (problem->fit_intercept)
    products_centre (self);
  if (problem->alpha > 0)
    products_penalise (self, problem->alpha, weight_exponent, problem->fit_intercept);
}

static void
products_clear (Products *self)
{
  numbers_free (self->sums, self->n);
  numbers_free (self->raw, self->n);
  numbers_free (self->entries, self->n * self->n);
  mpz_clear (self->weight);
  g_free (self->exponents);
}

/* Whether @part < (4 p u)^2 @whole @factor. */
static gboolean
is_negligible (const mpz_t part, const mpz_t whole, const mpz_t factor, gsize p, gboolean single)
{
  gboolean negligible;
  mpz_t left;
  mpz_t right;

  mpz_inits (left, right, NULL);
  mpz_mul_2exp (left, part, single ? 48 : 106);
  mpz_mul (right, whole, factor);
  mpz_mul_ui (right, right, 16 * p * p);
  negligible = mpz_cmp (left, right) < 0;
  mpz_clears (left, right, NULL);

  return negligible;
}

/* Eliminates the features that are not excluded, one after the other, without fractions (E. H. Bareiss, 1968):
 * afterwards the entries of the rows of independent features, in the other columns, are @determinant times the
 * solution. A feature of which too little is left for @rule_p, or nothing, is dependent and eliminates nothing. */
static gsize
eliminate (mpz_t *a,
           gsize n,
           gsize p,
           const gboolean *excluded,
           gsize rule_p,
           gboolean single,
           gboolean *independent,
           mpz_t determinant)
{
  g_autofree mpz_t *diagonal = numbers_new (p);
  gsize rank = 0;
  mpz_t term;
  mpz_t last;
  gsize i;
  gsize j;
  gsize k;

  mpz_inits (term, last, NULL);
  mpz_set_ui (determinant, 1);
  for (k = 0; k < p; k++)
    mpz_set (diagonal[k], a[k * n + k]);

  for (k = 0; k < p; k++)
    {
      const mpz_t *pivot = (const mpz_t *) &a[k * n + k];

      independent[k] = !excluded[k] && mpz_sgn (*pivot) != 0 &&
                       (rule_p == 0 || !is_negligible (*pivot, diagonal[k], determinant, rule_p, single));
      if (!independent[k])
        continue;

      rank++;
      mpz_set (last, determinant);
      mpz_set (determinant, *pivot);
      for (i = 0; i < p; i++)
        {
          if (i == k)
            continue;
          for (j = 0; j < n; j++)
            {
              if (j == k)
                continue;
              mpz_mul (term, a[i * n + j], determinant);
              mpz_submul (term, a[i * n + k], a[k * n + j]);
              mpz_divexact (a[i * n + j], term, last);
            }
          mpz_set_ui (a[i * n + k], 0);
        }
    }

  mpz_clears (term, last, NULL);
  for (k = 0; k < p; k++)
    mpz_clear (diagonal[k]);
  return rank;
}

/* The value of @dtype nearest to @numerator / @denominator 2^@exponent, ties to even. Zero is positive where it is
 * exact. */
static double
round_once (const mpz_t numerator, const mpz_t denominator, gint64 exponent, AprDType dtype)
{
  gint64 precision = dtype == APR_DTYPE_F32 ? FLT_MANT_DIG : DBL_MANT_DIG;
  gint64 least = dtype == APR_DTYPE_F32 ? FLT_MIN_EXP - FLT_MANT_DIG : DBL_MIN_EXP - DBL_MANT_DIG;
  gint64 most = dtype == APR_DTYPE_F32 ? FLT_MAX_EXP : DBL_MAX_EXP;
  gint64 place;
  double value;
  gint order = 0;
  mpz_t up;
  mpz_t down;
  mpz_t quotient;

  if (mpz_sgn (numerator) == 0)
    return 0;

  mpz_inits (up, down, quotient, NULL);
  mpz_abs (up, numerator);
  mpz_abs (down, denominator);
  /* The last place: at first perhaps one too low. */
  place = (gint64) mpz_sizeinbase (up, 2) - (gint64) mpz_sizeinbase (down, 2) + exponent - precision;
  place = MAX (place, least);
  for (;; place++)
    {
      gint64 shift = exponent - place;
      mpz_t shifted;

      mpz_init_set (shifted, shift >= 0 ? up : down);
      mpz_mul_2exp (shifted, shifted, (mp_bitcnt_t) ABS (shift));
      mpz_tdiv_q (quotient, shift >= 0 ? shifted : up, shift >= 0 ? down : shifted);
      if ((gint64) mpz_sizeinbase (quotient, 2) > precision)
        {
          mpz_clear (shifted);
          continue;
        }
      /* What is left, twice, beside the divisor. */
      mpz_submul (shift >= 0 ? shifted : up, quotient, shift >= 0 ? down : shifted);
      mpz_mul_2exp (shift >= 0 ? shifted : up, shift >= 0 ? shifted : up, 1);
      order = shift >= 0 ? mpz_cmp (shifted, down) : mpz_cmp (up, shifted);
      mpz_clear (shifted);
      break;
    }
  if (order > 0 || (order == 0 && mpz_odd_p (quotient)))
    mpz_add_ui (quotient, quotient, 1);
  value = (gint64) mpz_sizeinbase (quotient, 2) + place > most ? INFINITY
                                                               : ldexp (mpz_get_d (quotient), (int) place);
  if (mpz_sgn (numerator) * mpz_sgn (denominator) < 0)
    value = -value;
  mpz_clears (up, down, quotient, NULL);

  return value;
}

/* Coefficients over a common denominator: that of feature j is numerators[j] / denominator 2^(the target's exponent -
 * exponents[j]). */
typedef struct
{
  gsize p;
  mpz_t *numerators; /* (owned) p */
  mpz_t denominator;
  gint64 *exponents; /* (owned) p */
} Coefficients;

static void
coefficients_init (Coefficients *self, const Products *products)
{
  self->p = products->p;
  self->numerators = numbers_new (self->p);
  mpz_init_set_ui (self->denominator, 1);
  self->exponents = g_memdup2 (products->exponents, self->p * sizeof *self->exponents);
}

static void
coefficients_clear (Coefficients *self)
{
  numbers_free (self->numerators, self->p);
  mpz_clear (self->denominator);
  g_free (self->exponents);
}

/* What the elimination @a left has the solution for the independent features in the target's column, and in those
 * of the dependent features what these are combinations of, W. The coefficients b that have the least norm, among
 * those that predict the same when a dependent feature is replaced by its combination, are t and W't, where
 * (I + W W') t is the solution for the independent features alone. */
static void
find_minimum_norm (Coefficients *self,
                   mpz_t *a,
                   const Products *products,
                   gsize target,
                   const gboolean *independent,
                   const gboolean *excluded,
                   const mpz_t determinant)
{
  gsize p = products->p;
  gsize n = products->n;
  gint64 least = G_MAXINT64;
  gboolean any = FALSE;
  g_autofree gboolean *none = g_new0 (gboolean, p);
  g_autofree gboolean *solved = g_new0 (gboolean, p);
  mpz_t *m = numbers_new (p * (p + 1));
  mpz_t term;
  mpz_t divisor;
  gsize i;
  gsize j;
  gsize k;

  for (j = 0; j < p; j++)
    {
      any = any || (!independent[j] && !excluded[j]);
      if (!excluded[j])
        least = MIN (least, products->exponents[j]);
    }
  if (!any)
    {
      mpz_set (self->denominator, determinant);
      for (j = 0; j < p; j++)
        if (independent[j])
          mpz_set (self->numerators[j], a[j * n + p + target]);
      numbers_free (m, p * (p + 1));
      return;
    }
  mpz_inits (term, divisor, NULL);

  /* With d the determinant, S the scales 2^(exponent - least), and V and z, d times the combinations and the
   * solution in scaled units, this is (d^2 S^2 + V S^2 V') tau = d z, and t = S tau. */
  for (i = 0; i < p; i++)
    {
      if (!independent[i])
        {
          mpz_set_ui (m[i * (p + 1) + i], 1);
          continue;
        }
      for (k = 0; k < p; k++)
        {
          mpz_t *entry = &m[i * (p + 1) + k];

          if (!independent[k])
            continue;
          if (i == k)
            {
              mpz_mul (*entry, determinant, determinant);
              mpz_mul_2exp (*entry, *entry, (mp_bitcnt_t) (2 * (products->exponents[i] - least)));
            }
          for (j = 0; j < p; j++)
            if (!independent[j] && !excluded[j])
              {
                mpz_mul (term, a[i * n + j], a[k * n + j]);
                mpz_mul_2exp (term, term, (mp_bitcnt_t) (2 * (products->exponents[j] - least)));
                mpz_add (*entry, *entry, term);
              }
        }
      mpz_mul (m[i * (p + 1) + p], a[i * n + p + target], determinant);
    }
  g_assert_cmpuint (eliminate (m, p + 1, p, none, 0, FALSE, solved, divisor), ==, p);

  /* tau = m / divisor. Independent: 2^(exponent - least) tau, where the scaled unit is 2^-exponent; dependent:
   * 2^(exponent - least) V' tau. Both times 2^-least for the scales that were divided by it. */
  mpz_mul (self->denominator, divisor, determinant);
  for (j = 0; j < p; j++)
    {
      mpz_set_ui (self->numerators[j], 0);
      self->exponents[j] = 2 * least - products->exponents[j];
      if (independent[j])
        mpz_mul (self->numerators[j], m[j * (p + 1) + p], determinant);
      else if (!excluded[j])
        for (i = 0; i < p; i++)
          if (independent[i])
            mpz_addmul (self->numerators[j], a[i * n + j], m[i * (p + 1) + p]);
    }

  mpz_clears (term, divisor, NULL);
  numbers_free (m, p * (p + 1));
}

static gboolean
is_below_zero (const Coefficients *self)
{
  gsize i;

  for (i = 0; i < self->p; i++)
    if (mpz_sgn (self->numerators[i]) * mpz_sgn (self->denominator) < 0)
      return TRUE;

  return FALSE;
}

/* Of all sets of features, the one whose solution has no coefficient below 0, and no gradient above 0. */
static void
find_non_negative (Coefficients *self, const Products *products, gsize target, const gboolean *excluded)
{
  gsize p = products->p;
  gsize n = products->n;
  g_autofree gboolean *left_out = g_new (gboolean, p);
  g_autofree gboolean *independent = g_new (gboolean, p);
  gboolean found = FALSE;
  guint mask;
  gsize i;
  gsize j;

  for (j = 0; j < p; j++)
    self->exponents[j] = products->exponents[j];
  for (mask = 0; mask < 1u << p && !found; mask++)
    {
      mpz_t *a = numbers_new (n * n);
      gsize n_free = 0;

      for (i = 0; i < n * n; i++)
        mpz_set (a[i], products->entries[i]);
      found = TRUE;
      for (i = 0; i < p; i++)
        {
          left_out[i] = (mask >> i & 1) == 0;
          n_free += !left_out[i];
          found = found && (left_out[i] || !excluded[i]);
        }
      found = found && eliminate (a, n, p, left_out, 0, FALSE, independent, self->denominator) == n_free;
      for (i = 0; i < p && found; i++)
        {
          gint sign = mpz_sgn (a[i * n + p + target]) * mpz_sgn (self->denominator);

          /* For the others the elimination leaves their gradient, times the determinant. */
          if (left_out[i])
            {
              found = excluded[i] || sign <= 0;
              mpz_set_ui (self->numerators[i], 0);
            }
          else
            {
              found = sign >= 0;
              mpz_set (self->numerators[i], a[i * n + p + target]);
            }
        }
      numbers_free (a, n * n);
    }
  g_assert_true (found);
}

/* (The target's sum - the sums of the features times their coefficients) / the sum of the weights. */
static double
round_intercept (const Coefficients *self, const Products *products, gsize target, AprDType dtype)
{
  gint64 least = 0;
  double value;
  mpz_t sum;
  mpz_t term;
  gsize i;

  /* A feature's sum has its exponent, a coefficient the target's and less its own. */
  for (i = 0; i < self->p; i++)
    least = MIN (least, products->exponents[i] - self->exponents[i]);
  mpz_inits (sum, term, NULL);
  mpz_mul (sum, products->sums[self->p + target], self->denominator);
  mpz_mul_2exp (sum, sum, (mp_bitcnt_t) -least);
  for (i = 0; i < self->p; i++)
    {
      mpz_mul (term, products->sums[i], self->numerators[i]);
      mpz_mul_2exp (term, term, (mp_bitcnt_t) (products->exponents[i] - self->exponents[i] - least));
      mpz_sub (sum, sum, term);
    }
  mpz_mul (term, products->weight, self->denominator);
  value = round_once (sum, term, products->exponents[self->p + target] + least, dtype);
  mpz_clears (sum, term, NULL);

  return value;
}

/* With one penalty for all targets. */
static ExactSolution *
find_with_alpha (const RandomProblem *problem)
{
  ExactSolution *self = g_new0 (ExactSolution, 1);
  AprDType dtype = problem->dtype != APR_DTYPE_NONE ? problem->dtype : problem->x_dtype;
  gsize p = problem->n_features;
  gsize rule_p = problem->alpha > 0 ? 0 : p;
  gboolean single = problem->x_dtype == APR_DTYPE_F32;
  g_autofree gboolean *excluded = g_new0 (gboolean, p);
  g_autofree gboolean *independent = g_new0 (gboolean, p);
  Products products;
  mpz_t *a;
  mpz_t determinant;
  mpz_t one;
  gsize i;
  gsize t;

  products_init (&products, problem);
  mpz_init_set_ui (one, 1);
  for (i = 0; i < p; i++)
    {
      const mpz_t *square = (const mpz_t *) &products.entries[i * products.n + i];

      excluded[i] = mpz_sgn (*square) == 0 ||
                    (rule_p > 0 && is_negligible (*square, products.raw[i], one, rule_p, single));
    }

  a = numbers_new (products.n * products.n);
  for (i = 0; i < products.n * products.n; i++)
    mpz_set (a[i], products.entries[i]);
  mpz_init (determinant);
  self->rank = eliminate (a, products.n, p, excluded, rule_p, single, independent, determinant);
  self->dependent = g_new (gboolean, p);
  for (i = 0; i < p; i++)
    self->dependent[i] = !independent[i];

  self->coefficients = g_new0 (double, p * problem->n_targets);
  self->intercepts = g_new0 (double, problem->n_targets);
  for (t = 0; t < problem->n_targets; t++)
    {
      Coefficients coefficients;

      coefficients_init (&coefficients, &products);
      find_minimum_norm (&coefficients, a, &products, t, independent, excluded, determinant);
      if (problem->positive && is_below_zero (&coefficients))
        find_non_negative (&coefficients, &products, t, excluded);
      for (i = 0; i < p; i++)
        self->coefficients[t * p + i] =
          round_once (coefficients.numerators[i], coefficients.denominator,
                      products.exponents[p + t] - coefficients.exponents[i], dtype);
      if (problem->fit_intercept)
        self->intercepts[t] = round_intercept (&coefficients, &products, t, dtype);
      coefficients_clear (&coefficients);
    }

  numbers_free (a, products.n * products.n);
  mpz_clears (determinant, one, NULL);
  products_clear (&products);
  return self;
}

ExactSolution *
exact_solution_find (const RandomProblem *problem)
{
  RandomProblem with_alpha = *problem;
  ExactSolution *self = NULL;
  gsize p = problem->n_features;
  gsize t;

  if (problem->alphas == NULL)
    return find_with_alpha (problem);

  for (t = 0; t < problem->n_targets; t++)
    {
      g_autoptr (ExactSolution) other = NULL;

      with_alpha.alpha = problem->alphas[t];
      other = find_with_alpha (&with_alpha);
      if (self == NULL)
        {
          self = g_steal_pointer (&other);
          continue;
        }
      memcpy (self->coefficients + t * p, other->coefficients + t * p, p * sizeof (double));
      self->intercepts[t] = other->intercepts[t];
      /* A penalty above 0 leaves no feature dependent. */
      if (other->rank < self->rank)
        {
          self->rank = other->rank;
          memcpy (self->dependent, other->dependent, p * sizeof (gboolean));
        }
    }

  return self;
}

void
exact_solution_free (ExactSolution *self)
{
  g_free (self->dependent);
  g_free (self->coefficients);
  g_free (self->intercepts);
  g_free (self);
}
