/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/exact-sums/apr-rows-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-error.h"
#include "aprender/base/apr-number-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* What is copied between two looks at whether that was cancelled. */
#define BYTES_PER_LOOK ((gsize) 1 << 20)

/* Weights that are checked at once. */
#define CHECKED 256

void
apr_rows_init (AprRows *self, const char *name, AprTensor *tensor)
{
  gsize n_dims;
  const gsize *shape = apr_tensor_get_shape (tensor, &n_dims);

  self->name = name;
  self->dtype = apr_tensor_get_dtype (tensor);
  self->data = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
  self->columns = NULL;
  self->n_rows = shape[0];
  self->n_columns = n_dims == 2 ? shape[1] : 1;
  self->is_matrix = n_dims == 2;
}

void
apr_rows_init_columns (AprRows *self,
                       const char *name,
                       AprDType dtype,
                       const guint8 *const *columns,
                       gsize n_rows,
                       gsize n_columns)
{
  *self = (AprRows){ .name = name,
                     .dtype = dtype,
                     .columns = columns,
                     .n_rows = n_rows,
                     .n_columns = n_columns,
                     .is_matrix = TRUE };
}

static inline gsize
get_width (const AprRows *self)
{
  return apr_dtype_get_bits (self->dtype) / 8;
}

static inline const guint8 *
find_element (const AprRows *self, gsize row, gsize column)
{
  return self->columns != NULL ? self->columns[column] + row * get_width (self)
                               : self->data + (row * self->n_columns + column) * get_width (self);
}

/* A column as a matrix of one column, or of one row. */
static AprRows
get_column (const AprRows *self, gsize column, gboolean as_row)
{
  AprRows rows = *self;

  rows.data = self->columns[column];
  rows.columns = NULL;
  rows.n_rows = as_row ? 1 : self->n_rows;
  rows.n_columns = as_row ? self->n_rows : 1;

  return rows;
}

gboolean
apr_rows_may_exceed_double (const AprRows *self)
{
  return self->dtype == APR_DTYPE_I64 || self->dtype == APR_DTYPE_U64;
}

gboolean
apr_rows_are_floats (const AprRows *self)
{
  return G_BYTE_ORDER == G_LITTLE_ENDIAN && self->columns == NULL &&
         (self->dtype == APR_DTYPE_F32 || self->dtype == APR_DTYPE_F64);
}

/* An element of the file's byte order, wherever it is. */
#define READ(type, bits_type, from_file) \
 bits_type bits;                         \
 type value;                             \
                                         \
 memcpy (&bits, place, sizeof bits);     \
 bits = from_file (bits);                \
 memcpy (&value, &bits, sizeof value);   \
 return (double) value

static inline double
read_i8 (const guint8 *place)
{
  return (gint8) *place;
}

static inline double
read_u8 (const guint8 *place)
{
  return *place;
}

static inline double
read_i16 (const guint8 *place)
{
  READ (gint16, guint16, GUINT16_FROM_LE);
}

static inline double
read_u16 (const guint8 *place)
{
  READ (guint16, guint16, GUINT16_FROM_LE);
}

static inline double
read_i32 (const guint8 *place)
{
  READ (gint32, guint32, GUINT32_FROM_LE);
}

static inline double
read_u32 (const guint8 *place)
{
  READ (guint32, guint32, GUINT32_FROM_LE);
}

static inline double
read_i64 (const guint8 *place)
{
  READ (gint64, guint64, GUINT64_FROM_LE);
}

static inline double
read_u64 (const guint8 *place)
{
  READ (guint64, guint64, GUINT64_FROM_LE);
}

static inline double
read_f32 (const guint8 *place)
{
  READ (float, guint32, GUINT32_FROM_LE);
}

static inline double
read_f64 (const guint8 *place)
{
  READ (double, guint64, GUINT64_FROM_LE);
}

static inline double
read_f16 (const guint8 *place)
{
  return apr_dtype_read_double (APR_DTYPE_F16, place, 0);
}

static inline double
read_bf16 (const guint8 *place)
{
  guint32 bits = (guint32) (place[0] | place[1] << 8) << 16;
  float value;

  memcpy (&value, &bits, sizeof value);
  return (double) value;
}

/* Eight rows at a time, so that the columns are written line by line and the rows are still read in their order. */
#define TRANSPOSE(read, size)                                                             \
 for (row = 0; row + 8 <= n_rows; row += 8)                                               \
  for (column = 0; column < n; column++)                                                  \
   for (i = 0; i < 8; i++)                                                                \
    columns[column * stride + row + i] = read (data + ((row + i) * n + column) * (size)); \
 for (; row < n_rows; row++)                                                              \
  for (column = 0; column < n; column++)                                                  \
   columns[column * stride + row] = read (data + (row * n + column) * (size));            \
 break

const double *
apr_rows_find_doubles (const AprRows *self, gsize column, gsize first_row)
{
  const guint8 *data = self->columns != NULL ? self->columns[column] : self->data;
  gconstpointer place = data + first_row * sizeof (double);

  if (G_BYTE_ORDER != G_LITTLE_ENDIAN || self->dtype != APR_DTYPE_F64 ||
      (self->columns == NULL && self->n_columns != 1) || (guintptr) place % sizeof (double) != 0)
    return NULL;

  return place;
}

void
apr_rows_transpose (const AprRows *self,
                    const AprSliceKernel *kernel,
                    gsize first_row,
                    gsize n_rows,
                    gsize stride,
                    double *columns,
                    AprColumnRange *ranges)
{
  gsize n = self->n_columns;
  gsize row_size = n * get_width (self);
  const guint8 *data;
  AprTransposeFunc transpose = NULL;
  gsize row;
  gsize column;
  gsize i;

  if (self->columns != NULL)
    {
      for (column = 0; column < n; column++)
        {
          AprRows as_row = get_column (self, column, TRUE);

          apr_rows_read (&as_row, 0, 1, first_row, n_rows, stride, columns + column * stride);
        }
      return;
    }

  data = self->data + first_row * row_size;
  if (G_BYTE_ORDER == G_LITTLE_ENDIAN && self->dtype == APR_DTYPE_F64)
    transpose = kernel->transpose_doubles;
  if (G_BYTE_ORDER == G_LITTLE_ENDIAN && self->dtype == APR_DTYPE_F32)
    transpose = kernel->transpose_floats;
  if (transpose != NULL)
    {
      gsize n_done = n_rows / 8 * 8;

      transpose (data, n_done, n, stride, columns, n_done == n_rows ? ranges : NULL);
      data += n_done * row_size;
      columns += n_done;
      n_rows -= n_done;
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wswitch-enum"
  switch (self->dtype)
    {
    case APR_DTYPE_I8:
      TRANSPOSE (read_i8, 1);
    case APR_DTYPE_BOOL:
    case APR_DTYPE_U8:
      TRANSPOSE (read_u8, 1);
    case APR_DTYPE_I16:
      TRANSPOSE (read_i16, 2);
    case APR_DTYPE_U16:
      TRANSPOSE (read_u16, 2);
    case APR_DTYPE_I32:
      TRANSPOSE (read_i32, 4);
    case APR_DTYPE_U32:
      TRANSPOSE (read_u32, 4);
    case APR_DTYPE_I64:
      TRANSPOSE (read_i64, 8);
    case APR_DTYPE_U64:
      TRANSPOSE (read_u64, 8);
    case APR_DTYPE_F16:
      TRANSPOSE (read_f16, 2);
    case APR_DTYPE_BF16:
      TRANSPOSE (read_bf16, 2);
    case APR_DTYPE_F32:
      TRANSPOSE (read_f32, 4);
    case APR_DTYPE_F64:
      TRANSPOSE (read_f64, 8);
    default:
      g_assert_not_reached ();
    }
#pragma GCC diagnostic pop
}

/* Row by row. */
#define COPY(read, size)                                                                    \
 for (row = 0; row < n_rows; row++)                                                         \
  for (column = 0; column < n_columns; column++)                                            \
   values[row * stride + column] = read (data + (row * self->n_columns + column) * (size)); \
 break

void
apr_rows_read (const AprRows *self,
               gsize first_row,
               gsize n_rows,
               gsize first_column,
               gsize n_columns,
               gsize stride,
               double *values)
{
  const guint8 *data;
  gsize row;
  gsize column;

  if (self->columns != NULL)
    {
      for (column = 0; column < n_columns; column++)
        {
          AprRows one = get_column (self, first_column + column, FALSE);

          apr_rows_read (&one, first_row, n_rows, 0, 1, stride, values + column);
        }
      return;
    }

  data = find_element (self, first_row, first_column);
  /* What lies in memory as it is wanted is copied. */
  if (G_BYTE_ORDER == G_LITTLE_ENDIAN && self->dtype == APR_DTYPE_F64)
    {
      for (row = 0; row < n_rows && n_columns > 0; row++)
        memcpy (values + row * stride, data + row * self->n_columns * sizeof (double),
                n_columns * sizeof (double));
      return;
    }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wswitch-enum"
  switch (self->dtype)
    {
    case APR_DTYPE_I8:
      COPY (read_i8, 1);
    case APR_DTYPE_BOOL:
    case APR_DTYPE_U8:
      COPY (read_u8, 1);
    case APR_DTYPE_I16:
      COPY (read_i16, 2);
    case APR_DTYPE_U16:
      COPY (read_u16, 2);
    case APR_DTYPE_I32:
      COPY (read_i32, 4);
    case APR_DTYPE_U32:
      COPY (read_u32, 4);
    case APR_DTYPE_I64:
      COPY (read_i64, 8);
    case APR_DTYPE_U64:
      COPY (read_u64, 8);
    case APR_DTYPE_F16:
      COPY (read_f16, 2);
    case APR_DTYPE_BF16:
      COPY (read_bf16, 2);
    case APR_DTYPE_F32:
      COPY (read_f32, 4);
    case APR_DTYPE_F64:
      COPY (read_f64, 8);
    default:
      g_assert_not_reached ();
    }
#pragma GCC diagnostic pop
}

/* The bits of a 64-bit integer. */
static guint64
get_bits (const AprRows *self, gsize row, gsize column)
{
  guint64 bits;

  memcpy (&bits, find_element (self, row, column), sizeof bits);
  return GUINT64_FROM_LE (bits);
}

/* What the nearest double lacks of a 64-bit integer: at most 2^10, of either sign. */
static double
get_rest (const AprRows *self, gsize row, gsize column)
{
  guint64 bits = get_bits (self, row, column);
  double nearest = self->dtype == APR_DTYPE_I64 ? (double) (gint64) bits : (double) bits;
  __int128 whole = self->dtype == APR_DTYPE_I64 ? (__int128) (gint64) bits : (__int128) bits;

  return (double) (gint64) (whole - (__int128) nearest);
}

AprWholeNumber
apr_rows_get_number (const AprRows *self, gsize row, gsize column)
{
  AprWholeNumber number = { 0 };

  if (apr_rows_may_exceed_double (self))
    {
      number.size = get_bits (self, row, column);
      number.sign = self->dtype == APR_DTYPE_I64 && number.size >> 63 != 0 ? -1 : 0;
      if (number.sign < 0)
        number.size = 0 - number.size;
    }
  else
    {
      double value = apr_dtype_read_double (self->dtype, find_element (self, row, column), 0);
      double fraction = frexp (fabs (value), &number.exponent);

      number.size = (guint64) ldexp (fraction, 53);
      number.exponent -= 53;
      number.sign = value < 0 ? -1 : 0;
    }
  while (number.size != 0 && number.size % 2 == 0)
    {
      number.size /= 2;
      number.exponent++;
    }

  return number;
}

gboolean
apr_rows_get_rests (const AprRows *self, gsize column, gsize first_row, gsize n_rows, double *rests)
{
  gboolean any = FALSE;
  gsize row;

  for (row = 0; row < n_rows; row++)
    {
      rests[row] = get_rest (self, first_row + row, column);
      any |= rests[row] != 0;
    }

  return any;
}

AprTensor *
apr_rows_gather (
  const AprRows *self, const gsize *rows, gsize n_rows, GCancellable *cancellable, GError **error)
{
  const gsize shape[] = { n_rows, self->n_columns };
  gsize width = get_width (self);
  gsize row_size = self->n_columns * width;
  gsize rows_per_look = BYTES_PER_LOOK / (row_size + 1) + 1;
  g_autofree guint8 *data = NULL;
  g_autoptr (GBytes) bytes = NULL;
  gsize size = 0;
  gsize row;
  gsize column;

  if (g_size_checked_mul (&size, n_rows, row_size))
    data = g_try_malloc (MAX (size, 1));
  if (data == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                   "No memory for a copy of %" G_GSIZE_FORMAT " rows of %" G_GSIZE_FORMAT " columns of %s",
                   n_rows, self->n_columns, self->name);
      return NULL;
    }

  for (row = 0; row < n_rows; row++)
    {
      if (row % rows_per_look == 0 && g_cancellable_set_error_if_cancelled (cancellable, error))
        return NULL;
      if (self->columns == NULL)
        memcpy (data + row * row_size, find_element (self, rows[row], 0), row_size);
      else
        for (column = 0; column < self->n_columns; column++)
          memcpy (data + row * row_size + column * width, find_element (self, rows[row], column), width);
    }

  bytes = g_bytes_new_take (g_steal_pointer (&data), size);
  return apr_tensor_new_from_bytes (self->dtype, shape, self->is_matrix ? 2 : 1, bytes, error);
}

gboolean
apr_rows_check_finite (const AprRows *self, GError **error)
{
  g_autofree char *text = NULL;
  gsize row;
  gsize column;

  for (row = 0; row < self->n_rows; row++)
    for (column = 0; column < self->n_columns; column++)
      {
        double value = apr_dtype_read_double (self->dtype, find_element (self, row, column), 0);

        if (G_LIKELY (isfinite (value)))
          continue;

        text = self->is_matrix ? g_strdup_printf (", column %" G_GSIZE_FORMAT, column) : g_strdup ("");
        g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                     "%s has %s at row %" G_GSIZE_FORMAT "%s (counted from 0)", self->name,
                     isnan (value) ? "a NaN" : "an infinity", row, text);
        return FALSE;
      }

  return TRUE;
}

/* Returns whether some rows of a vector are all weights. */
static gboolean
are_weights (const AprRows *self, gsize first_row, gsize n_rows)
{
  double values[CHECKED];
  gboolean good = TRUE;
  gsize i;

  if (apr_rows_may_exceed_double (self) && apr_rows_get_rests (self, 0, first_row, n_rows, values))
    return FALSE;
  apr_rows_read (self, first_row, n_rows, 0, 1, 1, values);
  /* A NaN is not within the limits either. */
  for (i = 0; i < n_rows; i++)
    good &= values[i] >= 0 && values[i] <= G_MAXDOUBLE;

  return good;
}

gboolean
apr_rows_check_weight (double weight, guint64 row, GError **error)
{
  char number[APR_NUMBER_SIZE];

  if (!isfinite (weight))
    g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                 "sample_weight has %s at row %" G_GUINT64_FORMAT " (counted from 0)",
                 isnan (weight) ? "a NaN" : "an infinity", row);
  else if (weight < 0)
    g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS,
                 "sample_weight has the negative value %s at row %" G_GUINT64_FORMAT " (counted from 0)",
                 apr_number_format (weight, (float) weight == weight, number), row);

  return isfinite (weight) && weight >= 0;
}

static gboolean
check_weight (const AprRows *self, gsize row, GError **error)
{
  double value = apr_dtype_read_double (self->dtype, self->data, row);

  if (!apr_rows_check_weight (value, row, error))
    return FALSE;
  if (apr_rows_may_exceed_double (self) && get_rest (self, row, 0) != 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_WEIGHTS,
                   "sample_weight has the value %" G_GUINT64_FORMAT " at row %" G_GSIZE_FORMAT
                   " (counted from 0), which no double is equal to",
                   get_bits (self, row, 0), row);
      return FALSE;
    }

  return TRUE;
}

gboolean
apr_rows_check_weights (const AprRows *self, GError **error)
{
  gsize first;
  gsize row;

  for (first = 0; first < self->n_rows; first += CHECKED)
    if (!are_weights (self, first, MIN (CHECKED, self->n_rows - first)))
      break;
  for (row = first; row < self->n_rows; row++)
    if (!check_weight (self, row, error))
      return FALSE;

  return TRUE;
}

void
apr_rows_set_error (const AprRows *x, const AprRows *y, const AprRows *weights, GError **error)
{
  if (apr_rows_check_finite (x, error) && apr_rows_check_finite (y, error) &&
      (weights == NULL || apr_rows_check_weights (weights, error)))
    g_set_error_literal (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                         "The samples were changed by somebody else while they were summed");
}
