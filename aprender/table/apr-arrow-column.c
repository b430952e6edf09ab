/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-arrow-column-private.h"

#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-error.h"
#include "aprender/table/apr-decimal-private.h"
#include "aprender/tensor/apr-tensor-private.h"

/* Whether whole numbers of up to so many digits are doubles, and so is ten to that power. */
#define MAX_EXACT_SCALE 22

static const struct
{
  char type;
  AprDType dtype;
  gsize width;
} types[] = {
  { 'b', APR_DTYPE_BOOL, 1 }, { 'c', APR_DTYPE_I8, 1 },  { 'C', APR_DTYPE_U8, 1 },  { 's', APR_DTYPE_I16, 2 },
  { 'S', APR_DTYPE_U16, 2 },  { 'i', APR_DTYPE_I32, 4 }, { 'I', APR_DTYPE_U32, 4 }, { 'l', APR_DTYPE_I64, 8 },
  { 'L', APR_DTYPE_U64, 8 },  { 'e', APR_DTYPE_F16, 2 }, { 'f', APR_DTYPE_F32, 4 }, { 'g', APR_DTYPE_F64, 8 },
};

/* The beginnings of the formats of everything else. */
static const struct
{
  const char *prefix;
  const char *what;
} other_types[] = {
  { "u", "text" },
  { "U", "text" },
  { "vu", "text" },
  { "z", "bytes" },
  { "Z", "bytes" },
  { "w:", "bytes" },
  { "vz", "bytes" },
  { "n", "nulls only" },
  { "td", "dates" },
  { "tt", "times" },
  { "ts", "times" },
  { "tD", "durations" },
  { "ti", "intervals" },
  { "d:", "decimal numbers of another size than 32, 64 or 128 bits" },
  { "+r", "run-end-encoded values" },
  { "+", "values that are not single numbers" },
};

static gboolean
fail_as_other (const AprArrowColumn *self, const AprArrowSchema *schema, const char *role, GError **error)
{
  g_autofree char *format = g_utf8_make_valid (schema->format, -1);
  g_autofree char *what = NULL;
  gsize i;

  if (schema->dictionary != NULL)
    what = g_strdup ("categories");
  for (i = 0; i < G_N_ELEMENTS (other_types) && what == NULL; i++)
    if (g_str_has_prefix (schema->format, other_types[i].prefix))
      what = g_strdup (other_types[i].what);
  if (what == NULL)
    what = g_strdup_printf ("values of the Arrow type “%s”", format);

  g_set_error (error, APR_ERROR, APR_ERROR_DTYPE,
               "Column “%s” of %s holds %s, but models compute with numbers", self->name, role, what);
  return FALSE;
}

/* “d:PRECISION,SCALE[,BITS]” */
static gboolean
parse_decimal (AprArrowColumn *self, const char *format)
{
  g_auto (GStrv) parts = g_strsplit (format + strlen ("d:"), ",", 4);
  guint n = g_strv_length (parts);
  guint64 precision;
  guint64 n_bits = 128;
  gint64 scale;

  if (n < 2 || n > 3 || !g_ascii_string_to_unsigned (parts[0], 10, 0, 1000, &precision, NULL) ||
      !g_ascii_string_to_signed (parts[1], 10, G_MININT16, G_MAXINT16, &scale, NULL) ||
      (n == 3 && !g_ascii_string_to_unsigned (parts[2], 10, 32, 128, &n_bits, NULL)) ||
      (n_bits != 32 && n_bits != 64 && n_bits != 128))
    return FALSE;

  self->type = 'd';
  self->dtype = APR_DTYPE_NONE;
  self->width = (gsize) n_bits / 8;
  self->scale = (gint) scale;
  return TRUE;
}

gboolean
apr_arrow_column_init (AprArrowColumn *self, const AprArrowSchema *schema, const char *role, GError **error)
{
  gsize i;

  *self = (AprArrowColumn){ .name = g_utf8_make_valid (schema->name != NULL ? schema->name : "", -1) };
  if (schema->format == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE, "Column “%s” of %s has no Arrow type", self->name,
                   role);
      return FALSE;
    }
  if (schema->dictionary != NULL)
    return fail_as_other (self, schema, role, error);

  for (i = 0; i < G_N_ELEMENTS (types) && strlen (schema->format) == 1; i++)
    if (types[i].type == schema->format[0])
      {
        self->type = types[i].type;
        self->dtype = types[i].dtype;
        self->width = types[i].width;
        return TRUE;
      }

  return (g_str_has_prefix (schema->format, "d:") && parse_decimal (self, schema->format)) ||
         fail_as_other (self, schema, role, error);
}

void
apr_arrow_column_clear (gpointer self)
{
  AprArrowColumn *column = self;

  g_clear_pointer (&column->name, g_free);
}

AprDType
apr_arrow_column_choose_dtype (const AprArrowColumn *const *columns, gsize n)
{
  /* By the letters of Arrow's formats. */
  gboolean have_floats = FALSE;
  gboolean fit_floats = TRUE;
  gboolean have_doubles = FALSE;
  gboolean have_signed = FALSE;
  gboolean have_large = FALSE;
  gsize i;

  for (i = 0; i < n; i++)
    {
      have_doubles |= strchr ("gd", columns[i]->type) != NULL;
      have_floats |= strchr ("ef", columns[i]->type) != NULL;
      fit_floats &= strchr ("efbcCsS", columns[i]->type) != NULL;
      have_signed |= strchr ("csil", columns[i]->type) != NULL;
      have_large |= columns[i]->type == 'L';
    }

  if (have_floats && fit_floats)
    return APR_DTYPE_F32;
  if (have_doubles || have_floats || (have_large && have_signed))
    return APR_DTYPE_F64;

  return have_large ? APR_DTYPE_U64 : APR_DTYPE_I64;
}

static gboolean
fail (const char *role, const char *name, GError **error, const char *format, ...) G_GNUC_PRINTF (4, 5);

static gboolean
fail (const char *role, const char *name, GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, APR_ERROR, APR_ERROR_SHAPE, "Column “%s” of %s is no Arrow array: %s", name, role,
               what);

  return FALSE;
}

gboolean
apr_arrow_check_valid (const AprArrowArray *array,
                       gint64 offset,
                       gint64 n_rows,
                       guint64 first_row,
                       const char *role,
                       const char *name,
                       GError **error)
{
  const guint8 *bits = array->buffers[0];
  gint64 i;

  if (array->null_count == 0 || n_rows == 0 || (bits == NULL && array->null_count < 0))
    return TRUE;
  if (bits == NULL)
    return fail (role, name, error, "%" G_GINT64_FORMAT " values are missing, but not said which",
                 array->null_count);

  for (i = 0; i < n_rows; i++)
    {
      gint64 bit = offset + i;

      /* Most bytes have none that is missing. */
      if (bit % 8 == 0 && n_rows - i >= 8 && bits[bit / 8] == 0xff)
        i += 7;
      else if ((bits[bit / 8] >> bit % 8 & 1) == 0)
        break;
    }
  if (i == n_rows)
    return TRUE;

  if (name == NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                 "%s has a missing value at row %" G_GUINT64_FORMAT " (counted from 0)", role,
                 first_row + (guint64) i);
  else
    g_set_error (error, APR_ERROR, APR_ERROR_NOT_FINITE,
                 "%s has a missing value at row %" G_GUINT64_FORMAT ", column “%s” (counted from 0)", role,
                 first_row + (guint64) i, name);
  return FALSE;
}

gboolean
apr_arrow_column_check (const AprArrowColumn *self,
                        const AprArrowArray *array,
                        gint64 offset,
                        gint64 n_rows,
                        guint64 first_row,
                        const char *role,
                        GError **error)
{
  gint64 end;
  gsize n_bytes;

  if (array == NULL || array->release == NULL)
    return fail (role, self->name, error, "it has been released");
  if (array->length < 0 || array->offset < 0 || array->null_count < -1 || array->null_count > array->length)
    return fail (role, self->name, error,
                 "a length of %" G_GINT64_FORMAT ", an offset of %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                 " nulls",
                 array->length, array->offset, array->null_count);
  if (__builtin_add_overflow (offset, n_rows, &end) || end > array->length)
    return fail (role, self->name, error,
                 "%" G_GINT64_FORMAT " rows after %" G_GINT64_FORMAT
                 " of a table, but a length of %" G_GINT64_FORMAT,
                 n_rows, offset, array->length);
  if (__builtin_add_overflow (end, array->offset, &end) || end > G_MAXSSIZE ||
      !g_size_checked_mul (&n_bytes, (gsize) end, self->width) || n_bytes > G_MAXSSIZE)
    return fail (role, self->name, error,
                 "%" G_GINT64_FORMAT " values after %" G_GINT64_FORMAT " are larger than memory can be",
                 array->length, array->offset);
  if (array->n_buffers != 2 || array->buffers == NULL || array->n_children != 0 || array->dictionary != NULL)
    return fail (role, self->name, error, "%" G_GINT64_FORMAT " buffers and %" G_GINT64_FORMAT " children",
                 array->n_buffers, array->n_children);
  if (n_rows > 0 && array->buffers[1] == NULL)
    return fail (role, self->name, error, "no values");

  return apr_arrow_check_valid (array, array->offset + offset, n_rows, first_row, role, self->name, error);
}

/* The nearest double to a decimal number of the column. */
static double
read_decimal (const AprArrowColumn *self, const guint8 *data, gsize index)
{
  char text[64 + APR_DECIMAL_PADDING];
  char *begin = text + 48;
  unsigned __int128 size;
  __int128 whole = 0;
  gint64 narrow;
  gint32 narrowest;
  double value = 0;
  int n;

  if (self->width == 16)
    memcpy (&whole, data + 16 * index, 16);
  else if (self->width == 8)
    {
      memcpy (&narrow, data + 8 * index, 8);
      whole = narrow;
    }
  else
    {
      memcpy (&narrowest, data + 4 * index, 4);
      whole = narrowest;
    }

  /* Two doubles, and a division that is rounded once. */
  if (self->scale >= 0 && self->scale <= MAX_EXACT_SCALE && whole >= -((gint64) 1 << 53) &&
      whole <= (gint64) 1 << 53)
    {
      static const double powers[MAX_EXACT_SCALE + 1] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

      return (double) (gint64) whole / powers[self->scale];
    }

  n = g_snprintf (begin, 16, "e%d", -self->scale);
  size = whole < 0 ? -(unsigned __int128) whole : (unsigned __int128) whole;
  do
    *--begin = (char) ('0' + (int) (size % 10));
  while ((size /= 10) > 0);
  if (whole < 0)
    *--begin = '-';
  memset (text + 48 + n, 0, APR_DECIMAL_PADDING);
  apr_decimal_parse (begin, text + 48 + n, '.', &value);

  return value;
}

/* Buffers need not be aligned. */
#define DEFINE_READ(suffix, to_type, from_type)                                          \
 static void read_##suffix (const guint8 *from, gsize n_rows, to_type *to, gsize stride) \
 {                                                                                       \
  gsize i;                                                                               \
  from_type value;                                                                       \
                                                                                         \
  if (stride == 1)                                                                       \
   memcpy (to, from, n_rows * sizeof value);                                             \
  for (i = 0; i < n_rows && stride > 1; i++)                                             \
   {                                                                                     \
    memcpy (&value, from + i * sizeof value, sizeof value);                              \
    to[i * stride] = (to_type) value;                                                    \
   }                                                                                     \
 }

DEFINE_READ (float_as_float, float, float)
DEFINE_READ (double_as_double, double, double)
DEFINE_READ (i64_as_i64, gint64, gint64)
DEFINE_READ (u64_as_u64, guint64, guint64)

static guint64
read_whole (const AprArrowColumn *self, const guint8 *data, gsize index)
{
  guint64 value = 0;
  gint64 shift;

  if (self->type == 'b')
    return data[index / 8] >> index % 8 & 1;
  if (G_BYTE_ORDER == G_BIG_ENDIAN)
    memcpy ((guint8 *) &value + sizeof value - self->width, data + index * self->width, self->width);
  else
    memcpy (&value, data + index * self->width, self->width);
  /* Of the signed ones, the sign goes into all bits above. */
  shift = 64 - 8 * (gint64) self->width;

  return g_ascii_islower (self->type) ? (guint64) ((gint64) (value << shift) >> shift) : value;
}

static double
read_double (const AprArrowColumn *self, const guint8 *data, gsize index)
{
  guint64 value;
  guint16 half;

  if (self->type == 'd')
    return read_decimal (self, data, index);
  if (self->type == 'e')
    {
      memcpy (&half, data + index * sizeof half, sizeof half);
      half = GUINT16_TO_LE (half);
      return apr_dtype_read_double (APR_DTYPE_F16, (const guint8 *) &half, 0);
    }
  if (self->type == 'f')
    {
      float number;

      memcpy (&number, data + index * sizeof number, sizeof number);
      return (double) number;
    }
  value = read_whole (self, data, index);

  return g_ascii_isupper (self->type) || self->type == 'b' ? (double) value : (double) (gint64) value;
}

void
apr_arrow_column_read (const AprArrowColumn *self,
                       const AprArrowArray *array,
                       gsize first,
                       gsize n_rows,
                       AprDType dtype,
                       gpointer to,
                       gsize stride)
{
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  const guint8 *data = array->buffers[1];
  gsize i;

  if (self->dtype == dtype)
    {
      data += first * self->width;
      if (dtype == APR_DTYPE_F64)
        read_double_as_double (data, n_rows, to, stride);
      else if (dtype == APR_DTYPE_F32)
        read_float_as_float (data, n_rows, to, stride);
      else if (dtype == APR_DTYPE_I64)
        read_i64_as_i64 (data, n_rows, to, stride);
      else
        read_u64_as_u64 (data, n_rows, to, stride);
      return;
    }

  for (i = 0; i < n_rows; i++)
    if (dtype == APR_DTYPE_F64)
      ((double *) to)[i * stride] = read_double (self, data, first + i);
    else if (dtype == APR_DTYPE_F32)
      ((float *) to)[i * stride] = (float) read_double (self, data, first + i);
    else
      ((guint64 *) to)[i * stride] = read_whole (self, data, first + i);
}
