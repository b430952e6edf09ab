/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tensor/apr-tensor-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-pages-private.h"

/* Elements as numbers: reading one of them, and casting all of them to a float dtype. */

gboolean
apr_dtype_is_numeric (AprDType dtype)
{
  switch (dtype)
    {
    case APR_DTYPE_BOOL:
    case APR_DTYPE_U8:
    case APR_DTYPE_I8:
    case APR_DTYPE_U16:
    case APR_DTYPE_I16:
    case APR_DTYPE_U32:
    case APR_DTYPE_I32:
    case APR_DTYPE_U64:
    case APR_DTYPE_I64:
    case APR_DTYPE_F16:
    case APR_DTYPE_BF16:
    case APR_DTYPE_F32:
    case APR_DTYPE_F64:
      return TRUE;

    case APR_DTYPE_NONE:
    case APR_DTYPE_F4:
    case APR_DTYPE_F6_E2M3:
    case APR_DTYPE_F6_E3M2:
    case APR_DTYPE_F8_E5M2:
    case APR_DTYPE_F8_E4M3:
    case APR_DTYPE_F8_E8M0:
    case APR_DTYPE_F8_E4M3FNUZ:
    case APR_DTYPE_F8_E5M2FNUZ:
    case APR_DTYPE_C64:
    default:
      return FALSE;
    }
}

static guint16
load16 (const guint8 *data)
{
  guint16 bits;

  memcpy (&bits, data, sizeof bits);
  return GUINT16_FROM_LE (bits);
}

static guint32
load32 (const guint8 *data)
{
  guint32 bits;

  memcpy (&bits, data, sizeof bits);
  return GUINT32_FROM_LE (bits);
}

static guint64
load64 (const guint8 *data)
{
  guint64 bits;

  memcpy (&bits, data, sizeof bits);
  return GUINT64_FROM_LE (bits);
}

static float
float_from_bits (guint32 bits)
{
  float value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static double
double_from_bits (guint64 bits)
{
  double value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

static guint64
bits_from_double (double value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

/* The finite number whose bits are @bits in a format of 1 sign, @exponent_bits and @fraction_bits. */
static inline double
double_from_format (guint32 bits, guint exponent_bits, guint fraction_bits, guint bias)
{
  guint64 sign = (guint64) (bits >> (exponent_bits + fraction_bits)) << 63;
  guint64 exponent = bits >> fraction_bits & ((1u << exponent_bits) - 1);
  guint64 fraction = bits & ((1u << fraction_bits) - 1);

  if (exponent == 0)
    {
      double value = (double) fraction * double_from_bits ((guint64) (1023 + 1 - bias - fraction_bits) << 52);

      return sign != 0 ? -value : value;
    }

  return double_from_bits (sign | (exponent + 1023 - bias) << 52 | fraction << (52 - fraction_bits));
}

/* IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction bits. */
static double
double_from_half (guint16 half)
{
  guint64 sign = (guint64) (half >> 15) << 63;
  guint64 fraction = half & 0x3ff;

  if ((half & 0x7c00) == 0x7c00)
    return double_from_bits (sign | (guint64) 0x7ff << 52 | fraction << 42);

  return double_from_format (half, 5, 10, 15);
}

static gboolean
is_f8 (AprDType dtype)
{
  return dtype == APR_DTYPE_F8_E5M2 || dtype == APR_DTYPE_F8_E4M3 || dtype == APR_DTYPE_F8_E8M0 ||
         dtype == APR_DTYPE_F8_E4M3FNUZ || dtype == APR_DTYPE_F8_E5M2FNUZ;
}

/* Only E5M2 has infinities. In the two formats without a negative zero, its bits are those of the one NaN. */
static double
double_from_f8 (AprDType dtype, guint8 bits)
{
  if (dtype == APR_DTYPE_F8_E5M2)
    return double_from_half ((guint16) (bits << 8)); /* the upper half of a half */
  if (dtype == APR_DTYPE_F8_E8M0)
    return bits == 0xff ? (double) NAN : double_from_bits ((guint64) (bits + 1023 - 127) << 52);
  if (dtype == APR_DTYPE_F8_E4M3)
    return (bits & 0x7f) == 0x7f ? copysign (NAN, bits >> 7 != 0 ? -1 : 1)
                                 : double_from_format (bits, 4, 3, 7);
  if (bits == 0x80)
    return (double) NAN;

  return dtype == APR_DTYPE_F8_E4M3FNUZ ? double_from_format (bits, 4, 3, 8)
                                        : double_from_format (bits, 5, 2, 16);
}

/* Rounds to a float format with @exponent_bits and @fraction_bits, to nearest, ties to even, and returns its bits.
 * Subnormals and overflow to infinity follow IEEE 754; a NaN stays a NaN, and keeps only its sign. */
static inline G_ALWAYS_INLINE guint32
round_to_format (double value, guint exponent_bits, guint fraction_bits)
{
  guint64 bits = bits_from_double (value);
  guint32 sign = (guint32) (bits >> 63) << (exponent_bits + fraction_bits);
  guint32 infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  int bias = (1 << (exponent_bits - 1)) - 1;
  int exponent = (int) (bits >> 52 & 0x7ff) - 1023;
  guint64 significand = bits & G_GUINT64_CONSTANT (0xfffffffffffff);
  guint64 half;
  guint64 kept;
  guint shift;

  if (exponent == 1024)
    return sign | infinity | (significand != 0 ? 1u << (fraction_bits - 1) : 0);
  if (exponent > bias)
    return sign | infinity;
  if (exponent < -bias - (int) fraction_bits)
    return sign; /* zero, or less than half of the smallest subnormal, as every subnormal double is */

  significand |= G_GUINT64_CONSTANT (1) << 52;
  shift = 52 - fraction_bits + (exponent < 1 - bias ? (guint) (1 - bias - exponent) : 0);
  /* What is added carries where the rest is more than half of the last kept bit, and in a tie where that bit is 1. */
  half = G_GUINT64_CONSTANT (1) << (shift - 1);
  kept = (significand + half - 1 + (significand >> shift & 1)) >> shift;

  /* A carry out of the fraction increments the exponent, up to infinity: the encoding is made for it. */
  if (exponent >= 1 - bias)
    kept += (guint64) (exponent + bias - 1) << fraction_bits;

  return sign | (guint32) kept;
}

static inline G_ALWAYS_INLINE double
read_double (AprDType dtype, const guint8 *data, gsize index)
{
  switch (dtype)
    {
    case APR_DTYPE_BOOL:
    case APR_DTYPE_U8:
      return data[index];
    case APR_DTYPE_I8:
      return (gint8) data[index];
    case APR_DTYPE_U16:
      return load16 (data + 2 * index);
    case APR_DTYPE_I16:
      return (gint16) load16 (data + 2 * index);
    case APR_DTYPE_U32:
      return load32 (data + 4 * index);
    case APR_DTYPE_I32:
      return (gint32) load32 (data + 4 * index);
    case APR_DTYPE_U64:
      return (double) load64 (data + 8 * index);
    case APR_DTYPE_I64:
      return (double) (gint64) load64 (data + 8 * index);
    case APR_DTYPE_F16:
      return double_from_half (load16 (data + 2 * index));
    case APR_DTYPE_BF16:
      return (double) float_from_bits ((guint32) load16 (data + 2 * index) << 16);
    case APR_DTYPE_F32:
      return (double) float_from_bits (load32 (data + 4 * index));
    case APR_DTYPE_F64:
      return double_from_bits (load64 (data + 8 * index));

    case APR_DTYPE_NONE:
    case APR_DTYPE_F4:
    case APR_DTYPE_F6_E2M3:
    case APR_DTYPE_F6_E3M2:
    case APR_DTYPE_F8_E5M2:
    case APR_DTYPE_F8_E4M3:
    case APR_DTYPE_F8_E8M0:
    case APR_DTYPE_F8_E4M3FNUZ:
    case APR_DTYPE_F8_E5M2FNUZ:
    case APR_DTYPE_C64:
    default:
      g_return_val_if_reached (0);
    }
}

double
apr_dtype_read_double (AprDType dtype, const guint8 *data, gsize index)
{
  return read_double (dtype, data, index);
}

/* An element is not finite if its exponent is all ones, so that adding one to the exponent carries into the sign bit.
 * Blocks of a fixed length let the compiler vectorise the loop. */
#define N_TOGETHER 64
#define SKIP_FINITE(width, mask, one)                               \
 for (; index + N_TOGETHER <= n_elements; index += N_TOGETHER)      \
  {                                                                 \
   guint##width signs = 0;                                          \
                                                                    \
   for (i = 0; i < N_TOGETHER; i++)                                 \
    {                                                               \
     guint##width bits;                                             \
                                                                    \
     memcpy (&bits, data + (index + i) * sizeof bits, sizeof bits); \
     signs |= (GUINT##width##_FROM_LE (bits) & (mask)) + (one);     \
    }                                                               \
   if (signs >> (width - 1) != 0)                                   \
    break;                                                          \
  }

gsize
apr_dtype_find_not_finite (AprDType dtype, const guint8 *data, gsize n_elements)
{
  gsize index = 0;
  gsize i;

  if (dtype == APR_DTYPE_F64)
    {
      SKIP_FINITE (64, G_GUINT64_CONSTANT (0x7ff0000000000000), G_GUINT64_CONSTANT (1) << 52)
    }
  else if (dtype == APR_DTYPE_F32)
    {
      SKIP_FINITE (32, 0x7f800000u, 1u << 23)
    }

  while (index < n_elements && isfinite (apr_dtype_read_double (dtype, data, index)))
    index++;

  return index;
}

/* A double that rounds to every narrower format as the 64-bit integer itself would: the bits that do not fit into 53
 * are combined into one sticky bit. */
static double
sticky_from_integer (guint64 magnitude)
{
  if (magnitude >> 53 != 0)
    magnitude = (magnitude & ~G_GUINT64_CONSTANT (0xfff)) | ((magnitude & 0xfff) != 0 ? 0x800 : 0);

  return (double) magnitude;
}

/* One element, as apr_dtype_read_double () reads it, and of F8 too. */
static inline G_ALWAYS_INLINE double
read_for_cast (AprDType dtype, const guint8 *data, gsize index)
{
  return is_f8 (dtype) ? double_from_f8 (dtype, data[index]) : read_double (dtype, data, index);
}

/* One element, ready to be rounded once to a format of at most 24 bits of precision. */
static inline G_ALWAYS_INLINE double
read_for_rounding (AprDType dtype, const guint8 *data, gsize index)
{
  guint64 bits;

  if (dtype == APR_DTYPE_U64)
    return sticky_from_integer (load64 (data + 8 * index));
  if (dtype == APR_DTYPE_I64)
    {
      bits = load64 (data + 8 * index);
      return bits >> 63 != 0 ? -sticky_from_integer (0 - bits) : sticky_from_integer (bits);
    }

  return read_for_cast (dtype, data, index);
}

/* Rounds to a float as the processor does, and returns its bits. Of a NaN, processors keep more than the sign. */
static inline G_ALWAYS_INLINE guint32
round_to_float (double value)
{
  float rounded = (float) value;
  guint32 bits;

  if (G_UNLIKELY (isnan (value)))
    return round_to_format (value, 8, 23);

  memcpy (&bits, &rounded, sizeof bits);
  return bits;
}

/* @from is a constant wherever this is called, so that the compiler makes a loop for each pair of dtypes. */
static inline G_ALWAYS_INLINE void
cast_from (AprDType from, const guint8 *in, gsize first, gsize end, AprDType to, guint8 *out)
{
  gsize i;

  if (to == APR_DTYPE_F64)
    for (i = first; i < end; i++)
      {
        guint64 bits = bits_from_double (read_for_cast (from, in, i));

        memcpy (out + 8 * i, &bits, sizeof bits);
      }
  else if (to == APR_DTYPE_F32)
    for (i = first; i < end; i++)
      {
        guint32 bits = round_to_float (read_for_rounding (from, in, i));

        memcpy (out + 4 * i, &bits, sizeof bits);
      }
  else
    for (i = first; i < end; i++)
      {
        double value = read_for_rounding (from, in, i);
        guint16 bits =
          (guint16) (to == APR_DTYPE_F16 ? round_to_format (value, 5, 10) : round_to_format (value, 8, 7));

        memcpy (out + 2 * i, &bits, sizeof bits);
      }
}

static void
cast (AprDType from, const guint8 *in, gsize first, gsize end, AprDType to, guint8 *out)
{
#define CAST_FROM(dtype)                      \
 case dtype:                                  \
  cast_from (dtype, in, first, end, to, out); \
  break

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wswitch-enum"
  switch (from)
    {
      CAST_FROM (APR_DTYPE_BOOL);
      CAST_FROM (APR_DTYPE_F8_E5M2);
      CAST_FROM (APR_DTYPE_F8_E4M3);
      CAST_FROM (APR_DTYPE_F8_E8M0);
      CAST_FROM (APR_DTYPE_F8_E4M3FNUZ);
      CAST_FROM (APR_DTYPE_F8_E5M2FNUZ);
      CAST_FROM (APR_DTYPE_U8);
      CAST_FROM (APR_DTYPE_I8);
      CAST_FROM (APR_DTYPE_U16);
      CAST_FROM (APR_DTYPE_I16);
      CAST_FROM (APR_DTYPE_F16);
      CAST_FROM (APR_DTYPE_BF16);
      CAST_FROM (APR_DTYPE_U32);
      CAST_FROM (APR_DTYPE_I32);
      CAST_FROM (APR_DTYPE_F32);
      CAST_FROM (APR_DTYPE_U64);
      CAST_FROM (APR_DTYPE_I64);
      CAST_FROM (APR_DTYPE_F64);
    default:
      g_assert_not_reached ();
    }
#pragma GCC diagnostic pop
}

/* Elements between two looks at whether the work is cancelled. The function takes no cancellable, but the asynchronous
 * one makes its own the current one. */
#define ELEMENTS_PER_LOOK (1 << 16)

/**
 * apr_tensor_cast:
 * @self: a tensor of a float, integer or BOOL dtype, but not of the packed F4 and F6
 * @dtype: F16, BF16, F32 or F64
 * @error: return location for an error
 *
 * Converts the elements to another dtype. Each is rounded once, to nearest, ties to even; F32 and F64 hold every number
 * of the F8 dtypes.
 *
 * Values that are too large for @dtype become infinities, as in IEEE 754. A NaN stays a NaN, and keeps its sign where
 * both dtypes have one, but not its payload. If the tensor has the dtype already, returns a new reference to it;
 * otherwise the elements are copied, which takes time: [method@Apr.Tensor.cast_async] does that in a thread.
 *
 * Fails with %APR_ERROR_DTYPE if one of the two dtypes is not among those above, and with %APR_ERROR_NO_MEMORY if there
 * is no memory, as for a tensor of a mapped file that is larger than memory.
 *
 * Returns: (transfer full): the tensor with @dtype
 *
 * Since: 0.1
 */
AprTensor *
apr_tensor_cast (AprTensor *self, AprDType dtype, GError **error)
{
  AprDType from;
  const gsize *shape;
  const guint8 *in;
  guint8 *out;
  gsize n_dims;
  gsize n_elements;
  gsize size;
  gsize first;
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();

  g_return_val_if_fail (self != NULL, NULL);

  from = apr_tensor_get_dtype (self);
  if (from == dtype)
    return apr_tensor_ref (self);

  if ((!apr_dtype_is_numeric (from) && !is_f8 (from)) ||
      (dtype != APR_DTYPE_F16 && dtype != APR_DTYPE_BF16 && dtype != APR_DTYPE_F32 && dtype != APR_DTYPE_F64))
    {
      g_set_error (error, APR_ERROR, APR_ERROR_DTYPE, "A tensor of dtype %s cannot be cast to %s",
                   apr_dtype_to_string (from),
                   (guint) dtype <= APR_DTYPE_U64 ? apr_dtype_to_string (dtype) : "an unknown dtype");
      return NULL;
    }

  shape = apr_tensor_get_shape (self, &n_dims);
  if (!apr_dtype_count_bytes (dtype, shape, n_dims, &n_elements, &size, error))
    return NULL;

  in = g_bytes_get_data (apr_tensor_get_bytes (self), NULL);
  out = apr_memory_new (size, 1, "a tensor", error);
  if (out == NULL)
    return NULL;
  for (first = 0; first < n_elements; first += ELEMENTS_PER_LOOK)
    {
      if (g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error))
        {
          g_free (out);
          return NULL;
        }
      cast (from, in, first, MIN (first + ELEMENTS_PER_LOOK, n_elements), dtype, out);
    }

  return apr_tensor_new_take (dtype, shape, n_dims, out, size);
}
