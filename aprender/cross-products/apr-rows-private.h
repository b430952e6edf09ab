/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/cross-products/kernels/apr-slice-kernel-private.h"
#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* The elements of a vector or matrix of any dtype that is a number, read in place: row after row, or column after
 * column. */
typedef struct
{
  const char *name; /* (unowned) for messages */
  AprDType dtype;
  const guint8 *data; /* (unowned) */
  gsize n_rows;
  gsize n_columns;
  gboolean is_matrix;
  gboolean by_columns;
} AprRows;

void apr_rows_init (AprRows *self, const char *name, AprTensor *tensor);

/* A matrix whose columns are the rows of @tensor. */
void apr_rows_init_columns (AprRows *self, const char *name, AprTensor *tensor);

/* Whether the elements are floats or doubles as this processor has them, row after row. */
gboolean apr_rows_are_floats (const AprRows *self);

/* Whether a double may not hold an element exactly. */
gboolean apr_rows_may_exceed_double (const AprRows *self);

/* @size 2^@exponent, or the negative of that where @sign is -1 and not 0. */
typedef struct
{
  guint64 size;
  gint32 exponent;
  gint32 sign;
} AprWholeNumber;

/* An element that is finite, exactly, in as few bits as it has. */
AprWholeNumber apr_rows_get_number (const AprRows *self, gsize row, gsize column);

/* Columns of @n_rows rows from @first_row on, @stride apart, as the nearest doubles. */
void apr_rows_transpose (const AprRows *self,
                         const AprSliceKernel *kernel,
                         gsize first_row,
                         gsize n_rows,
                         gsize stride,
                         double *columns);

/* Some columns of @n_rows rows from @first_row on, as the nearest doubles, rows @stride apart. */
void apr_rows_read (const AprRows *self,
                    gsize first_row,
                    gsize n_rows,
                    gsize first_column,
                    gsize n_columns,
                    gsize stride,
                    double *values);

/* What the nearest doubles lack of a column; false where it is nothing. */
gboolean apr_rows_get_rests (const AprRows *self, gsize column, gsize first_row, gsize n_rows, double *rests);

/* Sets the error for the first NaN or infinity, if there is one. */
gboolean apr_rows_check_finite (const AprRows *self, GError **error);

/* That all can be weights: finite, exactly a double, and not below 0. */
gboolean apr_rows_check_weights (const AprRows *self, GError **error);

G_END_DECLS
