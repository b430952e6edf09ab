/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/apr-cross-products-private.h"

#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/cross-products/apr-trimmed-words-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* What a state holds as tensors of a file: its sums, or its rows. */

#define SUMS "sums"
#define STARTS "sums.starts"
#define SIZES "sums.sizes"
#define X "rows.x"
#define Y "rows.y"
#define WEIGHTS "rows.sample_weight"

static gboolean
add_tensor (
  AprSafetensorsWriter *writer, const char *prefix, const char *name, AprTensor *tensor, GError **error)
{
  g_autofree char *full_name = g_strconcat (prefix, name, NULL);

  return apr_safetensors_writer_add_tensor (writer, full_name, tensor, error);
}

/* Takes *@data. */
static gboolean
add_bytes (AprSafetensorsWriter *writer,
           const char *prefix,
           const char *name,
           guint8 **data,
           gsize size,
           GError **error)
{
  g_autoptr (AprTensor) tensor = apr_tensor_new_take (APR_DTYPE_U8, &size, 1, g_steal_pointer (data), size);

  return add_tensor (writer, prefix, name, tensor, error);
}

static gboolean
add_trimmed_to_writer (AprTrimmedWords *trimmed,
                       AprSafetensorsWriter *writer,
                       const char *prefix,
                       GError **error)
{
  return add_bytes (writer, prefix, SUMS, &trimmed->bytes, trimmed->n_bytes, error) &&
         add_bytes (writer, prefix, STARTS, &trimmed->starts, trimmed->n_numbers, error) &&
         add_bytes (writer, prefix, SIZES, &trimmed->sizes, trimmed->n_numbers, error);
}

gboolean
apr_cross_products_add_sums_to_writer (AprCrossProducts *self,
                                       AprSafetensorsWriter *writer,
                                       const char *prefix,
                                       gboolean *trimmed,
                                       gint *first_word,
                                       GError **error)
{
  g_autoptr (AprExactSums) sums = apr_cross_products_ref_sums (self, error);
  g_autoptr (AprTensor) tensor = NULL;
  GCancellable *cancellable = g_cancellable_get_current ();
  gsize shape[2] = { apr_exact_sums_get_n_entries (self->sums), 0 };
  g_autofree guint32 *words = NULL;
  AprTrimmedWords trimmed_words;
  GError *no_memory = NULL;
  gboolean added;

  if (sums == NULL)
    return FALSE;

  words = apr_exact_sums_to_words (sums, &shape[1], first_word, cancellable, error);
  if (words == NULL && shape[1] > 0)
    return FALSE;
  *trimmed = apr_trimmed_words_init (&trimmed_words, words, shape[0], shape[1], cancellable, &no_memory);
  if (no_memory != NULL)
    {
      g_propagate_error (error, no_memory);
      return FALSE;
    }
  if (*trimmed)
    {
      added = !g_cancellable_set_error_if_cancelled (cancellable, error) &&
              add_trimmed_to_writer (&trimmed_words, writer, prefix, error);
      apr_trimmed_words_clear (&trimmed_words);
      return added;
    }
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;

  tensor = apr_tensor_new_take (APR_DTYPE_U32, shape, 2, g_steal_pointer (&words),
                                shape[0] * shape[1] * sizeof (guint32));
  return add_tensor (writer, prefix, SUMS, tensor, error);
}

static gboolean
load_words (
  AprCrossProducts *self, AprSafetensorsReader *reader, const char *prefix, gint first_word, GError **error)
{
  g_autofree char *name = g_strconcat (prefix, SUMS, NULL);
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, name, error);
  gsize max_words = (gsize) (APR_EXACT_SUMS_MAX_WORD - first_word);
  g_autofree char *text = NULL;
  g_autofree guint32 *copy = NULL;
  const guint32 *words;
  const gsize *shape;
  gsize n_dims;
  gsize i;

  if (tensor == NULL)
    return FALSE;

  shape = apr_tensor_get_shape (tensor, &n_dims);
  words = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
  text = apr_shape_to_string (shape, n_dims);
  if (apr_tensor_get_dtype (tensor) != APR_DTYPE_U32 || n_dims != 2 ||
      shape[0] != apr_exact_sums_get_n_entries (self->sums) || shape[1] > max_words)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The tensor “%s” must be U32 [%" G_GSIZE_FORMAT ", at most %" G_GSIZE_FORMAT
                   "], but it is %s %s",
                   name, apr_exact_sums_get_n_entries (self->sums), max_words,
                   apr_dtype_to_string (apr_tensor_get_dtype (tensor)), text);
      return FALSE;
    }

  /* In place, where they can be read there. */
  if (G_BYTE_ORDER != G_LITTLE_ENDIAN || (guintptr) words % sizeof *words != 0)
    {
      gsize n_words = apr_tensor_get_n_elements (tensor);

      copy = apr_memory_new (n_words, sizeof *words, "sums", error);
      if (copy == NULL)
        return FALSE;
      if (n_words > 0)
        memcpy (copy, words, n_words * sizeof *words);
      words = copy;
      for (i = 0; i < n_words; i++)
        copy[i] = GUINT32_FROM_LE (copy[i]);
    }

  return apr_exact_sums_set_words (self->sums, words, shape[1], first_word, g_cancellable_get_current (),
                                   error);
}

static AprTensor *
get_bytes (AprSafetensorsReader *reader, const char *prefix, const char *name, gsize n, GError **error)
{
  g_autofree char *full_name = g_strconcat (prefix, name, NULL);
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, full_name, error);
  g_autofree char *text = NULL;
  const gsize *shape;
  gsize n_dims;

  if (tensor == NULL)
    return NULL;

  shape = apr_tensor_get_shape (tensor, &n_dims);
  if (apr_tensor_get_dtype (tensor) == APR_DTYPE_U8 && n_dims == 1 && (n == G_MAXSIZE || shape[0] == n))
    return g_steal_pointer (&tensor);

  text = apr_shape_to_string (shape, n_dims);
  if (n == G_MAXSIZE)
    g_set_error (error, APR_ERROR, APR_ERROR_SHAPE, "The tensor “%s” must be U8 [n_bytes], but it is %s %s",
                 full_name, apr_dtype_to_string (apr_tensor_get_dtype (tensor)), text);
  else
    g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                 "The tensor “%s” must be U8 [%" G_GSIZE_FORMAT "], but it is %s %s", full_name, n,
                 apr_dtype_to_string (apr_tensor_get_dtype (tensor)), text);
  return NULL;
}

static gboolean
load_trimmed (
  AprCrossProducts *self, AprSafetensorsReader *reader, const char *prefix, gint first_word, GError **error)
{
  gsize n_entries = apr_exact_sums_get_n_entries (self->sums);
  g_autoptr (AprTensor) starts = get_bytes (reader, prefix, STARTS, n_entries, error);
  g_autoptr (AprTensor) sizes = starts != NULL ? get_bytes (reader, prefix, SIZES, n_entries, error) : NULL;
  g_autoptr (AprTensor) sums = sizes != NULL ? get_bytes (reader, prefix, SUMS, G_MAXSIZE, error) : NULL;
  g_autofree guint32 *words = NULL;
  AprTrimmedWords trimmed = { .n_numbers = n_entries };
  GError *no_memory = NULL;
  gsize n_words;

  if (sums == NULL)
    return FALSE;

  trimmed.starts = (guint8 *) g_bytes_get_data (apr_tensor_get_bytes (starts), NULL);
  trimmed.sizes = (guint8 *) g_bytes_get_data (apr_tensor_get_bytes (sizes), NULL);
  trimmed.bytes = (guint8 *) g_bytes_get_data (apr_tensor_get_bytes (sums), &trimmed.n_bytes);
  words = apr_trimmed_words_expand (&trimmed, &n_words, g_cancellable_get_current (), &no_memory);
  if (no_memory != NULL)
    {
      g_propagate_error (error, no_memory);
      return FALSE;
    }
  if (g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error))
    return FALSE;
  if (words == NULL || first_word + (gint) n_words > APR_EXACT_SUMS_MAX_WORD)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "The tensors “%s%s” and “%s%s” do not fit the %" G_GSIZE_FORMAT
                   " bytes of “%s%s”, or stand for more than %d times as much as all three hold",
                   prefix, STARTS, prefix, SIZES, trimmed.n_bytes, prefix, SUMS, APR_TRIMMED_WORDS_MAX_RATIO);
      return FALSE;
    }

  return apr_exact_sums_set_words (self->sums, words, n_words, first_word, g_cancellable_get_current (),
                                   error);
}

gboolean
apr_cross_products_load_sums (AprCrossProducts *self,
                              AprSafetensorsReader *reader,
                              const char *prefix,
                              gboolean trimmed,
                              gint first_word,
                              GError **error)
{
  return (trimmed ? load_trimmed : load_words) (self, reader, prefix, first_word, error);
}

gboolean
apr_cross_products_add_rows_to_writer (AprCrossProducts *self,
                                       AprSafetensorsWriter *writer,
                                       const char *prefix,
                                       GError **error)
{
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) weights = NULL;

  return apr_sample_rows_get_all (self->rows, &x, &y, &weights, error) &&
         add_tensor (writer, prefix, X, x, error) && add_tensor (writer, prefix, Y, y, error) &&
         (weights == NULL || add_tensor (writer, prefix, WEIGHTS, weights, error));
}

/* Fails where a tensor is not what it must be. */
static AprTensor *
get_tensor (AprSafetensorsReader *reader,
            const char *prefix,
            const char *name,
            guint64 n_samples,
            gsize n_columns,
            gboolean may_be_floats,
            GError **error)
{
  g_autofree char *full_name = g_strconcat (prefix, name, NULL);
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, full_name, error);
  g_autofree char *text = NULL;
  const gsize *shape;
  gsize n_dims;
  AprDType dtype;

  if (tensor == NULL)
    return NULL;

  shape = apr_tensor_get_shape (tensor, &n_dims);
  dtype = apr_tensor_get_dtype (tensor);
  if ((dtype == APR_DTYPE_F64 || (may_be_floats && dtype == APR_DTYPE_F32)) &&
      n_dims == (n_columns > 0 ? 2 : 1) && shape[0] == n_samples && (n_columns == 0 || shape[1] == n_columns))
    return g_steal_pointer (&tensor);

  text = apr_shape_to_string (shape, n_dims);
  g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
               "The tensor “%s” must be %sF64 of %" G_GUINT64_FORMAT " rows and %" G_GSIZE_FORMAT
               " columns, but it is %s %s",
               full_name, may_be_floats ? "F32 or " : "", n_samples, MAX (n_columns, 1),
               apr_dtype_to_string (dtype), text);
  return NULL;
}

gboolean
apr_cross_products_load_rows (
  AprCrossProducts *self, AprSafetensorsReader *reader, const char *prefix, guint64 n_samples, GError **error)
{
  gsize n_features = apr_exact_sums_get_n_features (self->sums);
  g_autofree char *weights_name = g_strconcat (prefix, WEIGHTS, NULL);
  gboolean weighted = apr_safetensors_reader_has_tensor (reader, weights_name);
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) weights = NULL;
  g_autoptr (AprSampleRows) rows = NULL;

  if (n_samples == 0 || !apr_sample_rows_are_few (n_samples, n_features))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "A file of %" G_GUINT64_FORMAT " samples of %" G_GSIZE_FORMAT
                   " features must hold their sums, not the samples",
                   n_samples, n_features);
      return FALSE;
    }

  x = get_tensor (reader, prefix, X, n_samples, n_features, TRUE, error);
  y = x != NULL
      ? get_tensor (reader, prefix, Y, n_samples, apr_exact_sums_get_n_targets (self->sums), FALSE, error)
      : NULL;
  if (y == NULL)
    return FALSE;
  if (weighted)
    {
      weights = get_tensor (reader, prefix, WEIGHTS, n_samples, 0, FALSE, error);
      if (weights == NULL)
        return FALSE;
    }
  /* In the file they are sorted, but that is not to be relied on. */
  if (!apr_sample_rows_new (x, y, weights, 0, &rows, error))
    return FALSE;
  if (rows == NULL || rows->n != n_samples)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_MODEL,
                   "The tensor “%s” has a weight of 0, but only samples that count are saved", weights_name);
      return FALSE;
    }

  apr_cross_products_take (self, NULL, g_steal_pointer (&rows));
  return TRUE;
}

gboolean
apr_cross_products_is_in (AprSafetensorsReader *reader, const char *prefix)
{
  g_autofree char *sums = g_strconcat (prefix, SUMS, NULL);
  g_autofree char *rows = g_strconcat (prefix, X, NULL);

  return apr_safetensors_reader_has_tensor (reader, sums) || apr_safetensors_reader_has_tensor (reader, rows);
}
