/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <fenv.h>
#include <math.h>
#include <sys/mman.h>

/* Whatever a model was fitted with and to can be saved, and loaded again. */

static AprLinearRegression *
fit (const double *x, const double *weights, gsize n_rows, double alpha)
{
  g_autoptr (AprLinearRegression) model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "keep-state", TRUE, "alpha", alpha, NULL);
  g_autofree double *targets = g_new0 (double, n_rows);
  g_autoptr (AprTensor) features = matrix_new (n_rows, 1, x);
  g_autoptr (AprTensor) target = vector_new (n_rows, targets);
  g_autoptr (AprTensor) sample_weight = weights != NULL ? vector_new (n_rows, weights) : NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_estimator_fit (APR_ESTIMATOR (model), features, target, sample_weight, NULL, &error));
  g_assert_no_error (error);

  return g_steal_pointer (&model);
}

static AprLinearRegression *
save_and_load (AprLinearRegression *model)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), &error);
  AprLinearRegression *loaded;

  g_assert_no_error (error);
  loaded = apr_linear_regression_from_bytes (bytes, &error);
  g_assert_no_error (error);

  return loaded;
}

static void
test_alpha (void)
{
  const double alphas[] = { 0, 0x1p-1074, 1e-320, 1e-100, 1e-91, 0.1, 1.0 / 3, G_MAXDOUBLE };
  const double x[] = { 1, 2, 4 };
  gsize i;

  g_test_summary (
    "A penalty is what it was, however small; so is that of the fit where another is set since.");

  for (i = 0; i < G_N_ELEMENTS (alphas); i++)
    {
      g_autoptr (AprLinearRegression) model = fit (x, NULL, 3, alphas[i]);
      g_autoptr (AprLinearRegression) loaded = save_and_load (model);
      g_autoptr (AprLinearRegression) again = NULL;
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GBytes) bytes_again = NULL;

      assert_same_double (apr_linear_regression_get_alpha (loaded), alphas[i]);
      apr_linear_regression_set_alpha (loaded, 7);
      again = save_and_load (loaded);
      assert_same_double (apr_linear_regression_get_alpha (again), 7);
      apr_linear_regression_set_alpha (again, alphas[i]);
      bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), NULL);
      bytes_again = apr_estimator_to_bytes (APR_ESTIMATOR (again), NULL);
      g_assert_true (g_bytes_equal (bytes, bytes_again));
    }
}

static void
test_alpha_in_other_arithmetic (void)
{
  const int modes[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
  const double alphas[] = { 0.1, 1.0 / 3, 1e-320, 1e300 };
  const double x[] = { 1, 2, 4 };
  gsize i;
  gsize j;

  g_test_summary ("Rounding in the program around shows neither in the file nor in what is read from it.");

  for (i = 0; i < G_N_ELEMENTS (alphas); i++)
    {
      g_autoptr (AprLinearRegression) model = fit (x, NULL, 3, alphas[i]);
      g_autoptr (GBytes) expected = NULL;

      apr_linear_regression_set_alpha (model, 2 * alphas[i] / 3);
      expected = apr_estimator_to_bytes (APR_ESTIMATOR (model), NULL);
      for (j = 0; j < G_N_ELEMENTS (modes); j++)
        {
          g_autoptr (AprLinearRegression) loaded = NULL;
          g_autoptr (GBytes) bytes = NULL;
          g_autoptr (GBytes) bytes_again = NULL;

          if (fesetround (modes[j]) != 0)
            {
              g_test_skip ("this processor rounds in one way only");
              return;
            }
          bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), NULL);
          loaded = apr_linear_regression_from_bytes (expected, NULL);
          fesetround (FE_TONEAREST);
          g_assert_true (g_bytes_equal (bytes, expected));
          assert_same_double (apr_linear_regression_get_alpha (loaded),
                              apr_linear_regression_get_alpha (model));
          bytes_again = apr_estimator_to_bytes (APR_ESTIMATOR (loaded), NULL);
          g_assert_true (g_bytes_equal (bytes_again, expected));
        }
    }
}

static void
test_widest (void)
{
  const double x[] = { 1.7e308, 0x1p-1074 };
  const double weights[] = { 1.7e308, 0x1p-1074 };
  gsize i;

  g_test_summary ("Cross products that reach from the least number to the greatest.");

  for (i = 0; i < 2; i++)
    {
      g_autoptr (AprLinearRegression) model = fit (x, i == 0 ? NULL : weights, 2, 0);
      g_autoptr (AprLinearRegression) loaded = save_and_load (model);
      g_autoptr (AprCrossProducts) state = apr_linear_regression_get_cross_products (model);
      g_autoptr (AprCrossProducts) state_of_loaded = apr_linear_regression_get_cross_products (loaded);

      g_assert_true (apr_cross_products_equal (state, state_of_loaded));
    }
}

static GBytes *
file_with (AprTensor *coefficients, AprTensor *fitted_intercept, const char *key, const char *value)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  GBytes *bytes;
  GError *error = NULL;

  if (coefficients != NULL)
    apr_safetensors_writer_add_tensor (writer, "coefficients", coefficients, &error);
  g_assert_no_error (error);
  if (fitted_intercept != NULL)
    apr_safetensors_writer_add_tensor (writer, "intercept", fitted_intercept, &error);
  g_assert_no_error (error);
  if (key != NULL)
    apr_safetensors_writer_set_metadata (writer, key, value, &error);
  g_assert_no_error (error);
  bytes = apr_safetensors_writer_write_to_bytes (writer, &error);
  g_assert_no_error (error);

  return bytes;
}

/* The setter takes any number, since only a fit needs a good one. */
static void
test_alpha_that_cannot_be_loaded (void)
{
  const double x[] = { 1, 2, 4 };
  g_autoptr (AprLinearRegression) model = fit (x, NULL, 3, 1);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  apr_linear_regression_set_alpha (model, NAN);
  bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), &error);
  g_assert_null (bytes);
  g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
  assert_message_has (error, "“alpha” of AprLinearRegression is nan");
}

static void
test_load_errors (void)
{
  const double values[] = { 1, 2, 3, 4 };
  const double bad[] = { 1, NAN };
  const gsize shape[] = { 2 };
  g_autoptr (AprTensor) two = vector_new (2, values);
  g_autoptr (AprTensor) one = vector_new (1, values);
  g_autoptr (AprTensor) none = vector_new (0, NULL);
  g_autoptr (AprTensor) scalar = apr_tensor_new_from_doubles (values, 1, NULL, 0, NULL);
  g_autoptr (AprTensor) square = matrix_new (2, 2, values);
  g_autoptr (AprTensor) nan = vector_new (2, bad);
  g_autoptr (AprTensor) narrow = apr_tensor_cast (one, APR_DTYPE_F32, NULL);
  g_autoptr (GBytes) raw = g_bytes_new ("12", 2);
  g_autoptr (AprTensor) integers = apr_tensor_new_from_bytes (APR_DTYPE_I8, shape, 1, raw, NULL);
  const struct
  {
    AprTensor *coefficients;
    AprTensor *intercept;
    const char *key;
    const char *value;
    GQuark domain;
    gint code;
    const char *text;
  } cases[] = {
    { NULL, one, NULL, NULL, APR_ERROR, APR_ERROR_MODEL, "“coefficients”" },
    { two, NULL, NULL, NULL, APR_ERROR, APR_ERROR_MODEL, "“intercept”" },
    { two, two, NULL, NULL, APR_ERROR, APR_ERROR_SHAPE,
      "“intercept” must have the shape [1] beside coefficients [2], but it has [2]" },
    { two, scalar, NULL, NULL, APR_ERROR, APR_ERROR_SHAPE, "but it has []" },
    { square, one, NULL, NULL, APR_ERROR, APR_ERROR_SHAPE, "must have the shape [2]" },
    { scalar, one, NULL, NULL, APR_ERROR, APR_ERROR_SHAPE, "“coefficients” must have the shape" },
    { none, one, NULL, NULL, APR_ERROR, APR_ERROR_SHAPE, "but it has [0]" },
    { two, narrow, NULL, NULL, APR_ERROR, APR_ERROR_DTYPE, "“coefficients” is F64, but “intercept” is F32" },
    { integers, one, NULL, NULL, APR_ERROR, APR_ERROR_DTYPE, "“coefficients” is I8" },
    { nan, one, NULL, NULL, APR_ERROR, APR_ERROR_NOT_FINITE,
      "“coefficients” has a NaN or an infinity at element 1" },
    { two, one, "aprender.model", "AprRidge", APR_ERROR, APR_ERROR_MODEL,
      "“AprRidge”, not “AprLinearRegression”" },
    { two, one, "aprender.rank", "3", APR_ERROR, APR_ERROR_MODEL, "“3” with 2 features" },
    { two, one, "aprender.fit_intercept", "yes", APR_ERROR, APR_ERROR_MODEL, "“yes”" },
    { two, one, "aprender.dtype", "F32", APR_ERROR, APR_ERROR_MODEL, "“F32”" },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes =
        file_with (cases[i].coefficients, cases[i].intercept, cases[i].key, cases[i].value);
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_linear_regression_from_bytes (bytes, &error));
      g_assert_error (error, cases[i].domain, cases[i].code);
      assert_message_has (error, cases[i].text);
    }
}

static void
test_load_half_precision (void)
{
  const double values[] = { 1.5, -2 };
  const double row[] = { 2, 1 };
  const AprDType dtypes[] = { APR_DTYPE_F16, APR_DTYPE_BF16 };
  g_autoptr (AprTensor) two = vector_new (2, values);
  g_autoptr (AprTensor) one = vector_new (1, values);
  g_autoptr (AprTensor) x = matrix_new (1, 2, row);
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_autoptr (AprTensor) coefficients = apr_tensor_cast (two, dtypes[i], NULL);
      g_autoptr (AprTensor) fitted_intercept = apr_tensor_cast (one, dtypes[i], NULL);
      g_autoptr (GBytes) bytes = file_with (coefficients, fitted_intercept, NULL, NULL);
      g_autoptr (AprLinearRegression) model = apr_linear_regression_from_bytes (bytes, NULL);
      g_autoptr (AprTensor) predictions = apr_estimator_predict (APR_ESTIMATOR (model), x, NULL);

      g_assert_cmpint (apr_tensor_get_dtype (predictions), ==, APR_DTYPE_F32);
      assert_same_double (element (predictions, 0), 2.5);
      g_assert_cmpint (apr_linear_regression_get_rank (model), ==, -1);
    }
}

/* AddressSanitizer asks this, and would else end a program that asks for too much. */
const char *__asan_default_options (void);

const char *
__asan_default_options (void)
{
  return "allocator_may_return_null=1";
}

static void
test_larger_than_memory (void)
{
/* Emulators of other processors keep tables of what is mapped, for which there is no memory, and ThreadSanitizer ends
 * the program where there are not enough addresses. */
#if defined(__x86_64__) && GLIB_SIZEOF_SIZE_T >= 8 && !defined(__SANITIZE_THREAD__)
  static const char *const dtypes[] = { "F32", "F64", "BF16", "F16" };
  const gsize size = (gsize) 1 << 46;
  char *file = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  gsize i;

  g_test_summary (
    "A file that is larger than memory can be opened, but no model made of it: a second time there are "
    "not so many addresses.");

  if (file == MAP_FAILED)
    {
      /* As in valgrind and in emulators; no skip, which would call for something to be installed. */
      g_test_message ("the system does not map so much");
      return;
    }

  for (i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      gsize width = g_str_equal (dtypes[i], "F64") ? 8 : g_str_equal (dtypes[i], "F32") ? 4 : 2;
      gsize n = size / width / 1024 * 1023;
      g_autofree char *header =
        g_strdup_printf ("{\"coefficients\":{\"dtype\":\"%s\",\"shape\":[%zu],\"data_offsets\":[0,%zu]},"
                         "\"intercept\":{\"dtype\":\"%s\",\"shape\":[1],\"data_offsets\":[%zu,%zu]}}",
                         dtypes[i], n, n * width, dtypes[i], n * width, (n + 1) * width);
      guint64 length = GUINT64_TO_LE ((guint64) strlen (header));
      g_autofree char *expected =
        g_strdup_printf ("no memory for a tensor of %zu bytes", width == 2 ? 4 * n : n * width);
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (AprLinearRegression) model = NULL;
      g_autoptr (GError) error = NULL;

      memcpy (file, &length, sizeof length);
      memcpy (file + sizeof length, header, strlen (header));
      bytes = g_bytes_new_static (file, sizeof length + strlen (header) + (n + 1) * width);
      model = apr_linear_regression_from_bytes (bytes, &error);
      g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
      assert_message_has (error, expected);
      g_assert_null (model);
    }
  munmap (file, size);
#else
  g_test_message ("a program cannot map so much");
#endif
}

static void
test_bytes_keep_everything (void)
{
  const double x_values[] = { 1, 2, 3, 5, 4, 4.5 };
  const double y_values[] = { 0.1, 0.2, 0.7 };
  const char *const names[] = { "a", "b", NULL };
  g_autoptr (AprTensor) x = matrix_new (3, 2, x_values);
  g_autoptr (AprTensor) y = vector_new (3, y_values);
  g_autoptr (AprLinearRegression) model = fitted_new (x, y, NULL, FALSE);
  g_autoptr (AprLinearRegression) loaded = NULL;
  g_autoptr (AprTensor) predictions = NULL;
  g_autoptr (AprTensor) loaded_predictions = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) again = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_estimator_set_feature_names (APR_ESTIMATOR (model), names, NULL));
  bytes = apr_estimator_to_bytes (APR_ESTIMATOR (model), &error);
  g_assert_no_error (error);
  loaded = apr_linear_regression_from_bytes (bytes, &error);
  g_assert_no_error (error);
  again = apr_estimator_to_bytes (APR_ESTIMATOR (loaded), &error);
  g_assert_no_error (error);
  predictions = apr_estimator_predict (APR_ESTIMATOR (model), x, NULL);
  loaded_predictions = apr_estimator_predict (APR_ESTIMATOR (loaded), x, NULL);

  g_assert_true (g_bytes_equal (bytes, again));
  g_assert_true (apr_tensor_equal (predictions, loaded_predictions));
  g_assert_false (apr_linear_regression_get_fit_intercept (loaded));
  g_assert_cmpint (apr_linear_regression_get_rank (loaded), ==, 2);
  assert_feature_names (APR_ESTIMATOR (loaded), names);
}

static void
bytes_cb (GObject *model, GAsyncResult *result, gpointer bytes)
{
  *(GBytes **) bytes = apr_estimator_to_bytes_finish (APR_ESTIMATOR (model), result, NULL);
}

static void
set (AprLinearRegression *model, const char *property, gboolean on)
{
  g_autoptr (AprTensor) penalties = on ? vector_new (1, (double[]){ 1 }) : NULL;

  if (strcmp (property, "alphas") == 0)
    apr_linear_regression_set_alphas (model, penalties);
  else if (strcmp (property, "alpha") == 0)
    apr_linear_regression_set_alpha (model, on);
  else
    g_object_set (model, property, on, NULL);
}

static void
test_async_of_one_moment (void)
{
  const struct
  {
    const char *property;
    gboolean on;
  } cases[] = {
    { "keep-state", TRUE }, { "fit-intercept", FALSE }, { "positive", TRUE },
    { "alpha", TRUE },      { "alphas", TRUE },
  };
  gsize i;

  g_test_summary ("A file that is written in a thread has the hyper-parameters of the call throughout.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprLinearRegression) model = fit ((double[]){ 1, 2, 4 }, NULL, 3, 0);
      g_autoptr (GBytes) expected = NULL;
      g_autoptr (GBytes) bytes = NULL;

      set (model, cases[i].property, cases[i].on);
      expected = apr_estimator_to_bytes (APR_ESTIMATOR (model), NULL);
      apr_estimator_to_bytes_async (APR_ESTIMATOR (model), G_PRIORITY_DEFAULT, NULL, bytes_cb, &bytes);
      set (model, cases[i].property, !cases[i].on);
      while (bytes == NULL)
        g_main_context_iteration (NULL, TRUE);

      g_assert_true (g_bytes_equal (bytes, expected));
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/linear-regression/file/alpha", test_alpha);
  g_test_add_func ("/linear-regression/file/alpha-in-other-arithmetic", test_alpha_in_other_arithmetic);
  g_test_add_func ("/linear-regression/file/widest", test_widest);
  g_test_add_func ("/linear-regression/file/alpha-that-cannot-be-loaded", test_alpha_that_cannot_be_loaded);
  g_test_add_func ("/linear-regression/file/errors", test_load_errors);
  g_test_add_func ("/linear-regression/file/half-precision", test_load_half_precision);
  g_test_add_func ("/linear-regression/file/larger-than-memory", test_larger_than_memory);
  g_test_add_func ("/linear-regression/file/bytes-keep-everything", test_bytes_keep_everything);
  g_test_add_func ("/linear-regression/file/async-of-one-moment", test_async_of_one_moment);

  return g_test_run ();
}
