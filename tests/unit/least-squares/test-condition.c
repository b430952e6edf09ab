/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

#include <float.h>

#include "aprender/least-squares/apr-condition-private.h"

/* Condition numbers that are known. */

typedef struct
{
  const char *name;
  gsize n_rows;
  gsize n_features;
  gboolean fit_intercept;
  double x[16];
  double alpha;
  double condition;
} Case;

static const Case cases[] = {
  { "one-feature", 2, 1, FALSE, { 3, 4 }, 0, 1 },
  { "scales", 2, 2, FALSE, { 1, 0, 0, 0x1p-30 }, 0, 0x1p30 },
  { "far-scales", 2, 2, FALSE, { 0x1p250, 0, 0, 0x1p-250 }, 0, 0x1p500 },
  { "too-far-scales", 2, 2, FALSE, { 0x1p1000, 0, 0, 0x1p-1000 }, 0, INFINITY },
  /* More than factors are made for. */
  { "farthest-scales", 2, 2, FALSE, { 0x1p1023, 0, 0, 0x1p-1074 }, 0, INFINITY },
  { "dependent", 2, 2, FALSE, { 1, 2, 2, 4 }, 0, INFINITY },
  { "constant", 2, 1, TRUE, { 7, 7 }, 0, INFINITY },
  /* [1 1; 1 -1] has orthogonal columns. */
  { "intercept", 2, 1, TRUE, { 1, -1 }, 0, 1 },
  { "intercept-scales", 2, 1, TRUE, { 0x1p20, -0x1p20 }, 0, 0x1p20 },
  /* A column whose sum is 2^-1074, beside one of 2^1000. */
  { "farthest-sums",
    4,
    2,
    TRUE,
    { 0x1p1000, 0x1p-1074, -0x1p1000, 0, 0x1p1000, 0, -0x1p1000, 0 },
    0,
    INFINITY },
  /* The singular values of [1 1; 1 1 + e] are nearly 2 and e / 2. */
  { "nearly-dependent", 2, 2, FALSE, { 1, 1, 1, 1 + 0x1p-40 }, 0, 0x1p42 },
  /* Rows of 2 below those of 1 and 0: the roots of 5 and 4. */
  { "alpha", 1, 2, FALSE, { 1, 0 }, 4, 1.1180339887498949 },
};

static void
test_case (gconstpointer user_data)
{
  const Case *c = user_data;
  g_autofree double *y = g_new0 (double, c->n_rows);
  Data data = { c->n_rows, c->n_features, (double *) c->x, y };
  double condition =
    find_condition (&data, (AprLeastSquaresOptions){ .fit_intercept = c->fit_intercept, .alpha = c->alpha });

  if (isinf (c->condition))
    g_assert_true (isinf (condition));
  else
    g_assert_cmpfloat_with_epsilon (condition, c->condition, 1e-3 * c->condition);
}

/* A diagonal matrix, for a start. */
static void
multiply_diagonal (gconstpointer data, double *x)
{
  const double *diagonal = data;
  gsize i;

  for (i = 0; diagonal[i] > 0; i++)
    x[i] *= diagonal[i];
}

static void
test_diagonal (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (120);
  int round;

  g_test_summary ("The root of the greatest eigenvalue of a matrix that is only multiplied with.");

  for (round = 0; round < 50; round++)
    {
      gsize n = (gsize) g_rand_int_range (rand, 1, 300);
      g_autofree double *diagonal = g_new0 (double, n + 1);
      double factor = ldexp (1, g_rand_int_range (rand, -900, 900));
      double max = 0;
      gsize i;

      for (i = 0; i < n; i++)
        {
          diagonal[i] = factor * (round % 3 == 0   ? 1
                                  : round % 3 == 1 ? g_rand_double_range (rand, 0.1, 1)
                                                   : exp (g_rand_double_range (rand, -30, 0)));
          max = MAX (max, diagonal[i]);
        }
      g_assert_cmpfloat_with_epsilon (apr_condition_find_singular_value (n, multiply_diagonal, diagonal),
                                      sqrt (max), 1e-3 * sqrt (max));
    }
}

/* That of a chain: 2 on the diagonal and -1 beside it, whose greatest eigenvalues are close together. */
static void
multiply_chain (gconstpointer data, double *x)
{
  gsize n = *(const gsize *) data;
  double before = 0;
  gsize i;

  for (i = 0; i < n; i++)
    {
      double after = i + 1 < n ? x[i + 1] : 0;
      double here = x[i];

      x[i] = 2 * here - before - after;
      before = here;
    }
}

static void
test_chain (void)
{
  const gsize sizes[] = { 2, 3, 10, 100, 1000, 5000 };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      double expected = 2 * sin (G_PI / 2 * (double) sizes[i] / (double) (sizes[i] + 1));

      g_assert_cmpfloat_with_epsilon (apr_condition_find_singular_value (sizes[i], multiply_chain, &sizes[i]),
                                      expected, 1e-3 * expected);
    }
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/condition/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/condition/diagonal", test_diagonal);
  g_test_add_func ("/condition/chain", test_chain);

  return g_test_run ();
}
