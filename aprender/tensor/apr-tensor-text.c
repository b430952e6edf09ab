/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tensor/apr-tensor-private.h"

#include <math.h>
#include <string.h>

#include "aprender/base/apr-arithmetic-private.h"
#include "aprender/base/apr-number-private.h"

void
apr_tensor_append_number (AprTensor *self, gsize index, GString *string)
{
  const guint8 *data = g_bytes_get_data (self->bytes, NULL);
  double value = apr_dtype_read_double (self->dtype, data, index);
  gboolean narrow = apr_dtype_get_bits (self->dtype) <= 32;
  char buffer[APR_NUMBER_SIZE];
  guint64 bits;

  /* A double cannot hold all of these. */
  if (self->dtype == APR_DTYPE_I64 || self->dtype == APR_DTYPE_U64)
    {
      memcpy (&bits, data + 8 * index, sizeof bits);
      bits = GUINT64_FROM_LE (bits);
      if (self->dtype == APR_DTYPE_U64)
        g_string_append_printf (string, "%" G_GUINT64_FORMAT, bits);
      else
        g_string_append_printf (string, "%" G_GINT64_FORMAT, (gint64) bits);
      return;
    }

  apr_number_format (value, narrow, buffer);
  /* 1500000, not 1.5e+06. */
  if (fabs (value) >= 1 && fabs (value) < 1e15 && strchr (buffer, 'e') != NULL)
    g_ascii_formatd (buffer, sizeof buffer, "%.0f", value);

  g_string_append (string, buffer);
}

/* How many entries of a dimension are shown: half of them from its start, half from its end. */
#define MAX_SHOWN 6

static void
append_elements (GString *string, AprTensor *self, gsize dim, gsize first)
{
  gsize stride = 1;
  gsize i;

  if (dim == self->n_dims)
    {
      apr_tensor_append_number (self, first, string);
      return;
    }

  for (i = dim + 1; i < self->n_dims; i++)
    stride *= self->shape[i];

  g_string_append_c (string, '[');
  for (i = 0; i < self->shape[dim]; i++)
    {
      if (i > 0)
        g_string_append (string, ", ");
      if (self->shape[dim] > MAX_SHOWN && i == MAX_SHOWN / 2)
        {
          g_string_append (string, "..., ");
          i = self->shape[dim] - MAX_SHOWN / 2;
        }
      append_elements (string, self, dim + 1, first + i * stride);
    }
  g_string_append_c (string, ']');
}

/**
 * apr_tensor_to_string:
 * @self: a tensor
 *
 * Describes the tensor for people: `F64 [2, 3] [[1, 2, 3], [4, 5, 6]]`.
 *
 * Long dimensions are shortened. Numbers have just enough digits to be unique, and a decimal point in every locale.
 * Elements are left out for dtypes that cannot be read as numbers and for tensors of more than four dimensions.
 *
 * Returns: (transfer full): the text
 *
 * Since: 0.1
 */
char *
apr_tensor_to_string (AprTensor *self)
{
  /* The C library rounds numbers in text as the program around rounds. */
  g_auto (AprArithmetic) arithmetic G_GNUC_UNUSED = apr_arithmetic_enter ();
  g_autofree char *shape = NULL;
  GString *string;

  g_return_val_if_fail (self != NULL, NULL);

  shape = apr_shape_to_string (self->shape, self->n_dims);
  string = g_string_new (apr_dtype_to_string (self->dtype));
  g_string_append_printf (string, " %s", shape);

  if (apr_dtype_is_numeric (self->dtype) && self->n_dims <= 4 && self->n_elements > 0)
    {
      g_string_append_c (string, ' ');
      append_elements (string, self, 0, 0);
    }

  return g_string_free (string, FALSE);
}
