/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-exact-fit-private.h"

#include <float.h>
#include <math.h>

#include "aprender/base/apr-pages-private.h"

/* That of solutions. Modulo 2^61 - 1, powers of two would be the same that are not. */
#define PRIME ((G_GUINT64_CONSTANT (1) << 61) - 229)

static guint64
multiply_modulo (guint64 a, guint64 b, guint64 prime)
{
  return (guint64) ((unsigned __int128) a * b % prime);
}

static guint64
raise_modulo (guint64 base, guint64 power, guint64 prime)
{
  guint64 result = 1;

  for (; power > 0; power >>= 1)
    {
      if (power & 1)
        result = multiply_modulo (result, base, prime);
      base = multiply_modulo (base, base, prime);
    }

  return result;
}

static guint64
invert_modulo (guint64 a, guint64 prime)
{
  return raise_modulo (a, prime - 2, prime);
}

/* a - b c */
static guint64
subtract_product (guint64 a, guint64 b, guint64 c, guint64 prime)
{
  return (a + prime - multiply_modulo (b, c, prime)) % prime;
}

/* @value 2^@exponent modulo PRIME */
static guint64
shift (guint64 value, gint64 exponent)
{
  guint64 base = exponent < 0 ? invert_modulo (2, PRIME) : 2;

  return multiply_modulo (value, raise_modulo (base, (guint64) ABS (exponent), PRIME), PRIME);
}

static guint64
reduce_double (double value)
{
  int exponent;
  guint64 mantissa = (guint64) ldexp (frexp (fabs (value), &exponent), DBL_MANT_DIG);
  guint64 size = shift (mantissa, exponent - DBL_MANT_DIG);

  return value < 0 ? (PRIME - size) % PRIME : size;
}

/* Of @solution with its coefficients: takes it. */
static guint64 *
add_intercept (const AprDesign *design, gsize target, guint64 *solution)
{
  guint64 weight = mpz_fdiv_ui (design->weight, PRIME);
  guint64 sum = mpz_fdiv_ui (design->columns[design->n + target], PRIME);
  gsize i;

  if (weight == 0)
    {
      g_free (solution);
      return NULL;
    }
  for (i = 0; i < design->n; i++)
    sum = subtract_product (sum, mpz_fdiv_ui (design->columns[i], PRIME), solution[1 + i], PRIME);
  solution[0] = multiply_modulo (sum, invert_modulo (weight, PRIME), PRIME);

  return solution;
}

/* Of @rows, whose @n columns are triangular but for the target's. */
static guint64 *
solve_triangle (const AprDesign *design, gsize target, const guint64 *rows, gsize n)
{
  guint64 *solution = g_new0 (guint64, n);
  gsize i;
  gsize j;

  for (i = n - 1; i-- > 0;)
    {
      guint64 rest = rows[i * n + n - 1];

      for (j = i + 1; j < n - 1; j++)
        rest = subtract_product (rest, rows[i * n + j], solution[1 + j], PRIME);
      solution[1 + i] = multiply_modulo (rest, invert_modulo (rows[i * n + i], PRIME), PRIME);
    }

  return add_intercept (design, target, solution);
}

guint64 *
apr_exact_solution_new (const AprDesign *design, gsize target, mpz_t *z, gint64 fraction)
{
  guint64 *solution = g_new0 (guint64, design->n + 1);
  gint64 scale = design->scale[design->n + target];
  gsize i;

  for (i = 0; i < design->n; i++)
    solution[1 + i] = shift (mpz_fdiv_ui (z[i], PRIME), scale - design->scale[i] - fraction);

  return add_intercept (design, target, solution);
}

gboolean
apr_exact_solution_contradicts (const guint64 *solution, const double *factors, gsize n, double value)
{
  guint64 rest = reduce_double (value);
  gsize i;

  for (i = 0; i < n; i++)
    if (!isfinite (factors[i]))
      return FALSE;
    else if (factors[i] != 0)
      rest = subtract_product (rest, reduce_double (factors[i]), solution[i], PRIME);

  return rest != 0;
}

/* Whether the determinant of the features' columns with @target is a multiple of @prime: it is that of the features
 * alone times the sum of squares that they leave. @solution is set as by apr_is_exact_fit. */
static gboolean
is_singular_modulo (
  const AprDesign *design, gsize target, guint64 prime, guint64 **solution, const AprRun *run)
{
  gsize n = design->n + 1;
  guint64 *rows = apr_run_new_pages (run, n, n * sizeof *rows, FALSE);
  gboolean singular = FALSE;
  mpz_t product;
  gsize i;
  gsize j;
  gsize k;

  if (rows == NULL)
    return FALSE;

  mpz_init (product);
  for (i = 0; i < n && !apr_run_is_cancelled (run); i++)
    for (j = 0; j <= i; j++)
      {
        apr_design_get_product (design, i < design->n ? i : design->n + target,
                                j < design->n ? j : design->n + target, product);
        rows[i * n + j] = rows[j * n + i] = mpz_fdiv_ui (product, prime);
      }
  mpz_clear (product);

  for (k = 0; k < n && !singular; k++)
    {
      guint64 inverse;

      /* Rows that change places do not change whether it is zero. */
      for (i = k; i < n && rows[i * n + k] == 0; i++)
        ;
      singular = i == n;
      if (singular)
        {
          if (solution != NULL)
            *solution = k == n - 1 ? solve_triangle (design, target, rows, n) : NULL;
          break;
        }
      for (j = k; j < n && i != k; j++)
        {
          guint64 entry = rows[k * n + j];

          rows[k * n + j] = rows[i * n + j];
          rows[i * n + j] = entry;
        }
      inverse = invert_modulo (rows[k * n + k], prime);
      for (i = k + 1; i < n && !apr_run_is_cancelled (run); i++)
        {
          guint64 factor = multiply_modulo (rows[i * n + k], inverse, prime);

          for (j = k; j < n && factor != 0; j++)
            rows[i * n + j] = subtract_product (rows[i * n + j], factor, rows[k * n + j], prime);
        }
    }
  apr_pages_free (rows);

  return singular;
}

/* A determinant that is not zero is a multiple of a given prime of 61 bits once in 2^60 times or so, and of four of
 * them never. */
gboolean
apr_is_exact_fit (const AprDesign *design, gsize target, guint64 **solution, const AprRun *run)
{
  /* The four largest primes below 2^61. */
  static const guint64 primes[] = {
    (G_GUINT64_CONSTANT (1) << 61) - 1,
    (G_GUINT64_CONSTANT (1) << 61) - 31,
    (G_GUINT64_CONSTANT (1) << 61) - 45,
    PRIME,
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (primes); i++)
    if (!is_singular_modulo (design, target, primes[i], primes[i] == PRIME ? solution : NULL, run))
      return FALSE;

  return !apr_run_is_cancelled (run);
}
