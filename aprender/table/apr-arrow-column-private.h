/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* The structures of Arrow's C data and stream interfaces, which are a binary interface that does not change:
 * https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html. A structure is released where its
 * function is %NULL. */

typedef struct _AprArrowSchema AprArrowSchema;
typedef struct _AprArrowArray AprArrowArray;
typedef struct _AprArrowArrayStream AprArrowArrayStream;

struct _AprArrowSchema
{
  const char *format;
  const char *name;     /* (nullable) */
  const char *metadata; /* (nullable) */
  gint64 flags;
  gint64 n_children;
  AprArrowSchema **children;
  AprArrowSchema *dictionary; /* (nullable) */
  void (*release) (AprArrowSchema *self);
  gpointer private_data;
};

struct _AprArrowArray
{
  gint64 length;
  gint64 null_count; /* -1 where it is not known */
  gint64 offset;
  gint64 n_buffers;
  gint64 n_children;
  const void **buffers;
  AprArrowArray **children;
  AprArrowArray *dictionary; /* (nullable) */
  void (*release) (AprArrowArray *self);
  gpointer private_data;
};

struct _AprArrowArrayStream
{
  int (*get_schema) (AprArrowArrayStream *self, AprArrowSchema *schema);
  int (*get_next) (AprArrowArrayStream *self, AprArrowArray *array);
  const char *(*get_last_error) (AprArrowArrayStream *self);
  void (*release) (AprArrowArrayStream *self);
  gpointer private_data;
};

/* A column of numbers: what its schema says. */
typedef struct
{
  char *name;     /* (owned) */
  char type;      /* the letter of Arrow's format, 'd' for decimal numbers */
  AprDType dtype; /* NONE for decimal numbers, else what the buffer holds; the bits of BOOL are packed */
  gsize width;    /* bytes of a value; 1 for truth values, of which a byte holds eight */
  gint scale;     /* decimal places */
} AprArrowColumn;

/* Fails with %APR_ERROR_DTYPE and the column's name where it does not hold numbers; @role is “X”, “y” or
 * “sample_weight”. */
gboolean
apr_arrow_column_init (AprArrowColumn *self, const AprArrowSchema *schema, const char *role, GError **error);

void apr_arrow_column_clear (gpointer self);

/* The dtype of a tensor of columns, of which @n have these dtypes: F32 or F64, or I64 or U64 for whole numbers. As
 * elsewhere, 64-bit integers beside floats are rounded to doubles. */
AprDType apr_arrow_column_choose_dtype (const AprArrowColumn *const *columns, gsize n);

/* Checks the column of a batch of which @n_rows from @offset on are to be read, @first_row being the number of rows
 * before the batch, and that none of them is missing. What lies behind a pointer can only be believed. */
gboolean apr_arrow_column_check (const AprArrowColumn *self,
                                 const AprArrowArray *array,
                                 gint64 offset,
                                 gint64 n_rows,
                                 guint64 first_row,
                                 const char *role,
                                 GError **error);

/* That none of @n_rows rows from @offset on is missing. */
gboolean apr_arrow_check_valid (const AprArrowArray *array,
                                gint64 offset,
                                gint64 n_rows,
                                guint64 first_row,
                                const char *role,
                                const char *name,
                                GError **error);

/* Converts @n_rows elements from @first on of an array that was checked to @dtype, and writes them to @to, @stride
 * elements apart. */
void apr_arrow_column_read (const AprArrowColumn *self,
                            const AprArrowArray *array,
                            gsize first,
                            gsize n_rows,
                            AprDType dtype,
                            gpointer to,
                            gsize stride);

G_END_DECLS
