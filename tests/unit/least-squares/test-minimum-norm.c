/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

#include "aprender/least-squares/apr-minimum-norm-private.h"

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

#define MAX_INDEPENDENT 16
#define MAX_FEATURES (1 + MAX_INDEPENDENT + 3)

/* How the solution was found: a step of refinement reports more than the one before it, and a report that is less says
 * that what came before did not do, and another way was taken. */
typedef struct
{
  double last;
  guint n_steps;
  guint n_ways;
} Way;

static void
hear_step (double fraction, gpointer user_data)
{
  Way *self = user_data;

  /* The solution's part of the work, of which the second half is refinement. */
  if (fraction <= 0.875)
    return;
  self->n_ways += fraction <= self->last || self->n_ways == 0 ? 1 : 0;
  self->last = fraction;
  self->n_steps++;
}

/* The solution of minimum norm in rational numbers: b = G v with G'G v = c, where G are the products of all features
 * with the @n from @first on, which are independent, and c those of these with the target. */
static void
solve_exactly (const Data *data, gsize first, gsize n, mpq_t *b)
{
  gsize p = data->n_features;
  mpq_t *products = g_new (mpq_t, p * n);
  mpq_t *system = g_new (mpq_t, n * (n + 1));
  mpq_t term;
  gsize i;
  gsize j;
  gsize k;

  mpq_init (term);
  for (k = 0; k < p; k++)
    for (j = 0; j < n; j++)
      {
        mpq_init (products[k * n + j]);
        get_product (data, 1 + k, 1 + first + j, 0, products[k * n + j]);
      }
  for (i = 0; i < n; i++)
    for (j = 0; j <= n; j++)
      {
        mpq_init (system[i * (n + 1) + j]);
        if (j == n)
          get_product (data, 1 + first + i, 1 + p, 0, system[i * (n + 1) + j]);
        for (k = 0; k < p && j < n; k++)
          {
            mpq_mul (term, products[k * n + i], products[k * n + j]);
            mpq_add (system[i * (n + 1) + j], system[i * (n + 1) + j], term);
          }
      }
  g_assert_true (eliminate (system, n));
  for (j = 0; j < n; j++)
    {
      mpq_div (term, system[j * (n + 1) + n], system[j * (n + 1) + j]);
      for (k = 0; k < p; k++)
        {
          mpq_mul (products[k * n + j], products[k * n + j], term);
          mpq_add (b[k], b[k], products[k * n + j]);
        }
    }
  for (k = 0; k < p * n; k++)
    mpq_clear (products[k]);
  for (i = 0; i < n * (n + 1); i++)
    mpq_clear (system[i]);
  g_free (products);
  g_free (system);
  mpq_clear (term);
}

/* Independent features of small whole numbers, each with a scale of its own up to 2^@spread, then multiples of some of
 * these, or sums of two where their scales are near enough. Before them there may be a feature of zeros, and a sample
 * more, in which the target's small value makes all products long. */
static void
draw_dependent (Data *data, GRand *rand, gsize first, gsize n, gsize n_dependent, int spread)
{
  gsize p = first + n + n_dependent;
  gsize n_rows = n + 2;
  int scales[MAX_INDEPENDENT];
  gsize i;
  gsize j;

  data_init (data, n_rows + first, p, FALSE);
  for (j = 0; j < n; j++)
    {
      scales[j] = j < 2 ? (int) j * spread : g_rand_int_range (rand, 0, spread + 1);
      for (i = 0; i < n_rows; i++)
        data->x[i * p + first + j] = ldexp (g_rand_int_range (rand, -4, 5) + (i == j ? 20 : 0), scales[j]);
    }
  for (j = n; j < n + n_dependent; j++)
    {
      gsize one = (gsize) g_rand_int_range (rand, 0, (int) n);
      gsize other = (gsize) g_rand_int_range (rand, 0, (int) n);
      gboolean both = one != other && ABS (scales[one] - scales[other]) < 20 && g_rand_boolean (rand);
      double factor = ldexp (g_rand_int_range (rand, 1, 4), g_rand_int_range (rand, -4, 1));

      for (i = 0; i < n_rows; i++)
        {
          double *row = data->x + i * p + first;

          row[j] = factor * (row[one] - (both ? row[other] : 0));
        }
    }
  for (i = 0; i < n_rows; i++)
    data->y[i] = g_rand_int_range (rand, -9, 10);
  if (first > 0)
    data->y[n_rows] = 0x1p-100;
}

static void
check_random (GRand *rand, gsize first, gsize n, gsize n_dependent, int spread)
{
  const AprLeastSquaresOptions options = { .data_dtype = APR_DTYPE_F64, .dtype = APR_DTYPE_F64 };
  Way way = { 0 };
  const AprRun run = { .n_threads = 1, .progress = hear_step, .progress_data = &way };
  g_auto (Data) data = { 0 };
  g_autoptr (AprExactSums) sums = NULL;
  g_auto (AprLeastSquares) answer = { NULL };
  gsize p = first + n + n_dependent;
  gboolean any_zero = FALSE;
  mpq_t exact[MAX_FEATURES];
  gsize i;

  draw_dependent (&data, rand, first, n, n_dependent, spread);
  sums = sum (&data);
  g_assert_true (apr_least_squares_solve (&answer, sums, &options, &run, NULL));
  g_assert_true (answer.correctly_rounded);
  g_assert_cmpuint (answer.rank, ==, n);
  for (i = 0; i < p; i++)
    mpq_init (exact[i]);
  solve_exactly (&data, first, n, exact);
  for (i = 0; i < p; i++)
    {
      any_zero = any_zero || (i >= first && mpq_sgn (exact[i]) == 0);
      assert_nearest (answer.coefficients[i], exact[i], APR_DTYPE_F64);
      mpq_clear (exact[i]);
    }

  /* Where scales are near, two corrections of double's bits are enough; else some of these bits are given away. */
  if (!any_zero && spread <= 15)
    {
      g_assert_cmpuint (way.n_ways, ==, 1);
      g_assert_cmpuint (way.n_steps, <=, spread <= 9 ? 2 : 3);
    }
}

static void
test_random (void)
{
  const gsize numbers[] = { 2, 3, 4, 8, 10, MAX_INDEPENDENT };
  const int spreads[] = { 0, 3, 7, 8, 9, 15, 30, 40, 50, 100, 101, 200 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (140);
  gsize i;
  gsize j;
  gsize n_dependent;
  const int n_rounds = runs_slowly () ? 2 : 4;
  int round;

  for (i = 0; i < G_N_ELEMENTS (numbers); i++)
    for (j = 0; j < G_N_ELEMENTS (spreads); j += runs_slowly () ? 3 : 1)
      for (n_dependent = 1; n_dependent <= 3; n_dependent++)
        for (round = 0; round < n_rounds; round++)
          check_random (rand, round % 2, numbers[i], n_dependent, spreads[j]);
}

static gsize n_allocations; /* for long numbers */
static gsize largest;       /* of these */

static gpointer
allocate (gsize size)
{
  n_allocations++;
  largest = MAX (largest, size);

  return malloc (size);
}

static gpointer
reallocate (gpointer memory, gsize old_size, gsize size)
{
  largest = MAX (largest, size);

  return realloc (memory, size);
}

/* Solves as long as factors in double are enough: to square the products, each of them would be made a whole number. */
static void
solve_in_doubles (const Data *data, gsize n_independent, double *coefficients)
{
  const AprLeastSquaresOptions options = { .data_dtype = APR_DTYPE_F64 };
  const AprRun run = { .n_threads = 1 };
  gsize p = data->n_features;
  g_autofree gboolean *none = g_new0 (gboolean, p);
  g_autoptr (AprExactSums) sums = sum (data);
  g_auto (AprProducts) products = { 0 };
  g_auto (AprNormalEquations) equations = { 0 };
  const AprTarget target = { 0, APR_DTYPE_F64, coefficients, NULL };
  AprMinimumNorm *norm;

  apr_products_init (&products, sums, FALSE, 0, &run);
  apr_normal_equations_init (&equations, &products, none, apr_rank_find_tolerance (&options, p), &run);
  g_assert_cmpuint (equations.n_independent, ==, n_independent);
  g_assert_null (equations.ldlt);
  apr_normal_equations_scale_column (&equations, p);

  n_allocations = 0;
  mp_set_memory_functions (allocate, reallocate, NULL);
  norm = apr_minimum_norm_new (&equations, &run);
  g_assert_true (apr_minimum_norm_solve (norm, &target, &run));
  apr_minimum_norm_free (norm);
  mp_set_memory_functions (NULL, NULL, NULL);
  g_assert_cmpuint (n_allocations, <, n_independent * p);
}

/* As many samples as independent features, of which the second differs from the first by 2^-@nearness of its values:
 * whatever the other features are, they depend on these, with coefficients up to 2^@nearness and more. */
static void
check_nearly_singular (GRand *rand, int nearness)
{
  enum
  {
    N = 16,
    P = 24
  };
  g_auto (Data) data = { 0 };
  double coefficients[P];
  mpq_t exact[P];
  gsize i;

  data_init (&data, N, P, FALSE);
  for (i = 0; i < N * P; i++)
    data.x[i] = g_rand_double_range (rand, -1, 1);
  for (i = 0; i < N; i++)
    {
      data.x[i * P + 1] = data.x[i * P] + ldexp (data.x[i * P + 1], -nearness);
      data.y[i] = g_rand_double_range (rand, -1, 1);
    }
  solve_in_doubles (&data, N, coefficients);
  for (i = 0; i < P; i++)
    mpq_init (exact[i]);
  solve_exactly (&data, 0, N, exact);
  for (i = 0; i < P; i++)
    {
      assert_nearest (coefficients[i], exact[i], APR_DTYPE_F64);
      mpq_clear (exact[i]);
    }
}

static void
test_nearly_singular (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (142);
  const int n_rounds = runs_slowly () ? 2 : 8;
  int nearness;
  int round;

  g_test_summary (
    "Features that are nearly singular show that others depend on them, without longer factors.");

  for (nearness = 0; nearness <= 5; nearness++)
    for (round = 0; round < n_rounds; round++)
      check_nearly_singular (rand, nearness);
}

/* Features that are alone in their rows, but for the last, which is there twice. The coefficient of the first is next
 * to the middle of two numbers, 2^53 + 1 + @delta / 6. */
static void
check_near_tie_of_many (double delta)
{
  enum
  {
    N = 30,
    P = N + 1
  };
  const double first[] = { 0x1p54, 0x1p54, 0x1p53, 0x1p53, 6, delta };
  const gsize n_first = G_N_ELEMENTS (first);
  g_auto (Data) data = { 0 };
  double coefficients[P];
  gsize i;

  data_init (&data, n_first + N - 1, P, FALSE);
  for (i = 0; i < n_first; i++)
    {
      data.x[i * P] = 1;
      data.y[i] = first[i];
    }
  for (i = 1; i < N; i++)
    {
      gsize row = n_first + i - 1;

      data.x[row * P + i] = i % 4 == 0 ? 0.5 : 1;
      data.y[row] = (double) i;
    }
  data.x[(n_first + N - 2) * P + N] = data.x[(n_first + N - 2) * P + N - 1];
  solve_in_doubles (&data, N, coefficients);
  assert_same_double (coefficients[0], 0x1p53 + (delta > 0 ? 2 : 0));
  for (i = 1; i < P; i++)
    assert_same_double (coefficients[i], i < N - 1 ? (double) i * (i % 4 == 0 ? 2 : 1) : (N - 1) / 2.0);
}

static void
test_near_ties_of_many (void)
{
  int bits;

  g_test_summary (
    "Where the leading bits of products do not decide, all bits do, with factors as long as before.");

  for (bits = 20; bits <= 100; bits += 10)
    {
      check_near_tie_of_many (ldexp (1, -bits));
      check_near_tie_of_many (ldexp (-1, -bits));
    }
}

/* One sample: a coefficient is y x_j / x'x. */
static void
test_one_sample (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (141);
  int round;

  for (round = 0; round < 3000; round++)
    {
      double x[3];
      double y[1] = { g_rand_int_range (rand, 1, 1 << 20) };
      Data data = { 1, 3, x, y };
      g_auto (AprLeastSquares) answer = { NULL };
      double square = 0;
      gsize i;

      for (i = 0; i < 3; i++)
        {
          x[i] = g_rand_int_range (rand, 1, 6);
          square += x[i] * x[i];
        }
      solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = FALSE });
      g_assert_true (answer.correctly_rounded);
      for (i = 0; i < 3; i++)
        assert_same_double (answer.coefficients[i], *y * x[i] / square);
    }
}

/* A coefficient next to the middle of two numbers, t + @delta / 6 with an odd t, less what @overlap of the other
 * feature's takes away: either has bits that are far below those of other products. The other feature is there once, so
 * that none depends on it, or twice, and has a scale that is 2^@spread larger, and a coefficient that is 2^30 times
 * larger. */
static void
check_near_tie (gsize p, int spread, int odd, double overlap, double delta)
{
  const double base = 0x1p53;
  const double y[] = { 2 * base, 2 * base, base, base, 6.0 * odd, delta };
  g_auto (Data) data = { 0 };
  g_auto (AprLeastSquares) answer = { NULL };
  mpq_t exact[3];
  gsize i;

  data_init (&data, 7, p, FALSE);
  data.x[p - 1] = data.x[0] = 1;
  data.x[1] = ldexp (overlap, -spread);
  data.y[0] = 2 * base;
  for (i = 0; i < G_N_ELEMENTS (y); i++)
    {
      data.x[p * (1 + i) + 1] = ldexp (1, -spread);
      data.y[1 + i] = ldexp (y[i], -spread - 30);
    }
  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = FALSE });
  g_assert_true (answer.correctly_rounded);
  for (i = 0; i < p; i++)
    mpq_init (exact[i]);
  solve_exactly (&data, 0, 2, exact);
  for (i = 0; i < p; i++)
    {
      assert_nearest (answer.coefficients[i], exact[i], APR_DTYPE_F64);
      mpq_clear (exact[i]);
    }
}

static void
test_near_ties (void)
{
  const int spreads[] = { 0, 5, 10, 20, 40 };
  gsize p;
  gsize i;
  int bits;
  int odd;
  int sign;

  for (p = 2; p <= 3; p++)
    for (i = 0; i < G_N_ELEMENTS (spreads); i++)
      for (bits = 40; bits < 300; bits += runs_slowly () ? 7 : 1)
        for (odd = 1; odd <= 3; odd += 2)
          for (sign = -1; sign <= 1; sign += 2)
            {
              check_near_tie (p, spreads[i], odd, 0, ldexp (sign, -bits));
              /* The overlap takes away twice as much as there is. */
              check_near_tie (p, spreads[i], odd, ldexp (sign, -bits), ldexp (sign, spreads[i] + 83 - bits));
            }
}

/* Three features that are the same, with products of 63 bits whose squares have a sum of 128: just beyond what 127 bits
 * and a sign hold. */
static void
test_squares_of_all_bits (void)
{
  const gsize features[] = { 0, 1, 2 };
  const gboolean none[3] = { FALSE };
  const AprRun run = { 0 };
  g_auto (AprProducts) products = { 0 };
  g_auto (AprNormalEquations) equations = { 0 };
  double coefficients[3];
  AprTarget target = { .dtype = APR_DTYPE_F64, .coefficients = coefficients };
  AprSquaredEquations *squared;
  mpz_t value;
  gsize i;
  gsize j;

  (void) apr_products_init_zeros (&products, 3, 1, 2, &(AprRun){ 0 });
  mpz_init (value);
  for (i = 0; i <= 3; i++)
    for (j = 0; j <= i; j++)
      {
        mpz_set_ui (value, i < 3 ? 7 : 21);
        mpz_mul_2exp (value, value, 60);
        apr_products_set_integer (&products, i, j, value);
      }
  mpz_clear (value);
  apr_normal_equations_init (&equations, &products, none, 0x1p-100, &run);
  g_assert_cmpuint (equations.n_independent, ==, 1);
  g_assert_cmpuint (equations.n_dependent, ==, 2);
  squared = apr_squared_equations_new (&equations, features, &run);
  g_assert_true (apr_squared_equations_solve (squared, &target, &run));
  apr_squared_equations_free (squared);
  for (i = 0; i < 3; i++)
    assert_same_double (coefficients[i], 1);
}

/* A constant target leaves nothing to correct, which is exact however far the scales are apart. Were it within some
 * 2^-2^31 instead, the intercept would be made as long as that. */
static void
test_constant_target (void)
{
  double x[] = { 1, 0, 0, 0, 0x1p90, 0x1p90, -2, 3, 3, 1, 1, 1 };
  double y[] = { 3, 3, 3, 3 };
  const Data data = { 4, 3, x, y };
  g_auto (AprLeastSquares) answer = { NULL };
  gsize i;

  largest = 0;
  mp_set_memory_functions (allocate, reallocate, NULL);
  solve_in_threads (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE }, 1);
  mp_set_memory_functions (NULL, NULL, NULL);

  g_assert_true (answer.correctly_rounded);
  g_assert_cmpuint (answer.rank, ==, 2);
  for (i = 0; i < 3; i++)
    assert_same_double (answer.coefficients[i], 0);
  assert_same_double (answer.intercepts[0], 3);
  g_assert_cmpuint (largest, >, 0);
  g_assert_cmpuint (largest, <, 10000);
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
  g_test_add_func ("/minimum-norm/random", test_random);
  g_test_add_func ("/minimum-norm/nearly-singular", test_nearly_singular);
  g_test_add_func ("/minimum-norm/one-sample", test_one_sample);
  g_test_add_func ("/minimum-norm/near-ties", test_near_ties);
  g_test_add_func ("/minimum-norm/near-ties-of-many", test_near_ties_of_many);
  g_test_add_func ("/minimum-norm/zero-target", test_zero_target);
  g_test_add_func ("/minimum-norm/constant-target", test_constant_target);
  g_test_add_func ("/minimum-norm/squares-of-all-bits", test_squares_of_all_bits);

  return g_test_run ();
}
