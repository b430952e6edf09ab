/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/least-squares-test.h"
#include "tests/missing-matrices.h"

#include <fenv.h>

/* Solving is cancelled at each of the places where it reports how far it is, and each time that it asks whether it is,
 * and there is no memory for each of the matrices: then it fails, on every way through the solver. */

/* How often it may still ask before it is cancelled. */
static gint n_questions = G_MAXINT;

gboolean __real_g_cancellable_is_cancelled (GCancellable *cancellable);

gboolean __wrap_g_cancellable_is_cancelled (GCancellable *cancellable);

gboolean
__wrap_g_cancellable_is_cancelled (GCancellable *cancellable)
{
  if (g_atomic_int_dec_and_test (&n_questions))
    g_cancellable_cancel (cancellable);

  return __real_g_cancellable_is_cancelled (cancellable);
}

typedef struct
{
  const char *name;
  gsize n_rows;
  gsize n_features;
  gsize n_repeated; /* columns that are sums of two others */
  double noise;     /* that is added to these */
  double spread;    /* powers of two between the scales of the first column and the last */
  double alpha;
  gboolean positive;
  gboolean without_intercept;
  gboolean whole; /* numbers, so that answers are halfway between doubles, or 0 */
  guint n_reports;
} Case;

static const Case cases[] = {
  { "full-rank", 200, 130, .n_reports = 8 },
  { "fewer-rows", 30, 70, .n_reports = 8 },
  { "dependent", 200, 90, 4, .n_reports = 8 },
  { "nearly-dependent", 60, 40, 3, .noise = 1e-9, .n_reports = 4 },
  { "scales-apart", 60, 40, 3, .spread = 400, .n_reports = 4 },
  { "exactly-zero", 60, 40, .whole = TRUE, .n_reports = 5 },
  { "penalised", 60, 20, 3, .alpha = 0x1p-300, .n_reports = 4 },
  { "positive", 90, 50, .positive = TRUE, .n_reports = 12 },
};

typedef struct
{
  GCancellable *cancellable;
  GThread *thread;
  guint n_reports;
  guint last_report; /* which cancels */
  double least;
  double greatest;
} Progress;

static void
hear_progress (double fraction, gpointer user_data)
{
  Progress *self = user_data;

  g_assert_true (g_thread_self () == self->thread);
  g_assert_false (self->cancellable != NULL && g_cancellable_is_cancelled (self->cancellable));
  g_assert_cmpfloat (fraction, >, 0);
  g_assert_cmpfloat (fraction, <=, 1);
  self->least = MIN (self->least, fraction);
  self->greatest = MAX (self->greatest, fraction);
  if (++self->n_reports == self->last_report)
    g_cancellable_cancel (self->cancellable);
  fesetround (FE_UPWARD);
}

static void
draw_case (Data *data, const Case *c)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) (c->n_rows + c->n_features));
  gsize i;
  gsize j;

  data_init (data, c->n_rows, c->n_features, FALSE);
  for (i = 0; i < c->n_rows; i++)
    {
      double *row = data->x + i * c->n_features;

      for (j = 0; j < c->n_features; j++)
        if (j >= c->n_features - c->n_repeated)
          row[j] = row[j - 5] + row[j - 7] + c->noise * normal (rand);
        else
          row[j] = c->whole ? (double) g_rand_int_range (rand, -4, 5) : normal (rand);
      data->y[i] = c->whole ? row[0] / 2 + row[1] * (1 + 0x1p-53) : normal (rand);
    }
  for (i = 0; i < c->n_rows * c->n_features; i++)
    data->x[i] *= exp2 (rint (c->spread * (double) (i % c->n_features) / (double) c->n_features));
}

/* Returns how often it reported. */
static guint
report_until (AprExactSums *sums, const Case *c, guint n_threads, guint last_report, AprLeastSquares *answer)
{
  const AprLeastSquaresOptions options = { .fit_intercept = TRUE,
                                           .alpha = c->alpha,
                                           .positive = c->positive,
                                           .data_dtype = APR_DTYPE_F64,
                                           .dtype = APR_DTYPE_F64 };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Progress progress = { cancellable, g_thread_self (), 0, last_report, 1, 0 };
  const AprRun run = { .n_threads = n_threads,
                       .cancellable = cancellable,
                       .progress = hear_progress,
                       .progress_data = &progress,
                       .before = 0.25,
                       .after = 0.25 };
  g_autoptr (GError) error = NULL;
  gboolean solved = apr_least_squares_solve (answer, sums, &options, &run, &error);

  fesetround (FE_TONEAREST);
  g_assert_cmpfloat (progress.least, >=, 0.25);
  g_assert_cmpfloat (progress.greatest, <=, 0.75);
  if (last_report == 0)
    {
      g_assert_no_error (error);
      g_assert_true (solved);
      /* Several values strictly between begin and end. */
      g_assert_cmpfloat (progress.least, <, 0.4);
      g_assert_cmpfloat (progress.greatest, >, 0.5);
    }
  else
    {
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_false (solved);
      g_assert_cmpuint (progress.n_reports, ==, last_report);
    }

  return progress.n_reports;
}

static void
test_cancel (gconstpointer user_data)
{
  const Case *c = user_data;
  g_auto (Data) data = { 0 };
  g_auto (AprLeastSquares) answer = { NULL };
  g_auto (AprLeastSquares) silent = { NULL };
  g_autoptr (AprExactSums) sums = NULL;
  guint n_reports;
  guint report;
  gsize i;

  draw_case (&data, c);
  sums = sum (&data);
  n_reports = report_until (sums, c, 1, 0, &answer);
  g_assert_cmpuint (n_reports, >=, c->n_reports);
  for (report = 1; report <= n_reports; report++)
    {
      g_auto (AprLeastSquares) nothing = { NULL };

      (void) report_until (sums, c, 1 + report % 3, report, &nothing);
    }

  /* That progress is heard changes nothing, and neither does what hears it. */
  solve (&silent, &data,
         (AprLeastSquaresOptions){ .fit_intercept = TRUE, .alpha = c->alpha, .positive = c->positive });
  g_assert_cmpuint (answer.rank, ==, silent.rank);
  g_assert_cmpint (answer.correctly_rounded, ==, silent.correctly_rounded);
  for (i = 0; i < c->n_features; i++)
    assert_same_double (answer.coefficients[i], silent.coefficients[i]);
}

/* However short each of them is. */
static void
test_many_targets (void)
{
  enum
  {
    N_ROWS = 12,
    N_FEATURES = 3,
    N_TARGETS = 40
  };
  const AprLeastSquaresOptions options = { .fit_intercept = TRUE,
                                           .data_dtype = APR_DTYPE_F64,
                                           .dtype = APR_DTYPE_F64 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  g_autoptr (AprExactSums) sums = apr_exact_sums_new (N_FEATURES, N_TARGETS, NULL);
  g_auto (AprLeastSquares) answer = { NULL };
  Progress progress = { NULL, g_thread_self (), 0, 0, 1, 0 };
  const AprRun run = { .n_threads = 1, .progress = hear_progress, .progress_data = &progress };
  double values[N_ROWS * (N_FEATURES + N_TARGETS)];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = normal (rand);
  x = matrix_new (N_ROWS, N_FEATURES, values);
  y = matrix_new (N_ROWS, N_TARGETS, values + N_ROWS * N_FEATURES);
  g_assert_true (
    apr_exact_sums_update (sums, x, y, NULL, APR_PRECISION_EXACT, &(AprRun){ .n_threads = 1 }, NULL));
  g_assert_true (apr_least_squares_solve (&answer, sums, &options, &run, NULL));
  fesetround (FE_TONEAREST);
  g_assert_cmpuint (progress.n_reports, >=, N_TARGETS);
  g_assert_cmpfloat (progress.greatest, >, 0.99);
}

/* Small ones: each is solved as often as it asks. */
static const Case small_cases[] = {
  { "full-rank", 45, 33 },
  { "fewer-rows", 5, 12 },
  { "dependent", 14, 10, 2 },
  { "fewer-rows-dependent", 9, 12, 5 },
  { "fewer-rows-exactly-zero", 5, 12, .whole = TRUE },
  { "nearly-dependent", 14, 10, 2, .noise = 1e-7 },
  { "more-nearly-dependent", 14, 10, 2, .noise = 1e-13 },
  { "scales-apart", 14, 10, 2, .spread = 400 },
  { "fewer-rows-scales-apart", 6, 12, 2, .spread = 900 },
  { "penalised", 12, 9, 1, .alpha = 0x1p-300 },
  { "fewer-rows-penalised", 5, 11, 1, .alpha = 0.5 },
  { "positive", 12, 9, .positive = TRUE },
  { "one-row", 1, 3 },
};

typedef enum
{
  FROM_SUMS,
  FROM_ROWS,
  CONDITION,
} Way;

/* Returns whether it was cancelled, or had no memory. */
static gboolean
solve_until (const Case *c, const Data *data, Way way, gint question, gint matrix)
{
  const AprLeastSquaresOptions options = { .fit_intercept = !c->without_intercept,
                                           .alpha = c->alpha,
                                           .positive = c->positive,
                                           .data_dtype = APR_DTYPE_F64,
                                           .dtype = APR_DTYPE_F64 };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const AprRun run = { .n_threads = 1, .cancellable = cancellable };
  g_auto (AprLeastSquares) answer = { NULL };
  g_autoptr (AprTensor) x = matrix_new (data->n_rows, data->n_features, data->x);
  g_autoptr (AprTensor) y = vector_new (data->n_rows, data->y);
  g_autoptr (AprSampleRows) rows = NULL;
  g_autoptr (AprExactSums) sums = sum (data);
  g_autoptr (GError) error = NULL;
  gboolean ended;

  g_assert_true (apr_sample_rows_new (x, y, NULL, 1, &rows, &error));
  g_atomic_int_set (&n_questions, question);
  g_atomic_int_set (&n_matrices, matrix);
  if (way == CONDITION)
    ended = isnan (apr_least_squares_find_condition (sums, &options, &run));
  else if (way == FROM_ROWS)
    ended = !apr_least_squares_solve_rows (&answer, rows, &options, &run, &error);
  else
    ended = !apr_least_squares_solve (&answer, sums, &options, &run, &error);
  g_atomic_int_set (&n_questions, G_MAXINT);
  g_assert_cmpint (ended, ==, g_cancellable_is_cancelled (cancellable) || g_atomic_int_get (&n_matrices) < 0);
  g_atomic_int_set (&n_matrices, G_MAXINT);
  if (ended && way != CONDITION && question == G_MAXINT)
    {
      g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
      assert_message_has (error, "There is no memory for a matrix of 184467440737095516");
    }
  else if (ended && way != CONDITION)
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  else
    g_assert_no_error (error);

  return ended;
}

static void
solve_until_solved (const Case *c, const Data *data)
{
  Way way;

  for (way = FROM_SUMS; way <= CONDITION; way++)
    {
      gint question = 1;
      gint matrix = 0;

      /* Models take the dual form only where samples are few. */
      if (way == FROM_ROWS && c->n_rows >= c->n_features)
        continue;
      while (solve_until (c, data, way, question, G_MAXINT))
        question += runs_slowly () ? 3 : 1;
      for (fails_once = FALSE; solve_until (c, data, way, G_MAXINT, matrix); fails_once = !fails_once)
        matrix += fails_once;
      /* The coefficients and the intercepts are two of them. */
      g_assert_cmpint (matrix, >=, way == FROM_SUMS ? 5 : way == FROM_ROWS ? 3 : 1);
      g_test_message ("%d questions, %d matrices", question - 1, matrix);
    }
}

static void
test_cancelled_anywhere (gconstpointer user_data)
{
  const Case *c = user_data;
  g_auto (Data) data = { 0 };

  draw_case (&data, c);
  solve_until_solved (c, &data);
}

static void
test_cancelled_one_by_one (void)
{
  static const Case c = { "one-by-one", 7, 5, .without_intercept = TRUE, .positive = TRUE };
  double x[] = { 3,  -1, -2, 3, 3,  -3, -3, -2, 1, 3, 3, 3, -1, 0,  -2, 1,  3, 1,
                 -3, -2, 2,  1, -3, 3,  -2, 3,  0, 2, 3, 0, -2, -1, 3,  -3, 3 };
  double y[] = { -3, 1, 5, -1, 5, 3, -6 };

  g_test_summary ("Of these, exchanging all features with a wrong sign comes to no end.");
  solve_until_solved (&c, &(Data){ 7, 5, x, y });
}

static void
test_cancelled_zero_gradient (void)
{
  static const Case c = { "zero-gradient", 5, 3, .without_intercept = TRUE, .positive = TRUE };
  double x[] = { 2, -3, 1, -1, -2, 3, 0, 3, -3, -2, -2, -1, -2, -3, 1 };
  double y[] = { 0, -3, -1, 0, 5 };

  g_test_summary ("Of these, few digits do not tell the signs of all gradients.");
  solve_until_solved (&c, &(Data){ 5, 3, x, y });
}

static void
test_cancelled_nearly_constant (void)
{
  static const Case c = { "nearly-constant", 2, 3 };
  double x[] = { 1 - 3 * 0x1p-51, 1 - 3 * 0x1p-51, 5, 1 + 3 * 0x1p-51, 1 + 3 * 0x1p-51, 7 };
  double y[] = { 1, 2 };

  g_test_summary ("Doubles do not tell whether the first two features are constant.");
  solve_until_solved (&c, &(Data){ 2, 3, x, y });
}

static void
test_cancelled_far_apart (void)
{
  static const Case c = { "far-apart", 2, 4, .without_intercept = TRUE };
  double x[] = { 1, 0, 1, 0, 0, 1, 0, 1 };
  double y[] = { 1, 0x1p-115 };

  g_test_summary ("The coefficients of the second sample take more digits than those of the first.");
  solve_until_solved (&c, &(Data){ 2, 4, x, y });
}

static void
test_cancelled_low_bits (void)
{
  static const Case c = { "low-bits", 7, 1 };
  gint exponent;

  g_test_summary ("A product has lower bits than any sum of squares: where it has a word of its own, all are "
                  "read again.");
  for (exponent = 0; exponent > -32; exponent--)
    {
      double s = ldexp (1, exponent);
      double x[] = { s, s, s, s, 0, 0, 0 };
      double y[] = { s, 0, 0, 0, s, s, s };

      solve_until_solved (&c, &(Data){ 7, 1, x, y });
    }
}

static void
test_cancelled_before (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const AprRun run = { .cancellable = cancellable };
  gsize i;

  g_test_summary ("Nothing is solved for, and no condition number is known, where that is cancelled before.");
  g_cancellable_cancel (cancellable);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const AprLeastSquaresOptions options = { .alpha = cases[i].alpha,
                                               .positive = cases[i].positive,
                                               .data_dtype = APR_DTYPE_F64,
                                               .dtype = APR_DTYPE_F64 };
      g_auto (Data) data = { 0 };
      g_auto (AprLeastSquares) answer = { NULL };
      g_autoptr (AprExactSums) sums = NULL;
      g_autoptr (GError) error = NULL;

      draw_case (&data, &cases[i]);
      sums = sum (&data);
      g_assert_false (apr_least_squares_solve (&answer, sums, &options, &run, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_true (isnan (apr_least_squares_find_condition (sums, &options, &run)));
    }
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/cancel/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_cancel);
    }
  for (i = 0; i < G_N_ELEMENTS (small_cases); i++)
    {
      g_autofree char *path = g_strconcat ("/cancel/anywhere/", small_cases[i].name, NULL);

      g_test_add_data_func (path, &small_cases[i], test_cancelled_anywhere);
    }
  g_test_add_func ("/cancel/anywhere/one-by-one", test_cancelled_one_by_one);
  g_test_add_func ("/cancel/anywhere/zero-gradient", test_cancelled_zero_gradient);
  g_test_add_func ("/cancel/anywhere/nearly-constant", test_cancelled_nearly_constant);
  g_test_add_func ("/cancel/anywhere/far-apart", test_cancelled_far_apart);
  g_test_add_func ("/cancel/anywhere/low-bits", test_cancelled_low_bits);
  g_test_add_func ("/cancel/before", test_cancelled_before);
  g_test_add_func ("/progress/many-targets", test_many_targets);

  return g_test_run ();
}
