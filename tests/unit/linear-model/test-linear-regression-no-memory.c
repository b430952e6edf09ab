/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/missing-matrices.h"

#include <math.h>

/* What a model does beside fitting, where there is no memory for each of the matrices: it fails, the model is as it
 * was, and the next call finds what it would have found before. */

/* The linker sends the library's calls of this function here: how many are left that find memory, beside tensors, which
 * always do, and whether aligned copies of these do. */
gpointer __real_apr_memory_new (gsize n, gsize size, const char *what, GError **error);
gpointer __wrap_apr_memory_new (gsize n, gsize size, const char *what, GError **error);

static gint n_memories = G_MAXINT;
static gint no_copies;

gpointer
__wrap_apr_memory_new (gsize n, gsize size, const char *what, GError **error)
{
  gboolean missing = FALSE;

  if (g_str_equal (what, "an aligned copy"))
    missing = g_atomic_int_get (&no_copies);
  else if (!g_str_equal (what, "a tensor"))
    missing = g_atomic_int_add (&n_memories, -1) <= 0;

  /* So many bytes that they cannot be counted: nobody is asked for them. */
  return missing ? __real_apr_memory_new (G_MAXSIZE, 2, what, error)
                 : __real_apr_memory_new (n, size, what, error);
}

#define N_ROWS 30
#define N_FEATURES 7

typedef struct
{
  AprLinearRegression *model;
  AprTensor *x;
  AprTensor *y;
} Data;

/* Features of such spreads: with a great one, doubles do not tell that they are independent. */
static void
data_init (Data *data, double spread)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (77);
  double x[N_ROWS * N_FEATURES];
  double y[N_ROWS];
  g_autoptr (GError) error = NULL;
  gsize i;
  gsize j;

  for (i = 0; i < N_ROWS; i++)
    {
      double *row = x + i * N_FEATURES;

      for (j = 0; j < N_FEATURES; j++)
        row[j] = j == 4 ? row[1] - row[2] : g_rand_double (rand) - 0.5;
      row[5] = row[0] + spread * row[5];
      y[i] = i == 7 ? 1e12 : g_rand_double (rand);
    }
  data->x = matrix_new (N_ROWS, N_FEATURES, x);
  data->y = vector_new (N_ROWS, y);
  data->model = apr_linear_regression_new ();
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (data->model), data->x, data->y, NULL, NULL, &error));
  g_assert_no_error (error);
}

static void
data_clear (Data *data)
{
  g_object_unref (data->model);
  apr_tensor_unref (data->x);
  apr_tensor_unref (data->y);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Data, data_clear)

/* Calls something, and returns what it says as numbers; NULL with an error. */
typedef GArray *(*Call) (Data *data, GError **error);

static void
append (GArray *numbers, AprTensor *tensor)
{
  gsize n = apr_tensor_get_n_elements (tensor);
  gsize i;

  for (i = 0; i < n; i++)
    {
      double number = apr_tensor_get_double (tensor, i, NULL);

      g_array_append_val (numbers, number);
    }
}

static GArray *
describe (AprRegressionStatistics *statistics)
{
  GArray *numbers = statistics != NULL ? g_array_new (FALSE, FALSE, sizeof (double)) : NULL;

  if (statistics != NULL)
    append (numbers, apr_regression_statistics_get_covariance (statistics));

  return numbers;
}

static GArray *
get_statistics (Data *data, GError **error)
{
  g_autoptr (AprRegressionStatistics) statistics =
    apr_linear_regression_get_statistics (data->model, 0, error);

  return describe (statistics);
}

static GArray *
get_robust_statistics (Data *data, GError **error)
{
  g_autoptr (AprRegressionStatistics) statistics = apr_linear_regression_get_robust_statistics (
    data->model, data->x, data->y, NULL, APR_COVARIANCE_HC3, 0, NULL, error);

  return describe (statistics);
}

static GArray *
test_two (AprRegressionStatistics *statistics, GError **error)
{
  const double values[2 * (N_FEATURES + 1)] = { [1] = 1,
                                                [N_FEATURES + 1 + 2] = 1,
                                                [N_FEATURES + 1 + 3] = -1 };
  g_autoptr (AprTensor) factors = matrix_new (2, N_FEATURES + 1, values);
  g_autoptr (AprHypothesisTest) test =
    statistics != NULL ? apr_regression_statistics_test_hypothesis (statistics, factors, NULL, error) : NULL;
  GArray *numbers = test != NULL ? g_array_new (FALSE, FALSE, sizeof (double)) : NULL;
  double f;

  if (test == NULL)
    return NULL;
  f = apr_hypothesis_test_get_f_statistic (test);
  g_array_append_val (numbers, f);

  return numbers;
}

static GArray *
test_hypothesis (Data *data, GError **error)
{
  g_autoptr (AprRegressionStatistics) statistics =
    apr_linear_regression_get_statistics (data->model, 0, error);

  return test_two (statistics, error);
}

static GArray *
test_robust_hypothesis (Data *data, GError **error)
{
  g_autoptr (AprRegressionStatistics) statistics = apr_linear_regression_get_robust_statistics (
    data->model, data->x, data->y, NULL, APR_COVARIANCE_HC0, 0, NULL, error);

  return test_two (statistics, error);
}

static GArray *
predict_interval (Data *data, GError **error)
{
  g_autoptr (AprTensor) lower = NULL;
  GArray *numbers = NULL;

  if (apr_linear_regression_predict_interval (data->model, data->x, 0.9, APR_INTERVAL_PREDICTION, &lower,
                                              NULL, error))
    {
      numbers = g_array_new (FALSE, FALSE, sizeof (double));
      append (numbers, lower);
    }

  return numbers;
}

static GArray *
diagnose (Data *data, GError **error)
{
  g_autoptr (AprRegressionDiagnostics) diagnostics =
    apr_linear_regression_diagnose (data->model, data->x, data->y, NULL, 0, NULL, error);
  GArray *numbers = diagnostics != NULL ? g_array_new (FALSE, FALSE, sizeof (double)) : NULL;

  if (diagnostics != NULL)
    append (numbers, apr_regression_diagnostics_get_studentized_residuals (diagnostics));

  return numbers;
}

static const struct
{
  const char *name;
  Call call;
} calls[] = {
  { "statistics", get_statistics },  { "robust-statistics", get_robust_statistics },
  { "hypothesis", test_hypothesis }, { "robust-hypothesis", test_robust_hypothesis },
  { "interval", predict_interval },  { "diagnostics", diagnose },
};

static void
test_no_memory (gconstpointer user_data)
{
  Call call = calls[GPOINTER_TO_SIZE (user_data)].call;
  const double spreads[] = { 1, 1e-9 };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (spreads); i++)
    {
      g_autoptr (GArray) expected = NULL;
      g_auto (Data) once = { NULL };
      g_autoptr (GError) never = NULL;
      gboolean ended = FALSE;
      gint matrix;

      data_init (&once, spreads[i]);
      expected = call (&once, &never);
      g_assert_no_error (never);
      for (matrix = 0, fails_once = FALSE; !ended; matrix += fails_once, fails_once = !fails_once)
        {
          g_auto (Data) data = { NULL };
          g_autoptr (GArray) found = NULL;
          g_autoptr (GError) error = NULL;

          data_init (&data, spreads[i]);
          g_atomic_int_set (&n_matrices, matrix);
          found = call (&data, &error);
          ended = g_atomic_int_get (&n_matrices) >= 0;
          g_atomic_int_set (&n_matrices, G_MAXINT);
          if (ended)
            g_assert_no_error (error);
          else
            {
              g_assert_null (found);
              g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
              assert_message_has (error, "There is no memory for a matrix of 184467440737095516");
              g_clear_error (&error);
              found = call (&data, &error);
              g_assert_no_error (error);
            }
          g_assert_cmpmem (found->data, found->len * sizeof (double), expected->data,
                           expected->len * sizeof (double));
        }
      g_test_message ("%d matrices", matrix);
      g_assert_cmpint (matrix, >, 2);
    }
}

static AprLinearRegression *
fit_square (void)
{
  const double x_values[] = { 3, 0, 0, 4, -3, 0, 0, -4 };
  const double y_values[] = { 1, 2, 3, 4 };
  g_autoptr (AprTensor) x = matrix_new (4, 2, x_values);
  g_autoptr (AprTensor) y = vector_new (4, y_values);
  AprLinearRegression *model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", FALSE, "keep-state", TRUE, NULL);

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));

  return model;
}

static void
condition_number_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  GError **error = user_data;

  g_assert_cmpfloat (
    apr_linear_regression_compute_condition_number_finish (APR_LINEAR_REGRESSION (object), result, error), ==,
    0);
}

/* Where there is no error to set, it is not known, and the next call computes it. */
static void
test_condition_number (void)
{
  g_autoptr (AprLinearRegression) model = fit_square ();
  g_autoptr (GError) error = NULL;

  g_atomic_int_set (&n_matrices, 0);
  g_assert_true (isnan (apr_linear_regression_compute_condition_number (model)));
  g_atomic_int_set (&n_matrices, 0);
  apr_linear_regression_compute_condition_number_async (model, 0, NULL, condition_number_cb, &error);
  while (error == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
  g_atomic_int_set (&n_matrices, G_MAXINT);
  g_assert_cmpfloat_with_epsilon (apr_linear_regression_compute_condition_number (model), 4.0 / 3, 1e-3);
}

/* Of few samples it takes their sums. */
static void
test_condition_number_of_few_samples (void)
{
  enum
  {
    N_FEW = 4,
    N_MANY = 70
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (79);
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "alpha", 1., "keep-state", TRUE, NULL);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (GError) error = NULL;
  double values[N_FEW * N_MANY];
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = g_rand_double (rand);
  x = matrix_new (N_FEW, N_MANY, values);
  y = vector_new (N_FEW, values);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), x, y, NULL, NULL, NULL));

  g_atomic_int_set (&n_memories, 0);
  apr_linear_regression_compute_condition_number_async (model, 0, NULL, condition_number_cb, &error);
  while (error == NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
  g_clear_error (&error);
  g_assert_null (apr_estimator_to_bytes (APR_ESTIMATOR (model), &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
  g_atomic_int_set (&n_memories, G_MAXINT);
  g_assert_cmpfloat (apr_linear_regression_compute_condition_number (model), >, 1);
}

/* A file that lacks the condition number would never have it again. */
static void
test_save (void)
{
  g_autoptr (AprLinearRegression) model = fit_square ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (GError) error = NULL;

  g_atomic_int_set (&n_matrices, 0);
  g_assert_null (apr_estimator_to_bytes (APR_ESTIMATOR (model), &error));
  g_atomic_int_set (&n_matrices, G_MAXINT);
  g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
  g_clear_error (&error);
  bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), &error);
  g_assert_no_error (error);
  loaded = apr_estimator_from_bytes (APR_TYPE_LINEAR_REGRESSION, bytes, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (
    apr_linear_regression_compute_condition_number (APR_LINEAR_REGRESSION (loaded)), 4.0 / 3, 1e-3);
}

/* Fits to groups, each time with memory for one more of what @n_left counts, until that is enough. Returns: how many
 * fits that took */
static gint
fit_groups_with_more (AprLinearRegression *model, AprTensor *x, AprTensor *y, AprTensor *groups, gint *n_left)
{
  gboolean ended = FALSE;
  gint n;

  for (n = 0; !ended; n++)
    {
      g_autoptr (AprGroupFits) fits = NULL;
      g_autoptr (GError) error = NULL;

      g_atomic_int_set (n_left, n);
      fits = apr_linear_regression_fit_groups (model, x, y, groups, NULL, NULL, &error);
      ended = g_atomic_int_get (n_left) >= 0;
      g_atomic_int_set (n_left, G_MAXINT);
      if (ended)
        g_assert_no_error (error);
      else
        g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
      g_assert_cmpint (fits != NULL, ==, ended);
    }

  return n;
}

/* Memory is not a matter of a group: none of them is told without it. */
static void
test_groups (void)
{
  enum
  {
    N_GROUPS = 3,
    N_IN_GROUP = 20,
    N = N_GROUPS * N_IN_GROUP
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (78);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprTensor) groups = NULL;
  g_autoptr (AprTensor) mixed = NULL;
  double values[N * 3];
  guint8 labels[N];
  guint8 mixed_labels[N];
  gsize i;

  for (i = 0; i < N * 3; i++)
    values[i] = g_rand_double (rand);
  for (i = 0; i < N; i++)
    {
      labels[i] = (guint8) (i / N_IN_GROUP);
      mixed_labels[i] = (guint8) (i % N_GROUPS);
    }
  x = matrix_new (N, 2, values);
  y = vector_new (N, values + 2 * N);
  bytes = g_bytes_new_static (labels, N);
  groups = apr_tensor_new_from_bytes (APR_DTYPE_U8, (const gsize[]){ N }, 1, bytes, NULL);
  fails_once = TRUE;
  g_assert_cmpint (fit_groups_with_more (model, x, y, groups, &n_matrices), >, N_GROUPS);

  /* Nor is that for groups whose samples do not follow each other, and for what is found. */
  g_clear_pointer (&bytes, g_bytes_unref);
  bytes = g_bytes_new_static (mixed_labels, N);
  mixed = apr_tensor_new_from_bytes (APR_DTYPE_U8, (const gsize[]){ N }, 1, bytes, NULL);
  g_assert_cmpint (fit_groups_with_more (model, x, y, mixed, &n_memories), >, 9);
}

/* What is told of each sample, or found from what is. */
static void
test_samples (void)
{
  static const struct
  {
    Call call;
    const char *missing[2]; /* what there must be no memory for at some time */
  } of_samples[] = { { diagnose, { "sample diagnostics", "sample diagnostics" } },
                     { get_robust_statistics, { "residuals", "leverages" } } };
  g_auto (Data) data = { NULL };
  gsize i;

  data_init (&data, 1);
  for (i = 0; i < G_N_ELEMENTS (of_samples); i++)
    {
      gboolean missed[2] = { FALSE, FALSE };
      gboolean ended = FALSE;
      gint memory;
      gsize j;

      for (memory = 0; !ended; memory++)
        {
          g_autoptr (GArray) numbers = NULL;
          g_autoptr (GError) error = NULL;

          g_atomic_int_set (&n_memories, memory);
          numbers = of_samples[i].call (&data, &error);
          ended = g_atomic_int_get (&n_memories) >= 0;
          g_atomic_int_set (&n_memories, G_MAXINT);
          if (ended)
            g_assert_no_error (error);
          else
            g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
          g_assert_cmpint (numbers != NULL, ==, ended);
          for (j = 0; j < 2 && !ended; j++)
            missed[j] = missed[j] || strstr (error->message, of_samples[i].missing[j]) != NULL;
        }
      g_assert_true (missed[0] && missed[1]);
    }
}

/* Texts of as many hypotheses as there are terms: what was read is moved as they become more. */
static void
test_parse_hypothesis (void)
{
  g_auto (Data) data = { NULL };
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  gboolean ended = FALSE;
  gint memory;

  data_init (&data, 1);
  statistics = apr_linear_regression_get_statistics (data.model, 0, NULL);
  for (memory = 0; !ended; memory++)
    {
      g_autoptr (AprTensor) factors = NULL;
      g_autoptr (AprTensor) values = NULL;
      g_autoptr (GError) error = NULL;

      g_atomic_int_set (&n_memories, memory);
      ended = apr_regression_statistics_parse_hypothesis (
        statistics, "x0 = 1, x1 = 2, x2 = 3, x3 = 4, x5 = 5, 2*x6 = x0 + 6", &factors, &values, &error);
      g_atomic_int_set (&n_memories, G_MAXINT);
      if (!ended)
        {
          g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
          assert_message_has (error, "There is no memory for hypotheses of ");
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpuint (apr_tensor_get_shape (factors, NULL)[0], ==, 6);
      assert_same_double (apr_tensor_get_double (factors, 5 * (N_FEATURES + 1) + 1, NULL), -1);
      assert_same_double (apr_tensor_get_double (factors, 5 * (N_FEATURES + 1) + 7, NULL), 2);
      assert_same_double (apr_tensor_get_double (values, 5, NULL), 6);
    }
  g_assert_cmpint (memory, >, 2);
}

/* The same values, one byte behind an aligned place. */
static AprTensor *
misalign (AprTensor *tensor)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (tensor, &n_dims);
  gsize size;
  gconstpointer data = g_bytes_get_data (apr_tensor_get_bytes (tensor), &size);
  g_autofree guint8 *copy = g_malloc (size + 1);
  g_autoptr (GBytes) all = NULL;
  g_autoptr (GBytes) bytes = NULL;

  memcpy (copy + 1, data, size);
  all = g_bytes_new_take (g_steal_pointer (&copy), size + 1);
  bytes = g_bytes_new_from_bytes (all, 1, size);

  return apr_tensor_new_from_bytes (apr_tensor_get_dtype (tensor), shape, n_dims, bytes, NULL);
}

/* Samples need not be aligned: without memory for a copy that is, they are read as they are. */
static void
test_misaligned_samples (void)
{
  const AprDType dtypes[] = { APR_DTYPE_F64, APR_DTYPE_F32 };
  g_auto (Data) data = { NULL };
  gsize i;

  data_init (&data, 1);
  for (i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_autoptr (AprTensor) x = apr_tensor_cast (data.x, dtypes[i], NULL);
      g_autoptr (AprTensor) misaligned = misalign (x);
      g_autoptr (AprTensor) expected = apr_estimator_predict (APR_ESTIMATOR (data.model), x, NULL);
      g_autoptr (AprTensor) found = NULL;
      g_autoptr (AprTensor) expected_lower = NULL;
      g_autoptr (AprTensor) lower = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_true (apr_linear_regression_predict_interval (data.model, x, 0.9, APR_INTERVAL_CONFIDENCE,
                                                             &expected_lower, NULL, NULL));
      g_atomic_int_set (&no_copies, TRUE);
      found = apr_estimator_predict (APR_ESTIMATOR (data.model), misaligned, &error);
      g_assert_no_error (error);
      g_assert_true (apr_linear_regression_predict_interval (data.model, misaligned, 0.9,
                                                             APR_INTERVAL_CONFIDENCE, &lower, NULL, &error));
      g_atomic_int_set (&no_copies, FALSE);
      g_assert_no_error (error);
      g_assert_true (apr_tensor_equal (found, expected));
      g_assert_true (apr_tensor_equal (lower, expected_lower));
    }
}

/* The coefficients are read again and again: where their bytes have another order, they are copied when they are
 * loaded, or not at all. */
static void
test_load (void)
{
  g_auto (Data) data = { NULL };
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprEstimator) loaded = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprTensor) expected = NULL;
  g_autoptr (GError) error = NULL;

  data_init (&data, 1);
  expected = apr_estimator_predict (APR_ESTIMATOR (data.model), data.x, NULL);
  bytes = apr_estimator_to_bytes (APR_ESTIMATOR (data.model), &error);
  g_assert_no_error (error);

  g_atomic_int_set (&no_copies, TRUE);
  loaded = apr_estimator_from_bytes (APR_TYPE_LINEAR_REGRESSION, bytes, &error);
  g_atomic_int_set (&no_copies, FALSE);
  if (G_BYTE_ORDER == G_BIG_ENDIAN)
    {
      g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
      assert_message_has (error, "There is no memory for an aligned copy of 18446744073709551615 bytes");
      g_clear_error (&error);
      loaded = apr_estimator_from_bytes (APR_TYPE_LINEAR_REGRESSION, bytes, &error);
    }
  g_assert_no_error (error);
  predictions = apr_estimator_predict (loaded, data.x, &error);
  g_assert_no_error (error);
  g_assert_true (apr_tensor_equal (predictions, expected));
}

/* What is computed is read without copies where the bytes have another order too. */
static void
test_no_copies (void)
{
  g_auto (Data) data = { NULL };
  gsize i;

  data_init (&data, 1);
  for (i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autoptr (GArray) expected = calls[i].call (&data, NULL);
      g_autoptr (GArray) found = NULL;
      g_autoptr (GError) error = NULL;

      g_atomic_int_set (&no_copies, TRUE);
      found = calls[i].call (&data, &error);
      g_atomic_int_set (&no_copies, FALSE);
      g_assert_no_error (error);
      g_assert_cmpmem (found->data, found->len * sizeof (double), expected->data,
                       expected->len * sizeof (double));
    }
}

static void
test_summary (void)
{
  g_auto (Data) data = { NULL };
  g_autoptr (AprRegressionStatistics) statistics = NULL;
  g_autofree char *expected = NULL;
  g_autofree char *text = NULL;

  data_init (&data, 1);
  statistics = apr_linear_regression_get_statistics (data.model, 0, NULL);
  g_atomic_int_set (&no_copies, TRUE);
  text = apr_regression_statistics_to_string (statistics);
  g_atomic_int_set (&no_copies, FALSE);
  expected = apr_regression_statistics_to_string (statistics);
  g_assert_cmpstr (text, ==, expected);
}

/* The coefficients of a model of floats are copied to doubles. */
static void
test_predict (void)
{
  g_auto (Data) data = { NULL };
  g_autoptr (AprTensor) x = NULL;
  gint matrix;

  data_init (&data, 1);
  x = apr_tensor_cast (data.x, APR_DTYPE_F32, NULL);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (data.model), x, data.y, NULL, NULL, NULL));
  for (matrix = 0, fails_once = TRUE; matrix < 3; matrix++)
    {
      g_autoptr (AprTensor) predictions = NULL;
      g_autoptr (GError) error = NULL;

      g_atomic_int_set (&n_matrices, matrix);
      predictions = apr_estimator_predict (APR_ESTIMATOR (data.model), x, &error);
      g_atomic_int_set (&n_matrices, G_MAXINT);
      if (matrix < 2)
        g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
      else
        g_assert_no_error (error);
      g_assert_cmpint (predictions != NULL, ==, matrix == 2);
    }
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  for (i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autofree char *path = g_strconcat ("/linear-regression-no-memory/", calls[i].name, NULL);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_no_memory);
    }
  g_test_add_func ("/linear-regression-no-memory/condition-number", test_condition_number);
  g_test_add_func ("/linear-regression-no-memory/condition-number-of-few-samples",
                   test_condition_number_of_few_samples);
  g_test_add_func ("/linear-regression-no-memory/save", test_save);
  g_test_add_func ("/linear-regression-no-memory/groups", test_groups);
  g_test_add_func ("/linear-regression-no-memory/samples", test_samples);
  g_test_add_func ("/linear-regression-no-memory/parse-hypothesis", test_parse_hypothesis);
  g_test_add_func ("/linear-regression-no-memory/misaligned-samples", test_misaligned_samples);
  g_test_add_func ("/linear-regression-no-memory/load", test_load);
  g_test_add_func ("/linear-regression-no-memory/no-copies", test_no_copies);
  g_test_add_func ("/linear-regression-no-memory/summary", test_summary);
  g_test_add_func ("/linear-regression-no-memory/predict", test_predict);

  return g_test_run ();
}
