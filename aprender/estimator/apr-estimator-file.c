/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-estimator-private.h"

#include <string.h>

#include "aprender/estimator/apr-feature-names-private.h"
#include "aprender/estimator/apr-hyper-parameters-private.h"

/* What outlives an estimator: clones, which have its hyper-parameters, and files, which have all of it. In a
 * file the subclass's tensors stand by the names that it gives them; the rest is metadata, each key with this
 * prefix, because some readers take the bare keys “dtype”, “shape” and “data_offsets” for a tensor's. */
#define PREFIX "aprender."
#define KEY_MODEL PREFIX "model"
#define KEY_FORMAT PREFIX "format"
#define FORMAT "1"

/**
 * apr_estimator_clone:
 * @self: an estimator
 *
 * Makes an unfitted estimator of the same type with the same hyper-parameters.
 *
 * Returns: (transfer full): the new estimator
 *
 * Since: 0.1
 */
AprEstimator *
apr_estimator_clone (AprEstimator *self)
{
  g_autofree GParamSpec **pspecs = NULL;
  g_autofree const char **names = NULL;
  g_autofree GValue *values = NULL;
  AprEstimator *clone;
  guint n;
  guint i;

  g_return_val_if_fail (APR_IS_ESTIMATOR (self), NULL);

  pspecs = apr_hyper_parameters_list (G_OBJECT_GET_CLASS (self), &n);
  names = g_new (const char *, n);
  values = g_new0 (GValue, n);
  for (i = 0; i < n; i++)
    {
      names[i] = pspecs[i]->name;
      g_value_init (&values[i], pspecs[i]->value_type);
      g_object_get_property (G_OBJECT (self), names[i], &values[i]);
    }

  clone = APR_ESTIMATOR (g_object_new_with_properties (G_OBJECT_TYPE (self), n, names, values));
  for (i = 0; i < n; i++)
    g_value_unset (&values[i]);

  return clone;
}

/* What files call a type. A script that defines a class again gets a type with the ending -v2, -v3, ..., as no type can be
 * defined anew; its files are still those of the class.
 */
static char *
get_model_name (GType type)
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

static gboolean
add_metadata (AprEstimator *self, AprSafetensorsWriter *writer, GError **error)
{
  guint n;
  g_autofree GParamSpec **pspecs = apr_hyper_parameters_list (G_OBJECT_GET_CLASS (self), &n);
  const char *const *feature_names = apr_estimator_get_feature_names (self);
  g_autofree char *name = get_model_name (G_OBJECT_TYPE (self));
  guint i;

  if (!apr_safetensors_writer_set_metadata (writer, KEY_MODEL, name, error) ||
      !apr_safetensors_writer_set_metadata (writer, KEY_FORMAT, FORMAT, error))
    return FALSE;

  for (i = 0; i < n; i++)
    {
      g_autofree char *key = apr_hyper_parameter_get_key (pspecs[i]);
      g_autofree char *full_key = g_strconcat (PREFIX, key, NULL);
      g_autofree char *text = NULL;

      if (!apr_hyper_parameter_to_string (G_OBJECT (self), pspecs[i], &text, error))
        return FALSE;
      if (text != NULL && !apr_safetensors_writer_set_metadata (writer, full_key, text, error))
        return FALSE;
    }

  if (feature_names != NULL)
    {
      g_autofree char *json = apr_feature_names_to_json (feature_names);

      return apr_safetensors_writer_set_metadata (writer, APR_FEATURE_NAMES_KEY, json, error);
    }

  return TRUE;
}

static AprSafetensorsWriter *
create_writer (AprEstimator *self, GError **error)
{
  AprEstimatorClass *klass = APR_ESTIMATOR_GET_CLASS (self);
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (GError) local_error = NULL;

  if (!apr_estimator_get_fitted (self))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NOT_FITTED, "Cannot save an unfitted %s: call fit first",
                   G_OBJECT_TYPE_NAME (self));
      return NULL;
    }

  if (klass->save_tensors == NULL || !klass->save_tensors (self, writer, &local_error))
    {
      if (local_error != NULL)
        g_propagate_error (error, g_steal_pointer (&local_error));
      else
        g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "save_tensors of %s failed without giving a reason",
                     G_OBJECT_TYPE_NAME (self));
      return NULL;
    }

  if (!add_metadata (self, writer, error))
    return NULL;

  return g_steal_pointer (&writer);
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

  writer = create_writer (self, error);

  return writer != NULL && apr_safetensors_writer_write_to_path (writer, path, error);
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

  writer = create_writer (self, error);
  if (writer == NULL)
    return NULL;

  return apr_safetensors_writer_write_to_bytes (writer, error);
}

/* The metadata may be missing, as they are in files that other programs write; what is there must be right.
 */
static gboolean
check_model (GType type, GHashTable *metadata, GError **error)
{
  const char *model = g_hash_table_lookup (metadata, KEY_MODEL);
  const char *format = g_hash_table_lookup (metadata, KEY_FORMAT);
  g_autofree char *name = get_model_name (type);

  if (model != NULL && g_strcmp0 (model, name) != 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL, "The file holds the model “%s”, not “%s”", model, name);
      return FALSE;
    }

  if (format != NULL && g_strcmp0 (format, FORMAT) != 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The file has the model format “%s”, but this version reads “%s”", format, FORMAT);
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
      g_autofree char *key = apr_hyper_parameter_get_key (pspecs[i]);
      g_autofree char *full_key = g_strconcat (PREFIX, key, NULL);
      const char *text = g_hash_table_lookup (metadata, full_key);

      if (text == NULL)
        continue;
      if (!apr_hyper_parameter_from_string (pspecs[i], text, &values[n_found], error))
        break;
      names[n_found++] = pspecs[i]->name;
    }

  if (i == n)
    self = APR_ESTIMATOR (g_object_new_with_properties (type, n_found, names, values));
  for (i = 0; i < n_found; i++)
    g_value_unset (&values[i]);

  return self;
}

static AprEstimator *
load_from_reader (GType type, AprSafetensorsReader *reader, GError **error)
{
  GHashTable *metadata = apr_safetensors_reader_get_metadata (reader);
  const char *json = g_hash_table_lookup (metadata, APR_FEATURE_NAMES_KEY);
  g_autoptr (AprEstimator) self = NULL;
  g_autoptr (GError) local_error = NULL;
  AprEstimatorClass *klass;
  gsize n_features = 0;
  gsize n_targets = 0;

  if (!check_model (type, metadata, error))
    return NULL;
  self = create_with_hyper_parameters (type, metadata, error);
  if (self == NULL)
    return NULL;

  klass = APR_ESTIMATOR_GET_CLASS (self);
  if (klass->load_tensors == NULL ||
      !klass->load_tensors (self, reader, &n_features, &n_targets, &local_error))
    {
      if (local_error != NULL)
        g_propagate_error (error, g_steal_pointer (&local_error));
      else
        g_set_error (error, APR_ERROR, APR_ERROR_FAILED, "load_tensors of %s failed without giving a reason",
                     g_type_name (type));
      return NULL;
    }
  apr_estimator_set_fitted (self, n_features, n_targets);

  if (json != NULL)
    {
      g_auto (GStrv) feature_names = apr_feature_names_from_json (json, error);

      if (feature_names == NULL)
        return NULL;
      if (!apr_estimator_set_feature_names (self, (const char *const *) feature_names, error))
        return NULL;
    }

  return g_steal_pointer (&self);
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

/**
 * apr_estimator_load:
 * @type: the type of the model, such as %APR_TYPE_LINEAR_REGRESSION
 * @path: (type filename): a SafeTensors file
 * @error: return location for an error
 *
 * Makes a fitted model from a file.
 *
 * The file does not choose the type: where it names one, it must be @type. Files without metadata, as other
 * programs write them, are read with hyper-parameters at their defaults.
 *
 * Returns: (transfer full): the model; `NULL` with %APR_ERROR_MODEL where the file holds something else, an
 * error of #AprSafetensorsError or #GIOErrorEnum, or what the subclass gives
 *
 * Since: 0.1
 */
AprEstimator *
apr_estimator_load (GType type, const char *path, GError **error)
{
  g_autoptr (AprSafetensorsReader) reader = NULL;
  AprEstimator *self;

  g_return_val_if_fail (path != NULL, NULL);

  if (!check_type (type, error))
    return NULL;
  reader = apr_safetensors_reader_new_from_path (path, error);
  if (reader == NULL)
    return NULL;

  self = load_from_reader (type, reader, error);
  if (self == NULL)
    {
      g_autofree char *name = g_filename_display_name (path);

      g_prefix_error (error, "%s: ", name);
    }

  return self;
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

  return load_from_reader (type, reader, error);
}
