/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-estimator-private.h"

#include "aprender/base/apr-run-private.h"
#include "aprender/base/apr-task-private.h"
#include "aprender/estimator/apr-hyper-parameters-private.h"
#include "aprender/estimator/apr-model-file-private.h"

/* The metadata may be missing, as they are in files that other programs write; what is there must be right.
 */
static gboolean
check_model (GType type, GHashTable *metadata, GError **error)
{
  const char *model = g_hash_table_lookup (metadata, APR_MODEL_KEY);
  const char *format = g_hash_table_lookup (metadata, APR_MODEL_KEY_FORMAT);
  g_autofree char *name = apr_model_name_new (type);

  if (model != NULL && g_strcmp0 (model, name) != 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL, "The file holds the model “%s”, not “%s”", model, name);
      return FALSE;
    }

  if (format != NULL && g_strcmp0 (format, APR_MODEL_FORMAT) != 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The file has the model format “%s”, but this version reads “%s”", format,
                   APR_MODEL_FORMAT);
      return FALSE;
    }

  return TRUE;
}

static AprEstimator *
create_with_hyper_parameters (GType type, GHashTable *metadata, GError **error)
{
  g_autoptr (GTypeClass) klass = g_type_class_ref (type);
  guint n;
  g_autofree GParamSpec **pspecs = apr_hyper_parameters_list (G_OBJECT_CLASS (klass), &n);
  g_autofree const char **names = g_new (const char *, n);
  g_autofree GValue *values = g_new0 (GValue, n);
  AprEstimator *self = NULL;
  guint n_found = 0;
  guint i;

  for (i = 0; i < n; i++)
    {
      g_autofree char *key = apr_hyper_parameter_get_key (pspecs[i], NULL);
      g_autofree char *full_key = g_strconcat (APR_MODEL_PREFIX, key, NULL);
      g_autofree char *unset_key = g_strconcat (full_key, APR_MODEL_SUFFIX_UNSET, NULL);
      const char *text = g_hash_table_lookup (metadata, full_key);

      /* It was never stored. */
      if (key == NULL)
        continue;
      if (text == NULL &&
          !(G_IS_PARAM_SPEC_STRING (pspecs[i]) && g_hash_table_contains (metadata, unset_key)))
        continue;
      if (text == NULL)
        g_value_init (&values[n_found], pspecs[i]->value_type);
      else if (!apr_hyper_parameter_from_string (pspecs[i], text, &values[n_found], error))
        break;
      names[n_found++] = pspecs[i]->name;
    }

  if (i == n)
    self = apr_estimator_create (type, n_found, names, values, error);
  for (i = 0; i < n_found; i++)
    g_value_unset (&values[i]);

  return self;
}

/* A subclass says how many features and targets its tensors are for: so many that none could be held is no answer. */
static gboolean
check_loaded (AprEstimator *self, gsize n_features, gsize n_targets, GError **error)
{
  gsize size;

  if (n_features > 0 && n_targets > 0 && g_size_checked_mul (&size, n_features, n_targets) &&
      size <= G_MAXSSIZE / sizeof (double))
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
               "load_tensors of %s gave %" G_GSIZE_FORMAT " features and %" G_GSIZE_FORMAT " targets",
               G_OBJECT_TYPE_NAME (self), n_features, n_targets);
  return FALSE;
}

/* Takes the names that the file has. */
static gboolean
load_names (AprEstimator *self, AprSafetensorsReader *reader, GError **error)
{
  GHashTable *metadata = apr_safetensors_reader_get_metadata (reader);
  AprNames kind;

  for (kind = 0; kind < APR_N_NAMES; kind++)
    {
      g_auto (GStrv) names = NULL;

      if (!apr_names_load (metadata, apr_names_get_key (kind), "", &names, error) ||
          (names != NULL &&
           !apr_estimator_set_pending_names (self, kind, (const char *const *) names, error)))
        return FALSE;
    }

  return TRUE;
}

static gboolean
run_load (AprEstimator *self, AprEstimatorCall *call, GCancellable *cancellable, GError **error)
{
  AprEstimatorClass *klass = APR_ESTIMATOR_GET_CLASS (self);
  AprSafetensorsReader *reader = APR_SAFETENSORS_READER (call->object);
  g_autoptr (GError) local_error = NULL;
  gsize n_features = 0;
  gsize n_targets = 0;

  if (!klass->load_tensors (self, reader, &n_features, &n_targets, &local_error))
    {
      apr_estimator_set_failed (self, "load_tensors", &local_error);
      g_propagate_error (error, g_steal_pointer (&local_error));
      return FALSE;
    }

  if (!check_loaded (self, n_features, n_targets, error))
    return FALSE;
  apr_estimator_complete_pending (self, n_features, n_targets);

  return load_names (self, reader, error);
}

static AprEstimator *
create_from_reader (GType type, AprSafetensorsReader *reader, GError **error)
{
  GHashTable *metadata = apr_safetensors_reader_get_metadata (reader);

  return check_model (type, metadata, error) ? create_with_hyper_parameters (type, metadata, error) : NULL;
}

gboolean
apr_estimator_load_into (AprEstimator *self,
                         AprSafetensorsReader *reader,
                         GCancellable *cancellable,
                         GError **error)
{
  AprEstimatorCall call = { .object = G_OBJECT (reader) };
  gboolean loaded;

  /* The virtual function takes none. */
  apr_run_push_cancellable (cancellable);
  loaded = apr_estimator_update (self, run_load, &call, cancellable, error);
  apr_run_pop_cancellable (cancellable);

  return loaded;
}

static AprEstimator *
load_from_reader (GType type, AprSafetensorsReader *reader, GCancellable *cancellable, GError **error)
{
  g_autoptr (AprEstimator) self = create_from_reader (type, reader, error);

  return self != NULL && apr_estimator_load_into (self, reader, cancellable, error) ? g_steal_pointer (&self)
                                                                                    : NULL;
}

static gboolean
check_type (GType type, GError **error)
{
  if (g_type_is_a (type, APR_TYPE_ESTIMATOR) && !G_TYPE_IS_ABSTRACT (type))
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_MODEL, "“%s” is not a type of estimator that can be loaded",
               g_type_name (type) != NULL ? g_type_name (type) : "(invalid)");
  return FALSE;
}

/* Says of what file the model is that cannot be made; the reader's own errors say so. */
static AprEstimator *
load_named (
  GType type, AprSafetensorsReader *reader, const char *name, GCancellable *cancellable, GError **error)
{
  AprEstimator *self = load_from_reader (type, reader, cancellable, error);

  if (self == NULL)
    g_prefix_error (error, "%s: ", name);

  return self;
}

/**
 * apr_estimator_load:
 * @type: the type of the model, such as %APR_TYPE_LINEAR_REGRESSION
 * @path: (type filename): a SafeTensors file
 * @error: return location for an error
 *
 * Makes a fitted model from a file.
 *
 * The model keeps nothing of the file, which may change or go as soon as this returns. Nor does the file choose
 * what is made: if it names a type, that must be @type. Files without metadata, as other programs write them, are read
 * with hyper-parameters at their defaults.
 *
 * Returns: (transfer full): the model; `NULL` with %APR_ERROR_MODEL where the file holds something else,
 * %APR_ERROR_NOT_FINITE where a number of it is a NaN or an infinity, an error of #AprSafetensorsError or
 * #GIOErrorEnum, or what the subclass gives
 *
 * Since: 0.1
 */
AprEstimator *
apr_estimator_load (GType type, const char *path, GError **error)
{
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autofree char *name = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  if (!check_type (type, error))
    return NULL;
  reader = apr_safetensors_reader_new_from_path (path, error);
  if (reader == NULL)
    return NULL;
  name = g_filename_display_name (path);

  return load_named (type, reader, name, NULL, error);
}

/**
 * apr_estimator_load_from_file:
 * @type: the type of the model, such as %APR_TYPE_LINEAR_REGRESSION
 * @file: a SafeTensors file, which may be anywhere
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Makes a fitted model from a file, as [func@Apr.Estimator.load] does.
 *
 * Returns: (transfer full): the model, or `NULL` as of [func@Apr.Estimator.load]
 *
 * Since: 0.1
 */
AprEstimator *
apr_estimator_load_from_file (GType type, GFile *file, GCancellable *cancellable, GError **error)
{
  g_autoptr (AprSafetensorsReader) reader = NULL;
  g_autofree char *name = NULL;

  g_return_val_if_fail (G_IS_FILE (file), NULL);

  if (!check_type (type, error))
    return NULL;
  reader = apr_safetensors_reader_new_from_file (file, cancellable, error);
  if (reader == NULL)
    return NULL;

  name = g_file_get_parse_name (file);

  return load_named (type, reader, name, cancellable, error);
}

/* Says of what file the model is, where it is one. */
static void
return_load_error (GTask *task, GError *error)
{
  GFile *file = g_task_get_task_data (task);

  if (file != NULL)
    {
      g_autofree char *name = g_file_get_parse_name (file);

      g_prefix_error (&error, "%s: ", name);
    }
  g_task_return_error (task, error);
}

static void
loaded_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GTask) task = user_data;
  GError *error = NULL;

  if (apr_estimator_call_finish (object, result, run_load, &error) != NULL)
    {
      g_task_return_pointer (task, g_object_ref (object), g_object_unref);
      return;
    }

  return_load_error (task, error);
}

static void
load_from_reader_async (GTask *task, AprSafetensorsReader *reader)
{
  GType type = (GType) (gsize) g_object_get_data (G_OBJECT (task), "type");
  GError *error = NULL;
  g_autoptr (AprEstimator) self = create_from_reader (type, reader, &error);
  AprEstimatorCall *call;

  if (self == NULL)
    {
      return_load_error (task, error);
      return;
    }

  call = apr_estimator_call_new (NULL, NULL, NULL);
  call->run = run_load;
  call->is_update = TRUE;
  call->needs_caller = !APR_ESTIMATOR_IS_THREAD_SAFE (self, load_tensors);
  call->object = g_object_ref (G_OBJECT (reader));
  apr_estimator_call_async (self, call, run_load, g_task_get_priority (task), g_task_get_cancellable (task),
                            loaded_cb, g_object_ref (task));
}

static void
opened_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GTask) task = user_data;
  GError *error = NULL;
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_file_finish (result, &error);

  if (reader != NULL)
    load_from_reader_async (task, reader);
  else
    g_task_return_error (task, error);
}

/* Returns: (nullable): NULL where it has failed already */
static GTask *
load_task_new (GType type,
               const char *name,
               gpointer source_tag,
               int io_priority,
               GCancellable *cancellable,
               GAsyncReadyCallback callback,
               gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  GError *error = NULL;

  g_task_set_name (task, name);
  g_task_set_source_tag (task, source_tag);
  g_task_set_priority (task, io_priority);
  g_object_set_data (G_OBJECT (task), "type", (gpointer) (gsize) type);
  if (check_type (type, &error))
    return g_steal_pointer (&task);

  g_task_return_error (task, error);
  return NULL;
}

/**
 * apr_estimator_load_from_file_async:
 * @type: the type of the model, such as %APR_TYPE_LINEAR_REGRESSION
 * @file: a SafeTensors file, which may be anywhere
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the model is there
 * @user_data: data to pass to @callback
 *
 * Makes a fitted model from a file without blocking.
 *
 * Since: 0.1
 */
void
apr_estimator_load_from_file_async (GType type,
                                    GFile *file,
                                    int io_priority,
                                    GCancellable *cancellable,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data)
{
  GTask *task;

  g_return_if_fail (G_IS_FILE (file));

  task = load_task_new (type, G_STRFUNC, apr_estimator_load_from_file_async, io_priority, cancellable,
                        callback, user_data);
  if (task == NULL)
    return;

  g_task_set_task_data (task, g_object_ref (file), g_object_unref);
  apr_safetensors_reader_new_from_file_async (file, io_priority, cancellable, opened_cb, task);
}

/**
 * apr_estimator_load_from_file_finish:
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [func@Apr.Estimator.load_from_file_async] began.
 *
 * Returns: (transfer full): the model, or `NULL` with an error as of [func@Apr.Estimator.load]
 *
 * Since: 0.1
 */
AprEstimator *
apr_estimator_load_from_file_finish (GAsyncResult *result, GError **error)
{
  return apr_task_take_pointer (result, NULL, apr_estimator_load_from_file_async, error);
}

/**
 * apr_estimator_from_bytes:
 * @type: the type of the model, such as %APR_TYPE_LINEAR_REGRESSION
 * @bytes: the bytes of a SafeTensors file
 * @error: return location for an error
 *
 * Makes a fitted model from bytes, as [func@Apr.Estimator.load] does from a file.
 *
 * Returns: (transfer full): the model, or `NULL` as of [func@Apr.Estimator.load]
 *
 * Since: 0.1
 */
AprEstimator *
apr_estimator_from_bytes (GType type, GBytes *bytes, GError **error)
{
  g_autoptr (AprSafetensorsReader) reader = NULL;

  g_return_val_if_fail (bytes != NULL, NULL);

  if (!check_type (type, error))
    return NULL;
  reader = apr_safetensors_reader_new_from_bytes (bytes, error);
  if (reader == NULL)
    return NULL;

  return load_from_reader (type, reader, NULL, error);
}

static void
open_bytes (GTask *task,
            gpointer source_object G_GNUC_UNUSED,
            gpointer task_data,
            GCancellable *cancellable G_GNUC_UNUSED)
{
  GError *error = NULL;
  AprSafetensorsReader *reader = apr_safetensors_reader_new_from_bytes (task_data, &error);

  if (reader != NULL)
    g_task_return_pointer (task, reader, g_object_unref);
  else
    g_task_return_error (task, error);
}

static void
opened_bytes_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GTask) task = user_data;
  GError *error = NULL;
  g_autoptr (AprSafetensorsReader) reader = g_task_propagate_pointer (G_TASK (result), &error);

  if (reader != NULL)
    load_from_reader_async (task, reader);
  else
    g_task_return_error (task, error);
}

/**
 * apr_estimator_from_bytes_async:
 * @type: the type of the model, such as %APR_TYPE_LINEAR_REGRESSION
 * @bytes: the bytes of a SafeTensors file
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the model is there
 * @user_data: data to pass to @callback
 *
 * Makes a fitted model from bytes without blocking.
 *
 * Since: 0.1
 */
void
apr_estimator_from_bytes_async (GType type,
                                GBytes *bytes,
                                int io_priority,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data)
{
  g_autoptr (GTask) opening = NULL;
  GTask *task;

  g_return_if_fail (bytes != NULL);

  task = load_task_new (type, G_STRFUNC, apr_estimator_from_bytes_async, io_priority, cancellable, callback,
                        user_data);
  if (task == NULL)
    return;

  opening = g_task_new (NULL, cancellable, opened_bytes_cb, task);
  g_task_set_priority (opening, io_priority);
  g_task_set_task_data (opening, g_bytes_ref (bytes), (GDestroyNotify) g_bytes_unref);
  apr_task_run_reader (opening, open_bytes);
}

/**
 * apr_estimator_from_bytes_finish:
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Ends what [func@Apr.Estimator.from_bytes_async] began.
 *
 * Returns: (transfer full): the model, or `NULL` with an error as of [func@Apr.Estimator.load]
 *
 * Since: 0.1
 */
AprEstimator *
apr_estimator_from_bytes_finish (GAsyncResult *result, GError **error)
{
  return apr_task_take_pointer (result, NULL, apr_estimator_from_bytes_async, error);
}
