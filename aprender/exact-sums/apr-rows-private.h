/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/kernels/apr-slice-kernel-private.h"
#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* Some rows. */
typedef struct
{
  gsize first;
  gsize end;
} AprRange;

/* The elements of a vector or matrix of any dtype that is a number, read in place: row after row, or as columns that
 * are each in one piece. */
typedef struct
{
  const char *name; /* (unowned) for messages */
  AprDType dtype;
  const guint8 *data;           /* (unowned) (nullable) row after row; or: */
  const guint8 *const *columns; /* (unowned) (nullable) */
  gsize n_rows;
  gsize n_columns;
  gboolean is_matrix;
} AprRows;

void apr_rows_init (AprRows *self, const char *name, AprTensor *tensor);

/* The same of columns. Their elements are in the byte order of files, and need not be aligned. */
void apr_rows_init_columns (AprRows *self,
                            const char *name,
                            AprDType dtype,
                            const guint8 *const *columns,
                            gsize n_rows,
                            gsize n_columns);

/* Returns whether the elements are floats or doubles in this processor's byte order, row after row. */
gboolean apr_rows_are_floats (const AprRows *self);

/* Returns whether there may be elements that no double is equal to. */
gboolean apr_rows_may_exceed_double (const AprRows *self);

/* @size 2^@exponent, or the negative of that where @sign is -1 and not 0. */
typedef struct
{
  guint64 size;
  gint32 exponent;
  gint32 sign;
} AprWholeNumber;

/* Returns an element, which must be finite, exactly and in as few bits as possible. */
AprWholeNumber apr_rows_get_number (const AprRows *self, gsize row, gsize column);

/* Reads @n_rows rows from @first_row on, as the nearest doubles, column after column; columns are @stride apart. Finds
 * the ranges of some columns, where @ranges is not %NULL. */
void apr_rows_transpose (const AprRows *self,
                         const AprSliceKernel *kernel,
                         gsize first_row,
                         gsize n_rows,
                         gsize stride,
                         double *columns,
                         AprColumnRange *ranges);

/* Returns where the rows of a column are as doubles in one piece, from @first_row on; %NULL where they are not. */
const double *apr_rows_find_doubles (const AprRows *self, gsize column, gsize first_row);

/* Reads some columns of @n_rows rows from @first_row on, as the nearest doubles, row after row, @stride apart. */
void apr_rows_read (const AprRows *self,
                    gsize first_row,
                    gsize n_rows,
                    gsize first_column,
                    gsize n_columns,
                    gsize stride,
                    double *values);

/* Reads the differences between the elements of a column and the nearest doubles; returns %FALSE where all are 0. */
gboolean apr_rows_get_rests (const AprRows *self, gsize column, gsize first_row, gsize n_rows, double *rests);

/* Copies some rows, of the same dtype. Fails where there is no memory, or it is cancelled. */
AprTensor *apr_rows_gather (
  const AprRows *self, const gsize *rows, gsize n_rows, GCancellable *cancellable, GError **error);

/* Fails where there is a NaN or an infinity, and says where the first one is. */
gboolean apr_rows_check_finite (const AprRows *self, GError **error);

/* Fails where the weight of a sample is negative or not finite. */
gboolean apr_rows_check_weight (double weight, guint64 row, GError **error);

/* Fails where an element cannot be a weight: where it is negative, not finite, or equal to no double. */
gboolean apr_rows_check_weights (const AprRows *self, GError **error);

/* Says which of the samples could not be summed. Where all can be, somebody has changed them since. @weights may be
 * %NULL. */
void apr_rows_set_error (const AprRows *x, const AprRows *y, const AprRows *weights, GError **error);

G_END_DECLS
