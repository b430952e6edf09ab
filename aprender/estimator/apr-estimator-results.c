/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-estimator-results-private.h"

#include "aprender/estimator/apr-estimator-private.h"
#include "aprender/estimator/apr-model-file-private.h"
#include "aprender/safetensors/apr-safetensors-header-private.h"
#include "aprender/safetensors/apr-safetensors-writer-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* The results of a subclass that gives them to the base class: tensors by their names, which nobody changes. */

static gpointer
results_ref (gpointer results)
{
  return g_hash_table_ref (results);
}

static void
results_unref (gpointer results)
{
  g_hash_table_unref (results);
}

static gboolean
results_save (AprEstimator *self, gconstpointer results, AprSafetensorsWriter *writer, GError **error)
{
  GHashTableIter iter;
  gpointer name;
  gpointer tensor;

  g_hash_table_iter_init (&iter, (GHashTable *) results);
  while (g_hash_table_iter_next (&iter, &name, &tensor))
    if (!apr_safetensors_writer_add_tensor (writer, name, tensor, error))
      return FALSE;

  return TRUE;
}

static const AprResultsType results_type = {
  .ref = results_ref,
  .unref = results_unref,
  .save_tensors = apr_estimator_save_results,
  .save = results_save,
};

/* With those of @results, if there are any. */
static GHashTable *
results_copy (GHashTable *results)
{
  /* Names come from files too, and a file can choose names that all hash alike, unless the hash has a secret key. */
  GHashTable *copy =
    g_hash_table_new_full (apr_safetensors_name_hash, g_str_equal, g_free, (GDestroyNotify) apr_tensor_unref);
  GHashTableIter iter;
  gpointer name;
  gpointer tensor;

  if (results == NULL)
    return copy;

  g_hash_table_iter_init (&iter, results);
  while (g_hash_table_iter_next (&iter, &name, &tensor))
    g_hash_table_insert (copy, g_strdup (name), apr_tensor_ref (tensor));

  return copy;
}

/* Whether the base class keeps this model's results. */
static gboolean
check_class (AprEstimator *self, GError **error)
{
  if (APR_ESTIMATOR_GET_CLASS (self)->results_type == NULL)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_FAILED,
               "%s keeps its results itself: set_result and get_result are for "
               "classes that derive from AprEstimator directly",
               G_OBJECT_TYPE_NAME (self));
  return FALSE;
}

static void
take_results (AprEstimator *self, GHashTable *results)
{
  apr_estimator_take_pending (self, apr_fitted_new (0, 0, &results_type, results));
}

/**
 * apr_estimator_set_result:
 * @self: an estimator that is being fitted
 * @name: what files call the result: any UTF-8 except `__metadata__`
 * @tensor: the result
 * @error: return location for an error
 *
 * Keeps a result of a fit: for the virtual function `fit` of a subclass, and for its `load_tensors` if it has one.
 *
 * The model has the results that a fit sets, and no others, when the fit has ended; where it fails, the model has those
 * of before. What is kept in this way is copied and saved with the model, and loaded, without further code.
 *
 * Returns: true, or false with %APR_ERROR_FAILED where no fit and no load runs in this thread, or where a class such
 *   as [class@Apr.LinearRegression] keeps its results itself, and with an error of
 *   [method@Apr.SafetensorsWriter.add_tensor] where no file can have the name
 *
 * Since: 0.1
 */
gboolean
apr_estimator_set_result (AprEstimator *self, const char *name, AprTensor *tensor, GError **error)
{
  g_autoptr (AprFitted) pending = NULL;
  GHashTable *results;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);
  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (tensor != NULL, FALSE);

  if (!check_class (self, error) || !apr_safetensors_check_name (name, error))
    return FALSE;
  pending = apr_estimator_ref_pending (self);
  if (pending == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_FAILED,
                   "The result “%s” of this %s can be set while it is fitted or loaded only", name,
                   G_OBJECT_TYPE_NAME (self));
      return FALSE;
    }

  results = results_copy (pending->results);
  g_hash_table_insert (results, g_strdup (name), apr_tensor_ref (tensor));
  take_results (self, results);

  return TRUE;
}

static GPrivate innermost_reading;

void
apr_estimator_begin_reading (AprEstimatorReading *reading, AprEstimator *self, AprFitted *fitted)
{
  reading->self = self;
  reading->fitted = fitted;
  reading->outer = g_private_get (&innermost_reading);
  g_private_set (&innermost_reading, reading);
}

void
apr_estimator_end_reading (AprEstimatorReading *reading)
{
  g_private_set (&innermost_reading, reading->outer);
}

/* Within a prediction, what that began with; within a fit, what that has found so far; otherwise what the model has
 * now. */
static AprFitted *
ref_read (AprEstimator *self)
{
  g_autoptr (AprFitted) pending = apr_estimator_ref_pending (self);
  const AprEstimatorReading *reading = pending == NULL ? g_private_get (&innermost_reading) : NULL;

  while (reading != NULL && reading->self != self)
    reading = reading->outer;
  return reading != NULL ? apr_fitted_ref (reading->fitted) : apr_estimator_ref_fitted (self);
}

/**
 * apr_estimator_get_result:
 * @self: an estimator
 * @name: what files call the result
 * @error: return location for an error
 *
 * Gets a result that a fit has kept with [method@Apr.Estimator.set_result]: for the virtual functions of a subclass.
 *
 * A fit that runs sees, in its thread, those of before until it sets the first of its own. All calls of one prediction
 * get those of one fit, even if another thread fits the model meanwhile.
 *
 * Returns: (transfer full): the result, or `NULL` with %APR_ERROR_MODEL where there is none of this name, as in an
 *   unfitted model, or in one from a file without it, or with %APR_ERROR_FAILED where a class such as
 *   [class@Apr.LinearRegression] keeps its results itself
 *
 * Since: 0.1
 */
AprTensor *
apr_estimator_get_result (AprEstimator *self, const char *name, GError **error)
{
  g_autoptr (AprFitted) fitted = NULL;
  AprTensor *tensor = NULL;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);
  g_return_val_if_fail (name != NULL, NULL);

  if (!check_class (self, error))
    return NULL;
  fitted = ref_read (self);
  if (fitted->results != NULL)
    tensor = g_hash_table_lookup (fitted->results, name);
  if (tensor != NULL)
    return apr_tensor_ref (tensor);

  g_set_error (error, APR_ERROR, APR_ERROR_MODEL, "%s has no result “%s”", G_OBJECT_TYPE_NAME (self), name);
  return NULL;
}

gboolean
apr_estimator_has_results (const AprFitted *fitted)
{
  return fitted->type == &results_type;
}

/* The base class's save_tensors and load_tensors. */

gboolean
apr_estimator_save_results (AprEstimator *self, AprSafetensorsWriter *writer, GError **error)
{
  g_autoptr (AprFitted) fitted = apr_estimator_ref_fitted (self);

  if (apr_estimator_has_results (fitted))
    return results_save (self, fitted->results, writer, error);

  g_set_error (error, APR_ERROR, APR_ERROR_FAILED,
               "%s has nothing to save: its fit sets no result, and it has no save_tensors",
               G_OBJECT_TYPE_NAME (self));
  return FALSE;
}

static gboolean
read_count (AprSafetensorsReader *reader, const char *key, gsize *count, GError **error)
{
  const char *text = g_hash_table_lookup (apr_safetensors_reader_get_metadata (reader), key);
  guint64 value = 0;

  if (text == NULL || !g_ascii_string_to_unsigned (text, 10, 1, G_MAXSSIZE, &value, NULL))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The file's “%s” is %s%s%s, not a whole number from 1 on", key, text != NULL ? "“" : "",
                   text != NULL ? text : "missing", text != NULL ? "”" : "");
      return FALSE;
    }

  *count = (gsize) value;
  return TRUE;
}

gboolean
apr_estimator_load_results (
  AprEstimator *self, AprSafetensorsReader *reader, gsize *n_features, gsize *n_targets, GError **error)
{
  const char *const *names = apr_safetensors_reader_get_names (reader);
  g_autoptr (GHashTable) results = results_copy (NULL);
  gsize i;

  if (!read_count (reader, APR_MODEL_KEY_N_FEATURES, n_features, error) ||
      !read_count (reader, APR_MODEL_KEY_N_TARGETS, n_targets, error))
    return FALSE;
  for (i = 0; names[i] != NULL; i++)
    {
      g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, names[i], error);
      AprTensor *copy = tensor != NULL ? apr_tensor_copy (tensor, error) : NULL;

      if (copy == NULL)
        return FALSE;
      g_hash_table_insert (results, g_strdup (names[i]), copy);
    }

  take_results (self, g_steal_pointer (&results));
  return TRUE;
}
