/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-estimator-private.h"

#include <string.h>

#include "aprender/base/apr-run-private.h"
#include "aprender/estimator/apr-estimator-results-private.h"
#include "aprender/estimator/apr-hyper-parameters-private.h"
#include "aprender/estimator/apr-model-file-private.h"

AprEstimator *
apr_estimator_create (GType type, guint n, const char **names, const GValue *values, GError **error)
{
  GObject *object = g_object_new_with_properties (type, n, names, values);

  /* Where a constructor in JavaScript throws, GJS logs that and gives nothing. */
  if (APR_IS_ESTIMATOR (object))
    return APR_ESTIMATOR (object);

  g_clear_object (&object);
  g_set_error (error, APR_ERROR, APR_ERROR_FAILED,
               "No %s can be made: its constructor must do without arguments, and not fail",
               g_type_name (type));
  return NULL;
}

void
apr_clone_source_init (AprCloneSource *self, AprEstimator *estimator)
{
  g_autofree GParamSpec **pspecs = apr_cloned_properties_list (G_OBJECT_GET_CLASS (estimator), &self->n);
  guint i;

  self->type = G_OBJECT_TYPE (estimator);
  self->names = g_new (const char *, self->n);
  self->values = g_new0 (GValue, self->n);
  for (i = 0; i < self->n; i++)
    {
      self->names[i] = pspecs[i]->name;
      g_value_init (&self->values[i], pspecs[i]->value_type);
      g_object_get_property (G_OBJECT (estimator), self->names[i], &self->values[i]);
    }
}

void
apr_clone_source_clear (AprCloneSource *self)
{
  guint i;

  for (i = 0; i < self->n; i++)
    g_value_unset (&self->values[i]);
  g_clear_pointer (&self->names, g_free);
  g_clear_pointer (&self->values, g_free);
  self->n = 0;
}

AprEstimator *
apr_clone_source_clone (const AprCloneSource *self, GError **error)
{
  return apr_estimator_create (self->type, self->n, self->names, self->values, error);
}

AprEstimator *
apr_estimator_try_clone (AprEstimator *self, GError **error)
{
  g_auto (AprCloneSource) source = { 0 };

  apr_clone_source_init (&source, self);

  return apr_clone_source_clone (&source, error);
}

/**
 * apr_estimator_clone:
 * @self: an estimator
 *
 * Makes an unfitted estimator of the same type with the same hyper-parameters, and with the same transient properties,
 * such as the number of threads.
 *
 * A class of a script whose constructor fails without arguments cannot be cloned: then this is a critical warning, and
 * `NULL`.
 *
 * Returns: (transfer full) (nullable): the new estimator
 *
 * Since: 0.1
 */
AprEstimator *
apr_estimator_clone (AprEstimator *self)
{
  g_autoptr (GError) error = NULL;
  AprEstimator *clone;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);

  clone = apr_estimator_try_clone (self, &error);
  if (error != NULL)
    g_critical ("%s", error->message);

  return clone;
}

/* What files call a type. A script that defines a class again gets a type with the ending -v2, -v3, ..., as no type
 * can be defined anew; its files are still those of the class.
 */
char *
apr_model_name_new (GType type)
{
  char *name = g_strdup (g_type_name (type));
  gsize length = strlen (name);
  gsize i = length;

  while (i > 0 && g_ascii_isdigit (name[i - 1]))
    i--;
  if (i < length && i > 2 && name[i - 1] == 'v' && name[i - 2] == '-')
    name[i - 2] = '\0';

  return name;
}

char *
apr_model_key_new (const char *prefix, const char *key)
{
  return g_strconcat (APR_MODEL_PREFIX, prefix, key, NULL);
}

/* Whether all results are in the immutable value, so that what a subclass adds does not count. */
static gboolean
has_all (AprEstimator *self, const AprFitted *fitted)
{
  return fitted->results != NULL &&
         APR_ESTIMATOR_GET_CLASS (self)->save_tensors == fitted->type->save_tensors;
}

/**
 * apr_estimator_copy:
 * @self: an estimator
 * @error: return location for an error
 *
 * Makes an estimator of the same type with the same properties and the same results.
 *
 * The two share what was found, which never changes, so a copy of a linear regression takes no time, and has all
 * that the original has. A subclass with tensors of its own is copied by way of [method@Apr.Estimator.to_bytes].
 *
 * Returns: (transfer full): the copy; `NULL` with an error of [method@Apr.Estimator.to_bytes], or with
 *   %APR_ERROR_FAILED where the constructor of a class of a script fails without arguments
 *
 * Since: 0.1
 */
AprEstimator *
apr_estimator_copy (AprEstimator *self, GError **error)
{
  g_autoptr (AprFitted) fitted = NULL;
  g_autoptr (AprEstimator) copy = NULL;
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autoptr (GBytes) bytes = NULL;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);

  copy = apr_estimator_try_clone (self, error);
  if (copy == NULL)
    return NULL;

  fitted = apr_estimator_ref_fitted (self);
  if (fitted->n_features == 0 || has_all (self, fitted))
    {
      apr_estimator_set_fitted (copy, fitted);
      return g_steal_pointer (&copy);
    }

  bytes = apr_estimator_to_bytes (self, error);
  reader = bytes != NULL ? apr_safetensors_reader_new_from_bytes (bytes, error) : NULL;
  if (reader == NULL || !apr_estimator_load_into (copy, reader, NULL, error))
    return NULL;

  return g_steal_pointer (&copy);
}

static gboolean
add_metadata (AprEstimator *self, const AprFitted *fitted, AprSafetensorsWriter *writer, GError **error)
{
  guint n;
  g_autofree GParamSpec **pspecs = apr_hyper_parameters_list (G_OBJECT_GET_CLASS (self), &n);
  g_autofree char *name = apr_model_name_new (G_OBJECT_TYPE (self));
  AprNames kind;
  guint i;

  if (!apr_safetensors_writer_set_metadata (writer, APR_MODEL_KEY, name, error) ||
      !apr_safetensors_writer_set_metadata (writer, APR_MODEL_KEY_FORMAT, APR_MODEL_FORMAT, error))
    return FALSE;

  for (i = 0; i < n; i++)
    {
      g_autofree char *key = apr_hyper_parameter_get_key (pspecs[i], error);
      g_autofree char *full_key = g_strconcat (APR_MODEL_PREFIX, key, NULL);
      g_autofree char *text = NULL;

      if (key == NULL || !apr_hyper_parameter_to_string (G_OBJECT (self), pspecs[i], &text, error))
        return FALSE;
      if (apr_hyper_parameter_is_unset (G_OBJECT (self), pspecs[i]))
        {
          g_autofree char *unset_key = g_strconcat (full_key, APR_MODEL_SUFFIX_UNSET, NULL);

          if (!apr_safetensors_writer_set_metadata (writer, unset_key, "true", error))
            return FALSE;
        }
      if (text != NULL && !apr_safetensors_writer_set_metadata (writer, full_key, text, error))
        return FALSE;
    }

  if (apr_estimator_has_results (fitted))
    {
      g_autofree char *n_features = g_strdup_printf ("%" G_GSIZE_FORMAT, fitted->n_features);
      g_autofree char *n_targets = g_strdup_printf ("%" G_GSIZE_FORMAT, fitted->n_targets);

      if (!apr_safetensors_writer_set_metadata (writer, APR_MODEL_KEY_N_FEATURES, n_features, error) ||
          !apr_safetensors_writer_set_metadata (writer, APR_MODEL_KEY_N_TARGETS, n_targets, error))
        return FALSE;
    }

  for (kind = 0; kind < APR_N_NAMES; kind++)
    if (!apr_names_save (fitted->names[kind], apr_names_get_key (kind), writer, "", error))
      return FALSE;

  return TRUE;
}

/* What a file is made of, as it was when it was begun. */
static AprSafetensorsWriter *
create_writer (AprEstimator *self, const AprFitted *fitted, GError **error)
{
  g_autoptr (AprSafetensorsWriter) writer = NULL;

  if (fitted->n_features == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NOT_FITTED, "Cannot save an unfitted %s: call fit first",
                   G_OBJECT_TYPE_NAME (self));
      return NULL;
    }

  writer = apr_safetensors_writer_new ();

  return add_metadata (self, fitted, writer, error) ? g_steal_pointer (&writer) : NULL;
}

static gboolean
add_tensors (AprEstimator *self, const AprFitted *fitted, AprSafetensorsWriter *writer, GError **error)
{
  AprEstimatorClass *klass = APR_ESTIMATOR_GET_CLASS (self);
  g_autoptr (GError) local_error = NULL;

  if (has_all (self, fitted) ? fitted->type->save (self, fitted->results, writer, &local_error)
                             : klass->save_tensors (self, writer, &local_error))
    return TRUE;

  apr_estimator_set_failed (self, "save_tensors", &local_error);
  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}

static AprSafetensorsWriter *
create_full_writer (AprEstimator *self, GError **error)
{
  g_autoptr (AprFitted) fitted = apr_estimator_ref_fitted (self);
  g_autoptr (AprSafetensorsWriter) writer = create_writer (self, fitted, error);

  return writer != NULL && add_tensors (self, fitted, writer, error) ? g_steal_pointer (&writer) : NULL;
}

/**
 * apr_estimator_save:
 * @self: a fitted estimator
 * @path: (type filename): where the file goes
 * @error: return location for an error
 *
 * Writes the model to a SafeTensors file.
 *
 * Equal models make equal files, byte for byte. The file is replaced in one step: whatever happens, there is
 * either the old one or the new one.
 *
 * Returns: true, or false with %APR_ERROR_NOT_FITTED, an error of #GIOErrorEnum, or what the subclass gives
 *
 * Since: 0.1
 */
gboolean
apr_estimator_save (AprEstimator *self, const char *path, GError **error)
{
  g_autoptr (AprSafetensorsWriter) writer = NULL;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);
  g_return_val_if_fail (path != NULL, FALSE);

  writer = create_full_writer (self, error);

  return writer != NULL && apr_safetensors_writer_write_to_path (writer, path, error);
}

/**
 * apr_estimator_save_to_file:
 * @self: a fitted estimator
 * @file: where the model goes
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Writes the model as [method@Apr.Estimator.save] does, to a file that may be anywhere.
 *
 * Returns: true, or false with an error as of [method@Apr.Estimator.save]
 *
 * Since: 0.1
 */
gboolean
apr_estimator_save_to_file (AprEstimator *self, GFile *file, GCancellable *cancellable, GError **error)
{
  g_autoptr (AprSafetensorsWriter) writer = NULL;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);
  g_return_val_if_fail (G_IS_FILE (file), FALSE);

  /* The virtual function takes none. */
  apr_run_push_cancellable (cancellable);
  writer = create_full_writer (self, error);
  apr_run_pop_cancellable (cancellable);

  return writer != NULL && apr_safetensors_writer_write_to_file (writer, file, cancellable, error);
}

static gboolean
run_save (AprEstimator *self, AprEstimatorCall *call, GCancellable *cancellable, GError **error)
{
  AprSafetensorsWriter *writer = APR_SAFETENSORS_WRITER (call->object);

  if (call->fitted != NULL && !add_tensors (self, call->fitted, writer, error))
    return FALSE;
  if (call->file != NULL)
    return apr_safetensors_writer_write_to_file (writer, call->file, cancellable, error);

  call->results[0] = apr_safetensors_writer_write_to_bytes (writer, error);
  call->free_result = (GDestroyNotify) g_bytes_unref;

  return call->results[0] != NULL;
}

/* Writes to @file, or makes bytes where it is NULL. Properties, and a script's tensors, are asked for here and now. */
static void
save_async (AprEstimator *self,
            GFile *file,
            const char *name,
            gpointer source_tag,
            int io_priority,
            GCancellable *cancellable,
            GAsyncReadyCallback callback,
            gpointer user_data)
{
  g_autoptr (AprFitted) fitted = apr_estimator_ref_fitted (self);
  gboolean in_thread = has_all (self, fitted);
  GError *error = NULL;
  g_autoptr (AprSafetensorsWriter) writer = create_writer (self, fitted, &error);
  AprEstimatorCall *call;

  if (writer == NULL || (!in_thread && !add_tensors (self, fitted, writer, &error)))
    {
      apr_estimator_return_error_named (self, name, source_tag, error, callback, user_data);
      return;
    }

  call = apr_estimator_call_new (NULL, NULL, NULL);
  call->run = run_save;
  call->fitted = in_thread ? g_steal_pointer (&fitted) : NULL;
  call->object = G_OBJECT (g_steal_pointer (&writer));
  call->file = file != NULL ? g_object_ref (file) : NULL;
  apr_estimator_call_async_named (self, call, name, source_tag, io_priority, cancellable, callback,
                                  user_data);
}

/**
 * apr_estimator_save_to_file_async:
 * @self: a fitted estimator
 * @file: where the model goes
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the file has been written
 * @user_data: data to pass to @callback
 *
 * Writes the model as it is now to a file, without blocking.
 *
 * Since: 0.1
 */
void
apr_estimator_save_to_file_async (AprEstimator *self,
                                  GFile *file,
                                  int io_priority,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data)
{
  g_return_if_fail (APR_IS_ESTIMATOR (self));
  g_return_if_fail (G_IS_FILE (file));

  save_async (self, file, G_STRFUNC, apr_estimator_save_to_file_async, io_priority, cancellable, callback,
              user_data);
}

/**
 * apr_estimator_save_to_file_finish:
 * @self: an estimator
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.Estimator.save_to_file_async] began.
 *
 * Returns: true, or false with an error as of [method@Apr.Estimator.save]
 *
 * Since: 0.1
 */
gboolean
apr_estimator_save_to_file_finish (AprEstimator *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);

  return apr_estimator_call_finish (self, result, apr_estimator_save_to_file_async, error) != NULL;
}

/**
 * apr_estimator_to_bytes:
 * @self: a fitted estimator
 * @error: return location for an error
 *
 * Makes the bytes that [method@Apr.Estimator.save] would write.
 *
 * Returns: (transfer full): the bytes of a SafeTensors file, or `NULL` as of [method@Apr.Estimator.save]
 *
 * Since: 0.1
 */
GBytes *
apr_estimator_to_bytes (AprEstimator *self, GError **error)
{
  g_autoptr (AprSafetensorsWriter) writer = NULL;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);

  writer = create_full_writer (self, error);
  if (writer == NULL)
    return NULL;

  return apr_safetensors_writer_write_to_bytes (writer, error);
}

/**
 * apr_estimator_to_bytes_async:
 * @self: a fitted estimator
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the bytes are there
 * @user_data: data to pass to @callback
 *
 * Makes the bytes of a file of the model, as it is now, without blocking.
 *
 * Since: 0.1
 */
void
apr_estimator_to_bytes_async (AprEstimator *self,
                              int io_priority,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data)
{
  g_return_if_fail (APR_IS_ESTIMATOR (self));

  save_async (self, NULL, G_STRFUNC, apr_estimator_to_bytes_async, io_priority, cancellable, callback,
              user_data);
}

/**
 * apr_estimator_to_bytes_finish:
 * @self: an estimator
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [method@Apr.Estimator.to_bytes_async] began.
 *
 * Returns: (transfer full): the bytes of a SafeTensors file, or `NULL` with an error as of
 *   [method@Apr.Estimator.to_bytes]
 *
 * Since: 0.1
 */
GBytes *
apr_estimator_to_bytes_finish (AprEstimator *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);

  return apr_estimator_call_take_result (self, result, apr_estimator_to_bytes_async, error);
}
