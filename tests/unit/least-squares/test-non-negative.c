/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

/* Coefficients that must not be negative, against a search through all sets of features in rational arithmetic. */

#define MAX_FEATURES 6
#define MAX_ROWS 9

typedef struct
{
  gsize n_rows;
  gsize n_features;
  int x[MAX_ROWS][MAX_FEATURES];
  int y[MAX_ROWS];
} Problem;

static void
multiply_columns (const Problem *problem, gsize i, gsize j, mpq_t value)
{
  long sum = 0;
  gsize row;

  for (row = 0; row < problem->n_rows; row++)
    sum += (long) problem->x[row][i] * (j < problem->n_features ? problem->x[row][j] : problem->y[row]);
  mpq_set_si (value, sum, 1);
}

/* Solves for the features in @mask alone, and returns whether that is the answer: no coefficient below 0, and no
 * gradient of another feature above 0. Singular sets are not. */
static gboolean
try_features (const Problem *problem, guint mask, mpq_t *coefficients)
{
  gsize n = 0;
  gsize features[MAX_FEATURES];
  mpq_t matrix[MAX_FEATURES * (MAX_FEATURES + 1)];
  gboolean right;
  mpq_t gradient;
  mpq_t term;
  gsize i;
  gsize j;

  mpq_inits (gradient, term, NULL);
  for (i = 0; i < problem->n_features; i++)
    {
      mpq_set_ui (coefficients[i], 0, 1);
      if ((mask >> i & 1) != 0)
        features[n++] = i;
    }
  for (i = 0; i < n; i++)
    for (j = 0; j <= n; j++)
      {
        mpq_init (matrix[i * (n + 1) + j]);
        multiply_columns (problem, features[i], j < n ? features[j] : problem->n_features,
                          matrix[i * (n + 1) + j]);
      }
  right = eliminate (matrix, n);
  for (i = 0; i < n && right; i++)
    {
      mpq_div (coefficients[features[i]], matrix[i * (n + 1) + n], matrix[i * (n + 1) + i]);
      right = mpq_sgn (coefficients[features[i]]) >= 0;
    }
  for (i = 0; i < problem->n_features && right; i++)
    {
      multiply_columns (problem, i, problem->n_features, gradient);
      for (j = 0; j < problem->n_features; j++)
        {
          multiply_columns (problem, i, j, term);
          mpq_mul (term, term, coefficients[j]);
          mpq_sub (gradient, gradient, term);
        }
      right = mpq_sgn (gradient) <= 0;
    }
  for (i = 0; i < n * (n + 1); i++)
    mpq_clear (matrix[i]);
  mpq_clears (gradient, term, NULL);

  return right;
}

/* Returns whether the answer was proven. */
static gboolean
check (const Problem *problem)
{
  g_auto (Data) data = { 0 };
  g_auto (AprLeastSquares) answer = { NULL };
  gsize p = problem->n_features;
  mpq_t coefficients[MAX_FEATURES];
  guint mask = 0;
  gsize i;
  gsize j;

  data_init (&data, problem->n_rows, p, FALSE);
  for (i = 0; i < problem->n_rows; i++)
    {
      for (j = 0; j < p; j++)
        data.x[i * p + j] = problem->x[i][j];
      data.y[i] = problem->y[i];
    }
  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = FALSE, .positive = TRUE });

  for (i = 0; i < p; i++)
    mpq_init (coefficients[i]);
  while (!try_features (problem, mask, coefficients))
    g_assert_cmpuint (++mask, <, 1u << p);
  for (i = 0; i < p && answer.correctly_rounded; i++)
    assert_nearest (answer.coefficients[i], coefficients[i], APR_DTYPE_F64);
  for (i = 0; i < p; i++)
    {
      g_assert_false (signbit (answer.coefficients[i]));
      mpq_clear (coefficients[i]);
    }

  return answer.correctly_rounded;
}

static void
test_random (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (130);
  guint n_proven = 0;
  int round;

  g_test_summary ("Features that point in nearly opposite directions, so that many sets have to be tried.");

  for (round = 0; round < 400; round++)
    {
      Problem problem = { .n_features = (gsize) g_rand_int_range (rand, 1, MAX_FEATURES + 1) };
      int common = round % 4 == 0 ? 0 : g_rand_int_range (rand, 1, 40);
      /* In units far from those of the others. */
      gsize far = round % 3 == 0 ? (gsize) round % problem.n_features : MAX_FEATURES;
      gsize i;
      gsize j;

      problem.n_rows = problem.n_features + (gsize) g_rand_int_range (rand, 0, 4);
      for (i = 0; i < problem.n_rows; i++)
        {
          for (j = 0; j < problem.n_features; j++)
            problem.x[i][j] =
              (g_rand_int_range (rand, -9, 10) + (j % 2 == 0 ? common : -common) * (int) (i % 3)) *
              (j == far ? 1 << 20 : 1);
          problem.y[i] = g_rand_int_range (rand, -9, 10);
        }
      n_proven += check (&problem);
    }
  g_assert_cmpuint (n_proven, >, 350);
}

/* Without a coefficient the gradients are known exactly, and may be as small as the unit of the products. */
static void
test_least_gradient (void)
{
  double x[] = { 1 };
  double y[] = { -1 };
  Data data = { 1, 1, x, y };
  g_auto (AprLeastSquares) answer = { NULL };

  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = FALSE, .positive = TRUE });
  assert_same_double (answer.coefficients[0], 0);
  g_assert_true (answer.correctly_rounded);
}

/* The first feature is a constant by the rule, and has no coefficient, though it rises with the target. */
static void
test_constant (void)
{
  double x[] = { 1, 0, 1 + 0x1p-52, 1, 1, 2, 1 + 0x1p-52, 3 };
  double y[] = { 3, 4, 1, 2 };
  Data data = { 4, 2, x, y };
  g_auto (AprLeastSquares) answer = { NULL };

  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE, .positive = TRUE });
  g_assert_cmpuint (answer.rank, ==, 1);
  assert_same_double (answer.coefficients[0], 0);
  assert_same_double (answer.coefficients[1], 0);
  assert_same_double (answer.intercepts[0], 2.5);
  g_assert_true (answer.correctly_rounded);
}

/* A feature that depends on another one leaves the search. Its gradient is 0, so that it would do as well, and the
 * coefficients are not the only ones. */
static void
test_dependent (void)
{
  double x[] = { 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1 };
  double y[] = { 3, 2, -1 };
  const Data data = { 3, 4, x, y };
  g_auto (AprLeastSquares) answer = { NULL };

  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = FALSE, .positive = TRUE });
  assert_same_double (answer.coefficients[0], 3);
  assert_same_double (answer.coefficients[1], 2);
  assert_same_double (answer.coefficients[2], 0);
  assert_same_double (answer.coefficients[3], 0);
  g_assert_false (answer.correctly_rounded);
}

#define MAX_REPORTS 15000

typedef struct
{
  guint n;
  GCancellable *cancellable; /* (unowned) */
} Reports;

static void
count (double fraction, gpointer user_data)
{
  Reports *reports = user_data;

  if (++reports->n > MAX_REPORTS)
    g_cancellable_cancel (reports->cancellable);
}

/* Of entries of very different scale, exchanging features with a wrong sign does not end. Adding the feature that
 * reduces the sum of squares most takes 3,200 reports of progress, and adding the first that does above 20,000. */
static void
test_scales (void)
{
  const AprLeastSquaresOptions options = {
    .alpha = 0.5, .positive = TRUE, .data_dtype = APR_DTYPE_F64, .dtype = APR_DTYPE_F64
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (21);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_auto (Data) data = { 0 };
  g_auto (AprLeastSquares) answer = { 0 };
  g_autoptr (AprExactSums) sums = NULL;
  g_autoptr (GError) error = NULL;
  Reports reports = { 0, cancellable };
  const AprRun run = { .cancellable = cancellable, .progress = count, .progress_data = &reports };
  gsize i;

  data_init (&data, 10, 30, FALSE);
  for (i = 0; i < 10 * 30; i++)
    {
      data.x[i] = g_rand_double_range (rand, -1, 1);
      data.x[i] = ldexp (data.x[i], g_rand_int_range (rand, -900, 900));
    }
  for (i = 0; i < 10; i++)
    data.y[i] = g_rand_double_range (rand, -1, 1);
  sums = sum (&data);
  g_assert_true (apr_least_squares_solve (&answer, sums, &options, &run, &error));
  g_assert_no_error (error);
  g_assert_true (answer.correctly_rounded);
}

/* Columns of such sizes that adding one makes others depend on it: where it took their place, features went in and out
 * for ever. Whatever the order of the columns, the search ends, and two answers that are proven are the same. */
static void
test_exchange (void)
{
  static const double x[8][8] = {
    { 245287630698.7944, 7.033751299086084e+45, 2.8758315098304206e-44, -9.7010699611844911e+26,
      -27325606001131820, 1.055494861695962e+37, 2.9928046822854261e+61, -1.0729700468082014e+79 },
    { 7.4703425455655733e+39, 4.7978454221536824e+61, -1.2559354447153526e+21, 1.0266321167365892e+80,
      -6.4138760686335659e+79, -2.7877875628567712e+78, -780.85767317084901, 8.9727031409661329e-56 },
    { -206633093669.45175, 1.4906723544953292e-22, 1.6068201611254131e+87, -3.5508722026928618e+44,
      2.5067254338803852e+69, -3.0372570526043624e+79, 7.7170606451818427e-18, -5.8943576210669821e+86 },
    { 1.0170779761272524e-27, 7.4751674897207155e+53, -6.8893450850256854e+85, 1.4655053590578077e+30,
      8.8888261855169116e-42, -2.776941497093033e+66, 4.5378829502091324e+39, 3.8023348471972701e+73 },
    { 0.0021271181989851113, 2.2366906996640307e-49, -4.263157731627668e+24, -1.0350182488484179e+81,
      -2.1994338086447757e-79, -1.5020185308269773e+71, 3.605929630766244e-06, -1.0033619477432306e+63 },
    { 6.8172370549274236e+69, -1.5592496437165076e-48, -16575.147445987455, -8.541412297816883e+66,
      -7.7815670067124687e-51, -7.371086398660323e-13, -3.4322776188434004e-08, -1.0666993899527828e+80 },
    { -2.7755543247605635e-26, -1.1587633476525292e+18, 1.6489149302305948e+56, -9.2551711037812832e-60,
      -4.1420236863322502e-90, -4.2069863345185834e-13, 5.8184149993039816e+35, 1.4681910580528219e+62 },
    { -57746.907397841052, 1001608.4357136642, 1.2534222750919333e+57, 7.1764066900832645e-84,
      -2.1722682919094214e+61, 1.5352858951748337e-67, 8.7685213316039226e-36, -2.4383101245557559e+26 },
  };
  static const double y[] = { -0.46814184419188415, 0.093676380436406081, -0.33246856148173831,
                              0.39942120720576429,  -1.0108029551991933,  -0.83787350634844704,
                              -1.7141823598266317,  -1.0708848395464325 };
  const AprLeastSquaresOptions options = { .positive = TRUE,
                                           .data_dtype = APR_DTYPE_F64,
                                           .dtype = APR_DTYPE_F64 };
  double expected[8];
  double found[8];
  guint n_proven = 0;
  gsize first;
  gsize i;
  gsize j;

  for (first = 0; first < 8; first++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_auto (Data) data = { 0 };
      g_auto (AprLeastSquares) answer = { 0 };
      g_autoptr (AprExactSums) sums = NULL;
      g_autoptr (GError) error = NULL;
      Reports reports = { 0, cancellable };
      const AprRun run = { .cancellable = cancellable, .progress = count, .progress_data = &reports };

      data_init (&data, 8, 8, FALSE);
      for (i = 0; i < 8; i++)
        for (j = 0; j < 8; j++)
          data.x[i * 8 + j] = x[i][(first + j) % 8];
      memcpy (data.y, y, sizeof y);
      sums = sum (&data);
      g_assert_true (apr_least_squares_solve (&answer, sums, &options, &run, &error));
      g_assert_no_error (error);

      for (j = 0; j < 8; j++)
        found[(first + j) % 8] = answer.coefficients[j];
      /* It is in what is proven. */
      g_assert_cmpfloat (found[0], >, 0);
      if (!answer.correctly_rounded)
        continue;
      if (n_proven++ > 0)
        g_assert_cmpmem (found, sizeof found, expected, sizeof expected);
      memcpy (expected, found, sizeof expected);
    }
  g_assert_cmpuint (n_proven, >, 1);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/non-negative/random", test_random);
  g_test_add_func ("/non-negative/least-gradient", test_least_gradient);
  g_test_add_func ("/non-negative/constant", test_constant);
  g_test_add_func ("/non-negative/dependent", test_dependent);
  g_test_add_func ("/non-negative/scales", test_scales);
  g_test_add_func ("/non-negative/exchange", test_exchange);

  return g_test_run ();
}
