/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <aprender/base/apr-error.h>

G_BEGIN_DECLS

#define APR_TYPE_DTYPE (apr_dtype_get_type ())

/**
 * AprDType:
 * @APR_DTYPE_NONE: no dtype; as a setting, it means that of the data
 * @APR_DTYPE_BOOL: booleans, one byte each, 0 or 1
 * @APR_DTYPE_F4: 4-bit floats (E2M1), two to a byte
 * @APR_DTYPE_F6_E2M3: 6-bit floats, 2 bits of exponent, packed
 * @APR_DTYPE_F6_E3M2: 6-bit floats, 3 bits of exponent, packed
 * @APR_DTYPE_U8: unsigned 8-bit integers
 * @APR_DTYPE_I8: signed 8-bit integers
 * @APR_DTYPE_F8_E5M2: 8-bit floats, 5 bits of exponent
 * @APR_DTYPE_F8_E4M3: 8-bit floats, 4 bits of exponent
 * @APR_DTYPE_F8_E8M0: 8-bit powers of two, as microscaling formats use
 * @APR_DTYPE_F8_E4M3FNUZ: 8-bit floats, 4 bits of exponent, no negative zero
 * @APR_DTYPE_F8_E5M2FNUZ: 8-bit floats, 5 bits of exponent, no negative zero
 * @APR_DTYPE_I16: signed 16-bit integers
 * @APR_DTYPE_U16: unsigned 16-bit integers
 * @APR_DTYPE_F16: IEEE 754 half precision
 * @APR_DTYPE_BF16: the upper half of an IEEE 754 single
 * @APR_DTYPE_I32: signed 32-bit integers
 * @APR_DTYPE_U32: unsigned 32-bit integers
 * @APR_DTYPE_F32: IEEE 754 single precision
 * @APR_DTYPE_C64: complex numbers of two F32, real part first
 * @APR_DTYPE_F64: IEEE 754 double precision
 * @APR_DTYPE_I64: signed 64-bit integers
 * @APR_DTYPE_U64: unsigned 64-bit integers
 *
 * The type of a tensor's elements. The values are in the order in which the SafeTensors format ranks them.
 *
 * Since: 0.1
 */
typedef enum
{
  APR_DTYPE_NONE,
  APR_DTYPE_BOOL,
  APR_DTYPE_F4,
  APR_DTYPE_F6_E2M3,
  APR_DTYPE_F6_E3M2,
  APR_DTYPE_U8,
  APR_DTYPE_I8,
  APR_DTYPE_F8_E5M2,
  APR_DTYPE_F8_E4M3,
  APR_DTYPE_F8_E8M0,
  APR_DTYPE_F8_E4M3FNUZ,
  APR_DTYPE_F8_E5M2FNUZ,
  APR_DTYPE_I16,
  APR_DTYPE_U16,
  APR_DTYPE_F16,
  APR_DTYPE_BF16,
  APR_DTYPE_I32,
  APR_DTYPE_U32,
  APR_DTYPE_F32,
  APR_DTYPE_C64,
  APR_DTYPE_F64,
  APR_DTYPE_I64,
  APR_DTYPE_U64,
} AprDType;

APR_AVAILABLE_IN_ALL
GType apr_dtype_get_type (void);

APR_AVAILABLE_IN_ALL
guint apr_dtype_get_bits (AprDType dtype);

APR_AVAILABLE_IN_ALL
const char *apr_dtype_to_string (AprDType dtype);

APR_AVAILABLE_IN_ALL
gboolean apr_dtype_from_string (const char *name, AprDType *dtype, GError **error);

G_END_DECLS
