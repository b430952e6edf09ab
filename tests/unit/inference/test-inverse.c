/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/inference/apr-inverse-private.h"
#include "aprender/least-squares/apr-products-private.h"

/* Samples whose features have means far from 0, and correlate the more the less @noise there is. */
static AprCrossProducts *
sum_correlated (guint32 seed, gsize n, gsize p, double noise, double left)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autofree double *x_values = g_new (double, n *p);
  g_autofree double *y_values = g_new (double, n);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  AprCrossProducts *sums = apr_cross_products_new (p, 1, NULL);
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    {
      double common = g_rand_double_range (rand, -1, 1);

      y_values[i] = left * g_rand_double_range (rand, -1, 1);
      for (j = 0; j < p; j++)
        {
          x_values[i * p + j] = 100 + common + noise * g_rand_double_range (rand, -1, 1);
          y_values[i] += ldexp (x_values[i * p + j], (int) (j % 5));
        }
    }
  x = matrix_new (n, p, x_values);
  y = vector_new (n, y_values);
  g_assert_true (apr_cross_products_update (sums, x, y, NULL, NULL, NULL));

  return sums;
}

/* Relative to the roots of the diagonal's entries. */
static void
assert_same_inverse (const AprInverse *a, const AprInverse *b, double tolerance)
{
  gsize i;
  gsize j;

  for (i = 0; i < a->n; i++)
    for (j = 0; j <= i; j++)
      {
        double size = sqrt (b->inverse[apr_triangle (i, i)]) * sqrt (b->inverse[apr_triangle (j, j)]);

        g_assert_cmpfloat (fabs (a->inverse[apr_triangle (i, j)] - b->inverse[apr_triangle (i, j)]), <=,
                           tolerance * size);
      }
}

static void
init_long (AprInverse *self, const AprDesign *design, const AprRun *run)
{
  gsize i;

  *self = (AprInverse){ .kernel = apr_double_double_kernel_choose (),
                        .n = design->n,
                        .n_targets = design->n_targets,
                        .n_right = design->n_columns - design->n,
                        .root = apr_double_doubles_new (design->n, design->n, &(AprRun){ 0 }),
                        .solutions =
                          apr_double_doubles_new (design->n_columns - design->n, design->n, &(AprRun){ 0 }),
                        .residuals = g_new (mpf_t, design->n_targets) };
  for (i = 0; i < design->n_targets; i++)
    mpf_init2 (self->residuals[i], 64);
  g_assert_true (apr_inverse_factorise_long (self, design, run));
  g_assert_true (apr_inverse_refine (self, design, 0, run));
  g_assert_true (apr_inverse_square_root (self, run));
}

static double
difference_of (const mpf_t a, const mpf_t b)
{
  double result;
  mpf_t ratio; /* of the difference */

  mpf_init2 (ratio, 192);
  mpf_sub (ratio, a, b);
  mpf_div (ratio, ratio, b);
  result = mpf_get_d (ratio);
  mpf_clear (ratio);

  return result;
}

static void
test_ways (void)
{
  const struct
  {
    gsize p;
    double noise;
    double left;
    gboolean centred;
    gboolean proven; /* in double-double */
  } cases[] = {
    { 1, 1, 1, TRUE, TRUE },      { 3, 1e-3, 1, TRUE, TRUE },       { 3, 1, 1e-6, FALSE, TRUE },
    { 20, 1e-4, 1, TRUE, TRUE },  { 70, 1e-2, 1, TRUE, TRUE },      { 70, 1, 1e-9, FALSE, TRUE },
    { 5, 1e-10, 1, TRUE, FALSE }, { 12, 1e-11, 1e-3, TRUE, FALSE }, { 140, 1, 1, TRUE, TRUE },
  };
  gsize i;

  g_test_summary ("Where double-double is proven to be enough, it gives what longer numbers do.");
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprCrossProducts) sums =
        sum_correlated ((guint32) i, cases[i].p + 30, cases[i].p, cases[i].noise, cases[i].left);
      AprRun run = { 0 };
      g_auto (AprDesign) design = { NULL };
      g_auto (AprInverse) way = { 0 };
      g_auto (AprInverse) other = { 0 };
      AprInverse quick = { 0 };

      g_assert_true (apr_design_init (&design, sums, cases[i].centred, NULL, 0, FALSE, NULL));
      quick = (AprInverse){ .kernel = apr_double_double_kernel_choose (),
                            .n = design.n,
                            .n_targets = 1,
                            .n_right = 1,
                            .residuals = g_new (mpf_t, 1) };
      mpf_init2 (quick.residuals[0], 64);
      g_assert_cmpint (apr_inverse_factorise (&quick, &design, &run), ==, cases[i].proven);
      apr_inverse_clear (&quick);

      g_assert_true (apr_inverse_init (&way, &design, &run));
      init_long (&other, &design, &run);
      assert_same_inverse (&way, &other, 0x1p-51);
      g_assert_cmpfloat (fabs (difference_of (way.residuals[0], other.residuals[0])), <=, 0x1p-55);
    }
}

static void
test_threads (void)
{
  g_autoptr (AprCrossProducts) sums = sum_correlated (70, 300, 150, 0.1, 1);
  g_auto (AprDesign) design = { NULL };
  g_auto (AprInverse) first = { 0 };
  const AprDoubleDoubleKernel *const *kernels = apr_double_double_kernels ();
  guint n_threads;
  gsize i;

  g_assert_true (apr_design_init (&design, sums, TRUE, NULL, 0, FALSE, NULL));
  g_assert_true (apr_inverse_init (&first, &design, &(AprRun){ .n_threads = 1 }));
  for (i = 0; kernels[i] != NULL; i++)
    for (n_threads = 1; n_threads <= 3; n_threads++)
      {
        AprRun run = { .n_threads = n_threads };
        g_auto (AprInverse) other = { .kernel = kernels[i] };

        g_assert_true (apr_inverse_init (&other, &design, &run));
        g_assert_cmpmem (first.inverse, apr_triangle (150, 0) * sizeof (double), other.inverse,
                         apr_triangle (150, 0) * sizeof (double));
        g_assert_cmpint (mpf_cmp (first.residuals[0], other.residuals[0]), ==, 0);
      }
}

typedef struct
{
  GCancellable *cancellable;
  guint n_calls;
  guint last_call; /* which cancels */
  double fraction;
} Progress;

static void
hear_progress (double fraction, gpointer user_data)
{
  Progress *self = user_data;

  g_assert_cmpfloat (fraction, >=, self->fraction);
  g_assert_cmpfloat (fraction, <=, 1);
  self->fraction = fraction;
  if (++self->n_calls == self->last_call)
    g_cancellable_cancel (self->cancellable);
}

static void
test_cancel (void)
{
  g_autoptr (AprCrossProducts) sums = sum_correlated (80, 250, 130, 0.1, 1);
  g_auto (AprDesign) design = { NULL };
  guint n_calls = 0;
  guint call;

  g_assert_true (apr_design_init (&design, sums, TRUE, NULL, 0, FALSE, NULL));
  for (call = 0; call == 0 || call <= n_calls; call++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      Progress progress = { cancellable, 0, call, 0 };
      AprRun run = { .cancellable = cancellable, .progress = hear_progress, .progress_data = &progress };
      g_auto (AprInverse) inverse = { 0 };

      g_assert_cmpint (apr_inverse_init (&inverse, &design, &run), ==, call == 0);
      if (call == 0)
        n_calls = progress.n_calls;
      else
        g_assert_cmpuint (progress.n_calls, ==, call);
    }
  g_assert_cmpuint (n_calls, >=, 6);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/inverse/ways", test_ways);
  g_test_add_func ("/inverse/threads", test_threads);
  g_test_add_func ("/inverse/cancel", test_cancel);

  return g_test_run ();
}
