/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "aprender/least-squares/apr-least-squares-private.h"

/* How long solving takes once the sums are there: the median and minimum of some rounds, in milliseconds. Arguments:
 * a part of the names of the cases, and the maximum number of features. */

#define ROUNDS 7

typedef struct
{
  const char *name;
  gsize n_rows;
  gsize n_features;
  gsize n_repeated; /* of the columns, the last ones, that are sums of two others */
  AprDType dtype;
  double noise;  /* that is added to these sums */
  double spread; /* powers of two between the scales of the first column and the last */
  gboolean tied; /* whole numbers, of which y is a sum: coefficients that are 0, or halves */
} Case;

static double
normal (GRand *rand)
{
  return sqrt (-2 * log (g_rand_double_range (rand, 1e-12, 1))) *
         cos (g_rand_double_range (rand, 0, 2 * G_PI));
}

static AprExactSums *
sum_case (const Case *c)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  gsize n = c->n_rows;
  gsize p = c->n_features;
  gsize shape[2] = { n, p };
  g_autofree double *x = g_new (double, n *p);
  g_autofree double *y = g_new (double, n);
  g_autoptr (AprTensor) doubles = NULL;
  g_autoptr (AprTensor) x_tensor = NULL;
  g_autoptr (AprTensor) y_tensor = NULL;
  AprExactSums *sums = apr_exact_sums_new (p, 1, NULL);
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    {
      y[i] = 3;
      for (j = 0; j < p; j++)
        {
          double *row = x + i * p;

          row[j] = j < p - c->n_repeated ? normal (rand) + 1 : row[j - 1 - (p - 1) / 3] + row[j / 4];
          if (c->tied)
            row[j] = j < p - c->n_repeated ? rint (4 * normal (rand)) : row[j - (p - c->n_repeated)];
          if (j >= p - c->n_repeated && c->noise > 0)
            row[j] += c->noise * normal (rand);
          y[i] += row[j] * (double) (j % 7);
        }
      y[i] += c->tied ? 0 : normal (rand);
    }
  for (i = 0; i < n * p; i++)
    x[i] *= exp2 (rint (c->spread * (double) (i % p) / (double) p));
  doubles = apr_tensor_new_from_doubles (x, n * p, shape, 2, NULL);
  x_tensor = apr_tensor_cast (doubles, c->dtype, NULL);
  y_tensor = apr_tensor_new_from_doubles (y, n, shape, 1, NULL);
  if (!apr_exact_sums_update (sums, x_tensor, y_tensor, NULL, APR_PRECISION_EXACT, &(AprRun){ 0 }, NULL))
    g_error ("no sums");

  return sums;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  const double *left = a;
  const double *right = b;

  return (*left > *right) - (*left < *right);
}

int
main (int argc, char *argv[])
{
  const Case cases[] = {
    { "full rank", 1000, 10, 0, APR_DTYPE_F64 },
    { "full rank", 10000, 100, 0, APR_DTYPE_F64 },
    { "full rank", 5000, 500, 0, APR_DTYPE_F32 },
    { "full rank", 5000, 500, 0, APR_DTYPE_F64 },
    { "full rank", 5000, 1000, 0, APR_DTYPE_F32 },
    { "full rank", 5000, 1000, 0, APR_DTYPE_F64 },
    { "sums of others", 1000, 10, 2, APR_DTYPE_F64 },
    { "sums of others", 10000, 100, 5, APR_DTYPE_F64 },
    { "sums of others", 5000, 500, 5, APR_DTYPE_F64 },
    { "sums of others", 5000, 1000, 5, APR_DTYPE_F64 },
    { "n < p", 5, 10, 0, APR_DTYPE_F64 },
    { "n < p", 60, 200, 0, APR_DTYPE_F64 },
    { "n < p", 200, 1000, 0, APR_DTYPE_F64 },
    { "nearly sums", 1000, 100, 5, APR_DTYPE_F64, 1e-4 },
    { "nearly sums", 5000, 500, 5, APR_DTYPE_F64, 1e-4 },
    { "nearly sums", 5000, 1000, 5, APR_DTYPE_F64, 1e-4 },
    { "ill-conditioned", 1000, 100, 5, APR_DTYPE_F64, 1e-7 },
    { "ill-conditioned", 5000, 500, 5, APR_DTYPE_F64, 1e-7 },
    { "scales far apart", 1000, 100, 5, APR_DTYPE_F64, 0, 60 },
    { "scales far apart", 5000, 500, 5, APR_DTYPE_F64, 0, 60 },
    { "scales farthest", 1000, 100, 5, APR_DTYPE_F64, 0, 150 },
    { "tied", 2000, 100, 5, APR_DTYPE_F64, 0, 0, TRUE },
    { "tied", 4000, 200, 5, APR_DTYPE_F64, 0, 0, TRUE },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      AprLeastSquaresOptions options = { .fit_intercept = TRUE,
                                         .data_dtype = cases[i].dtype,
                                         .dtype = APR_DTYPE_F64 };
      g_autoptr (AprExactSums) sums = NULL;
      double times[ROUNDS];
      gsize rank = 0;
      gboolean certain = FALSE;
      double spent = INFINITY;
      gsize round;

      if ((argc > 1 && !strstr (cases[i].name, argv[1])) ||
          (argc > 2 && cases[i].n_features > (gsize) atoi (argv[2])))
        continue;
      sums = sum_case (&cases[i]);
      for (round = 0; round < ROUNDS; round++)
        {
          g_auto (AprLeastSquares) answer = { NULL };
          gint64 start = g_get_monotonic_time ();
          clock_t processor = clock ();

          if (!apr_least_squares_solve (&answer, sums, &options, &(AprRun){ 0 }, NULL))
            g_error ("no answer");
          times[round] = (double) (g_get_monotonic_time () - start) * 1e-3;
          spent = MIN (spent, (double) (clock () - processor) * 1e3 / CLOCKS_PER_SEC);
          rank = answer.rank;
          certain = answer.correctly_rounded;
          if (times[round] > 3000)
            {
              for (; ++round < ROUNDS;)
                times[round] = times[0];
              break;
            }
        }
      qsort (times, ROUNDS, sizeof *times, compare);
      g_print ("%-16s %6" G_GSIZE_FORMAT " x %4" G_GSIZE_FORMAT
               " %s: median %8.3f ms, least %8.3f ms, of processors %8.3f, rank %" G_GSIZE_FORMAT ", %s\n",
               cases[i].name, cases[i].n_rows, cases[i].n_features, apr_dtype_to_string (cases[i].dtype),
               times[ROUNDS / 2], times[0], spent, rank, certain ? "correctly rounded" : "not certain");
    }

  return 0;
}
