/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-minimum-norm-private.h"

#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-parallel-private.h"
#include "aprender/least-squares/apr-refinement-private.h"

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
  AprNormalEquations squared;          /* (owned) */
};

/* G by rows, in whichever of the two it fits. */
typedef struct
{
  AprSquaredEquations *self;
  const AprRun *run;
  AprIntegerTable g; /* n x rank */
  gint64 *words; /* (nullable) the same transposed, where a sum of products has at most 127 bits and a sign */
} Squaring;

/* The sum of the products of two columns. */
static void
multiply_words (const Squaring *squaring, gsize i, gsize j, mpz_t sum)
{
  gsize n = squaring->self->n;
  const gint64 *left = squaring->words + i * n;
  const gint64 *right = squaring->words + j * n;
  __int128 total = 0;
  gsize k;

  for (k = 0; k < n; k++)
    total += (__int128) left[k] * right[k];
  mpz_set_si (sum, (long) (total >> 64));
  mpz_mul_2exp (sum, sum, 64);
  mpz_add_ui (sum, sum, (unsigned long) total);
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
        if (squaring->words != NULL)
          multiply_words (squaring, i, j, sum);
        for (k = 0; k < self->n && squaring->words == NULL; k++)
          mpz_addmul (sum, squaring->g.numbers[k * rank + i], squaring->g.numbers[k * rank + j]);
        apr_products_set_integer (&self->products, i, j, sum);
      }
  mpz_clear (sum);
}

/* Returns FALSE where there is no memory. */
static gboolean
square (AprSquaredEquations *self, const AprRun *run)
{
  const AprNormalEquations *equations = self->equations;
  const AprProducts *products = equations->products;
  gsize rank = equations->n_independent;
  Squaring squaring = { self, run };
  gsize max_bits = 0;
  gsize sum_bits;
  gsize i;
  gsize j;
  mpz_t value;

  if (!apr_integer_table_init (&squaring.g, self->n * rank, products->n_limbs * GMP_NUMB_BITS, run))
    return FALSE;

  mpz_init (value);
  for (i = 0; i < self->n && !apr_run_is_cancelled (run); i++)
    for (j = 0; j < rank; j++)
      {
        apr_products_get_integer (products, self->features[i], equations->independent[j], value);
        apr_integer_table_set (&squaring.g, i * rank + j, value);
        max_bits = MAX (max_bits, mpz_sizeinbase (value, 2));
      }
  sum_bits = 2 * max_bits + g_bit_storage (self->n);
  if (!apr_products_init_zeros (&self->products, rank, products->n_targets,
                                MAX (products->n_limbs, sum_bits / GMP_NUMB_BITS + 1), run))
    {
      mpz_clear (value);
      apr_pages_free (squaring.g.numbers);
      return FALSE;
    }
  if (sum_bits < 128)
    {
      squaring.words = apr_run_new_pages (run, self->n * rank, sizeof *squaring.words, FALSE);
      for (i = 0; i < self->n && squaring.words != NULL; i++) /* GCOVR_EXCL_BR_LINE: there is no memory */
        for (j = 0; j < rank; j++)
          squaring.words[j * self->n + i] = mpz_get_si (squaring.g.numbers[i * rank + j]);
    }
  apr_parallel_run (square_rows, &squaring, run->n_threads,
                    10 * (double) rank * (double) rank * (double) self->n);
  apr_pages_free (squaring.g.numbers);
  apr_pages_free (squaring.words);

  for (i = 0; i < products->n_targets; i++)
    for (j = 0; j < rank; j++)
      {
        apr_products_get_integer (products, products->n_features + i, equations->independent[j], value);
        apr_products_set_integer (&self->products, rank + i, j, value);
      }
  mpz_clear (value);

  return TRUE;
}

AprSquaredEquations *
apr_squared_equations_new (const AprNormalEquations *equations, const gsize *features, const AprRun *run)
{
  AprSquaredEquations *self = g_new0 (AprSquaredEquations, 1);
  g_autofree gboolean *none = g_new0 (gboolean, equations->n_independent);

  self->equations = equations;
  self->features = features;
  self->n = equations->n_independent + equations->n_dependent;
  if (square (self, run))
    apr_normal_equations_init (&self->squared, &self->products, none, 0, run);

  return self;
}

void
apr_squared_equations_free (AprSquaredEquations *self)
{
  apr_normal_equations_clear (&self->squared);
  apr_products_clear (&self->products);
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

/* Finds @error_bits, and so how many bits behind the point v has to have. */
static void
image_init (Image *self, AprSquaredEquations *equations, gsize column)
{
  const AprNormalEquations *squared = &equations->squared;
  const AprProducts *products = equations->equations->products;
  gsize n = squared->n_independent;
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
      for (i = 0; i < equations->n; i++)
        max_bits =
          MAX (max_bits, apr_products_get_bits (products, equations->features[i], self->columns[j]) - scale);
    }
  self->error_bits = max_bits + squared->scales[column] + (gint64) g_bit_storage (n);
}

static void
image_begin (Image *self, gsize column, gint64 fraction)
{
  const AprNormalEquations *squared = &self->equations->squared;
  gint64 max_scale = 0;
  gsize j;

  for (j = 0; j < squared->n_independent; j++)
    max_scale = MAX (max_scale, squared->scales[squared->independent[j]]);
  apr_solution_init (&self->v, squared, column, fraction, TRUE);
  apr_fixed_init (&self->b, self->equations->n, fraction + max_scale - squared->scales[column],
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
                            self->scales, equations->squared.scales[self->v.column], &self->v.correction, 1,
                            refinement->run);
  refinement->error = apr_scale_error (self->v.error, self->error_bits);

  return more;
}

gboolean
apr_squared_equations_solve (AprSquaredEquations *self, const AprTarget *target, const AprRun *run)
{
  const AprNormalEquations *equations = self->equations;
  AprNormalEquations *squared = &self->squared;
  gsize rank = squared->n_independent;
  gsize column = self->products.n_features + target->index;
  double n_products = (double) rank * (double) self->n * (double) self->products.n_limbs;
  gint64 fraction;
  g_auto (AprRefinement) refinement = { 0 };
  g_auto (Image) image = { 0 };

  if (apr_run_is_cancelled (run))
    return FALSE;

  apr_normal_equations_scale_column (squared, column);
  apr_refinement_init (&refinement, equations->products, target, self->features, self->n, run);
  refinement.x = &image.b;
  apr_refinement_apply_cramer (&refinement, equations->independent, equations->n_independent);
  image_init (&image, self, column);
  /* Fewer serve only where all coefficients underflow: GCOVR_EXCL_BR_START */
  fraction = MAX (128, apr_refinement_count_bits (&refinement) + image.error_bits + squared->inverse_bits);
  /* GCOVR_EXCL_BR_STOP */
  image_begin (&image, column, apr_refinement_limit_bits (fraction, squared->inverse_bits, n_products));

  return apr_refinement_run (&refinement, refine, &image) &&
         rank == self->products.n_features; /* GCOVR_EXCL_BR_LINE: so it is, but for sums of no samples */
}
