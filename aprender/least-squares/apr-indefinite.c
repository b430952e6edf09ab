/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-indefinite-private.h"

#include "aprender/least-squares/apr-cholesky-private.h"
#include "aprender/least-squares/apr-scaled-products-private.h"

/* Sums that come from a file, or from which others were subtracted, may be those of no samples although no two columns
 * show it. To solve them could take minutes, so a factorisation in double looks for a feature of which less than
 * nothing is left without those before it: the combination that leaves least is taken to whole numbers, whose sum of
 * squares is computed without rounding. */

/* A Schur complement below this part of the diagonal may be rounding errors alone. */
#define DOUBTFUL 0x1p-34

/* So large are coefficients of combinations at most: with those, nothing overflows. */
#define MAX_COEFFICIENT 0x1p60

typedef struct
{
  const AprProducts *products;
  const AprRun *run;
  gint64 *scales; /* (owned) of the features */
  gsize *columns; /* (owned) the features that are not excluded */
  gsize n;
  AprCholesky cholesky;
  gsize *independent; /* (owned) positions */
  gsize n_independent;
} Search;

static gboolean
search_init (Search *self, const AprProducts *products, const gboolean *excluded, const AprRun *run)
{
  gsize i;

  *self = (Search){ products, run };
  self->scales = g_new (gint64, products->n_features);
  self->columns = g_new (gsize, products->n_features);
  for (i = 0; i < products->n_features; i++)
    if (!excluded[i])
      {
        self->scales[i] = apr_products_get_scale (products, i);
        self->columns[self->n++] = i;
      }
  self->independent = g_new (gsize, self->n);

  return apr_cholesky_init (&self->cholesky, self->n, run);
}

static void
search_clear (Search *self)
{
  g_free (self->scales);
  g_free (self->columns);
  apr_cholesky_clear (&self->cholesky);
  g_free (self->independent);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Search, search_clear)

/* Returns the first position that has a product of 4 or more with one before it, as scaled: its square is above the
 * product of theirs, which are below 2. */
static gsize
find_too_large (const Search *self)
{
  gint64 n_limbs = (gint64) self->products->n_limbs;
  guint64 too_large = 0;
  gsize i;
  gsize j;

  for (i = 0;; i++)
    {
      gsize row = self->columns[i];

      for (j = 0; j < i; j++)
        (void) apr_limbs_get_double (apr_products_get (self->products, row, self->columns[j]), n_limbs,
                                     self->scales[row] + self->scales[self->columns[j]], &too_large);
      if (too_large != 0)
        return i;
    }
}

/* Factorises the scaled products, and finds the position with the least Schur complement of those that are not clearly
 * positive; returns whether there is one. */
static gboolean
find_least (Search *self, gsize *position)
{
  g_autofree double *limits = g_new (double, self->n);
  g_autofree double *left = g_new (double, self->n);
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    {
      left[i] = self->cholesky.rows[i * self->cholesky.stride + i];
      limits[i] = DOUBTFUL * left[i];
    }
  self->n_independent = apr_cholesky_factorise (&self->cholesky, limits, self->independent, self->run);
  if (self->n_independent == self->n || apr_run_is_cancelled (self->run))
    return FALSE;

  for (i = 0; i < self->n_independent; i++)
    {
      gsize at = self->independent[i];
      const double *row = self->cholesky.rows + at * self->cholesky.stride;

      for (j = at + 1; j < self->n; j++)
        left[j] -= row[j] * row[j];
      left[at] = INFINITY;
    }
  *position = 0;
  for (j = 1; j < self->n; j++)
    if (left[j] < left[*position])
      *position = j;

  return TRUE;
}

/* Writes the combination with the features before @position that leaves least: 1 for itself. */
static void
combine (const Search *self, gsize position, double *x)
{
  gsize stride = self->cholesky.stride;
  gsize n;
  gsize i;
  gsize j;

  for (n = 0; n < self->n_independent && self->independent[n] < position; n++)
    ;
  x[position] = 1;
  for (i = n; i-- > 0;)
    {
      const double *row = self->cholesky.rows + self->independent[i] * stride;
      double sum = row[position];

      for (j = i + 1; j < n; j++)
        sum += row[self->independent[j]] * x[self->independent[j]];
      x[self->independent[i]] =
        fmax (-MAX_COEFFICIENT, fmin (-sum / row[self->independent[i]], MAX_COEFFICIENT));
    }
}

/* Whether the sum of squares of the combination is negative, without rounding; the combination itself is rounded. */
static gboolean
is_negative (const Search *self, const double *x)
{
  mpz_t *whole = apr_integers_new (self->n);
  gint64 max_scale = G_MININT64;
  gboolean negative;
  mpz_t entry;
  mpz_t row;
  mpz_t sum;
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    max_scale = MAX (max_scale, self->scales[self->columns[i]]);
  for (i = 0; i < self->n; i++)
    {
      /* Scaled products are below 4, and nothing depends on coefficients below 2^-60. */
      mpz_set_d (whole[i], rint (x[i] * 0x1p60));
      mpz_mul_2exp (whole[i], whole[i], (mp_bitcnt_t) (max_scale - self->scales[self->columns[i]]));
    }

  mpz_inits (entry, row, sum, NULL);
  for (i = 0; i < self->n && !apr_run_is_cancelled (self->run); i++)
    {
      if (x[i] == 0)
        continue;
      mpz_set_ui (row, 0);
      for (j = 0; j < i; j++)
        if (x[j] != 0)
          {
            apr_products_get_integer (self->products, self->columns[i], self->columns[j], entry);
            mpz_addmul (row, entry, whole[j]);
          }
      mpz_mul_2exp (row, row, 1);
      apr_products_get_integer (self->products, self->columns[i], self->columns[i], entry);
      mpz_addmul (row, entry, whole[i]);
      mpz_addmul (sum, row, whole[i]);
    }
  negative = mpz_sgn (sum) < 0;
  mpz_clears (entry, row, sum, NULL);
  apr_integers_free (whole, self->n);

  return negative;
}

gboolean
apr_products_prove_indefinite (const AprProducts *self,
                               const gboolean *excluded,
                               const AprRun *run,
                               gsize *feature)
{
  g_auto (Search) search = { NULL };
  g_autofree double *x = NULL;
  AprScaledProducts scaled;
  gsize position;

  if (!search_init (&search, self, excluded, run))
    return FALSE;
  scaled = (AprScaledProducts){ self, search.scales, search.columns, search.n };
  if (!apr_scaled_products_get_doubles (&scaled, search.cholesky.rows, NULL, search.cholesky.stride, run))
    {
      if (apr_run_is_cancelled (run))
        return FALSE;
      *feature = search.columns[find_too_large (&search)];
      return TRUE;
    }

  if (!find_least (&search, &position))
    return FALSE;
  x = g_new0 (double, search.n);
  combine (&search, position, x);
  *feature = search.columns[position];

  return is_negative (&search, x);
}
