/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>
#include <string.h>

/* What several test programs need. */

static inline AprTensor *
matrix_new (gsize n_rows, gsize n_columns, const double *values)
{
  const gsize shape[] = { n_rows, n_columns };
  GError *error = NULL;
  AprTensor *tensor = apr_tensor_new_from_doubles (values, n_rows * n_columns, shape, 2, &error);

  g_assert_no_error (error);

  return tensor;
}

static inline AprTensor *
vector_new (gsize n, const double *values)
{
  GError *error = NULL;
  AprTensor *tensor = apr_tensor_new_from_doubles (values, n, &n, 1, &error);

  g_assert_no_error (error);

  return tensor;
}

static inline AprTensor *
float_matrix_new (gsize n_rows, gsize n_columns, const float *values)
{
  const gsize shape[] = { n_rows, n_columns };
  GError *error = NULL;
  AprTensor *tensor = apr_tensor_new_from_floats (values, n_rows * n_columns, shape, 2, &error);

  g_assert_no_error (error);

  return tensor;
}

static inline AprTensor *
float_vector_new (gsize n, const float *values)
{
  GError *error = NULL;
  AprTensor *tensor = apr_tensor_new_from_floats (values, n, &n, 1, &error);

  g_assert_no_error (error);

  return tensor;
}

/* Numbers of @width bytes in the order of a tensor's bytes and of files, from or to that of the processor. */
static inline void
swap_on_big_endian (gpointer numbers, gsize n, gsize width)
{
  guint8 *bytes = numbers;
  gsize i;
  gsize j;

  for (i = 0; i < n && G_BYTE_ORDER == G_BIG_ENDIAN; i++)
    for (j = 0; j < width / 2; j++)
      {
        guint8 byte = bytes[i * width + j];

        bytes[i * width + j] = bytes[(i + 1) * width - 1 - j];
        bytes[(i + 1) * width - 1 - j] = byte;
      }
}

static inline double
element (AprTensor *tensor, gsize index)
{
  GError *error = NULL;
  double value = apr_tensor_get_double (tensor, index, &error);

  g_assert_no_error (error);

  return value;
}

/* The rows with a label, or all @others, made one by one. */
static inline AprTensor *
rows_with (AprTensor *tensor, AprTensor *labels, double label, gboolean others)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GBytes) data = NULL;
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (tensor, &n_dims);
  gsize size = apr_dtype_get_bits (apr_tensor_get_dtype (tensor)) / 8 * (n_dims == 2 ? shape[1] : 1);
  const guint8 *all = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
  gsize own_shape[2] = { 0, n_dims == 2 ? shape[1] : 0 };
  GError *error = NULL;
  AprTensor *rows;
  gsize i;

  for (i = 0; i < shape[0]; i++)
    if ((element (labels, i) == label) != others)
      {
        g_byte_array_append (bytes, all + i * size, (guint) size);
        own_shape[0]++;
      }
  data = g_bytes_new (bytes->data, bytes->len);
  rows = apr_tensor_new_from_bytes (apr_tensor_get_dtype (tensor), own_shape, n_dims, data, &error);
  g_assert_no_error (error);

  return rows;
}

/* The model's own, which stay as long as it is not fitted again. */
static inline AprTensor *
coefficients_of (AprLinearRegression *model)
{
  g_autoptr (AprTensor) coefficients = apr_linear_regression_get_coefficients (model);

  return coefficients;
}

static inline AprTensor *
intercept_of (AprLinearRegression *model)
{
  g_autoptr (AprTensor) intercept = apr_linear_regression_get_intercept (model);

  return intercept;
}

static inline AprLinearRegression *
fitted_new (AprTensor *x, AprTensor *y, AprTensor *sample_weight, gboolean fit_intercept)
{
  AprLinearRegression *model =
    g_object_new (APR_TYPE_LINEAR_REGRESSION, "fit-intercept", fit_intercept, NULL);
  GError *error = NULL;

  apr_estimator_fit (APR_ESTIMATOR (model), x, y, sample_weight, NULL, &error);
  g_assert_no_error (error);

  return model;
}

static inline void
assert_feature_names (gpointer model, const char *const *expected)
{
  g_auto (GStrv) names = apr_estimator_get_feature_names (model);

  if (names == NULL || expected == NULL)
    g_assert_true (names == (char **) expected);
  else
    g_assert_cmpstrv (names, expected);
}

/* Not just close: the same bits. */
static inline void
assert_same_double (double actual, double expected)
{
  if (memcmp (&actual, &expected, sizeof actual) != 0)
    g_error ("%a (%.17g) is not %a (%.17g)", actual, actual, expected, expected);
}

/* As g_assert_finalize_object(), but an asynchronous call's thread may hold the object a moment longer. */
static inline void
assert_finalizes (gpointer object)
{
  g_object_add_weak_pointer (object, &object);
  g_object_unref (object);
  while (g_atomic_pointer_get (&object) != NULL)
    if (!g_main_context_iteration (g_main_context_get_thread_default (), FALSE))
      g_usleep (1000);
}

#define assert_message_has(error, text)                   \
 G_STMT_START                                             \
 {                                                        \
  if (strstr ((error)->message, (text)) == NULL)          \
   g_error ("“%s” lacks “%s”", (error)->message, (text)); \
 }                                                        \
 G_STMT_END

/* Some system calls mean something else there. Valgrind preloads a part of itself into what it runs. */
static inline gboolean
runs_in_valgrind (void)
{
  const char *preloaded = g_getenv ("LD_PRELOAD");

  return preloaded != NULL && strstr (preloaded, "vgpreload") != NULL;
}

/* There no process can trace another. */
static inline gboolean
runs_in_emulator (void)
{
  return g_getenv ("APRENDER_EMULATED") != NULL;
}

/* Where all takes several times as long. */
static inline gboolean
runs_slowly (void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return TRUE;
#else
  return runs_in_valgrind () || runs_in_emulator ();
#endif
}

static inline char *
data_path (const char *name)
{
  return g_test_build_filename (G_TEST_DIST, "data", name, NULL);
}
