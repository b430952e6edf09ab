/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"

#include <float.h>
#include <math.h>

/* Random numbers of the kinds that sums, kernels and predictions must cope with. */

typedef enum
{
  DRAW_ORDINARY,
  DRAW_WHOLE_NUMBERS,
  DRAW_WIDE_RANGE,
  DRAW_EVERY_EXPONENT,
  DRAW_SUBNORMAL,
  DRAW_MAX,
  DRAW_MOSTLY_ZERO,
  DRAW_GROWING, /* from row to row */
  DRAW_N_KINDS,
} DrawKind;

/* At least -1 and below 1, times a power of two with an exponent of at least @min and below @max. */
static inline double
draw_scaled (GRand *rand, int min, int max)
{
  return ldexp (g_rand_double_range (rand, -1, 1), g_rand_int_range (rand, min, max));
}

static inline double
draw_double (GRand *rand, DrawKind kind, gsize row)
{
  switch (kind)
    {
    case DRAW_ORDINARY:
      return g_rand_double_range (rand, -1, 1);
    case DRAW_WHOLE_NUMBERS:
      return (double) g_rand_int_range (rand, 2000, 2020);
    case DRAW_WIDE_RANGE:
      return exp (g_rand_double_range (rand, -20, 20)) * (g_rand_boolean (rand) ? 1 : -1);
    case DRAW_EVERY_EXPONENT:
      return draw_scaled (rand, -1070, 1023);
    case DRAW_SUBNORMAL:
      return draw_scaled (rand, -1074, -1030);
    case DRAW_MAX:
      return g_rand_boolean (rand) ? DBL_MAX : -DBL_MAX;
    case DRAW_MOSTLY_ZERO:
      return g_rand_int_range (rand, 0, 50) == 0 ? g_rand_double (rand) : 0;
    case DRAW_GROWING:
      return ldexp (g_rand_double (rand), (int) (row / 100) * 3);
    case DRAW_N_KINDS:
    default:
      g_assert_not_reached ();
    }
}

/* Returns a value of @dtype, F32 or F64. */
static inline double
draw (GRand *rand, DrawKind kind, AprDType dtype, gsize row)
{
  double value;

  if (dtype == APR_DTYPE_F64)
    return draw_double (rand, kind, row);

  switch (kind)
    {
    case DRAW_EVERY_EXPONENT:
      value = draw_scaled (rand, -149, 128);
      break;
    case DRAW_SUBNORMAL:
      value = draw_scaled (rand, -149, -120);
      break;
    case DRAW_MAX:
      value = g_rand_boolean (rand) ? (double) FLT_MAX : -(double) FLT_MAX;
      break;
    case DRAW_ORDINARY:
    case DRAW_WHOLE_NUMBERS:
    case DRAW_WIDE_RANGE:
    case DRAW_MOSTLY_ZERO:
    case DRAW_GROWING:
    case DRAW_N_KINDS:
    default:
      value = draw_double (rand, kind, row);
    }

  return (double) (float) value;
}

/* Returns a matrix [@n_rows, @n_columns] of doubles. */
static inline AprTensor *
draw_matrix (GRand *rand, DrawKind kind, gsize n_rows, gsize n_columns)
{
  g_autofree double *values = g_new (double, n_rows *n_columns);
  gsize i;

  for (i = 0; i < n_rows * n_columns; i++)
    values[i] = draw (rand, kind, APR_DTYPE_F64, i / n_columns);

  return matrix_new (n_rows, n_columns, values);
}

/* Returns a matrix of any dtype, with every bit pattern but those that are not finite. */
static inline AprTensor *
draw_patterns (GRand *rand, AprDType dtype, gsize n_rows, gsize n_columns)
{
  gsize width = apr_dtype_get_bits (dtype) / 8;
  gsize n = n_rows * n_columns;
  guint8 *data = g_malloc (n * width);
  const gsize shape[] = { n_rows, n_columns };
  g_autoptr (GBytes) bytes = NULL;
  gsize i;
  gsize j;

  for (i = 0; i < n; i++)
    {
      for (j = 0; j < width; j++)
        data[i * width + j] = (guint8) g_rand_int (rand);
      if (dtype == APR_DTYPE_BOOL)
        data[i] &= 1;
      /* The lowest bit of the exponents, at the least, is 0. */
      if (dtype == APR_DTYPE_F16)
        data[i * width + 1] &= (guint8) ~0x04;
      if (dtype == APR_DTYPE_BF16)
        data[i * width] &= (guint8) ~0x80;
      if (dtype == APR_DTYPE_F32)
        data[i * width + 2] &= (guint8) ~0x80;
      if (dtype == APR_DTYPE_F64)
        data[i * width + 6] &= (guint8) ~0x10;
    }
  bytes = g_bytes_new_take (data, n * width);
  return apr_tensor_new_from_bytes (dtype, shape, 2, bytes, NULL);
}
