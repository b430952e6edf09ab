/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/nist.h"

#include <fenv.h>
#include <glib/gstdio.h>
#include <math.h>

#ifdef __SSE2__
# include <xmmintrin.h>
#endif

#include "aprender/exact-sums/apr-exact-sums-private.h"
#include "aprender/base/apr-double-double-private.h"

/* However the samples come, in whatever pieces, order, threads and files, the state has the same bytes and the
 * model the same bits: on NIST's Filip, where sums in double-double do not, and on easy data. */

#define FILIP_ROWS 82
#define FILIP_FEATURES 10
#define EASY_ROWS 3000
#define EASY_FEATURES 5

typedef struct
{
  gsize n_rows;
  gsize n_features;
  double *x;
  double *y;
} Samples;

static Samples *
samples_new (gsize n_rows, gsize n_features)
{
  Samples *samples = g_new0 (Samples, 1);

  samples->n_rows = n_rows;
  samples->n_features = n_features;
  samples->x = g_new (double, n_rows *n_features);
  samples->y = g_new (double, n_rows);

  return samples;
}

static void
samples_free (Samples *samples)
{
  g_free (samples->x);
  g_free (samples->y);
  g_free (samples);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Samples, samples_free)

static Samples *
load_filip (void)
{
  Samples *samples = samples_new (FILIP_ROWS, FILIP_FEATURES);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;

  nist_load_named ("filip", &x, &y);
  memcpy (samples->x, apr_tensor_get_doubles (x, NULL, NULL), FILIP_ROWS * FILIP_FEATURES * sizeof (double));
  memcpy (samples->y, apr_tensor_get_doubles (y, NULL, NULL), FILIP_ROWS * sizeof (double));

  return samples;
}

static Samples *
make_easy (void)
{
  Samples *samples = samples_new (EASY_ROWS, EASY_FEATURES);
  g_autoptr (GRand) rand = g_rand_new_with_seed (30);
  gsize i;

  for (i = 0; i < EASY_ROWS * EASY_FEATURES; i++)
    samples->x[i] = g_rand_double_range (rand, -1, 1);
  for (i = 0; i < EASY_ROWS; i++)
    samples->y[i] = samples->x[i * EASY_FEATURES] + g_rand_double (rand);

  return samples;
}

/* The sums of x_i x_j and x_i y in double-double, over chunks of rows whose sums are added in turn. */
static AprDoubleDouble *
sum_in_double_double (const Samples *samples, gsize chunk)
{
  gsize n = samples->n_features + 1;
  AprDoubleDouble *sums = g_new0 (AprDoubleDouble, n * n);
  g_autofree AprDoubleDouble *part = g_new (AprDoubleDouble, n * n);
  gsize start;
  gsize row;
  gsize i;

  for (start = 0; start < samples->n_rows; start += chunk)
    {
      memset (part, 0, n * n * sizeof *part);
      for (row = start; row < MIN (start + chunk, samples->n_rows); row++)
        for (i = 0; i < n * n; i++)
          {
            const double *x = samples->x + row * samples->n_features;
            double a = i / n < n - 1 ? x[i / n] : samples->y[row];
            double b = i % n < n - 1 ? x[i % n] : samples->y[row];
            double product = a * b;

            part[i] = apr_dd_add (part[i], (AprDoubleDouble){ product, fma (a, b, -product) });
          }
      for (i = 0; i < n * n; i++)
        sums[i] = apr_dd_add (sums[i], part[i]);
    }

  return sums;
}

static void
test_double_double_differs (void)
{
  const gsize chunks[] = { 1, 7, 13, 40 };
  g_autoptr (Samples) filip = load_filip ();
  gsize n = (FILIP_FEATURES + 1) * (FILIP_FEATURES + 1);
  g_autofree AprDoubleDouble *at_once = sum_in_double_double (filip, FILIP_ROWS);
  gsize n_different = 0;
  gsize i;

  g_test_summary ("Why the sums are whole numbers: in double-double the pieces show, and what follows would "
                  "prove nothing.");
  for (i = 0; i < G_N_ELEMENTS (chunks); i++)
    {
      g_autofree AprDoubleDouble *sums = sum_in_double_double (filip, chunks[i]);
      gsize j;

      for (j = 0; j < n; j++)
        n_different += memcmp (&sums[j], &at_once[j], sizeof sums[j]) != 0;
    }
  g_test_message ("%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " sums differ", n_different,
                  n * G_N_ELEMENTS (chunks));
  g_assert_cmpuint (n_different, >, n);
}

static void
append_tensor (GByteArray *bytes, AprTensor *tensor)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (apr_tensor_get_bytes (tensor), &size);

  g_byte_array_append (bytes, data, (guint) size);
}

static void
make_tensors (const Samples *samples, const gsize *rows, gsize n_rows, AprTensor **x, AprTensor **y)
{
  g_autofree double *x_values = g_new (double, n_rows * samples->n_features);
  g_autofree double *y_values = g_new (double, n_rows);
  gsize i;

  for (i = 0; i < n_rows; i++)
    {
      memcpy (x_values + i * samples->n_features, samples->x + rows[i] * samples->n_features,
              samples->n_features * sizeof (double));
      y_values[i] = samples->y[rows[i]];
    }
  *x = matrix_new (n_rows, samples->n_features, x_values);
  *y = vector_new (n_rows, y_values);
}

static void
update (AprCrossProducts *state, const Samples *samples, const gsize *rows, gsize n_rows)
{
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  GError *error = NULL;

  make_tensors (samples, rows, n_rows, &x, &y);
  apr_cross_products_update (state, x, y, NULL, NULL, &error);
  g_assert_no_error (error);
}

/* The state of rows [start, stop) of those named. */
static AprCrossProducts *
state_of (const Samples *samples, const gsize *rows, gsize start, gsize stop)
{
  AprCrossProducts *state = apr_cross_products_new (samples->n_features, 1, NULL);

  update (state, samples, rows + start, stop - start);

  return state;
}

static gsize *
shuffle (GRand *rand, gsize n)
{
  gsize *rows = g_new (gsize, n);
  gsize i;

  for (i = 0; i < n; i++)
    rows[i] = i;
  for (i = n - 1; rand != NULL && i > 0; i--)
    {
      gsize other = (gsize) g_rand_int_range (rand, 0, (gint32) i + 1);
      gsize row = rows[i];

      rows[i] = rows[other];
      rows[other] = row;
    }

  return rows;
}

static AprLinearRegression *
fit_state (AprCrossProducts *state)
{
  AprLinearRegression *model = apr_linear_regression_new ();
  GError *error = NULL;

  apr_linear_regression_fit_cross_products (model, state, NULL, &error);
  g_assert_no_error (error);

  return model;
}

static void
assert_same_models (AprLinearRegression *model, AprLinearRegression *expected)
{
  g_assert_true (apr_tensor_equal (coefficients_of (model), coefficients_of (expected)));
  g_assert_true (apr_tensor_equal (intercept_of (model), intercept_of (expected)));
}

/* The same bytes, and the same model from the state as it is, and as it comes back from its bytes. */
static void
check_state (AprCrossProducts *state, GBytes *expected, AprLinearRegression *expected_model)
{
  g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (state, NULL);
  g_autoptr (AprCrossProducts) loaded = apr_cross_products_from_bytes (bytes, NULL);
  g_autoptr (AprLinearRegression) model = fit_state (state);
  g_autoptr (AprLinearRegression) from_loaded = fit_state (loaded);

  g_assert_true (g_bytes_equal (bytes, expected));
  assert_same_models (model, expected_model);
  assert_same_models (from_loaded, expected_model);
}

static void
check_pieces (const Samples *samples)
{
  const gsize chunks[] = { 1, 7, 1000, G_MAXSIZE };
  g_autoptr (GRand) rand = g_rand_new_with_seed (31);
  gsize n = samples->n_rows;
  g_autofree gsize *in_order = shuffle (NULL, n);
  g_autoptr (AprCrossProducts) whole = state_of (samples, in_order, 0, n);
  g_autoptr (GBytes) expected = apr_cross_products_to_bytes (whole, NULL);
  g_autoptr (AprLinearRegression) model = fit_state (whole);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprLinearRegression) directly = apr_linear_regression_new ();
  gsize i;

  make_tensors (samples, in_order, n, &x, &y);
  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (directly), x, y, NULL, NULL, NULL));
  assert_same_models (directly, model);

  for (i = 0; i < G_N_ELEMENTS (chunks); i++)
    {
      g_autofree gsize *rows = shuffle (rand, n);
      g_autoptr (AprCrossProducts) state = apr_cross_products_new (samples->n_features, 1, NULL);
      gsize start;

      for (start = 0; start < n; start += MIN (chunks[i], n - start))
        update (state, samples, rows + start, MIN (chunks[i], n - start));
      check_state (state, expected, model);
    }
}

/* Any two states are merged until there is one; some rows too many were in it, and are taken away again. */
static void
check_trees (const Samples *samples)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (32);
  gsize n = samples->n_rows;
  g_autofree gsize *in_order = shuffle (NULL, n);
  g_autoptr (AprCrossProducts) whole = state_of (samples, in_order, 0, n);
  g_autoptr (GBytes) expected = apr_cross_products_to_bytes (whole, NULL);
  g_autoptr (AprLinearRegression) model = fit_state (whole);
  guint round;

  for (round = 0; round < 10; round++)
    {
      g_autoptr (GPtrArray) states = g_ptr_array_new_with_free_func (g_object_unref);
      g_autofree gsize *rows = shuffle (rand, n);
      g_autoptr (AprCrossProducts) excess = NULL;
      gsize n_excess = (gsize) g_rand_int_range (rand, 1, (gint32) n);
      gsize start;
      gsize stop;

      for (start = 0; start < n; start = stop)
        {
          stop = start + (gsize) g_rand_int_range (rand, 1, (gint32) n / 3);
          stop = MIN (stop, n);
          g_ptr_array_add (states, state_of (samples, rows, start, stop));
        }
      excess = state_of (samples, rows, 0, n_excess);
      g_ptr_array_add (states, g_object_ref (excess));

      while (states->len > 1)
        {
          guint into = (guint) g_rand_int_range (rand, 0, (gint32) states->len);
          guint from = (into + (guint) g_rand_int_range (rand, 1, (gint32) states->len)) % states->len;
          g_autoptr (AprCrossProducts) copy = apr_cross_products_copy (g_ptr_array_index (states, into));

          g_assert_true (apr_cross_products_merge (copy, g_ptr_array_index (states, from), NULL));
          g_ptr_array_remove_index_fast (states, MAX (into, from));
          g_ptr_array_remove_index_fast (states, MIN (into, from));
          g_ptr_array_add (states, g_steal_pointer (&copy));
        }
      g_assert_true (apr_cross_products_subtract (g_ptr_array_index (states, 0), excess, NULL));
      check_state (g_ptr_array_index (states, 0), expected, model);
    }
}

static void
check_kernels (const Samples *samples)
{
  const guint n_threads[] = { 1, 2, 7 };
  const AprSumsKernel *const *kernels = apr_sums_kernels ();
  gsize n = samples->n_rows;
  g_autofree gsize *in_order = shuffle (NULL, n);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autofree guint32 *expected = NULL;
  gsize n_expected = 0;
  gint first_expected = 0;
  gsize k;
  gsize t;

  make_tensors (samples, in_order, n, &x, &y);
  for (k = 0; kernels[k] != NULL; k++)
    for (t = 0; t < G_N_ELEMENTS (n_threads); t++)
      {
        g_autoptr (AprExactSums) sums = apr_exact_sums_new (samples->n_features, 1, NULL);
        g_autofree guint32 *words = NULL;
        gsize n_words;
        gint first_word;

        g_assert_true (apr_exact_sums_update_with (sums, x, y, NULL, APR_PRECISION_EXACT, kernels[k],
                                                   &(AprRun){ .n_threads = n_threads[t] }, NULL));
        words = apr_exact_sums_to_words (sums, &n_words, &first_word, NULL, NULL);
        if (expected == NULL)
          {
            n_expected = n_words;
            first_expected = first_word;
            expected = g_steal_pointer (&words);
            continue;
          }
        g_assert_cmpint (first_word, ==, first_expected);
        g_assert_cmpmem (words, apr_exact_sums_get_n_entries (sums) * n_words * sizeof *words, expected,
                         apr_exact_sums_get_n_entries (sums) * n_expected * sizeof *expected);
      }
}

static void
check_files (const Samples *samples)
{
  g_autofree char *folder = g_dir_make_tmp ("aprender-same-bits-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "state.safetensors", NULL);
  gsize n = samples->n_rows;
  g_autofree gsize *in_order = shuffle (NULL, n);
  g_autoptr (AprCrossProducts) whole = state_of (samples, in_order, 0, n);
  g_autoptr (GBytes) expected = apr_cross_products_to_bytes (whole, NULL);
  g_autoptr (AprLinearRegression) model = fit_state (whole);
  g_autoptr (AprCrossProducts) first = state_of (samples, in_order, 0, n / 3);
  g_autoptr (AprCrossProducts) loaded = NULL;
  g_autoptr (GError) error = NULL;

  /* What was saved goes on where it was. */
  apr_cross_products_save (first, path, &error);
  g_assert_no_error (error);
  loaded = apr_cross_products_load (path, &error);
  g_assert_no_error (error);
  update (loaded, samples, in_order + n / 3, n - n / 3);
  check_state (loaded, expected, model);

  g_unlink (path);
  g_rmdir (folder);
}

static void
test_units_of_filip (void)
{
  const int exponents[] = { 500, -500 };
  g_autoptr (Samples) filip = load_filip ();
  g_autofree gsize *rows = shuffle (NULL, FILIP_ROWS);
  g_autoptr (AprCrossProducts) state = state_of (filip, rows, 0, FILIP_ROWS);
  g_autoptr (AprLinearRegression) model = fit_state (state);
  gsize i;
  gsize column;

  g_test_summary (
    "A column times 2^500 has its coefficient times 2^-500, exactly, and all others as they were.");
  for (i = 0; i < G_N_ELEMENTS (exponents); i++)
    for (column = 0; column < FILIP_FEATURES; column++)
      {
        g_autoptr (Samples) scaled = load_filip ();
        g_autoptr (AprCrossProducts) other = NULL;
        g_autoptr (AprLinearRegression) other_model = NULL;
        gsize j;

        for (j = 0; j < FILIP_ROWS; j++)
          scaled->x[j * FILIP_FEATURES + column] =
            ldexp (scaled->x[j * FILIP_FEATURES + column], exponents[i]);
        other = state_of (scaled, rows, 0, FILIP_ROWS);
        other_model = fit_state (other);
        for (j = 0; j < FILIP_FEATURES; j++)
          assert_same_double (element (coefficients_of (other_model), j),
                              ldexp (element (coefficients_of (model), j), j == column ? -exponents[i] : 0));
        assert_same_double (element (intercept_of (other_model), 0), element (intercept_of (model), 0));
      }
}

static void
test_both (gconstpointer data)
{
  void (*check) (const Samples *samples) = *(void (*const *) (const Samples *samples)) data;
  g_autoptr (Samples) filip = load_filip ();
  g_autoptr (Samples) easy = make_easy ();

  check (filip);
  check (easy);
}

/* What a model of these samples gives: coefficients, standard errors, the condition number, a prediction and an end
 * of its interval. */
static GBytes *
describe (const Samples *samples, gboolean positive, double alpha)
{
  g_autoptr (AprEstimator) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "positive", positive, "alpha", alpha, NULL);
  AprLinearRegression *regression = APR_LINEAR_REGRESSION (model);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (AprTensor) x = matrix_new (samples->n_rows, samples->n_features, samples->x);
  g_autoptr (AprTensor) y = vector_new (samples->n_rows, samples->y);
  g_autoptr (AprTensor) predictions = NULL;
  GError *error = NULL;
  double numbers[2];

  apr_estimator_fit (model, x, y, NULL, NULL, &error);
  g_assert_no_error (error);
  numbers[0] = apr_linear_regression_compute_condition_number (regression);
  numbers[1] = apr_linear_regression_predict_one (regression, samples->x, samples->n_features, &error);
  g_assert_no_error (error);
  g_byte_array_append (bytes, (const guint8 *) numbers, sizeof numbers);

  predictions = apr_estimator_predict (model, x, &error);
  g_assert_no_error (error);
  append_tensor (bytes, coefficients_of (regression));
  append_tensor (bytes, predictions);
  if (!positive && alpha == 0)
    {
      g_autoptr (AprRegressionStatistics) statistics =
        apr_linear_regression_get_statistics (regression, 0, &error);
      g_autoptr (AprTensor) lower = NULL;
      g_autoptr (AprTensor) upper = NULL;

      g_assert_no_error (error);
      append_tensor (bytes, apr_regression_statistics_get_standard_errors (statistics));
      apr_linear_regression_predict_interval (regression, x, 0.9, APR_INTERVAL_PREDICTION, &lower, &upper,
                                              &error);
      g_assert_no_error (error);
      append_tensor (bytes, lower);
    }

  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}

static void
compare_in_other_arithmetic (const Samples *samples, gboolean positive, double alpha)
{
  const int ways[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
  g_autoptr (GBytes) expected = describe (samples, positive, alpha);
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autoptr (GBytes) found = NULL;
      fenv_t environment;

      fegetenv (&environment);
      if (fesetround (ways[i]) != 0)
        {
          g_test_skip ("this processor rounds in one way only");
          return;
        }
#ifdef __SSE2__
      /* Flush to zero, and take what is subnormal for zero. */
      if (ways[i] == FE_TONEAREST)
        _mm_setcsr (_mm_getcsr () | 0x8040);
#endif
      found = describe (samples, positive, alpha);
      g_assert_cmpint (fegetround (), ==, ways[i]);
      fesetenv (&environment);
      g_assert_true (g_bytes_equal (found, expected));
    }
}

static void
test_arithmetic (void)
{
  g_autoptr (Samples) filip = load_filip ();
  g_autoptr (Samples) easy = make_easy ();
  gsize i;

  g_test_summary ("Whatever arithmetic the program around has set: other roundings, and subnormal numbers "
                  "flushed to zero.");
  compare_in_other_arithmetic (filip, FALSE, 0);
  compare_in_other_arithmetic (easy, FALSE, 0);
  compare_in_other_arithmetic (easy, TRUE, 0);
  compare_in_other_arithmetic (easy, FALSE, 0.25);
  for (i = 0; i < easy->n_rows; i++)
    easy->y[i] *= 0x1p-1060;
  compare_in_other_arithmetic (easy, FALSE, 0);
}

int
main (int argc, char *argv[])
{
  static void (*const checks[]) (const Samples *samples) = { check_pieces, check_trees, check_kernels,
                                                             check_files };

  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/same-bits/double-double-differs", test_double_double_differs);
  g_test_add_data_func ("/same-bits/pieces", &checks[0], test_both);
  g_test_add_data_func ("/same-bits/trees", &checks[1], test_both);
  g_test_add_data_func ("/same-bits/kernels-and-threads", &checks[2], test_both);
  g_test_add_data_func ("/same-bits/files", &checks[3], test_both);
  g_test_add_func ("/same-bits/units", test_units_of_filip);
  g_test_add_func ("/same-bits/arithmetic", test_arithmetic);

  return g_test_run ();
}
