/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

/* Features that are alone in their rows, or there twice, so that all answers are known: each has the values 3 and 1,
 * times a power of two, where the target has 1 and 0, or 1 and -3. With 2^100 in place of 3, a coefficient is 2^-100
 * less a part of 2^-200, and the products are long. */

typedef struct
{
  const char *name;
  gsize n;             /* different features, one of which gets a coefficient of 0 */
  gsize n_twice;       /* of these are there a second time */
  gint first;          /* the exponent of the first feature's values */
  gint others;         /* that of the others */
  gint target;         /* that of the target */
  gint tiny;           /* that of the target's value in one more row, which makes sums long; 0 for none */
  gboolean doubts;     /* whether it is too much work to prove that a coefficient is 0 */
  gboolean zero_first; /* it is that of the first feature, else that of the last */
} Case;

static const Case cases[] = {
  { "none", 3, 0, 0, 0, 0, 0, FALSE },
  { "one", 3, 1, 0, 0, 0, 0, FALSE },
  { "few", 9, 1, 3, 0, 0, 0, FALSE },
  { "two-of-many", 20, 2, 3, 0, 0, 0, FALSE },
  { "few-but-far", 9, 1, 20, 0, 0, 0, FALSE },
  { "many", 9, 9, 0, 20, 0, 0, FALSE },
  { "far-scales", 4, 2, 200, 0, 0, 0, FALSE },
  { "farthest-scales", 4, 3, 400, -400, 0, 0, FALSE },
  { "small-target", 4, 2, 0, 0, -1000, 0, FALSE },
  { "small-target-and-far-scales", 4, 2, 200, 0, -800, 0, FALSE },
  { "large-target", 4, 2, 0, 0, 1000, 0, FALSE },
  { "subnormal-coefficients", 4, 2, 0, 20, -1030, 0, FALSE },
  { "subnormal-coefficients-far-scales", 4, 2, 200, 20, -1030, 0, FALSE },
  { "vanishing-coefficients-far-scales", 4, 2, 300, 100, -1000, 0, FALSE },
  { "too-much-work", 125, 10, 0, 0, 0, -500, TRUE },
  { "too-much-work-at-full-rank", 200, 0, 0, 0, 0, -1000, TRUE },
  { "too-much-work-for-the-first", 200, 0, 0, 0, 0, -1000, TRUE, TRUE },
};

static void
test_case (gconstpointer user_data)
{
  const Case *c = user_data;
  g_auto (Data) data = { 0 };
  g_auto (AprLeastSquares) answer = { NULL };
  double large = c->doubts ? 0x1p100 : 3;
  double coefficient = c->doubts ? 0x1p-100 : 0.3;
  gsize p = c->n + c->n_twice;
  gsize zero = c->zero_first ? 0 : c->n - 1;
  gsize i;

  data_init (&data, 2 * c->n + 1, p, FALSE);
  for (i = 0; i < p; i++)
    {
      gsize row = 2 * (i % c->n);
      gint exponent = i % c->n == 0 ? c->first : c->others;

      data.x[row * p + i] = ldexp (large, exponent);
      data.x[(row + 1) * p + i] = ldexp (1, exponent);
    }
  for (i = 0; i < c->n; i++)
    {
      data.y[2 * i] = ldexp (1, c->target);
      data.y[2 * i + 1] = i == zero ? ldexp (-large, c->target) : 0;
    }
  data.y[2 * c->n] = c->tiny != 0 ? ldexp (1, c->tiny) : 0;

  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = FALSE });
  g_assert_cmpuint (answer.rank, ==, c->n);
  g_assert_true (answer.correctly_rounded == !c->doubts);
  for (i = 0; i < p; i++)
    {
      gint exponent = i % c->n == 0 ? c->first : c->others;
      gboolean twice = i % c->n < c->n_twice;

      assert_same_double (answer.coefficients[i],
                          i % c->n == zero ? 0 : ldexp (coefficient, c->target - exponent - (twice ? 1 : 0)));
    }
}

/* The same with a coefficient that is negative, and so replaced by 0. */
static void
test_too_much_work_for_signs (void)
{
  enum
  {
    N = 200
  };
  g_auto (Data) data = { 0 };
  g_auto (AprLeastSquares) answer = { NULL };
  gsize i;

  data_init (&data, 2 * N + 1, N, FALSE);
  for (i = 0; i < N; i++)
    {
      data.x[2 * i * N + i] = 0x1p100;
      data.x[(2 * i + 1) * N + i] = 1;
      data.y[2 * i] = i == 0 ? -1 : 1;
      data.y[2 * i + 1] = i == N - 1 ? -0x1p100 : 0;
    }
  data.y[2 * N] = 0x1p-1000;

  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = FALSE, .positive = TRUE });
  g_assert_false (answer.correctly_rounded);
  for (i = 0; i < N; i++)
    assert_same_double (answer.coefficients[i], i == 0 || i == N - 1 ? 0 : 0x1p-100);
  apr_least_squares_clear (&answer);

  /* The signs are certain, but not on which side of a middle of two floats the last coefficient is. */
  data.y[2 * N - 2] = 0x1p100 * (1 + 0x1p-24);
  data.y[2 * N - 1] = 1 + 0x1p-24;
  solve (&answer, &data, (AprLeastSquaresOptions){ .positive = TRUE, .dtype = APR_DTYPE_F32 });
  g_assert_false (answer.correctly_rounded);
  for (i = 0; i < N; i++)
    assert_same_double (answer.coefficients[i], i == 0 ? 0 : i == N - 1 ? 1 : 0x1p-100);
}

/* Where the target is 0, so are all coefficients, however they are found. */
static void
test_zero_target (void)
{
  double of_two_scales[] = { 0x1p300, 0, 0, 0, 1, 1, 0, 2, 2 };
  double of_three_scales[] = { -1, 0x1p-993, 0, -0x1p924, 0, -0x1p593 };
  double y[] = { 0, 0, 0 };
  const struct
  {
    Data data;
    gboolean fit_intercept;
  } zero_cases[] = { { { 3, 3, of_two_scales, y }, FALSE }, { { 2, 3, of_three_scales, y }, TRUE } };
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (zero_cases); i++)
    {
      g_auto (AprLeastSquares) answer = { NULL };

      solve (&answer, &zero_cases[i].data,
             (AprLeastSquaresOptions){ .fit_intercept = zero_cases[i].fit_intercept });
      g_assert_true (answer.correctly_rounded);
      for (j = 0; j < 3; j++)
        assert_same_double (answer.coefficients[j], 0);
    }
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/minimum-norm/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/minimum-norm/too-much-work-for-signs", test_too_much_work_for_signs);
  g_test_add_func ("/minimum-norm/zero-target", test_zero_target);

  return g_test_run ();
}
