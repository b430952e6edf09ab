/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-cross-products-private.h"

#include <string.h>

#include "aprender/estimator/apr-estimator-checks-private.h"
#include "aprender/safetensors/apr-safetensors-reader.h"
#include "aprender/safetensors/apr-safetensors-writer.h"
#include "aprender/tensor/apr-tensor-private.h"

/**
 * AprCrossProducts:
 *
 * All that least squares needs of the data: the exact matrix Z'WZ with Z = [1 | X | Y], W the sample weights.
 *
 * The sums are whole numbers on a grid of powers of two, so nothing is ever rounded, and a sum of whole numbers has no
 * order. Rows may be added in any number of calls, threads, programs and machines: states that were given the same rows are
 * equal, byte for byte, and so are the models that are fitted to them. A state can be saved, sent, merged with others, and
 * subtracted again, which is all that a distributed fit or a cross-validation is made of.
 *
 * Its size depends on the number of features, not on the number of samples.
 *
 * ```c
 * g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, &error);
 *
 * if (!apr_cross_products_update (state, x, y, NULL, NULL, &error) ||
 *     !apr_cross_products_merge (state, from_another_machine, &error) ||
 *     !apr_linear_regression_fit_cross_products (model, state, &error))
 *   g_printerr ("%s\n", error->message);
 * ```
 *
 * A file of a state holds one tensor, `sums`, U32 [n_entries, n_words]: for each entry of the lower triangle, row by row, a
 * whole number in two's complement, least word first, in units of 2^(32 first_word).
 *
 * Since: 0.1
 */
struct _AprCrossProducts
{
  GObject parent_instance;

  AprExactSums *sums; /* (owned) */
  guint64 n_samples;
  AprDType dtype;
};

G_DEFINE_FINAL_TYPE (AprCrossProducts, apr_cross_products, G_TYPE_OBJECT)

#define SUMS "sums"
#define MODEL "AprCrossProducts"
#define FORMAT "1"

static void
apr_cross_products_finalize (GObject *object)
{
  apr_exact_sums_free (APR_CROSS_PRODUCTS (object)->sums);

  G_OBJECT_CLASS (apr_cross_products_parent_class)->finalize (object);
}

static void
apr_cross_products_class_init (AprCrossProductsClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = apr_cross_products_finalize;
}

static void
apr_cross_products_init (AprCrossProducts *self)
{
  self->sums = apr_exact_sums_new (0, 0, NULL);
  self->dtype = APR_DTYPE_NONE;
}

AprExactSums *
apr_cross_products_get_sums (AprCrossProducts *self)
{
  return self->sums;
}

AprDType
apr_cross_products_get_dtype (AprCrossProducts *self)
{
  return self->dtype;
}

/* Takes @sums. */
static AprCrossProducts *
new_with_sums (AprExactSums *sums)
{
  AprCrossProducts *self = g_object_new (APR_TYPE_CROSS_PRODUCTS, NULL);

  apr_exact_sums_free (self->sums);
  self->sums = sums;

  return self;
}

/**
 * apr_cross_products_new: (constructor)
 * @n_features: the number of columns of X
 * @n_targets: the number of columns of Y
 * @error: return location for an error
 *
 * Makes a state without samples.
 *
 * Returns: (transfer full): the state; `NULL` with %APR_ERROR_EMPTY where one of the numbers is 0, or %APR_ERROR_RANGE
 *   where the matrix would be larger than memory can be
 *
 * Since: 0.1
 */
AprCrossProducts *
apr_cross_products_new (gsize n_features, gsize n_targets, GError **error)
{
  AprExactSums *sums;

  if (n_features == 0 || n_targets == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
                   "Cross products of %" G_GSIZE_FORMAT " features and %" G_GSIZE_FORMAT
                   " targets: at least one of each is needed",
                   n_features, n_targets);
      return NULL;
    }

  sums = apr_exact_sums_new (n_features, n_targets, error);

  return sums != NULL ? new_with_sums (sums) : NULL;
}

/**
 * apr_cross_products_get_n_features:
 * @self: a state
 *
 * Gets the number of columns that X must have.
 *
 * Returns: the number of features
 *
 * Since: 0.1
 */
gsize
apr_cross_products_get_n_features (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), 0);

  return apr_exact_sums_get_n_features (self->sums);
}

/**
 * apr_cross_products_get_n_targets:
 * @self: a state
 *
 * Gets the number of columns that Y must have.
 *
 * Returns: the number of targets
 *
 * Since: 0.1
 */
gsize
apr_cross_products_get_n_targets (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), 0);

  return apr_exact_sums_get_n_targets (self->sums);
}

/**
 * apr_cross_products_get_n_samples:
 * @self: a state
 *
 * Gets the number of rows that count: those whose weight is not 0.
 *
 * Returns: the number of samples
 *
 * Since: 0.1
 */
guint64
apr_cross_products_get_n_samples (AprCrossProducts *self)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), 0);

  return self->n_samples;
}

static gboolean
check_widths (AprCrossProducts *self, gsize n_features, gsize n_targets, const char *what, GError **error)
{
  gsize own_features = apr_exact_sums_get_n_features (self->sums);
  gsize own_targets = apr_exact_sums_get_n_targets (self->sums);

  if (n_features == own_features && n_targets == own_targets)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
               "%s of %" G_GSIZE_FORMAT " features and %" G_GSIZE_FORMAT
               " targets, but the cross products are of %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT,
               what, n_features, n_targets, own_features, own_targets);
  return FALSE;
}

static AprDType
combine_dtypes (AprDType one, AprDType other)
{
  return MAX (one, other);
}

static guint64
count_samples (AprTensor *x, AprTensor *sample_weight)
{
  gsize n_rows = apr_tensor_get_shape (x, NULL)[0];
  guint64 n_samples = 0;
  const guint8 *data;
  gsize row;

  if (sample_weight == NULL)
    return n_rows;

  data = g_bytes_get_data (apr_tensor_get_bytes (sample_weight), NULL);
  for (row = 0; row < n_rows; row++)
    if (apr_dtype_read_double (apr_tensor_get_dtype (sample_weight), data, row) > 0)
      n_samples++;

  return n_samples;
}

/**
 * apr_cross_products_update:
 * @self: a state
 * @x: the features, [n_samples, n_features], F32 or F64
 * @y: the targets, [n_samples] or [n_samples, n_targets], F32 or F64
 * @sample_weight: (nullable): how much each sample counts, [n_samples], none below 0; `NULL` for equal weights
 * @cancellable: (nullable): a way to stop
 * @error: return location for an error
 *
 * Adds samples, exactly.
 *
 * Returns: true, or false with the state as it was: the errors of [method@Apr.Estimator.fit]
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_update (AprCrossProducts *self,
                           AprTensor *x,
                           AprTensor *y,
                           AprTensor *sample_weight,
                           GCancellable *cancellable,
                           GError **error)
{
  g_autoptr (AprExactSums) added = NULL;
  gsize n_features;
  gsize n_targets;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (x != NULL, FALSE);
  g_return_val_if_fail (y != NULL, FALSE);

  if (!apr_estimator_check_fit (x, y, sample_weight, &n_features, &n_targets, error) ||
      !check_widths (self, n_features, n_targets, "Samples", error))
    return FALSE;

  added = apr_exact_sums_new (n_features, n_targets, error);
  if (added == NULL || !apr_exact_sums_update (added, x, y, sample_weight, APR_PRECISION_EXACT, 0, cancellable, error) ||
      !apr_exact_sums_add (self->sums, added, 1, error))
    return FALSE;

  self->n_samples += count_samples (x, sample_weight);
  self->dtype = combine_dtypes (self->dtype, apr_tensor_get_dtype (x));
  return TRUE;
}

/**
 * apr_cross_products_merge:
 * @self: a state
 * @other: a state of as many features and targets
 * @error: return location for an error
 *
 * Adds the samples of another state, as if they had been added here.
 *
 * Returns: true, or false with %APR_ERROR_SHAPE, or %APR_ERROR_RANGE where there is no memory
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_merge (AprCrossProducts *self, AprCrossProducts *other, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (other), FALSE);

  if (!check_widths (self, apr_exact_sums_get_n_features (other->sums),
                     apr_exact_sums_get_n_targets (other->sums), "A state", error) ||
      !apr_exact_sums_add (self->sums, other->sums, 1, error))
    return FALSE;

  self->n_samples += other->n_samples;
  self->dtype = combine_dtypes (self->dtype, other->dtype);
  return TRUE;
}

/**
 * apr_cross_products_subtract:
 * @self: a state
 * @other: a state whose samples were added to @self
 * @error: return location for an error
 *
 * Takes samples away again, exactly: what is left is as if they had never been there.
 *
 * That @other was part of @self is for the caller to know; only its number of samples is checked.
 *
 * Returns: true, or false with %APR_ERROR_SHAPE, or %APR_ERROR_RANGE where @other has more samples than @self
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_subtract (AprCrossProducts *self, AprCrossProducts *other, GError **error)
{
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (other), FALSE);

  if (!check_widths (self, apr_exact_sums_get_n_features (other->sums),
                     apr_exact_sums_get_n_targets (other->sums), "A state", error))
    return FALSE;

  if (other->n_samples > self->n_samples)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "Cannot subtract %" G_GUINT64_FORMAT " samples from %" G_GUINT64_FORMAT, other->n_samples,
                   self->n_samples);
      return FALSE;
    }

  if (!apr_exact_sums_add (self->sums, other->sums, -1, error))
    return FALSE;
  self->n_samples -= other->n_samples;
  return TRUE;
}

/**
 * apr_cross_products_copy:
 * @self: a state
 *
 * Copies the state.
 *
 * Returns: (transfer full): an equal one
 *
 * Since: 0.1
 */
AprCrossProducts *
apr_cross_products_copy (AprCrossProducts *self)
{
  AprCrossProducts *copy;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), NULL);

  copy = new_with_sums (apr_exact_sums_copy (self->sums));
  copy->n_samples = self->n_samples;
  copy->dtype = self->dtype;

  return copy;
}

/**
 * apr_cross_products_equal:
 * @self: a state
 * @other: another one
 *
 * Compares the sums, the numbers of samples, and the precision of the data.
 *
 * Returns: whether the two would make the same file
 *
 * Since: 0.1
 */
gboolean
apr_cross_products_equal (AprCrossProducts *self, AprCrossProducts *other)
{
  g_autofree guint32 *words = NULL;
  g_autofree guint32 *other_words = NULL;
  gsize n_words;
  gsize n_other_words;
  gint first_word;
  gint other_first_word;

  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (self), FALSE);
  g_return_val_if_fail (APR_IS_CROSS_PRODUCTS (other), FALSE);

  if (!check_widths (self, apr_exact_sums_get_n_features (other->sums),
                     apr_exact_sums_get_n_targets (other->sums), "", NULL) ||
      self->n_samples != other->n_samples || self->dtype != other->dtype)
    return FALSE;

  words = apr_exact_sums_to_words (self->sums, &n_words, &first_word);
  other_words = apr_exact_sums_to_words (other->sums, &n_other_words, &other_first_word);

  return n_words == n_other_words && first_word == other_first_word &&
         (n_words == 0 ||
          memcmp (words, other_words,
                  n_words * apr_exact_sums_get_n_entries (self->sums) * sizeof (guint32)) == 0);
}

static gboolean
set_metadata (
  AprSafetensorsWriter *writer, const char *prefix, const char *key, const char *value, GError **error)
{
  g_autofree char *full_key = g_strconcat ("aprender.", prefix, key, NULL);

  return apr_safetensors_writer_set_metadata (writer, full_key, value, error);
}

gboolean
apr_cross_products_add_to_writer (AprCrossProducts *self,
                                  AprSafetensorsWriter *writer,
                                  const char *prefix,
                                  GError **error)
{
  g_autoptr (AprTensor) tensor = NULL;
  gsize shape[2] = { apr_exact_sums_get_n_entries (self->sums), 0 };
  gint first_word;
  guint32 *words = apr_exact_sums_to_words (self->sums, &shape[1], &first_word);
  g_autofree char *name = g_strconcat (prefix, SUMS, NULL);
  g_autofree char *n_features =
    g_strdup_printf ("%" G_GSIZE_FORMAT, apr_exact_sums_get_n_features (self->sums));
  g_autofree char *n_targets =
    g_strdup_printf ("%" G_GSIZE_FORMAT, apr_exact_sums_get_n_targets (self->sums));
  g_autofree char *n_samples = g_strdup_printf ("%" G_GUINT64_FORMAT, self->n_samples);
  g_autofree char *first_word_text = g_strdup_printf ("%d", first_word);

  tensor = apr_tensor_new_take (APR_DTYPE_U32, shape, 2, words, shape[0] * shape[1] * sizeof (guint32));

  return apr_safetensors_writer_add_tensor (writer, name, tensor, error) &&
         set_metadata (writer, prefix, "model", MODEL, error) &&
         set_metadata (writer, prefix, "format", FORMAT, error) &&
         set_metadata (writer, prefix, "dtype", apr_dtype_to_string (self->dtype), error) &&
         set_metadata (writer, prefix, "first_word", first_word_text, error) &&
         set_metadata (writer, prefix, "n_features", n_features, error) &&
         set_metadata (writer, prefix, "n_targets", n_targets, error) &&
         set_metadata (writer, prefix, "n_samples", n_samples, error);
}

static AprSafetensorsWriter *
create_writer (AprCrossProducts *self, GError **error)
{
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();

  return apr_cross_products_add_to_writer (self, writer, "", error) ? g_steal_pointer (&writer) : NULL;
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
 * apr_cross_products_to_bytes:
 * @self: a state
 * @error: return location for an error
 *
 * Makes the bytes that [method@Apr.CrossProducts.save] would write.
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
               gint64 least,
               gint64 most,
               gint64 *number,
               GError **error)
{
  g_autofree char *full_key = g_strconcat ("aprender.", prefix, key, NULL);
  const char *text = g_hash_table_lookup (metadata, full_key);

  if (text != NULL && g_ascii_string_to_signed (text, 10, least, most, number, NULL))
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
               "The metadata “%s” must be a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
               ", but it is “%s”",
               full_key, least, most, text != NULL ? text : "missing");
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
  g_autofree char *full_key = g_strconcat ("aprender.", prefix, key, NULL);
  const char *text = g_hash_table_lookup (metadata, full_key);

  for (*index = 0; words[*index] != NULL; ++*index)
    if (g_strcmp0 (text, words[*index]) == 0)
      return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_MODEL, "The metadata “%s” of cross products cannot be “%s”",
               full_key, text != NULL ? text : "missing");
  return FALSE;
}

static gboolean
load_sums (AprCrossProducts *self, const char *name, AprTensor *tensor, gint first_word, GError **error)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (tensor, &n_dims);
  g_autofree char *text = apr_shape_to_string (shape, n_dims);
  g_autofree guint32 *words = NULL;
  gsize i;

  if (apr_tensor_get_dtype (tensor) != APR_DTYPE_U32 || n_dims != 2 ||
      shape[0] != apr_exact_sums_get_n_entries (self->sums) || shape[1] > APR_EXACT_SUMS_MAX_WORD)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The tensor “%s” must be U32 [%" G_GSIZE_FORMAT ", at most %d], but it is %s %s", name,
                   apr_exact_sums_get_n_entries (self->sums), APR_EXACT_SUMS_MAX_WORD,
                   apr_dtype_to_string (apr_tensor_get_dtype (tensor)), text);
      return FALSE;
    }

  words = g_memdup2 (g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL),
                     apr_tensor_get_n_elements (tensor) * sizeof (guint32));
  for (i = 0; i < apr_tensor_get_n_elements (tensor); i++)
    words[i] = GUINT32_FROM_LE (words[i]);

  return apr_exact_sums_set_words (self->sums, words, shape[1], first_word, error);
}

AprCrossProducts *
apr_cross_products_new_from_reader (AprSafetensorsReader *reader, const char *prefix, GError **error)
{
  const char *const models[] = { MODEL, NULL };
  const char *const formats[] = { FORMAT, NULL };
  const char *const dtypes[] = { "NONE", "F32", "F64", NULL };
  const AprDType dtype_values[] = { APR_DTYPE_NONE, APR_DTYPE_F32, APR_DTYPE_F64 };
  GHashTable *metadata = apr_safetensors_reader_get_metadata (reader);
  g_autofree char *name = g_strconcat (prefix, SUMS, NULL);
  g_autoptr (AprCrossProducts) self = NULL;
  g_autoptr (AprTensor) tensor = NULL;
  gint64 n_features;
  gint64 n_targets;
  gint64 n_samples;
  gint64 first_word;
  gsize index;

  if (!lookup_word (metadata, prefix, "model", models, &index, error) ||
      !lookup_word (metadata, prefix, "format", formats, &index, error) ||
      !lookup_word (metadata, prefix, "dtype", dtypes, &index, error) ||
      !lookup_number (metadata, prefix, "n_features", 1, G_MAXINT32, &n_features, error) ||
      !lookup_number (metadata, prefix, "n_targets", 1, G_MAXINT32, &n_targets, error) ||
      !lookup_number (metadata, prefix, "n_samples", 0, G_MAXINT64, &n_samples, error) ||
      !lookup_number (metadata, prefix, "first_word", -APR_EXACT_SUMS_MAX_WORD, APR_EXACT_SUMS_MAX_WORD,
                      &first_word, error))
    return NULL;

  self = apr_cross_products_new ((gsize) n_features, (gsize) n_targets, error);
  tensor = self != NULL ? apr_safetensors_reader_get_tensor (reader, name, error) : NULL;
  if (tensor == NULL || !load_sums (self, name, tensor, (gint) first_word, error))
    return NULL;
  self->n_samples = (guint64) n_samples;
  self->dtype = dtype_values[index];

  return g_steal_pointer (&self);
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
  g_autoptr (AprSafetensorsReader) reader = NULL;

  g_return_val_if_fail (bytes != NULL, NULL);

  reader = apr_safetensors_reader_new_from_bytes (bytes, error);

  return reader != NULL ? apr_cross_products_new_from_reader (reader, "", error) : NULL;
}
