/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-run-private.h"
#include "aprender/base/apr-task-private.h"
#include "aprender/cross-products/apr-cross-products-private.h"
#include "aprender/estimator/apr-model-file-private.h"
#include "aprender/safetensors/apr-safetensors-reader.h"
#include "aprender/safetensors/apr-safetensors-writer.h"

/* The file of cross products: saving and loading. */

#define MODEL "AprCrossProducts"
#define WEIGHT_LOGS "weight_logs"
#define IDENTITIES "identities"

/* Versions that are older than a format refuse it by it. */
enum
{
  SUMS_FORMAT,
  ROWS_FORMAT,
  TRIMMED_FORMAT
};

static const char *const formats[] = { "1", "2", "3", NULL };

/* By AprPrecision. */
static const char *const precisions[] = { "exact", "double", NULL };

static gboolean
set_metadata (
  AprSafetensorsWriter *writer, const char *prefix, const char *key, const char *value, GError **error)
{
  g_autofree char *full_key = apr_model_key_new (prefix, key);

  return apr_safetensors_writer_set_metadata (writer, full_key, value, error);
}

static gboolean
save_names (
  AprCrossProducts *self, AprNames kind, AprSafetensorsWriter *writer, const char *prefix, GError **error)
{
  return apr_names_save (self->names[kind], apr_names_get_key (kind), writer, prefix, error);
}

gboolean
apr_cross_products_add_to_writer (AprCrossProducts *self,
                                  AprSafetensorsWriter *writer,
                                  const char *prefix,
                                  GError **error)
{
  gboolean has_rows = apr_cross_products_stays_rows (self);
  gboolean trimmed = FALSE;
  gint first_word = 0;
  g_autofree char *n_features =
    g_strdup_printf ("%" G_GSIZE_FORMAT, apr_exact_sums_get_n_features (self->sums));
  g_autofree char *n_targets =
    g_strdup_printf ("%" G_GSIZE_FORMAT, apr_exact_sums_get_n_targets (self->sums));
  g_autofree char *n_samples = g_strdup_printf ("%" G_GUINT64_FORMAT, self->n_samples);
  g_autofree char *weight_logs = apr_weight_logs_to_text (self->weight_logs);
  g_autofree char *first_word_text = NULL;

  if (has_rows ? !apr_cross_products_add_rows_to_writer (self, writer, prefix, error)
               : !apr_cross_products_add_sums_to_writer (self, writer, prefix, &trimmed, &first_word, error))
    return FALSE;

  first_word_text = g_strdup_printf ("%d", first_word);
  return (has_rows || set_metadata (writer, prefix, "first_word", first_word_text, error)) &&
         set_metadata (writer, prefix, "model", MODEL, error) &&
         set_metadata (writer, prefix, "format",
                       formats[has_rows  ? ROWS_FORMAT
                               : trimmed ? TRIMMED_FORMAT
                                         : SUMS_FORMAT],
                       error) &&
         set_metadata (writer, prefix, "dtype", apr_dtype_to_string (self->dtype), error) &&
         set_metadata (writer, prefix, "n_features", n_features, error) &&
         set_metadata (writer, prefix, "n_targets", n_targets, error) &&
         set_metadata (writer, prefix, "n_samples", n_samples, error) &&
         set_metadata (writer, prefix, "precision", precisions[self->precision], error) &&
         (self->weight_logs == 0 || set_metadata (writer, prefix, WEIGHT_LOGS, weight_logs, error)) &&
         save_names (self, APR_FEATURE_NAMES, writer, prefix, error) &&
         save_names (self, APR_TARGET_NAMES, writer, prefix, error);
}

static AprSafetensorsWriter *
create_writer (AprCrossProducts *self, GError **error)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();

  /* Identities are about how states are merged: a model is the same whatever parts it was made of. */
  return apr_cross_products_check (self, error) &&
             apr_names_save (self->identities, IDENTITIES, writer, "", error) &&
             apr_cross_products_add_to_writer (self, writer, "", error)
         ? g_steal_pointer (&writer)
         : NULL;
}

/**
 * apr_cross_products_save:
 * @self: a state
 * @path: (type filename): where the file goes
 * @error: return location for an error
 *
 * Writes the state to a SafeTensors file. Equal states make equal files.
 *
 * Returns: true, or false with an error of #GIOErrorEnum
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_save (AprCrossProducts *self, const char *path, GError **error)
{
  g_autoptr (AprSafetensorsWriter) writer = NULL;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (path != NULL, FALSE);

  writer = create_writer (self, error);

  return writer != NULL && apr_safetensors_writer_write_to_path (writer, path, error);
}

/**
 * apr_cross_products_save_to_file:
 * @self: a state
 * @file: where the file goes
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Writes the state to a SafeTensors file, as [method@Apr.CrossProducts.save] does.
 *
 * Returns: true, or false with the file as it was and an error of #GIOErrorEnum
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_save_to_file (AprCrossProducts *self,
                                 GFile *file,
                                 GCancellable *cancellable,
                                 GError **error)
{
  g_autoptr (AprSafetensorsWriter) writer = NULL;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (G_IS_FILE (file), FALSE);

  apr_run_push_cancellable (cancellable);
  writer = create_writer (self, error);
  apr_run_pop_cancellable (cancellable);

  return writer != NULL && apr_safetensors_writer_write_to_file (writer, file, cancellable, error);
}

typedef struct
{
  AprCrossProducts *state; /* (owned) */
  GFile *file;             /* (owned) */
} Saving;

static void
saving_free (gpointer data)
{
  Saving *self = data;

  g_object_unref (self->state);
  g_object_unref (self->file);
  g_free (self);
}

static void
save_in_thread (GTask *task,
                gpointer source_object G_GNUC_UNUSED,
                gpointer task_data,
                GCancellable *cancellable)
{
  Saving *saving = task_data;
  GError *error = NULL;

  if (apr_cross_products_save_to_file (saving->state, saving->file, cancellable, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/**
 * apr_cross_products_save_to_file_async:
 * @self: a state
 * @file: where the file goes
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the file is written
 * @user_data: data to pass to @callback
 *
 * Writes the state to a SafeTensors file without blocking.
 *
 * What is written is what the state is now: it may be written to meanwhile.
 *
 * Since: 0.1
 */
void
apr_cross_products_save_to_file_async (AprCrossProducts *self,
                                       GFile *file,
                                       int io_priority,
                                       GCancellable *cancellable,
                                       GAsyncReadyCallback callback,
                                       gpointer user_data)
{
  g_autoptr (GTask) task = NULL;
  Saving *saving;

  g_return_if_fail (APR_IS_CROSS_PRODUCTS (self));
  g_return_if_fail (G_IS_FILE (file));

  saving = g_new (Saving, 1);
  *saving = (Saving){ apr_cross_products_copy (self), g_object_ref (file) };
  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, apr_cross_products_save_to_file_async);
  g_task_set_priority (task, io_priority);
  /* A file that was written before it could be cancelled is written. */
  g_task_set_check_cancellable (task, FALSE);
  g_task_set_task_data (task, saving, saving_free);
  apr_task_run_in_thread (task, save_in_thread);
}

/**
 * apr_cross_products_save_to_file_finish:
 * @self: a state
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Gets how [method@Apr.CrossProducts.save_to_file_async] ended.
 *
 * Returns: true, or false with an error as of [method@Apr.CrossProducts.save_to_file]
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_save_to_file_finish (AprCrossProducts *self, GAsyncResult *result, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);

  return apr_task_take_boolean (result, self, apr_cross_products_save_to_file_async, error);
}

/**
 * apr_cross_products_to_bytes:
 * @self: a state
 * @error: return location for an error
 *
 * Makes the bytes that [method@Apr.CrossProducts.save] would write, and fails as it does.
 *
 * Returns: (transfer full): the bytes of a SafeTensors file, or `NULL` with an error
 *
 * Since: 0.1
 */
GBytes *
apr_cross_products_to_bytes (AprCrossProducts *self, GError **error)
{
  g_autoptr (AprSafetensorsWriter) writer = NULL;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), NULL);

  writer = create_writer (self, error);

  return writer != NULL ? apr_safetensors_writer_write_to_bytes (writer, error) : NULL;
}

static gboolean
lookup_number (GHashTable *metadata,
               const char *prefix,
               const char *key,
               gint64 min,
               gint64 most,
               gint64 *number,
               GError **error)
{
  g_autofree char *full_key = apr_model_key_new (prefix, key);
  const char *text = g_hash_table_lookup (metadata, full_key);

  if (text != NULL && g_ascii_string_to_signed (text, 10, min, most, number, NULL))
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
               "The metadata “%s” must be a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
               ", but it is “%s”",
               full_key, min, most, text != NULL ? text : "missing");
  return FALSE;
}

static gboolean
lookup_word (GHashTable *metadata,
             const char *prefix,
             const char *key,
             const char *const *words,
             gsize *index,
             GError **error)
{
  g_autofree char *full_key = apr_model_key_new (prefix, key);
  const char *text = g_hash_table_lookup (metadata, full_key);

  for (*index = 0; words[*index] != NULL; ++*index)
    if (g_strcmp0 (text, words[*index]) == 0)
      return TRUE;

  if (text != NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_MODEL, "The metadata “%s” of cross products cannot be “%s”",
                 full_key, text);
  else
    g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                 "The metadata “%s” of cross products is missing: what comes from an .npz file has none",
                 full_key);
  return FALSE;
}

/* The sum of the logarithms of the weights, 0 where it is not there. */
static gboolean
lookup_weight_logs (GHashTable *metadata, const char *prefix, AprWeightLogs *weight_logs, GError **error)
{
  g_autofree char *key = apr_model_key_new (prefix, WEIGHT_LOGS);
  const char *text = g_hash_table_lookup (metadata, key);

  *weight_logs = 0;
  if (text == NULL || (apr_weight_logs_from_text (text, weight_logs) && *weight_logs != 0))
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
               "The metadata “%s” must be a whole number other than 0 below 2^126 in size, but it is “%s”",
               key, text);
  return FALSE;
}

/* What metadata say of the samples, before the sums are read. */
static gboolean
load_names (AprCrossProducts *self, GHashTable *metadata, const char *prefix, GError **error)
{
  char **identities;
  AprNames kind;

  for (kind = 0; kind < APR_N_NAMES; kind++)
    {
      g_auto (GStrv) names = NULL;

      if (!apr_names_load (metadata, apr_names_get_key (kind), prefix, &names, error) ||
          (names != NULL && !apr_cross_products_set_names (self, kind, (const char *const *) names, error)))
        return FALSE;
    }

  return apr_names_load (metadata, IDENTITIES, prefix, &identities, error) &&
         (identities == NULL || apr_cross_products_take_identities (self, identities, error));
}

/* @into is as of apr_cross_products_from_bytes_for (). */
static AprCrossProducts *
new_from_reader_for (AprSafetensorsReader *reader, const char *prefix, AprCrossProducts *into, GError **error)
{
  const char *const models[] = { MODEL, NULL };
  const char *const dtypes[] = { "NONE", "F32", "F64", NULL };
  const AprDType dtype_values[] = { APR_DTYPE_NONE, APR_DTYPE_F32, APR_DTYPE_F64 };
  GHashTable *metadata = apr_safetensors_reader_get_metadata (reader);
  g_autofree char *precision_key = apr_model_key_new (prefix, "precision");
  g_autoptr (AprCrossProducts) self = NULL;
  gint64 n_features;
  gint64 n_targets;
  gint64 n_samples;
  gint64 first_word = 0;
  gsize format;
  gsize dtype;
  gsize precision = APR_PRECISION_EXACT;
  AprWeightLogs weight_logs;
  gsize index;

  if (!lookup_word (metadata, prefix, "model", models, &index, error) ||
      !lookup_word (metadata, prefix, "format", formats, &format, error) ||
      !lookup_word (metadata, prefix, "dtype", dtypes, &dtype, error) ||
      !lookup_number (metadata, prefix, "n_features", 1, G_MAXINT32, &n_features, error) ||
      !lookup_number (metadata, prefix, "n_targets", 1, G_MAXINT32, &n_targets, error) ||
      !lookup_number (metadata, prefix, "n_samples", 0, G_MAXINT64, &n_samples, error) ||
      (format != ROWS_FORMAT && !lookup_number (metadata, prefix, "first_word", -APR_EXACT_SUMS_MAX_WORD,
                                                APR_EXACT_SUMS_MAX_WORD, &first_word, error)) ||
      !lookup_weight_logs (metadata, prefix, &weight_logs, error) ||
      (g_hash_table_contains (metadata, precision_key) &&
       !lookup_word (metadata, prefix, "precision", precisions, &precision, error)))
    return NULL;

  if (format == ROWS_FORMAT && precision != APR_PRECISION_EXACT)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL, "Samples are never of the precision “%s”",
                   precisions[precision]);
      return NULL;
    }

  self = apr_cross_products_new ((gsize) n_features, (gsize) n_targets, error);
  if (self == NULL || !load_names (self, metadata, prefix, error) ||
      (into != NULL && (!apr_cross_products_check_other (into, self, error) ||
                        !apr_cross_products_combine_identities (into, self, 1, NULL, error))) ||
      !(format == ROWS_FORMAT
          ? apr_cross_products_load_rows (self, reader, prefix, (guint64) n_samples, error)
          : apr_cross_products_load_sums (self, reader, prefix, format == TRIMMED_FORMAT, (gint) first_word,
                                          error)))
    return NULL;
  self->n_samples = (guint64) n_samples;
  self->weight_logs = weight_logs;
  self->dtype = dtype_values[dtype];
  self->precision = (AprPrecision) precision;

  return g_steal_pointer (&self);
}

AprCrossProducts *
apr_cross_products_new_from_reader (AprSafetensorsReader *reader, const char *prefix, GError **error)
{
  return new_from_reader_for (reader, prefix, NULL, error);
}

/**
 * apr_cross_products_load: (constructor)
 * @path: (type filename): a SafeTensors file
 * @error: return location for an error
 *
 * Makes a state from a file that [method@Apr.CrossProducts.save] wrote.
 *
 * Returns: (transfer full): the state; `NULL` with %APR_ERROR_MODEL or %APR_ERROR_SHAPE where the file holds something
 *   else, or an error of #AprSafetensorsError or #GIOErrorEnum
 *
 * Since: 0.1
 */
AprCrossProducts *
apr_cross_products_load (const char *path, GError **error)
{
  g_autoptr (AprSafetensorsReader) reader = NULL;
  AprCrossProducts *self;

  g_return_val_if_fail (path != NULL, NULL);

  reader = apr_safetensors_reader_new_from_path (path, error);
  if (reader == NULL)
    return NULL;

  self = apr_cross_products_new_from_reader (reader, "", error);
  if (self == NULL)
    {
      g_autofree char *name = g_filename_display_name (path);

      g_prefix_error (error, "%s: ", name);
    }

  return self;
}

/**
 * apr_cross_products_load_from_file:
 * @file: a SafeTensors file
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Makes a state from a file, as [ctor@Apr.CrossProducts.load] does.
 *
 * Returns: (transfer full): the state, or `NULL` as of [ctor@Apr.CrossProducts.load]
 *
 * Since: 0.1
 */
AprCrossProducts *
apr_cross_products_load_from_file (GFile *file, GCancellable *cancellable, GError **error)
{
  g_autoptr (AprSafetensorsReader) reader = NULL;
  AprCrossProducts *self;

  g_return_val_if_fail (G_IS_FILE (file), NULL);

  reader = apr_safetensors_reader_new_from_file (file, cancellable, error);
  if (reader == NULL)
    return NULL;

  apr_run_push_cancellable (cancellable);
  self = apr_cross_products_new_from_reader (reader, "", error);
  apr_run_pop_cancellable (cancellable);
  if (self == NULL)
    {
      g_autofree char *name = g_file_get_parse_name (file);

      g_prefix_error (error, "%s: ", name);
    }

  return self;
}

static void
load_in_thread (GTask *task,
                gpointer source_object G_GNUC_UNUSED,
                gpointer task_data,
                GCancellable *cancellable)
{
  GError *error = NULL;
  AprCrossProducts *self = apr_cross_products_load_from_file (task_data, cancellable, &error);

  if (self != NULL)
    g_task_return_pointer (task, self, g_object_unref);
  else
    g_task_return_error (task, error);
}

/**
 * apr_cross_products_load_from_file_async:
 * @file: a SafeTensors file
 * @io_priority: the priority of the request, such as %G_PRIORITY_DEFAULT
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @callback: (scope async) (closure user_data) (nullable): called when the file is read
 * @user_data: data to pass to @callback
 *
 * Makes a state from a file without blocking.
 *
 * Since: 0.1
 */
void
apr_cross_products_load_from_file_async (
  GFile *file, int io_priority, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data)
{
  g_return_if_fail (G_IS_FILE (file));

  apr_cross_products_read_async (NULL, load_in_thread, g_object_ref (file), g_object_unref,
                                 apr_cross_products_load_from_file_async, io_priority, cancellable, callback,
                                 user_data);
}

/**
 * apr_cross_products_load_from_file_finish:
 * @result: what the callback was called with
 * @error: return location for an error
 *
 * Gets what [func@Apr.CrossProducts.load_from_file_async] made.
 *
 * Returns: (transfer full): the state, or `NULL` as of [ctor@Apr.CrossProducts.load]
 *
 * Since: 0.1
 */
AprCrossProducts *
apr_cross_products_load_from_file_finish (GAsyncResult *result, GError **error)
{
  return apr_task_take_pointer (result, NULL, apr_cross_products_load_from_file_async, error);
}

AprCrossProducts *
apr_cross_products_from_bytes_for (GBytes *bytes, AprCrossProducts *into, GError **error)
{
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, error);

  return reader != NULL ? new_from_reader_for (reader, "", into, error) : NULL;
}

/**
 * apr_cross_products_from_bytes: (constructor)
 * @bytes: the bytes of a SafeTensors file
 * @error: return location for an error
 *
 * Makes a state from bytes that [method@Apr.CrossProducts.to_bytes] made.
 *
 * Returns: (transfer full): the state, or `NULL` as of [ctor@Apr.CrossProducts.load]
 *
 * Since: 0.1
 */
AprCrossProducts *
apr_cross_products_from_bytes (GBytes *bytes, GError **error)
{
  g_return_val_if_fail (bytes != NULL, NULL);

  return apr_cross_products_from_bytes_for (bytes, NULL, error);
}
