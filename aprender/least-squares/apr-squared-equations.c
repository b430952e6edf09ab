/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-minimum-norm-private.h"

#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/least-squares/apr-solution-private.h"

/* With G the products of all features with the independent ones, and c those of the target with the independent ones,
 * the solution of minimum norm is b = G v with G'G v = c. G'G is a matrix of whole numbers as the products are, so v
 * is had from its normal equations as any other solution is, to any length, and b is a sum of exact products with it.
 * The condition of G'G is the square of that of the products, which longer factors make up for.
 */

struct _AprSquaredEquations
{
  const AprNormalEquations *equations; /* (unowned) */
  const gsize *features;               /* (unowned) */
  gsize n;                             /* of @features */
  AprProducts products;                /* (owned) G'G and c */
  AprNormalEquations *squared;         /* (owned) */
};

typedef struct
{
  AprSquaredEquations *self;
  const AprRun *run;
  mpz_t *g; /* n x rank */
} Squaring;

static void
set_entry (AprProducts *products, gsize row, gsize column, const mpz_t value)
{
  mp_limb_t *to = products->limbs + apr_triangle (row, column) * products->n_limbs;

  memset (to, 0, products->n_limbs * sizeof *to);
  mpn_copyi (to, mpz_limbs_read (value), (mp_size_t) mpz_size (value));
  if (mpz_sgn (value) < 0)
    (void) mpn_neg (to, to, (mp_size_t) products->n_limbs);
}

static void
square_rows (gpointer data, gsize part, gsize n_parts)
{
  const Squaring *squaring = data;
  AprSquaredEquations *self = squaring->self;
  gsize rank = self->products.n_features;
  mpz_t sum;
  gsize i;
  gsize j;
  gsize k;

  mpz_init (sum);
  for (i = part; i < rank; i += n_parts)
    for (j = 0; j <= i && !apr_run_is_cancelled (squaring->run); j++)
      {
        mpz_set_ui (sum, 0);
        for (k = 0; k < self->n; k++)
          mpz_addmul (sum, squaring->g[k * rank + i], squaring->g[k * rank + j]);
        set_entry (&self->products, i, j, sum);
      }
  mpz_clear (sum);
}

static void
square (AprSquaredEquations *self, const AprRun *run)
{
  const AprNormalEquations *equations = self->equations;
  const AprProducts *products = equations->products;
  gsize rank = equations->n_independent;
  gsize n_columns = rank + products->n_targets;
  Squaring squaring = { self, run, apr_integers_new (self->n * rank) };
  gsize max_bits = 0;
  gsize i;
  gsize j;
  mpz_t value;

  for (i = 0; i < self->n && !apr_run_is_cancelled (run); i++)
    for (j = 0; j < rank; j++)
      {
        apr_products_get_integer (products, self->features[i], equations->independent[j],
                                  squaring.g[i * rank + j]);
        max_bits = MAX (max_bits, mpz_sizeinbase (squaring.g[i * rank + j], 2));
      }

  self->products.n_limbs =
    MAX (products->n_limbs, (2 * max_bits + g_bit_storage (self->n)) / GMP_NUMB_BITS + 1);
  self->products.limbs =
    apr_pages_new (apr_triangle (n_columns, 0) * self->products.n_limbs * sizeof (mp_limb_t), TRUE);
  if (self->products.limbs == NULL)                                /* GCOVR_EXCL_BR_LINE: ends the program */
    g_error ("no memory for %" G_GSIZE_FORMAT " rows", n_columns); /* GCOVR_EXCL_LINE: see above */
  apr_parallel_run (square_rows, &squaring, run->n_threads,
                    10 * (double) rank * (double) rank * (double) self->n);
  apr_integers_free (squaring.g, self->n * rank);

  mpz_init (value);
  for (i = 0; i < products->n_targets; i++)
    for (j = 0; j < rank; j++)
      {
        apr_products_get_integer (products, products->n_features + i, equations->independent[j], value);
        set_entry (&self->products, rank + i, j, value);
      }
  mpz_clear (value);
}

AprSquaredEquations *
apr_squared_equations_new (const AprNormalEquations *equations, const gsize *features, const AprRun *run)
{
  AprSquaredEquations *self = g_new0 (AprSquaredEquations, 1);
  g_autofree gboolean *none = g_new0 (gboolean, equations->n_independent);

  self->equations = equations;
  self->features = features;
  self->n = equations->n_independent + equations->n_dependent;
  self->products.n_features = equations->n_independent;
  self->products.n_targets = equations->products->n_targets;
  square (self, run);
  self->squared = apr_normal_equations_new (&self->products, none, 0, run);

  return self;
}

void
apr_squared_equations_free (AprSquaredEquations *self)
{
  if (self == NULL)
    return;

  apr_normal_equations_free (self->squared);
  apr_pages_free (self->products.limbs);
  g_free (self);
}

typedef struct
{
  AprSquaredEquations *equations; /* (unowned) */
  gsize *columns;                 /* (owned) the independent features, by position */
  gint64 *scales;                 /* (owned) of G'G, by feature */
  AprSolution v;
  AprFixed b;
  gint64 error_bits; /* an error of v is at most 2^this times as large in b */
} Image;

static void
image_clear (Image *self)
{
  g_clear_pointer (&self->columns, g_free);
  g_clear_pointer (&self->scales, g_free);
  apr_solution_clear (&self->v);
  apr_fixed_clear (&self->b);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Image, image_clear)

static void
image_init (Image *self, AprSquaredEquations *equations, gsize column, gint64 fraction)
{
  const AprNormalEquations *squared = equations->squared;
  const AprProducts *products = equations->equations->products;
  gsize n = squared->n_independent;
  gint64 column_scale = squared->scales[column];
  gint64 max_scale = 0;
  gint64 max_bits = G_MININT32;
  gsize i;
  gsize j;

  *self = (Image){ .equations = equations };
  self->columns = g_new (gsize, n);
  self->scales = g_new0 (gint64, products->n_features);
  for (j = 0; j < n; j++)
    {
      gint64 scale = squared->scales[squared->independent[j]];

      self->columns[j] = equations->equations->independent[squared->independent[j]];
      self->scales[self->columns[j]] = scale;
      max_scale = MAX (max_scale, scale);
      for (i = 0; i < equations->n; i++)
        max_bits =
          MAX (max_bits, apr_products_get_bits (products, equations->features[i], self->columns[j]) - scale);
    }

  apr_solution_init (&self->v, squared, column, fraction, TRUE);
  self->error_bits = max_bits + column_scale + (gint64) g_bit_storage (n);
  apr_fixed_init (&self->b, equations->n, fraction + max_scale - column_scale,
                  self->v.whole + 32 + MAX (self->error_bits, 0));
}

static gboolean
refine (AprRefinement *refinement, gpointer data)
{
  Image *self = data;
  const AprSquaredEquations *equations = self->equations;
  gboolean more = apr_solution_refine (&self->v, refinement->run);

  if (self->v.corrected)
    apr_fixed_add_products (&self->b, equations->equations->products, equations->features, self->columns,
                            self->scales, equations->squared->scales[self->v.column], &self->v.correction, 1,
                            refinement->run);
  refinement->error = self->v.error + self->error_bits;
  refinement->exact = self->v.exact;

  return more;
}

gboolean
apr_squared_equations_solve (AprSquaredEquations *self,
                             gsize column,
                             AprDType dtype,
                             const AprRun *run,
                             AprLongCoefficients *wanted,
                             double *unknowns,
                             double *intercept)
{
  const AprProducts *products = self->equations->products;
  AprNormalEquations *squared = self->squared;
  gsize rank = squared->n_independent;
  gsize squared_column = self->products.n_features + column - products->n_features;
  double work = (double) rank * (double) self->n * (double) self->products.n_limbs / 64;
  gint64 fraction;
  gint64 grid = G_MININT32;
  g_auto (AprRefinement) of_v = { 0 };
  g_auto (AprRefinement) refinement = { 0 };
  g_auto (Image) image = { 0 };
  gsize i;

  if (apr_run_is_cancelled (run))
    return FALSE;

  apr_normal_equations_scale_column (squared, squared_column);
  apr_refinement_init (&of_v, &self->products, squared_column, dtype, squared->independent, rank, run);
  apr_normal_equations_apply_cramer (squared, &of_v);
  for (i = 0; i < rank; i++)
    grid = MAX (grid, of_v.grids[i]);

  apr_refinement_init (&refinement, products, column, dtype, self->features, self->n, run);
  refinement.wanted = wanted;
  refinement.denominator_bits = of_v.denominator_bits;
  refinement.grids = g_new (gint64, self->n);
  for (i = 0; i < self->n; i++)
    refinement.grids[i] = grid;

  image_init (&image, self, squared_column, 0);
  /* Fewer serve only where all coefficients underflow: GCOVR_EXCL_BR_START */
  fraction = MAX (128, apr_refinement_count_bits (&refinement) + image.error_bits + squared->inverse_bits);
  /* GCOVR_EXCL_BR_STOP */
  image_clear (&image);
  if ((double) fraction * work > APR_NORMAL_EQUATIONS_MAX_WORK)
    /* Some thousand features are too many for even this: GCOVR_EXCL_BR_START */
    fraction = MIN (fraction, 512 + squared->inverse_bits);
  /* GCOVR_EXCL_BR_STOP */
  image_init (&image, self, squared_column, fraction);
  refinement.x = &image.b;

  return apr_refinement_run (&refinement, refine, &image, unknowns, intercept) &&
         rank == self->products.n_features; /* GCOVR_EXCL_BR_LINE: so it is, but for sums of no samples */
}
