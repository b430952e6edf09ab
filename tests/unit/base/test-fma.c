/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-fma-private.h"

/* As the C library's function, which rounds once on every processor. */
static void
assert_fused (AprPair a, AprPair b, AprPair c)
{
  AprPair emulated = apr_fma_emulate (a, b, c);
  AprPair chosen = apr_fma_pair (a, b, c);
  int i;

  for (i = 0; i < 2; i++)
    {
      /* A product of 0 is exact; valgrind's own fma() loses its sign. */
      double right = a[i] == 0 || b[i] == 0 ? a[i] * b[i] + c[i] : fma (a[i], b[i], c[i]);

      /* NaN has many bit patterns. */
      if (isnan (right) ? !isnan (emulated[i]) || !isnan (chosen[i])
                        : memcmp (&right, (double[]){ emulated[i] }, sizeof right) != 0 ||
                            memcmp (&right, (double[]){ chosen[i] }, sizeof right) != 0)
        g_error ("%a * %a + %a is %a, not %a or %a", a[i], b[i], c[i], right, emulated[i], chosen[i]);
    }
}

static void
test_known (void)
{
  /* Halves that the third decides, upwards, downwards and not at all. */
  static const double cases[][4] = {
    { 1 + 0x1p-52, 1 + 0x1p-52, -1 - 0x1p-51, 0x1p-104 },
    { 1, 1, 0x1p-53, 1 },
    { 1 + 0x1p-52, 1, 0x1p-53, 1 + 0x1p-51 },
    { 1, 1, 0x1.0000000000001p-53, 1 + 0x1p-52 },
    { 1 + 0x1p-30, 1 + 0x1p-23, -0x1p-120, 1 + 0x1p-23 + 0x1p-30 },
    { 1 + 0x1p-30, 1 + 0x1p-23, 0, 1 + 0x1p-23 + 0x1p-30 },
    { 1 + 0x1p-30, 1 + 0x1p-23, 0x1p-120, 1 + 0x1p-23 + 0x1p-30 + 0x1p-52 },
    { 0x1.0000000000001p-400, 0x1.0000000000001p-400, 1, 1 },
    { -1, 0x1p-200, 1, 1 },
    { 0, 5, -0.0, 0 },
    { -0.0, 5, -0.0, -0.0 },
    { 3, 5, -15, 0 },
    { -3, 5, 15, 0 },
  };
  gsize i;

  g_test_summary ("Halfway cases, cancellation and zeros.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      AprPair found =
        apr_fma_emulate ((AprPair){ cases[i][0], cases[i][1] }, (AprPair){ cases[i][1], cases[i][0] },
                         (AprPair){ cases[i][2], cases[i][2] });

      assert_same_double (found[0], cases[i][3]);
      assert_same_double (found[1], cases[i][3]);
    }
}

static const double hostile[] = {
  0,
  -0.0,
  1,
  -1,
  0x1p-1074,
  -0x1p-1074,
  0x1p-1022,
  0x1.fffffffffffffp-1023,
  0x1p-900,
  0x1p-899,
  0x1p-901,
  0x1p-450,
  0x1p900,
  0x1p901,
  0x1p450,
  -0x1.fffffffffffffp899,
  0x1p1023,
  G_MAXDOUBLE,
  -G_MAXDOUBLE,
  INFINITY,
  -INFINITY,
  NAN,
  0x1.0000000000001p0,
  -0x1.fffffffffffffp-1,
};

static void
test_hostile (void)
{
  gsize i;
  gsize j;
  gsize k;

  g_test_summary (
    "Zeros, subnormal and infinite numbers, and those at the ends of the ranges, each with each.");

  for (i = 0; i < G_N_ELEMENTS (hostile); i++)
    for (j = 0; j < G_N_ELEMENTS (hostile); j++)
      for (k = 0; k < G_N_ELEMENTS (hostile); k++)
        /* The other lane does not matter. */
        assert_fused ((AprPair){ hostile[i], 3 }, (AprPair){ hostile[j], 0x1.8p-53 },
                      (AprPair){ hostile[k], 1 });
}

static double
draw_number (GRand *rand, int spread)
{
  double fraction =
    g_rand_boolean (rand) ? g_rand_double_range (rand, 0.5, 1) : 1 + g_rand_int_range (rand, -8, 8) * 0x1p-53;

  return ldexp (g_rand_boolean (rand) ? fraction : -fraction, g_rand_int_range (rand, -spread, spread + 1));
}

static void
test_random (void)
{
  static const int spreads[] = { 0, 3, 60, 110, 1000 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_test_rand_int ());
  int k;

  g_test_summary ("Random numbers of all sizes, of which many cancel or are near to a half.");

  for (k = 0; k < 500000; k++)
    {
      int spread = spreads[k % G_N_ELEMENTS (spreads)];
      AprPair a = { draw_number (rand, spread), draw_number (rand, spread) };
      AprPair b = { draw_number (rand, spread), draw_number (rand, spread) };
      AprPair c = { draw_number (rand, spread + 3), -a[1] * b[1] };

      if (g_rand_boolean (rand))
        c[1] *= 1 + ldexp (1, -g_rand_int_range (rand, 0, 60));
      assert_fused (a, b, c);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/fma/known", test_known);
  g_test_add_func ("/fma/hostile", test_hostile);
  g_test_add_func ("/fma/random", test_random);

  return g_test_run ();
}
