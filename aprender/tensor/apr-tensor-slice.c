/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tensor/apr-tensor-slice-private.h"
#include "aprender/tensor/apr-tensor-private.h"

#include <string.h>

#include "aprender/base/apr-pages-private.h"

/* A 64-bit number with a separate sign, because a size can exceed G_MAXINT64. */
typedef struct
{
  guint64 magnitude;
  gboolean is_negative;
  gboolean is_given;
} Number;

typedef enum
{
  INDEX,
  RANGE,
  ELLIPSIS,
} ItemKind;

/* One item between commas. The number of an INDEX is in @start. */
typedef struct
{
  ItemKind kind;
  Number start;
  Number stop;
  Number step;
} Item;

typedef struct
{
  const char *text;
  const char *position;
} Cursor;

static void
skip_space (Cursor *cursor)
{
  while (g_ascii_isspace (*cursor->position))
    cursor->position++;
}

/* The text comes from a user: show it as it is if it is valid, and not at any length. */
#define MAX_SHOWN 40

static gboolean
fail (const Cursor *cursor, AprError code, GError **error, const char *problem)
{
  g_autofree char *valid = g_utf8_make_valid (cursor->text, -1);
  gboolean is_long = g_utf8_strlen (valid, -1) > MAX_SHOWN;
  g_autofree char *shown = is_long ? g_utf8_substring (valid, 0, MAX_SHOWN) : g_strdup (valid);

  g_set_error (error, APR_ERROR, (int) code,
               "The indices “%s%s”: %s at position %" G_GSIZE_FORMAT " (counted from 0)", shown,
               is_long ? "…" : "", problem, (gsize) (cursor->position - cursor->text));
  return FALSE;
}

static gboolean
scan_number (Cursor *cursor, Number *number, GError **error)
{
  guint64 magnitude = 0;

  *number = (Number){ 0 };
  skip_space (cursor);
  if (*cursor->position == '-' || *cursor->position == '+')
    {
      number->is_negative = *cursor->position++ == '-';
      skip_space (cursor);
      if (!g_ascii_isdigit (*cursor->position))
        return fail (cursor, APR_ERROR_SYNTAX, error, "a sign without a number");
    }
  if (!g_ascii_isdigit (*cursor->position))
    return TRUE;
  /* Python refuses a leading zero too: in other languages the number would be octal. */
  if (*cursor->position == '0' && g_ascii_isdigit (cursor->position[1]))
    return fail (cursor, APR_ERROR_SYNTAX, error, "a number that begins with 0");
  for (; g_ascii_isdigit (*cursor->position); cursor->position++)
    if (!g_uint64_checked_mul (&magnitude, magnitude, 10) ||
        !g_uint64_checked_add (&magnitude, magnitude, (guint64) (*cursor->position - '0')))
      return fail (cursor, APR_ERROR_RANGE, error, "a number that takes more than 64 bits");
  if (magnitude > (guint64) G_MAXINT64 + (number->is_negative ? 1 : 0))
    return fail (cursor, APR_ERROR_RANGE, error, "a number that takes more than 64 bits");
  number->magnitude = magnitude;
  number->is_negative &= magnitude > 0;
  number->is_given = TRUE;
  return TRUE;
}

static gboolean
take (Cursor *cursor, char c)
{
  skip_space (cursor);
  if (*cursor->position != c)
    return FALSE;
  cursor->position++;
  return TRUE;
}

static gboolean
scan_item (Cursor *cursor, Item *item, GError **error)
{
  *item = (Item){ INDEX };
  skip_space (cursor);
  if (g_str_has_prefix (cursor->position, "..."))
    {
      item->kind = ELLIPSIS;
      cursor->position += 3;
      return TRUE;
    }
  if (!scan_number (cursor, &item->start, error))
    return FALSE;
  if (!take (cursor, ':'))
    return item->start.is_given || fail (cursor, APR_ERROR_SYNTAX, error, "no whole number, range or “...”");

  item->kind = RANGE;
  if (!scan_number (cursor, &item->stop, error))
    return FALSE;
  if (take (cursor, ':') && !scan_number (cursor, &item->step, error))
    return FALSE;
  if (item->step.is_given && item->step.magnitude == 0)
    return fail (cursor, APR_ERROR_RANGE, error, "a step of 0");
  if (!item->step.is_given)
    item->step = (Number){ 1, FALSE, TRUE };
  return TRUE;
}

static GArray *
scan_items (const char *indices, GError **error)
{
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (Item));
  Cursor cursor = { indices, indices };
  gboolean has_ellipsis = FALSE;

  skip_space (&cursor);
  while (*cursor.position != '\0')
    {
      Item item;

      if (!scan_item (&cursor, &item, error))
        return NULL;
      if (item.kind == ELLIPSIS && has_ellipsis)
        {
          fail (&cursor, APR_ERROR_SYNTAX, error, "a second “...”");
          return NULL;
        }
      has_ellipsis |= item.kind == ELLIPSIS;
      g_array_append_val (items, item);
      if (!take (&cursor, ',') && *cursor.position != '\0')
        {
          fail (&cursor, APR_ERROR_SYNTAX, error, "neither a comma nor the end");
          return NULL;
        }
      skip_space (&cursor);
    }
  return g_steal_pointer (&items);
}

/* What a slice takes along one dimension: @count positions from @start on, @step apart. */
typedef struct
{
  guint64 start;
  guint64 count;
  Number step;
} Range;

static guint64
clamp_upwards (const Number *number, guint64 size)
{
  if (number->is_negative)
    return number->magnitude > size ? 0 : size - number->magnitude;
  return MIN (number->magnitude, size);
}

/* With a negative step, a bound can be any position or the one before the first. Adding one to each keeps them from
 * being negative. */
static guint64
clamp_downwards (const Number *number, guint64 size)
{
  if (number->is_negative)
    return number->magnitude > size ? 0 : size - number->magnitude + 1;
  return number->magnitude >= size ? size : number->magnitude + 1;
}

static Range
resolve_range (const Item *item, guint64 size)
{
  Range range = { 0, 0, item->step };
  guint64 start, stop;

  if (!item->step.is_negative)
    {
      start = item->start.is_given ? clamp_upwards (&item->start, size) : 0;
      stop = item->stop.is_given ? clamp_upwards (&item->stop, size) : size;
      if (start < stop)
        range.count = (stop - start - 1) / item->step.magnitude + 1;
      range.start = start;
    }
  else
    {
      start = item->start.is_given ? clamp_downwards (&item->start, size) : size;
      stop = item->stop.is_given ? clamp_downwards (&item->stop, size) : 0;
      if (start > stop)
        {
          range.count = (start - stop - 1) / item->step.magnitude + 1;
          range.start = start - 1;
        }
    }
  return range;
}

static gboolean
resolve_index (const Item *item, gsize dim, guint64 size, Range *range, GError **error)
{
  const Number *index = &item->start;

  *range = (Range){ 0, 1, { 1, FALSE, TRUE } };
  if (index->is_negative ? index->magnitude <= size : index->magnitude < size)
    {
      range->start = index->is_negative ? size - index->magnitude : index->magnitude;
      return TRUE;
    }
  g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
               "The index %s%" G_GUINT64_FORMAT " is out of range for dimension %" G_GSIZE_FORMAT
               " of size %" G_GUINT64_FORMAT,
               index->is_negative ? "-" : "", index->magnitude, dim, size);
  return FALSE;
}

/* Computes the positions along every dimension, and the shape of the slice. */
static Range *
resolve_items (AprSlice *self, const GArray *items, const gsize *shape, gsize n_dims, GError **error)
{
  static const Item whole = { RANGE, { 0 }, { 0 }, { 1, FALSE, TRUE } };
  g_autofree Range *ranges = g_new (Range, MAX (n_dims, 1));
  gsize n_indices = 0, n_left, dim, i;

  for (i = 0; i < items->len; i++)
    n_indices += g_array_index (items, Item, i).kind != ELLIPSIS;
  if (n_indices > n_dims)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "%" G_GSIZE_FORMAT " indices are too many for a tensor of %" G_GSIZE_FORMAT " dimensions",
                   n_indices, n_dims);
      return NULL;
    }

  self->shape = g_new (gsize, MAX (n_dims, 1));
  n_left = n_dims - n_indices;
  for (dim = i = 0; dim < n_dims; dim++)
    {
      const Item *item = i < items->len ? &g_array_index (items, Item, i) : &whole;

      if (item->kind == ELLIPSIS && n_left == 0)
        item = ++i < items->len ? &g_array_index (items, Item, i) : &whole;
      if (item->kind == INDEX && !resolve_index (item, dim, shape[dim], &ranges[dim], error))
        return NULL;
      if (item->kind != INDEX)
        {
          ranges[dim] = resolve_range (item->kind == ELLIPSIS ? &whole : item, shape[dim]);
          self->shape[self->n_dims++] = (gsize) ranges[dim].count;
        }
      if (item->kind != ELLIPSIS || --n_left == 0)
        i++;
    }
  return g_steal_pointer (&ranges);
}

static gboolean
is_whole_bytes (guint64 n_elements, guint bits)
{
  return n_elements % 8 * bits % 8 == 0;
}

/*
 * Computes the contiguous pieces of a slice that has elements, innermost dimension first.
 *
 * Nothing here can overflow: the tensor has elements, they take less than 2^64 bits, and every product here counts some
 * of them.
 */
static gboolean
find_pieces (AprSlice *self, const Range *ranges, const gsize *shape, gsize n_dims, GError **error)
{
  guint bits = apr_dtype_get_bits (self->dtype);
  gsize n_elements = 1, stride = 1, run = 1, offset = 0, below = 0, above = 0;
  gboolean is_whole = TRUE;
  gsize i;

  self->axes = g_new (AprSliceAxis, MAX (n_dims, 1));
  for (i = n_dims; i-- > 0; stride *= shape[i])
    {
      const Range *range = &ranges[i];
      gsize apart, reach;

      n_elements *= (gsize) range->count;
      offset += (gsize) range->start * stride;
      if (range->count == 1)
        continue;
      apart = (gsize) range->step.magnitude * stride;
      if (self->n_axes == 0 && !range->step.is_negative && apart == run)
        {
          run *= (gsize) range->count;
          continue;
        }
      reach = ((gsize) range->count - 1) * apart;
      if (range->step.is_negative)
        below += reach;
      else
        above += reach;
      is_whole &= is_whole_bytes (apart, bits);
      /* In elements; converted to bytes below. */
      self->axes[self->n_axes++] =
        (AprSliceAxis){ (gsize) range->count, (range->step.is_negative ? -1 : 1) * (gint64) apart };
    }

  if (!is_whole || !is_whole_bytes (offset, bits) || !is_whole_bytes (run, bits))
    {
      g_autofree char *text = apr_shape_to_string (shape, n_dims);

      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "A slice of %s %s takes %" G_GSIZE_FORMAT
                   " elements of %u bits from element %" G_GSIZE_FORMAT " on, in pieces of %" G_GSIZE_FORMAT
                   ", which do not all begin and end at whole bytes",
                   apr_dtype_to_string (self->dtype), text, n_elements, bits, offset, run);
      return FALSE;
    }

  self->begin = (offset - below) / 8 * bits + (offset - below) % 8 * bits / 8;
  self->first = below / 8 * bits + below % 8 * bits / 8;
  self->piece = run / 8 * bits + run % 8 * bits / 8;
  self->end = self->begin + self->first + above / 8 * bits + above % 8 * bits / 8 + self->piece;
  self->n_bytes = n_elements / 8 * bits + n_elements % 8 * bits / 8;
  for (i = 0; i < self->n_axes; i++)
    self->axes[i].stride = self->axes[i].stride / 8 * bits + self->axes[i].stride % 8 * (gint64) bits / 8;
  for (i = 0; i < self->n_axes / 2; i++)
    {
      AprSliceAxis axis = self->axes[i];

      self->axes[i] = self->axes[self->n_axes - 1 - i];
      self->axes[self->n_axes - 1 - i] = axis;
    }
  return TRUE;
}

AprSlice *
apr_slice_new (AprDType dtype, const gsize *shape, gsize n_dims, const char *indices, GError **error)
{
  g_autoptr (AprSlice) self = g_new0 (AprSlice, 1);
  g_autoptr (GArray) items = NULL;
  g_autofree Range *ranges = NULL;
  gsize i;

  self->dtype = dtype;
  items = scan_items (indices, error);
  if (items == NULL)
    return NULL;
  ranges = resolve_items (self, items, shape, n_dims, error);
  if (ranges == NULL)
    return NULL;
  for (i = 0; i < n_dims; i++)
    if (ranges[i].count == 0)
      return g_steal_pointer (&self);
  return find_pieces (self, ranges, shape, n_dims, error) ? g_steal_pointer (&self) : NULL;
}

void
apr_slice_free (AprSlice *self)
{
  g_free (self->axes);
  g_free (self->shape);
  g_free (self);
}

/* Copies the pieces along the innermost axis. The common sizes are spelled out, so that the compiler makes one move of
 * each. */
static guint8 *
copy_row (guint8 *to, const guint8 *from, const AprSliceAxis *axis, gsize piece)
{
  gsize i;

#define COPY(size)                 \
 for (i = 0; i < axis->count; i++) \
 memcpy (to + i * (size), from + (gssize) i * (gssize) axis->stride, (size))

  switch (piece)
    {
    case 1:
      COPY (1);
      break;
    case 2:
      COPY (2);
      break;
    case 4:
      COPY (4);
      break;
    case 8:
      COPY (8);
      break;
    default:
      COPY (piece);
    }
#undef COPY
  return to + axis->count * piece;
}

static void
copy_pieces (const AprSlice *self, guint8 *to, const guint8 *from)
{
  gsize n_outer = self->n_axes - 1;
  g_autofree gsize *position = g_new0 (gsize, MAX (n_outer, 1));
  gsize i;

  do
    {
      to = copy_row (to, from, &self->axes[n_outer], self->piece);
      for (i = n_outer; i-- > 0;)
        {
          const AprSliceAxis *axis = &self->axes[i];

          if (++position[i] < axis->count)
            {
              from += axis->stride;
              break;
            }
          from -= (gint64) (axis->count - 1) * axis->stride;
          position[i] = 0;
        }
    }
  while (i != G_MAXSIZE);
}

AprTensor *
apr_slice_take (const AprSlice *self, GBytes *bytes, GError **error)
{
  g_autoptr (GBytes) copy = NULL;
  guint8 *data;

  g_assert (g_bytes_get_size (bytes) == self->end - self->begin);

  if (self->n_axes > 0)
    {
      /* A mapped file can be larger than memory. */
      data = apr_memory_new (self->n_bytes, 1, "a slice", error);
      if (data == NULL)
        return NULL;
      copy_pieces (self, data, (const guint8 *) g_bytes_get_data (bytes, NULL) + self->first);
      bytes = copy = g_bytes_new_take (data, self->n_bytes);
    }
  return apr_tensor_new_from_bytes (self->dtype, self->shape, self->n_dims, bytes, error);
}

/**
 * apr_tensor_slice:
 * @self: a tensor
 * @indices: what to take along each dimension, such as `1:3, ::-2, -1`
 * @error: return location for an error
 *
 * Gets a part of a tensor. The rules and the notation are those of numpy's basic indexing.
 *
 * @indices is a comma-separated list with one item per dimension:
 *
 * - A whole number takes one position and drops the dimension. A negative number counts from the end.
 * - `start:stop:step` takes the positions from `start` up to `stop`, which is excluded. Each part is optional: the
 *   default step is 1, and the default bounds are the ends of the dimension. Negative bounds count from the end, bounds
 *   outside the dimension mean its ends, and a negative step goes backwards. A range may be empty: that dimension of
 *   the result has size zero.
 * - `...`, at most once, stands for `:` along all dimensions that have no other item.
 *
 * Missing items at the end stand for `:`, so the empty string takes everything. White space is ignored. Numbers are
 * decimal and have at most 64 bits.
 *
 * If the slice is contiguous, it shares the memory of @self; otherwise its elements are copied, which takes time. Every
 * dtype can be sliced; pieces of sub-byte elements must begin and end at whole bytes.
 *
 * Fails with %APR_ERROR_SYNTAX if @indices cannot be parsed; with %APR_ERROR_RANGE if an index is out of range, a
 * step is 0, or a number has more than 64 bits; with %APR_ERROR_SHAPE if there are more items than dimensions, or
 * pieces of sub-byte elements do not fill whole bytes; and with %APR_ERROR_NO_MEMORY if there is no memory.
 *
 * Returns: (transfer full): the slice
 *
 * Since: 0.1
 */
AprTensor *
apr_tensor_slice (AprTensor *self, const char *indices, GError **error)
{
  g_autoptr (AprSlice) slice = NULL;
  g_autoptr (GBytes) bytes = NULL;
  const gsize *shape;
  gsize n_dims;

  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (indices != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  shape = apr_tensor_get_shape (self, &n_dims);
  slice = apr_slice_new (apr_tensor_get_dtype (self), shape, n_dims, indices, error);
  if (slice == NULL)
    return NULL;
  bytes = g_bytes_new_from_bytes (apr_tensor_get_bytes (self), slice->begin, slice->end - slice->begin);
  return apr_slice_take (slice, bytes, error);
}

/**
 * apr_tensor_slice_rows:
 * @self: a tensor of at least one dimension
 * @start: the first row
 * @stop: the row after the last one
 * @error: return location for an error
 *
 * Gets the rows from @start up to @stop, which is excluded. Rows are the entries of the first dimension. The result
 * shares the memory of @self.
 *
 * Fails with %APR_ERROR_RANGE if there are no such rows, and with %APR_ERROR_SHAPE if @self is a scalar or a row of
 * sub-byte elements does not begin at a whole byte.
 *
 * Returns: (transfer full): the rows, with as many dimensions as @self
 *
 * Since: 0.1
 */
AprTensor *
apr_tensor_slice_rows (AprTensor *self, gsize start, gsize stop, GError **error)
{
  gsize row_bits;
  gsize n_rows;
  AprTensor *slice;
  GBytes *bytes;

  g_return_val_if_fail (self != NULL, NULL);

  if (self->n_dims == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE, "A scalar has no rows");
      return NULL;
    }

  n_rows = self->shape[0];
  if (start > stop || stop > n_rows)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                   "Rows %" G_GSIZE_FORMAT " to %" G_GSIZE_FORMAT " of a tensor that has %" G_GSIZE_FORMAT,
                   start, stop, n_rows);
      return NULL;
    }

  /* No larger than the whole tensor, so nothing here can overflow. */
  row_bits = n_rows == 0 ? 0 : self->n_elements / n_rows * apr_dtype_get_bits (self->dtype);
  if (start * row_bits % 8 != 0 || stop * row_bits % 8 != 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "Rows of %" G_GSIZE_FORMAT " bits: %" G_GSIZE_FORMAT " to %" G_GSIZE_FORMAT
                   " do not fill whole bytes",
                   row_bits, start, stop);
      return NULL;
    }

  bytes = g_bytes_new_from_bytes (self->bytes, start * row_bits / 8, (stop - start) * row_bits / 8);
  slice = apr_tensor_new_unchecked (self->dtype, self->shape, self->n_dims,
                                    n_rows == 0 ? 0 : self->n_elements / n_rows * (stop - start), bytes);
  slice->shape[0] = stop - start;

  return slice;
}
