/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-linear-regression-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-model-file-private.h"
#include "aprender/safetensors/apr-safetensors-writer-private.h"
#include "aprender/tensor/apr-tensor-private.h"

#define COEFFICIENTS "coefficients"
#define INTERCEPT "intercept"
#define KEY_RANK APR_MODEL_PREFIX "rank"
#define CROSS_PRODUCTS "cross_products."
#define KEY_CONDITION_NUMBER APR_MODEL_PREFIX "condition_number"
#define KEY_CORRECTLY_ROUNDED APR_MODEL_PREFIX "correctly_rounded"
#define KEY_DEPENDENT_FEATURES APR_MODEL_PREFIX "dependent_features"

/* Hyper-parameters, as the base class has written them: what is not there has its default. */
#define KEY_KEEP_STATE APR_MODEL_PREFIX "keep_state"
#define KEY_INTERCEPT APR_MODEL_PREFIX "fit_intercept"
#define KEY_ALPHA APR_MODEL_PREFIX "alpha"
#define KEY_ALPHAS APR_MODEL_PREFIX "alphas"
#define KEY_POSITIVE APR_MODEL_PREFIX "positive"

/* What the model was fitted with, where the hyper-parameter says something else by now. */
#define KEY_FITTED_INTERCEPT APR_MODEL_PREFIX CROSS_PRODUCTS "fit_intercept"
#define KEY_FITTED_ALPHA APR_MODEL_PREFIX CROSS_PRODUCTS "alpha"
#define KEY_FITTED_ALPHAS APR_MODEL_PREFIX CROSS_PRODUCTS "alphas"
#define KEY_FITTED_POSITIVE APR_MODEL_PREFIX CROSS_PRODUCTS "positive"

static gboolean
save_boolean (AprSafetensorsWriter *writer, const char *key, gboolean value, GError **error)
{
  return apr_safetensors_writer_set_metadata (writer, key, value ? "true" : "false", error);
}

static gboolean
save_double (AprSafetensorsWriter *writer, const char *key, double value, GError **error)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];

  return apr_safetensors_writer_set_metadata (writer, key, g_ascii_dtostr (buffer, sizeof buffer, value),
                                              error);
}

/* Numbers with commas between them. */
static char *
dependent_to_string (GArray *dependent)
{
  GString *text = g_string_new (NULL);
  guint i;

  for (i = 0; i < dependent->len; i++)
    g_string_append_printf (text, "%s%" G_GSIZE_FORMAT, i > 0 ? "," : "",
                            g_array_index (dependent, gsize, i));

  return g_string_free (text, FALSE);
}

static gboolean
says (AprSafetensorsWriter *writer, const char *key, const char *value)
{
  return g_strcmp0 (g_hash_table_lookup (writer->metadata, key), value) == 0;
}

/* The sums, and all that was found out beside the coefficients. Hyper-parameters are those that the file has already:
 * the model may have others by now. */
static gboolean
save_state (AprLinearRegression *self,
            AprLinearResults *results,
            AprSafetensorsWriter *writer,
            GError **error)
{
  const char *alpha = g_hash_table_lookup (writer->metadata, KEY_ALPHA);
  g_autofree char *dependent = results->dependent != NULL ? dependent_to_string (results->dependent) : NULL;
  const AprRun run = { .n_threads = apr_linear_regression_get_n_threads (self),
                       .cancellable = g_cancellable_get_current () };
  double condition_number;
  gboolean several = isnan (results->fitted.alpha);

  return apr_linear_results_find_condition_number (results, &run, &condition_number, error) &&
         apr_linear_regression_check_state (self, results, "keep the state of", error) &&
         apr_cross_products_add_to_writer (results->cross_products, writer, CROSS_PRODUCTS, error) &&
         (results->fitted.fit_intercept != says (writer, KEY_INTERCEPT, "false") ||
          save_boolean (writer, KEY_FITTED_INTERCEPT, results->fitted.fit_intercept, error)) &&
         (several != says (writer, KEY_ALPHAS, NULL) ||
          save_boolean (writer, KEY_FITTED_ALPHAS, several, error)) &&
         (several || results->fitted.alpha == (alpha != NULL ? g_ascii_strtod (alpha, NULL) : 0) ||
          save_double (writer, KEY_FITTED_ALPHA, results->fitted.alpha, error)) &&
         (results->fitted.positive == says (writer, KEY_POSITIVE, "true") ||
          save_boolean (writer, KEY_FITTED_POSITIVE, results->fitted.positive, error)) &&
         (isnan (condition_number) || save_double (writer, KEY_CONDITION_NUMBER, condition_number, error)) &&
         save_boolean (writer, KEY_CORRECTLY_ROUNDED, results->correctly_rounded, error) &&
         (dependent == NULL ||
          apr_safetensors_writer_set_metadata (writer, KEY_DEPENDENT_FEATURES, dependent, error));
}

gboolean
apr_linear_regression_save_results (AprEstimator *estimator,
                                    gconstpointer results,
                                    AprSafetensorsWriter *writer,
                                    GError **error)
{
  /* The C library rounds numbers in text as the program around rounds. */
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  AprLinearResults *found = (AprLinearResults *) results;
  g_autofree char *rank = g_strdup_printf ("%" G_GINT64_FORMAT, found->rank);

  return apr_safetensors_writer_add_tensor (writer, COEFFICIENTS, found->coefficients, error) &&
         apr_safetensors_writer_add_tensor (writer, INTERCEPT, found->intercept, error) &&
         (found->rank == APR_RANK_UNKNOWN ||
          apr_safetensors_writer_set_metadata (writer, KEY_RANK, rank, error)) &&
         (!says (writer, KEY_KEEP_STATE, "true") ||
          save_state (APR_LINEAR_REGRESSION (estimator), found, writer, error));
}

gboolean
apr_linear_regression_save_tensors (AprEstimator *estimator, AprSafetensorsWriter *writer, GError **error)
{
  g_autoptr (AprLinearResults) results =
    apr_linear_regression_ref_results (APR_LINEAR_REGRESSION (estimator));

  if (results != NULL)
    return apr_linear_regression_save_results (estimator, results, writer, error);

  g_set_error (error, APR_ERROR, APR_ERROR_NOT_FITTED, "Cannot save an unfitted %s: call fit first",
               G_OBJECT_TYPE_NAME (estimator));
  return FALSE;
}

/* A tensor of F32 or F64 whose numbers are finite. */
static AprTensor *
load_tensor (AprSafetensorsReader *reader, const char *name, GError **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, name, &local_error);
  g_autoptr (AprTensor) computed = NULL;
  AprDType dtype;
  gsize n_elements;
  gsize i;

  if (tensor == NULL)
    {
      /* A file of something else: no name that the caller has asked for. */
      if (g_error_matches (local_error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_NOT_FOUND))
        g_set_error_literal (error, APR_ERROR, APR_ERROR_MODEL, local_error->message);
      else
        g_propagate_error (error, g_steal_pointer (&local_error));
      return NULL;
    }

  dtype = apr_tensor_get_dtype (tensor);
  if (dtype == APR_DTYPE_F16 || dtype == APR_DTYPE_BF16)
    computed = apr_tensor_cast (tensor, APR_DTYPE_F32, error);
  else if (dtype == APR_DTYPE_F32 || dtype == APR_DTYPE_F64)
    computed = apr_tensor_copy (tensor, error);
  else
    g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
                 "The tensor “%s” is %s, but a linear regression has F64, F32, F16 or BF16", name,
                 apr_dtype_to_string (dtype));
  if (computed == NULL)
    return NULL;

  n_elements = apr_tensor_get_n_elements (computed);
  for (i = 0; i < n_elements; i++)
    if (!isfinite (apr_tensor_get_double (computed, i, NULL)))
      {
        g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                     "The tensor “%s” has a NaN or an infinity at element %" G_GSIZE_FORMAT
                     " (counted from 0)",
                     name, i);
        return NULL;
      }

  return g_steal_pointer (&computed);
}

static gboolean
check_tensors (
  AprTensor *coefficients, AprTensor *intercept, gsize *n_features, gsize *n_targets, GError **error)
{
  gsize n_dims;
  gsize intercept_n_dims;
  const gsize *shape = apr_tensor_get_shape (coefficients, &n_dims);
  const gsize *intercept_shape = apr_tensor_get_shape (intercept, &intercept_n_dims);
  g_autofree char *text = apr_shape_to_string (shape, n_dims);
  g_autofree char *intercept_text = apr_shape_to_string (intercept_shape, intercept_n_dims);

  if (n_dims < 1 || n_dims > 2 || apr_tensor_get_n_elements (coefficients) == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The tensor “" COEFFICIENTS
                   "” must have the shape [n_features] or [n_targets, n_features], but it has %s",
                   text);
      return FALSE;
    }

  *n_features = shape[n_dims - 1];
  *n_targets = n_dims == 2 ? shape[0] : 1;

  if (intercept_n_dims != 1 || intercept_shape[0] != *n_targets)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The tensor “" INTERCEPT "” must have the shape [%" G_GSIZE_FORMAT
                   "] beside coefficients %s, but it has %s",
                   *n_targets, text, intercept_text);
      return FALSE;
    }

  if (apr_tensor_get_dtype (coefficients) != apr_tensor_get_dtype (intercept))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
                   "The tensor “" COEFFICIENTS "” is %s, but “" INTERCEPT "” is %s",
                   apr_dtype_to_string (apr_tensor_get_dtype (coefficients)),
                   apr_dtype_to_string (apr_tensor_get_dtype (intercept)));
      return FALSE;
    }

  return TRUE;
}

static gboolean
fail_metadata (const char *key, const char *text, GError **error)
{
  g_set_error (error, APR_ERROR, APR_ERROR_MODEL, "The metadata “%s” cannot be “%s”", key, text);
  return FALSE;
}

/* These leave the value as it is where the file does not tell. */
static gboolean
load_boolean (GHashTable *metadata, const char *key, gboolean *value, GError **error)
{
  const char *text = g_hash_table_lookup (metadata, key);

  if (text == NULL)
    return TRUE;
  if (strcmp (text, "true") != 0 && strcmp (text, "false") != 0)
    return fail_metadata (key, text, error);

  *value = text[0] == 't';
  return TRUE;
}

static gboolean
load_double (GHashTable *metadata, const char *key, double *value, GError **error)
{
  const char *text = g_hash_table_lookup (metadata, key);
  char *end;
  double number;

  if (text == NULL)
    return TRUE;
  number = g_ascii_strtod (text, &end);
  if (end == text || *end != '\0' || !(number >= 0))
    return fail_metadata (key, text, error);

  *value = number;
  return TRUE;
}

static gboolean
load_rank (AprLinearResults *results, GHashTable *metadata, gsize n_features, GError **error)
{
  const char *text = g_hash_table_lookup (metadata, KEY_RANK);
  guint64 rank = 0;

  if (text == NULL)
    return TRUE;

  if (!g_ascii_string_to_unsigned (text, 10, 0, n_features, &rank, NULL))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The metadata “" KEY_RANK "” cannot be “%s” with %" G_GSIZE_FORMAT " features", text,
                   n_features);
      return FALSE;
    }
  results->rank = (gint64) rank;
  return TRUE;
}

static gboolean
load_dependent (AprLinearResults *results, GHashTable *metadata, gsize n_features, GError **error)
{
  const char *text = g_hash_table_lookup (metadata, KEY_DEPENDENT_FEATURES);
  const char *next = text;
  guint64 least = 0;

  if (text == NULL)
    return TRUE;

  results->dependent = g_array_new (FALSE, FALSE, sizeof (gsize));
  while (*next != '\0')
    {
      gsize length = strcspn (next, ",");
      char digits[21] = ""; /* of any 64 bits */
      guint64 number;
      gsize feature;

      if (length < sizeof digits)
        memcpy (digits, next, length);
      if (least >= n_features ||
          !g_ascii_string_to_unsigned (digits, 10, least, n_features - 1, &number, NULL) ||
          g_str_equal (next + length, ","))
        return fail_metadata (KEY_DEPENDENT_FEATURES, text, error);
      feature = (gsize) number;
      least = number + 1;
      g_array_append_val (results->dependent, feature);
      next += length + (next[length] == ',');
    }

  return TRUE;
}

/* Whatever has the sums tells all that a fit finds out about them. */
static gboolean
check_dependent (const AprLinearResults *results, gsize n_features, GError **error)
{
  if (results->dependent == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The metadata “" KEY_DEPENDENT_FEATURES "” is missing beside the sums");
      return FALSE;
    }
  if (results->rank == APR_RANK_UNKNOWN || (gsize) results->rank + results->dependent->len != n_features)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The rank %" G_GINT64_FORMAT " and %u dependent features are not %" G_GSIZE_FORMAT
                   " features in all",
                   results->rank, results->dependent->len, n_features);
      return FALSE;
    }

  return TRUE;
}

/* @several says whether targets have penalties of their own, if the file does not. */
static gboolean
load_state (AprLinearResults *results,
            AprSafetensorsReader *reader,
            gsize n_features,
            gsize n_targets,
            gboolean several,
            GError **error)
{
  GHashTable *metadata = apr_safetensors_reader_get_metadata (reader);
  AprCrossProducts *state;

  if (!apr_cross_products_is_in (reader, CROSS_PRODUCTS))
    return TRUE;

  results->cross_products = state = apr_cross_products_new_from_reader (reader, CROSS_PRODUCTS, error);
  if (state == NULL)
    return FALSE;

  if (apr_cross_products_get_n_features (state) != n_features ||
      apr_cross_products_get_n_targets (state) != n_targets)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The sums in the file are of %" G_GSIZE_FORMAT " features and %" G_GSIZE_FORMAT
                   " targets, but the coefficients are of %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT,
                   apr_cross_products_get_n_features (state), apr_cross_products_get_n_targets (state),
                   n_features, n_targets);
      return FALSE;
    }
  /* What takes longer to see is looked at before statistics, which take longer still. */
  if (!apr_cross_products_check_weight (state, error))
    return FALSE;

  if (!load_boolean (metadata, KEY_FITTED_ALPHAS, &several, error) ||
      !load_double (metadata, KEY_FITTED_ALPHA, &results->fitted.alpha, error))
    return FALSE;
  if (several)
    results->fitted.alpha = NAN;

  if (!load_boolean (metadata, KEY_FITTED_INTERCEPT, &results->fitted.fit_intercept, error) ||
      !load_boolean (metadata, KEY_FITTED_POSITIVE, &results->fitted.positive, error) ||
      !load_double (metadata, KEY_CONDITION_NUMBER, &results->condition_number, error) ||
      !load_boolean (metadata, KEY_CORRECTLY_ROUNDED, &results->correctly_rounded, error) ||
      !load_dependent (results, metadata, n_features, error) || !check_dependent (results, n_features, error))
    return FALSE;

  apr_linear_results_find_prediction_rounding (results);
  return TRUE;
}

gboolean
apr_linear_regression_load_tensors (
  AprEstimator *estimator, AprSafetensorsReader *reader, gsize *n_features, gsize *n_targets, GError **error)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  AprLinearRegression *self = APR_LINEAR_REGRESSION (estimator);
  AprLinearOptions options = apr_linear_regression_get_options (self);
  g_autoptr (AprTensor) alphas = apr_linear_regression_get_alphas (self);
  g_autoptr (AprLinearResults) results = apr_linear_results_new (&options.solver);
  g_autoptr (AprTensor) coefficients = load_tensor (reader, COEFFICIENTS, error);
  g_autoptr (AprTensor) intercept = coefficients != NULL ? load_tensor (reader, INTERCEPT, error) : NULL;

  if (intercept == NULL || !check_tensors (coefficients, intercept, n_features, n_targets, error))
    return FALSE;

  if (!apr_linear_results_take_tensors (results, g_steal_pointer (&coefficients),
                                        g_steal_pointer (&intercept), error) ||
      !load_rank (results, apr_safetensors_reader_get_metadata (reader), *n_features, error) ||
      !load_state (results, reader, *n_features, *n_targets, alphas != NULL, error))
    return FALSE;

  apr_linear_regression_take_pending (self, g_steal_pointer (&results), NULL, NULL);
  return TRUE;
}

/**
 * apr_linear_regression_load: (constructor)
 * @path: (type filename): a SafeTensors file
 * @error: return location for an error
 *
 * Makes a fitted model from a file, as [func@Apr.Estimator.load] does.
 *
 * Returns: (transfer full): the model, or `NULL` as of [func@Apr.Estimator.load], or with %APR_ERROR_SHAPE or
 *   %APR_ERROR_DTYPE where a tensor has another shape or dtype than those of a linear regression; the message names the
 *   file and the tensor
 *
 * Since: 0.1
 */
AprLinearRegression *
apr_linear_regression_load (const char *path, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  return (AprLinearRegression *) apr_estimator_load (APR_TYPE_LINEAR_REGRESSION, path, error);
}

/**
 * apr_linear_regression_from_bytes: (constructor)
 * @bytes: the bytes of a SafeTensors file
 * @error: return location for an error
 *
 * Makes a fitted model from bytes, as [func@Apr.Estimator.from_bytes] does.
 *
 * Returns: (transfer full): the model, or `NULL` as of [ctor@Apr.LinearRegression.load], but for the file's name
 *
 * Since: 0.1
 */
AprLinearRegression *
apr_linear_regression_from_bytes (GBytes *bytes, GError **error)
{
  g_return_val_if_fail (bytes != NULL, NULL);

  return (AprLinearRegression *) apr_estimator_from_bytes (APR_TYPE_LINEAR_REGRESSION, bytes, error);
}
