/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"

#include "aprender/least-squares/apr-condition-private.h"

/* Condition numbers that are known. */

typedef struct
{
  const char *name;
  gsize n_rows;
  gsize n_features;
  gboolean fit_intercept;
  double x[18];
  double alpha;
  double condition;
} Case;

static const Case cases[] = {
  { "one-feature", 2, 1, FALSE, { 3, 4 }, 0, 1 },
  /* The column is 2^1000 times the unit of its entries. */
  { "far-entries", 2, 1, FALSE, { 1, 0x1p-1000 }, 0, 1 },
  { "scales", 2, 2, FALSE, { 1, 0, 0, 0x1p-30 }, 0, 0x1p30 },
  { "far-scales", 2, 2, FALSE, { 0x1p250, 0, 0, 0x1p-250 }, 0, 0x1p500 },
  { "farther-scales", 2, 2, FALSE, { 0x1p500, 0, 0, 0x1p-523 }, 0, 0x1p1023 },
  /* More than a double holds. */
  { "too-far-scales", 2, 2, FALSE, { 0x1p1000, 0, 0, 0x1p-1000 }, 0, INFINITY },
  { "farthest-scales", 2, 2, FALSE, { 0x1p1023, 0, 0, 0x1p-1074 }, 0, INFINITY },
  { "dependent", 2, 2, FALSE, { 1, 2, 2, 4 }, 0, INFINITY },
  { "constant", 2, 1, TRUE, { 7, 7 }, 0, INFINITY },
  /* [1 1; 1 -1] has orthogonal columns. */
  { "intercept", 2, 1, TRUE, { 1, -1 }, 0, 1 },
  { "intercept-scales", 2, 1, TRUE, { 0x1p20, -0x1p20 }, 0, 0x1p20 },
  /* Squares of what is here are no doubles: the columns are orthogonal. */
  { "intercept-beside-small", 2, 1, TRUE, { 0x1p-700, -0x1p-700 }, 0, 0x1p700 },
  { "intercept-beside-large", 2, 1, TRUE, { 0x1p1000, -0x1p1000 }, 0, 0x1p1000 },
  { "intercept-beside-subnormal", 2, 1, TRUE, { 0x1p-1022, -0x1p-1022 }, 0, 0x1p1022 },
  { "alpha-beside-large", 2, 1, TRUE, { 0x1p600, -0x1p600 }, 1, 0x1p600 },
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
typedef struct
{
  double *elements;
  gsize n;
  gint64 exponent;
} Diagonal;

static gint64
multiply_diagonal (gconstpointer data, double *x)
{
  const Diagonal *diagonal = data;
  gsize i;

  for (i = 0; i < diagonal->n; i++)
    x[i] *= diagonal->elements[i];

  return diagonal->exponent;
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
      g_autofree double *diagonal = g_new (double, n);
      double factor = ldexp (1, g_rand_int_range (rand, -900, 900));
      Diagonal matrix = { diagonal, n, g_rand_int_range (rand, -900, 900) };
      double max = 0;
      gint64 exponent;
      double found;
      gsize i;

      for (i = 0; i < n; i++)
        {
          diagonal[i] = factor * (round % 3 == 0   ? 1
                                  : round % 3 == 1 ? g_rand_double_range (rand, 0.1, 1)
                                                   : exp (g_rand_double_range (rand, -30, 0)));
          max = MAX (max, diagonal[i]);
        }
      found = apr_condition_find_singular_value (n, multiply_diagonal, &matrix, &exponent, &(AprRun){ 0 });
      /* Squared, as half of an odd exponent is no exponent. */
      g_assert_cmpfloat_with_epsilon (ldexp (found * found / max, (gint) (2 * exponent - matrix.exponent)), 1,
                                      1e-3);
    }
}

/* That of a chain: 2 on the diagonal and -1 beside it, whose greatest eigenvalues are close together. */
static gint64
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

  return 0;
}

static void
test_chain (void)
{
  const gsize sizes[] = { 2, 3, 10, 100, 1000, 5000 };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      double expected = 2 * sin (G_PI / 2 * (double) sizes[i] / (double) (sizes[i] + 1));
      gint64 exponent;
      double found =
        apr_condition_find_singular_value (sizes[i], multiply_chain, &sizes[i], &exponent, &(AprRun){ 0 });

      g_assert_cmpfloat_with_epsilon (ldexp (found, (gint) exponent), expected, 1e-3 * expected);
    }
}

static void
test_zero_pivot (void)
{
  /* A path of three, whose greatest eigenvalue is the root of 2. Bisection begins in the middle of 0 and 2, and that is
   * the greatest eigenvalue of the first two. */
  const double diagonal[] = { 0, 0, 0 };
  const double beside[] = { 1, 1, 0 };

  g_test_summary (
    "A number that is an eigenvalue of a part of the matrix is below the greatest of the whole.");
  g_assert_cmpfloat_with_epsilon (apr_condition_find_max_eigenvalue (diagonal, beside, 3, 0), sqrt (2), 1e-6);
}

/* The least and the greatest eigenvalue of [1 X]'[1 X], by power iteration in numbers of 1,000 bits. */
static double
condition_in_numbers (const Data *data)
{
  gsize m = data->n_features + 1;
  gsize width = m + 1;
  g_autofree mpq_t *matrix = g_new (mpq_t, m * width);
  g_autofree mpf_t *numbers = g_new (mpf_t, m * m);
  g_autofree mpf_t *inverse = g_new (mpf_t, m * m);
  g_autofree mpf_t *x = g_new (mpf_t, m);
  g_autofree mpf_t *next = g_new (mpf_t, m);
  mpf_t eigenvalues[2];
  mpf_t product;
  mpf_t size;
  double condition;
  gsize i;
  gsize j;
  gsize k;
  int which;
  int step;

  mpf_set_default_prec (1000);
  mpf_inits (product, size, eigenvalues[0], eigenvalues[1], NULL);
  for (i = 0; i < m; i++)
    {
      mpf_inits (x[i], next[i], NULL);
      for (j = 0; j < m; j++)
        mpf_inits (numbers[i * m + j], inverse[i * m + j], NULL);
      for (j = 0; j < width; j++)
        mpq_init (matrix[i * width + j]);
    }
  for (k = 0; k < m; k++)
    {
      for (i = 0; i < m; i++)
        {
          for (j = 0; j < m; j++)
            {
              get_product (data, i, j, 0, matrix[i * width + j]);
              mpf_set_q (numbers[i * m + j], matrix[i * width + j]);
            }
          mpq_set_ui (matrix[i * width + m], i == k ? 1 : 0, 1);
        }
      g_assert_true (eliminate (matrix, m));
      for (i = 0; i < m; i++)
        {
          mpq_div (matrix[i * width + m], matrix[i * width + m], matrix[i * width + i]);
          mpf_set_q (inverse[i * m + k], matrix[i * width + m]);
        }
    }

  for (which = 0; which < 2; which++)
    {
      for (i = 0; i < m; i++)
        mpf_set_d (x[i], 1 + (double) i / 7);
      for (step = 0; step < 300; step++)
        {
          for (i = 0; i < m; i++)
            {
              mpf_set_ui (next[i], 0);
              for (j = 0; j < m; j++)
                {
                  mpf_mul (product, which == 0 ? numbers[i * m + j] : inverse[i * m + j], x[j]);
                  mpf_add (next[i], next[i], product);
                }
            }
          mpf_set_ui (size, 0);
          for (i = 0; i < m; i++)
            {
              mpf_mul (product, next[i], next[i]);
              mpf_add (size, size, product);
            }
          mpf_sqrt (size, size);
          for (i = 0; i < m; i++)
            mpf_div (x[i], next[i], size);
        }
      mpf_set (eigenvalues[which], size);
    }
  mpf_mul (product, eigenvalues[0], eigenvalues[1]);
  mpf_sqrt (product, product);
  condition = mpf_get_d (product);

  for (i = 0; i < m; i++)
    {
      mpf_clears (x[i], next[i], NULL);
      for (j = 0; j < m; j++)
        mpf_clears (numbers[i * m + j], inverse[i * m + j], NULL);
      for (j = 0; j < width; j++)
        mpq_clear (matrix[i * width + j]);
    }
  mpf_clears (product, size, eigenvalues[0], eigenvalues[1], NULL);
  return condition;
}

static void
load_set (Data *data, const char *name, gsize degree)
{
  g_autofree char *file = g_strconcat ("nist", G_DIR_SEPARATOR_S, name, ".csv", NULL);
  g_autofree char *path = data_path (file);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GError) error = NULL;
  gsize i;
  gsize j;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (g_strstrip (text), "\n", -1);
  for (i = 1; lines[i] != NULL; i++)
    {
      g_auto (GStrv) cells = g_strsplit (lines[i], ",", -1);
      gsize n_cells = g_strv_length (cells) - 1;

      if (i == 1)
        data_init (data, g_strv_length (lines) - 1, MAX (degree, n_cells), FALSE);
      data->y[i - 1] = g_ascii_strtod (cells[0], NULL);
      for (j = 0; j < data->n_features; j++)
        {
          double *row = data->x + (i - 1) * data->n_features;

          row[j] = j < n_cells ? g_ascii_strtod (cells[1 + j], NULL) : row[j - 1] * row[0];
        }
    }
}

static void
test_in_long_numbers (void)
{
  const struct
  {
    const char *name;
    gsize degree;
    double
      published; /* by statsmodels for Longley, in section 3.2's table of the design for the rest: two digits */
  } sets[] = {
    { "longley", 1, 4.86e9 }, { "filip", 10, 1.77e15 }, { "wampler1", 5, 6.4e6 }, { "norris", 1, 8.6e2 }
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (34);
  gsize i;
  int round;

  for (i = 0; i < G_N_ELEMENTS (sets); i++)
    {
      g_auto (Data) data = { 0 };
      double found;
      double condition;

      load_set (&data, sets[i].name, sets[i].degree);
      found = find_condition (&data, (AprLeastSquaresOptions){ .fit_intercept = TRUE });
      condition = condition_in_numbers (&data);
      g_test_message ("%s: %.6g, in long numbers %.6g", sets[i].name, found, condition);
      g_assert_cmpfloat_with_epsilon (found / condition, 1, 1e-4);
      g_assert_cmpfloat_with_epsilon (found / sets[i].published, 1, 0.01);
    }

  for (round = 0; round < 20; round++)
    {
      g_auto (Data) data = { 0 };
      g_auto (AprLeastSquares) answer = { NULL };
      gsize p = 2 + (gsize) round % 4;
      double shift = pow (10, g_rand_int_range (rand, 0, 7));
      double noise = pow (10, -g_rand_int_range (rand, 0, 7));
      double found;
      gsize j;

      data_init (&data, 30, p, round % 2 == 0);
      for (i = 0; i < data.n_rows; i++)
        {
          for (j = 0; j < p; j++)
            data.x[i * p + j] = shift + (j > 0 ? data.x[i * p] - shift : 0) + noise * normal (rand);
          data.y[i] = normal (rand);
          if (data.weights != NULL)
            data.weights[i] = g_rand_double (rand);
        }
      solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE });
      found = find_condition (&data, (AprLeastSquaresOptions){ .fit_intercept = TRUE });
      if (answer.rank == p)
        g_assert_cmpfloat_with_epsilon (found / condition_in_numbers (&data), 1, 1e-3);
      else
        g_assert_true (isinf (found));
    }
}

/* Singular values that are known: columns that are orthogonal, of lengths 1 and 2^k. */
static void
test_orthogonal (void)
{
  const double scales[] = { 1, 0x1p10, 0x1p-60, 0x1p100, 0x1p1020, 0x1p-1000 };
  gsize i;
  gsize k;

  for (k = 0; k < G_N_ELEMENTS (scales); k++)
    {
      g_auto (Data) data = { 0 };
      double found;

      data_init (&data, 4, 2, FALSE);
      for (i = 0; i < 4; i++)
        {
          data.x[i * 2] = (i & 1) != 0 ? 1 : -1;
          data.x[i * 2 + 1] = ((i & 2) != 0 ? 1 : -1) * scales[k];
          data.y[i] = (double) i;
        }
      found = find_condition (&data, (AprLeastSquaresOptions){ .fit_intercept = TRUE });
      g_assert_cmpfloat_with_epsilon (found / MAX (scales[k], 1 / scales[k]), 1, 1e-7);
    }
}

/* A target of any size changes nothing. */
static void
test_large_target (void)
{
  double x[] = { 0x1p-300, 0x1p-300, 0x1p-300, 0x1p-299, 0x1p-298, 0x1p-300, 0, 0x1p-297 };
  double y[] = { 0, 0, 0, 0 };
  Data data = { 4, 2, x, y };
  double expected = find_condition (&data, (AprLeastSquaresOptions){ .fit_intercept = TRUE });

  g_assert_true (isfinite (expected));
  y[0] = 0x1p1000;
  assert_same_double (find_condition (&data, (AprLeastSquaresOptions){ .fit_intercept = TRUE }), expected);
}

/* A copy of a column, and a penalty that is all that tells the two apart: below the design stand rows of the root of
 * alpha, and nothing else lies in the direction (1, -1). */
static void
test_penalty (void)
{
  const double alphas[] = { 1, 0x1p-40, 0x1p-600 };
  gsize i;
  gsize k;

  for (k = 0; k < G_N_ELEMENTS (alphas); k++)
    {
      g_auto (Data) data = { 0 };
      double found;

      data_init (&data, 4, 2, FALSE);
      for (i = 0; i < 4; i++)
        {
          data.x[i * 2] = data.x[i * 2 + 1] = (double) i - 1.5;
          data.y[i] = (double) i;
        }
      found = find_condition (&data, (AprLeastSquaresOptions){ .alpha = alphas[k] });
      g_assert_cmpfloat_with_epsilon (found / sqrt ((10 + alphas[k]) / alphas[k]), 1, 1e-7);
    }
}

/* A feature that is nearly the one before it, and so on: 2^-40 on the diagonal and 1 above it. With D = 2^-40, the
 * inverse of D (I + N / D) has the entries D^-k, up to D^-14 / D = 2^600, beside which no other counts; the greatest
 * singular value is that of N and D, nearly 1. */
static void
test_ladder (void)
{
  const gsize n = 15;
  g_auto (Data) data = { 0 };
  double found;
  gsize i;

  data_init (&data, n, n, FALSE);
  for (i = 0; i < n; i++)
    {
      data.x[i * n + i] = 0x1p-40;
      if (i + 1 < n)
        data.x[i * n + i + 1] = 1;
    }
  found = find_condition (&data, (AprLeastSquaresOptions){ 0 });
  g_assert_cmpfloat_with_epsilon (found / 0x1p600, 1, 1e-6);
}

static void
test_beyond_doubles (void)
{
  const double rows[] = { 0, 0, 0, 0, 0, 0, 0, -1e-317, 0, 0, 1, 1e-316, 0, 1, 0, 0, 1, 0, 0, 0 };
  g_auto (Data) data = { 0 };
  g_auto (AprLeastSquares) answer = { NULL };
  gsize i;

  g_test_summary ("Independent features whose scales are further apart than doubles reach.");

  data_init (&data, 5, 4, TRUE);
  memcpy (data.x, rows, sizeof rows);
  for (i = 0; i < 5; i++)
    data.weights[i] = i == 1 ? 2e-15 : 1;
  solve (&answer, &data, (AprLeastSquaresOptions){ .fit_intercept = TRUE });
  g_assert_cmpuint (answer.rank, ==, 4);
  g_assert_true (isinf (find_condition (&data, (AprLeastSquaresOptions){ .fit_intercept = TRUE })));
}

/* A matrix that is multiplied with or divided by while it is cancelled. */
typedef struct
{
  GCancellable *cancellable; /* (unowned) */
  gboolean while_multiplied;
  guint n_multiplied;
  guint n_divided;
} Cancelled;

static void
multiply_cancelled (gconstpointer data, double *x, const AprRun *run)
{
  Cancelled *self = (Cancelled *) data;
  gsize i;

  self->n_multiplied++;
  if (self->while_multiplied)
    g_cancellable_cancel (self->cancellable);
  for (i = 0; i < 50; i++)
    x[i] *= (double) (1 + i);
}

static gint64
divide_cancelled (gconstpointer data, double *x, const AprRun *run)
{
  Cancelled *self = (Cancelled *) data;
  gsize i;

  self->n_divided++;
  g_cancellable_cancel (self->cancellable);
  for (i = 0; i < 50; i++)
    x[i] /= (double) (1 + i);
  return 0;
}

static void
test_cancelled (void)
{
  const gint64 scales[50] = { 0 };
  guint i;

  g_test_summary ("What is cancelled is not gone on with.");

  for (i = 0; i < 2; i++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      AprRun run = { .cancellable = cancellable };
      Cancelled state = { cancellable, i == 0, 0, 0 };
      AprConditionMatrix matrix = {
        .n = 50,
        .scales = scales,
        .multiply = multiply_cancelled,
        .divide = divide_cancelled,
        .data = &state,
        .run = &run,
      };

      (void) apr_condition_find_ratio (&matrix);
      if (i == 0)
        g_assert_cmpuint (state.n_multiplied, ==, 1);
      else
        g_assert_cmpuint (state.n_multiplied, >, 1);
      g_assert_cmpuint (state.n_divided, ==, 1);
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
  g_test_add_func ("/condition/in-long-numbers", test_in_long_numbers);
  g_test_add_func ("/condition/orthogonal", test_orthogonal);
  g_test_add_func ("/condition/large-target", test_large_target);
  g_test_add_func ("/condition/penalty", test_penalty);
  g_test_add_func ("/condition/ladder", test_ladder);
  g_test_add_func ("/condition/beyond-doubles", test_beyond_doubles);
  g_test_add_func ("/condition/diagonal", test_diagonal);
  g_test_add_func ("/condition/chain", test_chain);
  g_test_add_func ("/condition/zero-pivot", test_zero_pivot);
  g_test_add_func ("/condition/cancelled", test_cancelled);

  return g_test_run ();
}
