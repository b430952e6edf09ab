/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-row-groups-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-error.h"
#include "aprender/base/apr-number-private.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* Labels are sorted by 16 bits at a time, the lowest first. */
#define DIGIT_BITS 16
#define N_DIGITS (1 << DIGIT_BITS)

static gboolean
is_signed (AprDType dtype)
{
  return dtype == APR_DTYPE_I8 || dtype == APR_DTYPE_I16 || dtype == APR_DTYPE_I32 || dtype == APR_DTYPE_I64;
}

static gboolean
is_whole (AprDType dtype)
{
  return is_signed (dtype) || dtype == APR_DTYPE_BOOL || dtype == APR_DTYPE_U8 || dtype == APR_DTYPE_U16 ||
         dtype == APR_DTYPE_U32 || dtype == APR_DTYPE_U64;
}

static gboolean
is_float (AprDType dtype)
{
  return dtype == APR_DTYPE_F32 || dtype == APR_DTYPE_F64;
}

gboolean
apr_row_groups_check (const char *name, AprTensor *labels, gsize n_rows, GError **error)
{
  AprDType dtype = apr_tensor_get_dtype (labels);
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (labels, &n_dims);

  if (n_dims != 1)
    {
      g_autofree char *text = apr_shape_to_string (shape, n_dims);

      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE, "%s must have the shape [n_samples], but it has %s",
                   name, text);
      return FALSE;
    }
  if (shape[0] != n_rows)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "X has %" G_GSIZE_FORMAT " samples, but %s has %" G_GSIZE_FORMAT, n_rows, name, shape[0]);
      return FALSE;
    }
  if (!is_whole (dtype) && !is_float (dtype))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
                   "%s has the dtype %s, but labels are BOOL, integers, F32 or F64", name,
                   apr_dtype_to_string (dtype));
      return FALSE;
    }

  return TRUE;
}

/* The label of a row as a number of @width bytes; that of a signed one has another highest bit, so that all compare as
 * they are. */
static guint64
read_label (const guint8 *data, gsize width, guint64 sign, gsize row)
{
  guint64 label = 0;

  memcpy (&label, data + row * width, width);
#if G_BYTE_ORDER == G_BIG_ENDIAN
  /* The bytes of the tensor are the first of the number. */
  label = GUINT64_SWAP_LE_BE (label);
#endif

  return label ^ sign;
}

typedef struct
{
  const guint8 *data;
  gsize width;
  guint64 sign;
  guint64 ones; /* times a label: the label as often as eight bytes hold it */
  gsize n_rows;
} Labels;

static inline guint64
get_label (const Labels *labels, gsize row)
{
  /* Common widths as constants. */
  switch (labels->width)
    {
    case 4:
      return read_label (labels->data, 4, labels->sign, row);
    case 8:
      return read_label (labels->data, 8, labels->sign, row);
    default:
      return read_label (labels->data, labels->width, labels->sign, row);
    }
}

/* The first row behind @row with another label. Neighbours mostly have the same: eight bytes are compared at a time. */
static gsize
find_other (const Labels *labels, gsize row)
{
  gsize n_at_once = sizeof (guint64) / labels->width;
  guint64 label = get_label (labels, row);
  guint64 repeated = GUINT64_TO_LE ((label ^ labels->sign) * labels->ones);
  gsize end = row + 1;

  for (; labels->n_rows - end >= n_at_once; end += n_at_once)
    {
      guint64 next;

      memcpy (&next, labels->data + end * labels->width, sizeof next);
      if (next != repeated)
        break;
    }
  while (end < labels->n_rows && get_label (labels, end) == label)
    end++;

  return end;
}

/* The end of the group that begins at @place. */
static gsize
find_end (const AprRowGroups *self, const Labels *labels, gsize place)
{
  guint64 label;
  gsize end;

  if (self->order == NULL)
    return find_other (labels, place);

  label = get_label (labels, self->order[place]);
  for (end = place + 1; end < labels->n_rows && get_label (labels, self->order[end]) == label; end++)
    ;

  return end;
}

/* The rows in the order of their labels; those with the same label stay in their order. Returns: (transfer full)
 * (nullable) */
static gsize *
sort (const Labels *labels, guint64 differing, GError **error)
{
  g_autofree gsize *counts = g_new (gsize, N_DIGITS);
  gsize *order = apr_memory_new (labels->n_rows, sizeof *order, "the order of the samples", error);
  gsize *other =
    order != NULL ? apr_memory_new (labels->n_rows, sizeof *other, "sorting the samples", error) : NULL;
  guint shift;
  gsize i;

  if (other == NULL)
    {
      g_free (order);
      return NULL;
    }

  for (i = 0; i < labels->n_rows; i++)
    order[i] = i;
  for (shift = 0; shift < 64; shift += DIGIT_BITS)
    {
      gsize *sorted = other;
      gsize before = 0;

      if ((differing >> shift & (N_DIGITS - 1)) == 0)
        continue;
      memset (counts, 0, N_DIGITS * sizeof *counts);
      for (i = 0; i < labels->n_rows; i++)
        counts[get_label (labels, i) >> shift & (N_DIGITS - 1)]++;
      for (i = 0; i < N_DIGITS; i++)
        {
          gsize n = counts[i];

          counts[i] = before;
          before += n;
        }
      for (i = 0; i < labels->n_rows; i++)
        sorted[counts[get_label (labels, order[i]) >> shift & (N_DIGITS - 1)]++] = order[i];
      other = order;
      order = sorted;
    }
  g_free (other);

  return order;
}

static gboolean
check_label (const char *name, double label, gsize row, GError **error)
{
  char number[APR_NUMBER_SIZE];

  if (label >= (double) G_MININT64 && label < -(double) G_MININT64 && label == trunc (label))
    return TRUE;

  if (!isfinite (label))
    g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                 "%s has %s at row %" G_GSIZE_FORMAT " (counted from 0)", name,
                 isnan (label) ? "a NaN" : "an infinity", row);
  else
    g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                 "%s has the label %s at row %" G_GSIZE_FORMAT
                 " (counted from 0), but labels are whole numbers from -2^63 to below 2^63",
                 name, apr_number_format (label, (float) label == label, number), row);
  return FALSE;
}

/* Labels that are floats, as tables have them, as integers. Returns: (transfer full) (nullable) */
static AprTensor *
make_whole (const char *name, AprTensor *tensor, GError **error)
{
  AprDType dtype = apr_tensor_get_dtype (tensor);
  const guint8 *data = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
  gsize n = apr_tensor_get_n_elements (tensor);
  g_autofree gint64 *labels = apr_memory_new (n, sizeof *labels, "the labels of the samples", error);
  gsize i;

  for (i = 0; labels != NULL && i < n; i++)
    {
      double label = apr_dtype_read_double (dtype, data, i);

      if (!check_label (name, label, i, error))
        return NULL;
      labels[i] = (gint64) label;
    }

  return labels != NULL
         ? apr_tensor_new_take (APR_DTYPE_I64, &n, 1, g_steal_pointer (&labels), n * sizeof *labels)
         : NULL;
}

gboolean
apr_row_groups_init (AprRowGroups *self, const char *name, AprTensor *tensor, GError **error)
{
  AprDType given = apr_tensor_get_dtype (tensor);
  g_autoptr (AprTensor) whole = is_float (given) ? make_whole (name, tensor, error) : apr_tensor_ref (tensor);
  g_autoptr (AprTensor) found_labels = NULL;
  AprDType dtype;
  Labels labels;
  guint64 differing = 0;
  gboolean sorted = TRUE;
  guint8 *found;
  gsize i;
  gsize end;

  *self = (AprRowGroups){ .n_rows = apr_tensor_get_n_elements (tensor) };
  if (whole == NULL)
    return FALSE;

  dtype = apr_tensor_get_dtype (whole);
  labels = (Labels){ .data = g_bytes_get_data (apr_tensor_get_bytes (whole), NULL),
                     .width = apr_dtype_get_bits (dtype) / 8,
                     .n_rows = self->n_rows };
  if (is_signed (dtype))
    labels.sign = (guint64) 1 << (8 * labels.width - 1);
  labels.ones = G_MAXUINT64 / (G_MAXUINT64 >> (64 - 8 * labels.width));
  for (i = 0; i < labels.n_rows; i = end)
    {
      end = find_other (&labels, i);
      self->n_groups++;
      if (end < labels.n_rows)
        {
          guint64 before = get_label (&labels, i);
          guint64 label = get_label (&labels, end);

          differing |= before ^ label;
          sorted = sorted && before < label;
        }
    }
  if (!sorted)
    {
      self->order = sort (&labels, differing, error);
      if (self->order == NULL)
        return FALSE;
      self->n_groups = 0;
      for (i = 0; i < labels.n_rows; i = find_end (self, &labels, i))
        self->n_groups++;
    }

  self->starts = apr_memory_new (self->n_groups + 1, sizeof *self->starts, "group places", error);
  found = self->starts != NULL ? apr_memory_new (self->n_groups, labels.width, "group labels", error) : NULL;
  if (found == NULL)
    return FALSE;

  self->n_groups = 0;
  for (i = 0; i < labels.n_rows; i = end)
    {
      end = find_end (self, &labels, i);
      memcpy (found + self->n_groups * labels.width,
              labels.data + apr_row_groups_get_row (self, i) * labels.width, labels.width);
      self->starts[self->n_groups++] = i;
      self->max_rows = MAX (self->max_rows, end - i);
    }
  self->starts[self->n_groups] = labels.n_rows;
  found_labels = apr_tensor_new_unchecked (dtype, &self->n_groups, 1, self->n_groups,
                                           g_bytes_new_take (found, self->n_groups * labels.width));
  self->labels =
    is_float (given) ? apr_tensor_cast (found_labels, given, error) : g_steal_pointer (&found_labels);

  return self->labels != NULL;
}

void
apr_row_groups_clear (AprRowGroups *self)
{
  g_clear_pointer (&self->starts, g_free);
  g_clear_pointer (&self->order, g_free);
  g_clear_pointer (&self->labels, apr_tensor_unref);
}
