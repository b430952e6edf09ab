/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "aprender/base/apr-double-double-private.h"

G_BEGIN_DECLS

/* Dense linear algebra in double-double.
 *
 * Every element goes through the same operations in the same order whatever the instruction set, with fused
 * multiply-add where it is written: all processors have the same bits. Columns are padded to a multiple of
 * APR_DOUBLE_DOUBLE_PAD. */
#define APR_DOUBLE_DOUBLE_PAD 8

/* For centre_rows and add_product_squares. */
#define APR_DOUBLE_DOUBLE_COLUMNS 16
#define APR_DOUBLE_DOUBLE_SQUARES_SPAN 128

/* Rows of a packed root that are beside each other, column by column. */
#define APR_DOUBLE_DOUBLE_PANEL 6

/* Rows that are @stride apart, the high parts and the low parts of their elements in arrays of their own. */
typedef struct
{
  double *high;
  double *low;
  gsize stride;
} AprDoubleDoubles;

/* Rows of floats or of doubles, @stride elements apart. */
typedef struct
{
  const float *floats;   /* (unowned) (nullable) */
  const double *doubles; /* (unowned) (nullable) */
  gsize stride;
} AprPlainRows;

typedef struct
{
  const char *name;

  /* c[i][j] -= sum over k of a[k][i] b[k][j]. Elements go in and come out normalised. In between the low parts of a
   * few products are summed by themselves, after T. Ogita, S. M. Rump and S. Oishi, "Accurate sum and dot product",
   * 2005. The error is below (3 n_inner + 16) 2^-104 times a bound on the magnitudes of the sums on the way and on
   * the sum of the products' magnitudes. @n_columns is a multiple of APR_DOUBLE_DOUBLE_PAD. */
  void (*subtract_products) (
    AprDoubleDoubles c, AprDoubleDoubles a, AprDoubleDoubles b, gsize n_rows, gsize n_columns, gsize n_inner);

  /* row[j] *= factor */
  void (*scale) (AprDoubleDoubles row, AprDoubleDouble factor, gsize n_columns);

  /* u[i][j] = x[j][i] - centres[i], rounded but for what is below 2^-100 of the centre. @x has
   * APR_DOUBLE_DOUBLE_COLUMNS rows, and @u as many columns. Where there are @coefficients, products[j] is the sum over
   * i of x[j][i] coefficients[i], in this order, each product and each sum rounded, as predictions are added up. */
  void (*centre_rows) (double *u,
                       double *products,
                       AprPlainRows x,
                       const AprDoubleDouble *centres,
                       const double *coefficients,
                       gsize n);

  /* squares[j] += the sum over i of (root u)[i][j]², in double, by fused multiply-add. @root is lower triangular and
   * packed (apr_packed_root_offset), with zeros above the diagonal and for the rows that the first panel lacks. @u are
   * @n_tiles matrices, one behind the other, of @n rows of APR_DOUBLE_DOUBLE_COLUMNS. Products are added in the order
   * of the columns of @root, in sums of APR_DOUBLE_DOUBLE_SQUARES_SPAN of them. Memory from @next to @next_end is
   * fetched meanwhile. */
  void (*add_product_squares) (double *squares,
                               const double *root,
                               const double *u,
                               gsize n,
                               gsize n_tiles,
                               const guint8 *next,
                               const guint8 *next_end);
} AprDoubleDoubleKernel;

extern const AprDoubleDoubleKernel apr_double_double_kernel_portable;
#ifdef APR_KERNELS_ARM
extern const AprDoubleDoubleKernel apr_double_double_kernel_neon;
#endif
#ifdef APR_KERNELS_X86
extern const AprDoubleDoubleKernel apr_double_double_kernel_avx2;
extern const AprDoubleDoubleKernel apr_double_double_kernel_avx512;
#endif

/* The one that runs, and all that this processor can run, the fastest first, NULL-terminated. */
const AprDoubleDoubleKernel *apr_double_double_kernel_choose (void);

const AprDoubleDoubleKernel *const *apr_double_double_kernels (void);

/* Where the entry of a packed root of @n rows is; where row @n would begin is how long it is. The first panel has as
 * many columns as are left over by the others, and zeros before its first row. Each ends with the column of its last
 * row's diagonal. */
static inline gsize
apr_packed_root_offset (gsize n, gsize row, gsize column)
{
  gsize n_missing = (APR_DOUBLE_DOUBLE_PANEL - n % APR_DOUBLE_DOUBLE_PANEL) % APR_DOUBLE_DOUBLE_PANEL;
  gsize panel = (row + n_missing) / APR_DOUBLE_DOUBLE_PANEL;

  return (panel * (panel + 1) / 2 * APR_DOUBLE_DOUBLE_PANEL - panel * n_missing + column) *
           APR_DOUBLE_DOUBLE_PANEL +
         (row + n_missing) % APR_DOUBLE_DOUBLE_PANEL;
}

static inline AprDoubleDoubles
apr_double_doubles_at (AprDoubleDoubles self, gsize row, gsize column)
{
  gsize place = row * self.stride + column;

  return (AprDoubleDoubles){ self.high + place, self.low + place, self.stride };
}

static inline AprDoubleDouble
apr_double_doubles_get (AprDoubleDoubles self, gsize row, gsize column)
{
  gsize place = row * self.stride + column;

  return (AprDoubleDouble){ self.high[place], self.low[place] };
}

static inline void
apr_double_doubles_set (AprDoubleDoubles self, gsize row, gsize column, AprDoubleDouble value)
{
  gsize place = row * self.stride + column;

  self.high[place] = value.high;
  self.low[place] = value.low;
}

G_END_DECLS
