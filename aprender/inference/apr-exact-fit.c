/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-exact-fit-private.h"

#include "aprender/base/apr-pages-private.h"

static guint64
multiply_modulo (guint64 a, guint64 b, guint64 prime)
{
  return (guint64) ((unsigned __int128) a * b % prime);
}

static guint64
invert_modulo (guint64 a, guint64 prime)
{
  guint64 power = prime - 2;
  guint64 result = 1;

  for (; power > 0; power >>= 1)
    {
      if (power & 1)
        result = multiply_modulo (result, a, prime);
      a = multiply_modulo (a, a, prime);
    }

  return result;
}

/* Whether the determinant of the features' columns with @target is a multiple of @prime: it is that of the features
 * alone times the sum of squares that they leave. */
static gboolean
is_singular_modulo (const AprDesign *design, gsize target, guint64 prime, const AprRun *run)
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
        break;
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
            rows[i * n + j] =
              (rows[i * n + j] + prime - multiply_modulo (factor, rows[k * n + j], prime)) % prime;
        }
    }
  apr_pages_free (rows);

  return singular;
}

/* A determinant that is not zero is a multiple of a given prime of 61 bits once in 2^60 times or so, and of four of
 * them never. */
gboolean
apr_is_exact_fit (const AprDesign *design, gsize target, const AprRun *run)
{
  /* The four largest primes below 2^61. */
  static const guint64 primes[] = {
    (G_GUINT64_CONSTANT (1) << 61) - 1,
    (G_GUINT64_CONSTANT (1) << 61) - 31,
    (G_GUINT64_CONSTANT (1) << 61) - 45,
    (G_GUINT64_CONSTANT (1) << 61) - 229,
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (primes); i++)
    if (!is_singular_modulo (design, target, primes[i], run))
      return FALSE;

  return !apr_run_is_cancelled (run);
}
