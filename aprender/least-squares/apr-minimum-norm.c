/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/apr-minimum-norm-private.h"

#include "aprender/least-squares/apr-rounding-private.h"

/* Where features depend on others, X_D = X_B W, all coefficients with b_B + W b_D = beta fit equally well,
 * beta being the answer for the independent ones alone. Those of least norm are [I W]' (I + W W')^-1 beta;
 * or, where there are fewer dependent features than independent ones, b_D = (I + W' W)^-1 W' beta and b_B =
 * beta - W b_D.
 *
 * Beta and W come from exact residuals, and the rest is done in floating-point numbers long enough for the
 * widest range of scales among the features.
 */
#define PRECISION 640

typedef struct
{
  gsize n_rows; /* the independent features */
  gsize n_columns;
  mpf_t *values; /* (owned) */
} Matrix;

static void
matrix_init (Matrix *self, gsize n_rows, gsize n_columns, mp_bitcnt_t precision)
{
  gsize i;

  self->n_rows = n_rows;
  self->n_columns = n_columns;
  self->values = g_new (mpf_t, n_rows * n_columns);
  for (i = 0; i < n_rows * n_columns; i++)
    mpf_init2 (self->values[i], precision);
}

static void
matrix_clear (Matrix *self)
{
  gsize i;

  for (i = 0; i < self->n_rows * self->n_columns; i++)
    mpf_clear (self->values[i]);
  g_free (self->values);
}

#define AT(matrix, row, column) ((matrix)->values[(row) * (matrix)->n_columns + (column)])

/* Solves the independent columns for @column, to @bits after the first of the greatest unknown, into column @to of
 * @matrix. */
static void
solve_column (AprNormalEquations *equations, gsize column, gint64 bits, Matrix *matrix, gsize to)
{
  AprSolution solution;
  gint64 top;
  gsize i;

  apr_solution_init (&solution, equations, column);
  do
    {
      apr_solution_refine (&solution);
      top = G_MININT64;
      for (i = 0; i < solution.n; i++)
        if (mpz_sgn (solution.z[i]) != 0)
          top = MAX (top, (gint64) mpz_sizeinbase (solution.z[i], 2) - solution.fraction);
    }
  while (!solution.exact && solution.error > top - bits);

  for (i = 0; i < solution.n; i++)
    {
      gint64 exponent = solution.fraction + solution.scale[i];

      mpf_set_z (AT (matrix, i, to), solution.z[i]);
      if (exponent >= 0)
        mpf_div_2exp (AT (matrix, i, to), AT (matrix, i, to), (mp_bitcnt_t) exponent);
      else
        mpf_mul_2exp (AT (matrix, i, to), AT (matrix, i, to), (mp_bitcnt_t) -exponent);
    }
  apr_solution_clear (&solution);
}

/* Solves (I + A A') x = b in place, with A the rows of @matrix, or its columns where @transposed. */
static void
solve_identity_plus_products (Matrix *matrix, gboolean transposed, Matrix *b, mp_bitcnt_t precision)
{
  gsize n = transposed ? matrix->n_columns : matrix->n_rows;
  gsize length = transposed ? matrix->n_rows : matrix->n_columns;
  Matrix system;
  mpf_t product;
  mpf_t ratio;
  gsize i;
  gsize j;
  gsize k;

  matrix_init (&system, n, n, precision);
  mpf_init2 (product, precision);
  mpf_init2 (ratio, precision);

  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      {
        mpf_set_ui (AT (&system, i, j), i == j ? 1 : 0);
        for (k = 0; k < length; k++)
          {
            if (transposed)
              mpf_mul (product, AT (matrix, k, i), AT (matrix, k, j));
            else
              mpf_mul (product, AT (matrix, i, k), AT (matrix, j, k));
            mpf_add (AT (&system, i, j), AT (&system, i, j), product);
          }
      }

  /* The matrix is symmetric, and its pivots are at least 1: plain elimination is safe. */
  for (k = 0; k < n; k++)
    for (i = k + 1; i < n; i++)
      {
        mpf_div (ratio, AT (&system, i, k), AT (&system, k, k));
        for (j = k + 1; j < n; j++)
          {
            mpf_mul (product, ratio, AT (&system, k, j));
            mpf_sub (AT (&system, i, j), AT (&system, i, j), product);
          }
        for (j = 0; j < b->n_columns; j++)
          {
            mpf_mul (product, ratio, AT (b, k, j));
            mpf_sub (AT (b, i, j), AT (b, i, j), product);
          }
      }
  for (k = n; k-- > 0;)
    for (j = 0; j < b->n_columns; j++)
      {
        for (i = k + 1; i < n; i++)
          {
            mpf_mul (product, AT (&system, k, i), AT (b, i, j));
            mpf_sub (AT (b, k, j), AT (b, k, j), product);
          }
        mpf_div (AT (b, k, j), AT (b, k, j), AT (&system, k, k));
      }

  mpf_clear (product);
  mpf_clear (ratio);
  matrix_clear (&system);
}

/* to -= W from, or to += W' from where @transposed. */
static void
apply (Matrix *w, gboolean transposed, Matrix *from, Matrix *to, mp_bitcnt_t precision)
{
  mpf_t product;
  gsize i;
  gsize j;
  gsize k;

  mpf_init2 (product, precision);
  for (i = 0; i < to->n_rows; i++)
    for (j = 0; j < to->n_columns; j++)
      for (k = 0; k < from->n_rows; k++)
        {
          if (transposed)
            {
              mpf_mul (product, AT (w, k, i), AT (from, k, j));
              mpf_add (AT (to, i, j), AT (to, i, j), product);
            }
          else
            {
              mpf_mul (product, AT (w, i, k), AT (from, k, j));
              mpf_sub (AT (to, i, j), AT (to, i, j), product);
            }
        }
  mpf_clear (product);
}

/* The nearest value of @dtype; zero for what is no more than the rounding errors of the terms, of which the
 * greatest is below 2^@top. */
static double
round_long (const mpf_t value, gint64 top, gint64 precision, AprDType dtype)
{
  signed long exponent;
  double rounded;
  mpf_t shifted;
  mpz_t significand;
  gint64 shift;

  (void) mpf_get_d_2exp (&exponent, value);
  if (mpf_sgn (value) == 0 || exponent < top - precision / 2)
    return 0.0;

  shift = precision - exponent;
  mpf_init2 (shifted, (mp_bitcnt_t) precision);
  mpz_init (significand);
  if (shift >= 0)
    mpf_mul_2exp (shifted, value, (mp_bitcnt_t) shift);
  else
    mpf_div_2exp (shifted, value, (mp_bitcnt_t) -shift);
  mpz_set_f (significand, shifted);
  rounded = apr_round_dyadic (significand, -shift, dtype);
  mpf_clear (shifted);
  mpz_clear (significand);

  return rounded;
}

static gint64
exponent_of (const mpf_t value)
{
  signed long exponent;

  (void) mpf_get_d_2exp (&exponent, value);

  return mpf_sgn (value) == 0 ? G_MININT32 : exponent;
}

typedef struct
{
  const gsize *features; /* (unowned) which feature a row belongs to */
  Matrix *values;        /* (unowned) n x 1 */
} Part;

/* The intercept of @target, and its coefficients of both parts, rounded. */
static void
round_target (const Part *parts,
              const AprProducts *products,
              gsize target,
              gint64 precision,
              AprDType dtype,
              double *coefficients,
              double *intercept)
{
  gint64 top = G_MININT32;
  mpf_t sum;
  mpf_t product;
  gsize part;
  gsize i;

  for (part = 0; part < 2; part++)
    for (i = 0; i < parts[part].values->n_rows; i++)
      top = MAX (top, exponent_of (AT (parts[part].values, i, 0)));
  for (part = 0; part < 2; part++)
    for (i = 0; i < parts[part].values->n_rows; i++)
      coefficients[parts[part].features[i]] =
        round_long (AT (parts[part].values, i, 0), top, precision, dtype);

  if (!products->centred)
    return;

  mpf_init2 (sum, (mp_bitcnt_t) precision);
  mpf_init2 (product, (mp_bitcnt_t) precision);
  mpf_set_z (sum, products->sums[1 + products->n_features + target]);
  top = exponent_of (sum);
  for (part = 0; part < 2; part++)
    for (i = 0; i < parts[part].values->n_rows; i++)
      {
        mpf_set_z (product, products->sums[1 + parts[part].features[i]]);
        mpf_mul (product, product, AT (parts[part].values, i, 0));
        top = MAX (top, exponent_of (product));
        mpf_sub (sum, sum, product);
      }
  mpf_set_z (product, products->sums[0]);
  mpf_div (sum, sum, product);
  *intercept = round_long (sum, top - exponent_of (product), precision, dtype);
  mpf_clear (sum);
  mpf_clear (product);
}

void
apr_minimum_norm_solve (AprNormalEquations *equations,
                        const AprProducts *products,
                        gsize target,
                        AprDType dtype,
                        double *coefficients,
                        double *intercept)
{
  gsize n_independent;
  gsize n_dependent;
  const gsize *independent = apr_normal_equations_get_independent (equations, &n_independent);
  const gsize *dependent = apr_normal_equations_get_dependent (equations, &n_dependent);
  gint64 precision = PRECISION + 4 * apr_normal_equations_get_spread (equations);
  Matrix w;
  Matrix of_independent;
  Matrix of_dependent;
  const Part parts[] = { { independent, &of_independent }, { dependent, &of_dependent } };
  gsize i;

  matrix_init (&w, n_independent, n_dependent, (mp_bitcnt_t) precision);
  matrix_init (&of_independent, n_independent, 1, (mp_bitcnt_t) precision);
  matrix_init (&of_dependent, n_dependent, 1, (mp_bitcnt_t) precision);

  for (i = 0; i < n_dependent; i++)
    solve_column (equations, dependent[i], precision, &w, i);
  solve_column (equations, products->n_features + target, precision, &of_independent, 0);

  if (n_dependent < n_independent)
    {
      apply (&w, TRUE, &of_independent, &of_dependent, (mp_bitcnt_t) precision);
      solve_identity_plus_products (&w, TRUE, &of_dependent, (mp_bitcnt_t) precision);
      apply (&w, FALSE, &of_dependent, &of_independent, (mp_bitcnt_t) precision);
    }
  else
    {
      solve_identity_plus_products (&w, FALSE, &of_independent, (mp_bitcnt_t) precision);
      apply (&w, TRUE, &of_independent, &of_dependent, (mp_bitcnt_t) precision);
    }
  round_target (parts, products, target, precision, dtype, coefficients, intercept);

  matrix_clear (&w);
  matrix_clear (&of_independent);
  matrix_clear (&of_dependent);
}
