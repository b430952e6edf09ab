/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "aprender/exact-sums/apr-exact-sums-private.h"
#include "clock.h"

/*
 * From which rows and columns on residues are faster than slices or bytes: processor time of one thread, the least of
 * some rounds in turn, for every kernel of this machine and the residues that its row of the table has, without weights
 * and with weights of all bits. What the table in apr-sums-kernel.c says was read from here.
 */

#define N_ROUNDS 9

/* Seconds after which three rounds are enough. */
#define LONG 0.5

static const gsize shapes[][2] = {
  { 1000, 5 },   { 20000, 10 }, { 100, 30 },    { 200, 30 },    { 1000, 20 },   { 1000, 30 },
  { 1000, 50 },  { 100, 70 },   { 200, 62 },    { 1000, 62 },   { 60, 100 },    { 200, 100 },
  { 20000, 16 }, { 20000, 20 }, { 20000, 30 },  { 20000, 46 },  { 20000, 62 },  { 20000, 78 },
  { 20000, 94 }, { 400, 500 },  { 20000, 110 }, { 20000, 140 }, { 20000, 180 }, { 2000, 500 },
};

static double
now (void)
{
  return 1e-9 * (double) clock_read (CLOCK_PROCESS_CPUTIME_ID);
}

static AprTensor *
draw (GRand *rand, gsize n_rows, gsize n_columns, AprDType dtype)
{
  const gsize shape[] = { n_rows, n_columns };
  g_autofree double *values = g_new (double, n_rows *n_columns);
  g_autoptr (AprTensor) doubles = NULL;
  gsize i;

  for (i = 0; i < n_rows * n_columns; i++)
    values[i] = g_rand_double (rand) + g_rand_double (rand) + g_rand_double (rand) - 1.5;
  doubles = apr_tensor_new_from_doubles (values, n_rows * n_columns, shape, 2, NULL);

  return apr_tensor_cast (doubles, dtype, NULL);
}

static AprTensor *
draw_weights (GRand *rand, gsize n)
{
  g_autofree double *values = g_new (double, n);
  gsize i;

  for (i = 0; i < n; i++)
    values[i] = g_rand_double (rand);

  return apr_tensor_new_from_doubles (values, n, &n, 1, NULL);
}

static double
time_update (const AprSumsKernel *kernel, AprTensor *x, AprTensor *y, AprTensor *weights)
{
  AprExactSums *sums = apr_exact_sums_new (apr_tensor_get_shape (x, NULL)[1], 1, NULL);
  double start = now ();

  if (!apr_exact_sums_update_with (sums, x, y, weights, APR_PRECISION_EXACT, kernel,
                                   &(AprRun){ .n_threads = 1 }, NULL))
    g_error ("the sums failed");
  start = now () - start;
  apr_exact_sums_unref (sums);

  return start;
}

static void
compare (const AprSumsKernel *kernel, AprTensor *x, AprTensor *y, AprTensor *weights)
{
  AprSumsKernel without = *kernel;
  AprSumsKernel with = *kernel;
  double least[2] = { G_MAXDOUBLE, G_MAXDOUBLE };
  double start = now ();
  gsize i;

  without.residues = NULL;
  with.n_rows = with.n_columns = with.n_weighted = with.n_whole = 0;
  for (i = 0; i < N_ROUNDS && (i < 3 || now () - start < LONG); i++)
    {
      least[0] = MIN (least[0], time_update (&without, x, y, weights));
      least[1] = MIN (least[1], time_update (&with, x, y, weights));
    }
  printf ("  %-11s residues of %-11s %9.3f ms, without %9.3f ms: %.2f times as fast%s\n", kernel->name,
          kernel->residues->name, least[1] * 1e3, least[0] * 1e3, least[0] / least[1],
          weights != NULL ? ", weighted" : "");
}

int
main (void)
{
  const AprDType dtypes[] = { APR_DTYPE_F32, APR_DTYPE_F64 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  const AprSumsKernel *const *kernel;
  gsize shape;
  gsize k;

  for (shape = 0; shape < G_N_ELEMENTS (shapes); shape++)
    for (k = 0; k < G_N_ELEMENTS (dtypes); k++)
      {
        g_autoptr (AprTensor) x = draw (rand, shapes[shape][0], shapes[shape][1], dtypes[k]);
        g_autoptr (AprTensor) y = draw (rand, shapes[shape][0], 1, dtypes[k]);
        g_autoptr (AprTensor) weights = draw_weights (rand, shapes[shape][0]);

        printf ("%" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT " %s\n", shapes[shape][0], shapes[shape][1],
                k == 0 ? "F32" : "F64");
        for (kernel = apr_sums_kernels (); *kernel != NULL; kernel++)
          if ((*kernel)->residues != NULL)
            {
              compare (*kernel, x, y, NULL);
              compare (*kernel, x, y, weights);
            }
      }

  return 0;
}
