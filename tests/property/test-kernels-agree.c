/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/draw.h"
#include "tests/exact-reference.h"
#include "tests/random-problem.h"

#include <fenv.h>

/* Every kernel that the processor can run gives the same state of random hostile data, or the same error, in whatever
 * pieces, threads and arithmetic; and the state has the sums that whole numbers have. */

#define DEFAULT_SEED 17
#define DEFAULT_PROBLEMS 80

/* Rows times products of columns, for which no problem takes long. */
#define MAX_WORK 2e6

static const AprDType dtypes[] = { APR_DTYPE_BOOL, APR_DTYPE_I8,  APR_DTYPE_U8,  APR_DTYPE_I16,
                                   APR_DTYPE_U16,  APR_DTYPE_I32, APR_DTYPE_U32, APR_DTYPE_I64,
                                   APR_DTYPE_U64,  APR_DTYPE_F16, APR_DTYPE_BF16 };

typedef struct
{
  gsize n_rows;
  gsize n_features;
  gsize n_targets;
  AprTensor *x;       /* (owned) */
  AprTensor *y;       /* (owned) */
  AprTensor *weights; /* (owned) (nullable) */
  int rounding;
  gsize n_pieces; /* of which each is an update */
} Problem;

static void
problem_clear (Problem *self)
{
  g_clear_pointer (&self->x, apr_tensor_unref);
  g_clear_pointer (&self->y, apr_tensor_unref);
  g_clear_pointer (&self->weights, apr_tensor_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Problem, problem_clear)

static gboolean
one_in (GRand *rand, gint n)
{
  return g_rand_int_range (rand, 0, n) == 0;
}

/* From 1 to @max, the small ones as often as the great ones. */
static gsize
draw_size (GRand *rand, double max)
{
  return (gsize) exp (g_rand_double_range (rand, 0, log (MAX (max, 1) + 1)));
}

/* Columns of one kind, or of any; a few values may be of another, or no numbers. */
static AprTensor *
draw_floats (GRand *rand, gsize n_rows, gsize n_columns, AprDType dtype, gboolean spoilt)
{
  g_autofree double *values = g_new (double, n_rows *n_columns);
  g_autoptr (AprTensor) doubles = NULL;
  DrawKind kind = (DrawKind) g_rand_int_range (rand, 0, DRAW_N_KINDS);
  gboolean mixed = one_in (rand, 3);
  gsize n_others = one_in (rand, 3) ? draw_size (rand, 10) : 0;
  gsize i;
  gsize j;

  for (j = 0; j < n_columns; j++)
    {
      DrawKind own = mixed ? (DrawKind) g_rand_int_range (rand, 0, DRAW_N_KINDS) : kind;
      int exponent = one_in (rand, 2) ? 0 : g_rand_int_range (rand, -60, 60);
      double offset = one_in (rand, 8) ? 1e6 : 0;

      for (i = 0; i < n_rows; i++)
        values[i * n_columns + j] = draw (rand, own, dtype, i);
      /* What has every exponent stays in the range of the dtype. */
      for (i = 0; i < n_rows && (own == DRAW_ORDINARY || own == DRAW_WHOLE_NUMBERS); i++)
        values[i * n_columns + j] = ldexp (values[i * n_columns + j], exponent) + offset;
    }
  for (; n_others > 0; n_others--)
    values[(gsize) g_rand_int_range (rand, 0, (gint) (n_rows * n_columns))] =
      draw (rand, (DrawKind) g_rand_int_range (rand, 0, DRAW_N_KINDS), dtype, 0);
  for (; spoilt && n_others < 2; n_others++)
    values[(gsize) g_rand_int_range (rand, 0, (gint) (n_rows * n_columns))] =
      one_in (rand, 2) ? NAN : -INFINITY;

  doubles = matrix_new (n_rows, n_columns, values);
  return apr_tensor_cast (doubles, dtype, NULL);
}

static AprTensor *
draw_values (GRand *rand, gsize n_rows, gsize n_columns, gboolean spoilt)
{
  /* Where every value has a scale of its own, rows take long. */
  if (one_in (rand, 4))
    return draw_patterns (rand, dtypes[g_rand_int_range (rand, 0, G_N_ELEMENTS (dtypes))], n_rows, n_columns);

  return draw_floats (rand, n_rows, n_columns, one_in (rand, 2) ? APR_DTYPE_F32 : APR_DTYPE_F64, spoilt);
}

static AprTensor *
draw_weights (GRand *rand, gsize n_rows, gboolean spoilt)
{
  g_autofree double *values = g_new (double, n_rows);
  int kind = g_rand_int_range (rand, 0, 4);
  gsize i;

  for (i = 0; i < n_rows; i++)
    values[i] = kind == 0 ? g_rand_int_range (rand, 0, 4)
              : kind == 1 ? g_rand_double (rand)
              : kind == 2 ? fabs (draw_scaled (rand, -300, 300))
                          : (i / 300 % 2 == 0 ? 0 : ldexp (g_rand_double (rand), -1040));
  if (spoilt)
    values[g_rand_int_range (rand, 0, (gint) n_rows)] = -1;

  return vector_new (n_rows, values);
}

static void
problem_draw (Problem *self, GRand *rand)
{
  const int modes[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
  gboolean spoilt = one_in (rand, 20);
  double n_columns;

  self->n_features = draw_size (rand, 150);
  self->n_targets = draw_size (rand, 4);
  n_columns = (double) (1 + self->n_features + self->n_targets);
  self->n_rows = draw_size (rand, MIN (5000, MAX_WORK / n_columns / n_columns));
  self->x = draw_values (rand, self->n_rows, self->n_features, spoilt);
  self->y = draw_values (rand, self->n_rows, self->n_targets, FALSE);
  if (one_in (rand, 2))
    self->weights = draw_weights (rand, self->n_rows, spoilt && one_in (rand, 4));
  self->rounding = modes[g_rand_int_range (rand, 0, G_N_ELEMENTS (modes))];
  self->n_pieces = one_in (rand, 2) ? 1 : draw_size (rand, 3);
}

static AprExactSums *
sum_up (const Problem *self, GRand *rand, const AprSumsKernel *kernel, GError **error)
{
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (self->n_features, self->n_targets, NULL);
  gsize n = self->n_pieces;
  gsize i;

  for (i = 0; i < n; i++)
    {
      g_autofree char *rows = g_strdup_printf ("%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT, i * self->n_rows / n,
                                               (i + 1) * self->n_rows / n);
      g_autoptr (AprTensor) x = apr_tensor_slice (self->x, rows, NULL);
      g_autoptr (AprTensor) y = apr_tensor_slice (self->y, rows, NULL);
      g_autoptr (AprTensor) weights =
        self->weights != NULL ? apr_tensor_slice (self->weights, rows, NULL) : NULL;
      guint n_threads = (guint) g_rand_int_range (rand, 1, 5);
      gboolean done;

      if (apr_tensor_get_n_elements (y) == 0)
        continue;
      fesetround (self->rounding);
      done = apr_exact_sums_update_with (sums, x, y, weights, APR_PRECISION_EXACT, kernel,
                                         &(AprRun){ .n_threads = n_threads }, error);
      fesetround (FE_TONEAREST);
      if (!done)
        return NULL;
    }

  return g_steal_pointer (&sums);
}

/* One entry, and the sum of the weights, by which its unit is known, against whole numbers. */
static void
check_entry (const Problem *self, GRand *rand, AprExactSums *sums)
{
  gsize n_columns = 1 + self->n_features + self->n_targets;
  gsize columns[2];
  mpz_t expected[2];
  mpz_t actual[2];
  mpz_t weight;
  mpz_t term;
  gsize i;
  gsize j;

  columns[0] = (gsize) g_rand_int_range (rand, 1, (gint) n_columns);
  columns[1] = (gsize) g_rand_int_range (rand, 0, (gint) columns[0] + 1);
  mpz_inits (expected[0], expected[1], actual[0], actual[1], weight, term, NULL);
  for (i = 0; i < self->n_rows; i++)
    {
      reference_whole (weight, 1);
      if (self->weights != NULL)
        reference_element (weight, self->weights, i);
      mpz_add (expected[0], expected[0], weight);
      for (j = 0; j < 2; j++)
        {
          gsize column = columns[j];

          if (column == 0)
            reference_whole (term, 1);
          else if (column <= self->n_features)
            reference_element (term, self->x, i * self->n_features + column - 1);
          else
            reference_element (term, self->y, i * self->n_targets + column - 1 - self->n_features);
          mpz_mul (weight, weight, term);
        }
      mpz_add (expected[1], expected[1], weight);
    }
  mpz_mul_2exp (expected[0], expected[0], 2 * 1074);

  apr_exact_sums_get_entry (sums, 0, 0, actual[0]);
  apr_exact_sums_get_entry (sums, columns[0], columns[1], actual[1]);
  g_assert_cmpint (mpz_sgn (actual[0]), ==, mpz_sgn (expected[0]));
  mpz_mul (expected[1], expected[1], actual[0]);
  mpz_mul (actual[1], actual[1], expected[0]);
  g_assert_cmpint (mpz_cmp (expected[1], actual[1]), ==, 0);
  mpz_clears (expected[0], expected[1], actual[0], actual[1], weight, term, NULL);
}

static char *
describe (const Problem *self)
{
  return g_strdup_printf (
    "%" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT " %s, %" G_GSIZE_FORMAT " targets %s%s", self->n_rows,
    self->n_features, apr_dtype_to_string (apr_tensor_get_dtype (self->x)), self->n_targets,
    apr_dtype_to_string (apr_tensor_get_dtype (self->y)), self->weights != NULL ? ", weights" : "");
}

/* Returns how many kernels there were. */
static gsize
compare (const Problem *self, guint index, GRand *rand, gboolean *failed)
{
  const AprSumsKernel *const *kernels = get_all_kernels ();
  g_autofree guint32 *expected = NULL;
  gsize expected_size = 0;
  gint expected_first = 0;
  g_autoptr (GError) expected_error = NULL;
  gsize k;

  for (k = 0; kernels[k] != NULL; k++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AprExactSums) sums = sum_up (self, rand, kernels[k], &error);
      g_autofree guint32 *words = NULL;
      gsize size = 0;
      gint first = 0;

      if (sums != NULL)
        {
          words = apr_exact_sums_to_words (sums, &size, &first, NULL, NULL);
          size *= apr_exact_sums_get_n_entries (sums) * sizeof *words;
        }
      if (k == 0)
        {
          if (sums != NULL)
            check_entry (self, rand, sums);
          expected = g_steal_pointer (&words);
          expected_size = size;
          expected_first = first;
          expected_error = g_steal_pointer (&error);
          continue;
        }
      if (size != expected_size || first != expected_first ||
          (size > 0 && memcmp (words, expected, size) != 0) || (error == NULL) != (expected_error == NULL) ||
          (error != NULL && !g_str_equal (error->message, expected_error->message)))
        {
          g_autofree char *text = describe (self);

          g_test_message ("problem %u, %s: %s%s differs from %s: %s", index, text, kernels[k]->name,
                          kernels[k]->n_whole == 0 ? " (residues)" : "", kernels[0]->name,
                          error != NULL ? error->message : "another state");
          g_test_fail ();
        }
    }
  *failed = expected_error != NULL;

  return k;
}

static void
test_states (void)
{
  guint32 seeds[2] = { random_problem_get_seed (DEFAULT_SEED), 0 };
  guint n_problems = random_problem_get_number (runs_slowly () ? 10 : DEFAULT_PROBLEMS);
  guint n_failed = 0;
  gsize n_kernels = 0;

  for (; seeds[1] < n_problems; seeds[1]++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed_array (seeds, G_N_ELEMENTS (seeds));
      g_auto (Problem) problem = { 0 };
      gboolean failed;

      problem_draw (&problem, rand);
      n_kernels = compare (&problem, seeds[1], rand, &failed);
      n_failed += failed ? 1 : 0;
    }
  g_test_message ("%u problems, %u of them errors, by %" G_GSIZE_FORMAT " kernels", n_problems, n_failed,
                  n_kernels);
  /* Of few problems, more are errors by chance. */
  g_assert_cmpuint (n_failed, <, MAX (n_problems / 5, 5));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/kernels-agree/states", test_states);

  return g_test_run ();
}
