/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

#include "aprender/inference/apr-distributions-private.h"

/* The expected values are incomplete beta functions that mpmath 1.3 worked out with 40 digits. */

#define TOLERANCE 4e-16

static void
assert_close (double actual, double expected)
{
  if (!(fabs (actual - expected) <= TOLERANCE * fabs (expected)))
    g_error ("%.17g is not %.17g: relative error %.2g", actual, expected, fabs (actual / expected - 1));
}

static void
test_t (void)
{
  const struct
  {
    double t;
    double df;
    double probability;
  } cases[] = {
    { 0.5, 1, 7.0483276469913345165e-1 },
    { 1.0, 2, 4.2264973081037423549e-1 },
    { 2.5, 3, 8.770664700806554725e-2 },
    { -4.75, 9, 1.0441914318244420975e-3 },
    { 12.5, 34, 2.8826602545668372874e-14 },
    { 40.0, 71, 1.9406792548755329e-50 },
    { 1.96, 1000, 5.0273184955748718435e-2 },
    { 8.5, 10000, 2.1665817810464261646e-17 },
    { 0.001, 5, 9.9924078677219765061e-1 },
    { 1e6, 1, 6.3661977236736913648e-7 },
    { 100.0, 12, 6.6911020856054966917e-19 },
    { 0, 7, 1 },
    { 1e120, 1, 6.3661977236758135581e-121 },
    { 1e190, 1, 6.3661977236758129688e-191 },
    { -1e300, 1, 6.3661977236758134308e-301 },
    { 1e130, 2, 9.9999999999999988043e-261 },
    { 1e150, 2, 1.0000000000000000383e-300 },
    { 1e300, 3, 0 },
    { INFINITY, 3, 0 },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_close (apr_t_two_sided (cases[i].t, cases[i].df), cases[i].probability);
  g_assert_true (isnan (apr_t_two_sided (NAN, 3)));
  g_assert_true (isnan (apr_t_two_sided (1, 0)));
}

static void
test_f (void)
{
  const struct
  {
    double f;
    double df1;
    double df2;
    double probability;
  } cases[] = {
    { 1, 1, 1, 0.5 },
    { 0.5, 2, 7, 6.2665453303879975354e-1 },
    { 4.5, 3, 20, 1.4373244610897451443e-2 },
    { 330.28533923458747, 6, 9, 4.9840305287248450203e-10 },
    { 2162.439545114889, 10, 71, 5.1434584383515710905e-84 },
    { 1.05, 100, 1000, 3.5519514648165497042e-1 },
    { 5436385.540797849, 1, 34, 4.6540408524723569441e-90 },
    { 0.001, 4, 4, 9.9999700798502396505e-1 },
    { 0, 2, 3, 1 },
    { INFINITY, 2, 3, 0 },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_close (apr_f_upper (cases[i].f, cases[i].df1, cases[i].df2), cases[i].probability);
  g_assert_true (isnan (apr_f_upper (1, 0, 1)));
}

static void
test_t_inverse (void)
{
  const struct
  {
    double probability;
    double df;
    double t;
  } cases[] = {
    { 0.05, 1, 1.2706204736174703938e+1 },
    { 0.05, 9, 2.2621571627982055086 },
    { 0.01, 34, 2.7283943670707202352 },
    { 0.5, 3, 7.6489232840434528066e-1 },
    { 1e-6, 71, 5.3557841831180365831 },
    { 1e-12, 2, 9.9999999999925001006e+5 },
    { 0.05, 1000, 1.9623390808264084612 },
    { 1, 5, 0 },
    { 0, 5, INFINITY },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    if (isinf (cases[i].t))
      g_assert_true (isinf (apr_t_two_sided_inverse (cases[i].probability, cases[i].df)));
    else
      g_assert_cmpfloat (fabs (apr_t_two_sided_inverse (cases[i].probability, cases[i].df) - cases[i].t), <=,
                         4e-15 * cases[i].t);
  g_assert_true (isnan (apr_t_two_sided_inverse (0.05, 0)));
}

/* Of levels from which 1 is far, and of those where the series begins. */
static void
test_t_central (void)
{
  const struct
  {
    double level;
    double df;
    double t;
  } cases[] = {
    { 1e-16, 2, 1.4142135623730950192e-16 },  { 1e-17, 1, 1.5707963267948967316e-17 },
    { 1e-300, 3, 1.360349523175663422e-300 }, { 0.0009, 1, 0.0014137176359318140065 },
    { 0.0009, 5, 0.0011854378190333493448 },  { 0.0009, 100000, 0.0011279857827457776055 },
    { 0.002, 5, 0.002634309180336602679 },    { 0.95, 9, 2.2621571627982055086 },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpfloat (fabs (apr_t_central_inverse (cases[i].level, cases[i].df) / cases[i].t - 1), <=,
                       cases[i].level < 0.001 ? 4e-15 : 1e-13);
  g_assert_true (isnan (apr_t_central_inverse (1e-5, 0)));
}

/* With 1 and 2 degrees of freedom there are closed forms; and F with one degree above is the square of t. */
static void
test_laws (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (30);
  int i;

  for (i = 0; i < 300; i++)
    {
      double t = exp (g_rand_double_range (rand, -10, 10));
      double df = floor (exp (g_rand_double_range (rand, 0, 16)));

      g_assert_cmpfloat (fabs (apr_t_two_sided (t, 1) / (atan (1 / t) * M_2_PI) - 1), <=, 1e-15);
      g_assert_cmpfloat (fabs (apr_t_two_sided (t, 2) / (2 / (2 + t * t) / (1 + t / sqrt (2 + t * t))) - 1),
                         <=, 2e-15);
      t = exp (g_rand_double_range (rand, -3, 2));
      g_assert_cmpfloat (fabs (apr_t_two_sided (t, df) / apr_f_upper (t * t, 1, df) - 1), <=, 1e-13);
      g_assert_cmpfloat (fabs (apr_t_two_sided_inverse (apr_t_two_sided (t, df), df) / t - 1), <=, 1e-12);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/distributions/t", test_t);
  g_test_add_func ("/distributions/f", test_f);
  g_test_add_func ("/distributions/t-inverse", test_t_inverse);
  g_test_add_func ("/distributions/t-central", test_t_central);
  g_test_add_func ("/distributions/laws", test_laws);

  return g_test_run ();
}
