/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#define MAX_DIMS 4

/* The input, byte by byte, and zeros where it has ended. */
typedef struct
{
  const guint8 *next;
  const guint8 *end;
} Input;

static guint
take (Input *input, guint n_choices)
{
  return input->next < input->end ? *input->next++ % n_choices : 0;
}

static AprTensor *
take_tensor (Input *input, AprDType dtype)
{
  gsize shape[MAX_DIMS];
  gsize n_dims = take (input, MAX_DIMS + 1);
  gsize n_bits = apr_dtype_get_bits (dtype);
  g_autoptr (GBytes) bytes = NULL;
  guint8 *data;
  gsize i;

  for (i = 0; i < n_dims; i++)
    {
      shape[i] = take (input, 8);
      /* A file may have huge dimensions of nothing. */
      if (shape[i] == 7)
        shape[i] = n_bits == 0 && dtype != APR_DTYPE_U8 ? G_MAXSIZE : 0;
      n_bits *= shape[i];
    }
  data = g_malloc (n_bits / 8 + 1);
  for (i = 0; i < n_bits / 8; i++)
    data[i] = (guint8) i;
  bytes = g_bytes_new_take (data, n_bits / 8);
  /* Elements below a byte may not fill the last one: then there is no such tensor. */
  return apr_tensor_new_from_bytes (dtype, shape, n_dims, bytes, NULL);
}

/* Any text for any tensor: there is a slice of a plausible size, or an error. */
static void
slice_by_text (Input *input)
{
  g_autoptr (AprTensor) tensor =
    take_tensor (input, (AprDType) (APR_DTYPE_BOOL + take (input, APR_DTYPE_U64)));
  g_autofree char *text = g_strndup ((const char *) input->next, (gsize) (input->end - input->next));
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) slice = NULL;
  gconstpointer bytes;
  gsize size;

  if (tensor == NULL)
    return;
  slice = apr_tensor_slice (tensor, text, &error);
  assert_verdict (slice, error);
  if (slice == NULL)
    return;
  bytes = g_bytes_get_data (apr_tensor_get_bytes (slice), &size);
  touch_bytes (bytes, size);
  g_assert_cmpuint (size, <=, g_bytes_get_size (apr_tensor_get_bytes (tensor)));
  g_assert_cmpint (apr_tensor_get_dtype (slice), ==, apr_tensor_get_dtype (tensor));
}

/* What is taken along one dimension: @count positions from @first on, @step apart. */
typedef struct
{
  gint64 first;
  gint64 step;
  gsize count;
  gboolean is_dropped;
} Axis;

/* One bound of a range, as CPython's PySlice_AdjustIndices() has it. */
static gint64
adjust (gint64 bound, gint64 length, gint64 step)
{
  if (bound < 0)
    bound += length;
  return step < 0 ? CLAMP (bound, -1, length - 1) : CLAMP (bound, 0, length);
}

/* Writes one item of a text, and works out what it means; returns whether it has a meaning. */
static gboolean
take_item (Input *input, GString *text, gint64 length, Axis *axis)
{
  guint parts = take (input, 16);
  gint64 start = (gint64) take (input, 19) - 9;
  gint64 stop, step;

  if (parts >= 12)
    {
      g_string_append_printf (text, "%" G_GINT64_FORMAT, start);
      *axis = (Axis){ start < 0 ? start + length : start, 1, 1, TRUE };
      return axis->first >= 0 && axis->first < length;
    }
  stop = (gint64) take (input, 19) - 9;
  step = (parts & 4) != 0 ? (gint64) take (input, 9) - 4 : 1;
  if ((parts & 1) != 0)
    g_string_append_printf (text, " %" G_GINT64_FORMAT, start);
  g_string_append_c (text, ':');
  if ((parts & 2) != 0)
    g_string_append_printf (text, "%" G_GINT64_FORMAT, stop);
  if ((parts & 4) != 0)
    g_string_append_printf (text, ":%" G_GINT64_FORMAT " ", step);

  start = (parts & 1) != 0 ? adjust (start, length, step) : step < 0 ? length - 1 : 0;
  stop = (parts & 2) != 0 ? adjust (stop, length, step) : step < 0 ? -1 : length;
  *axis = (Axis){ start, step, 0, FALSE };
  if (step > 0 && start < stop)
    axis->count = (gsize) ((stop - start - 1) / step + 1);
  if (step < 0 && start > stop)
    axis->count = (gsize) ((start - stop - 1) / -step + 1);
  return step != 0;
}

/* Collects the bytes one by one, the last dimension fastest. */
static void
collect (
  const guint8 *data, const gsize *shape, const Axis *axes, gsize n_axes, gsize position, GByteArray *bytes)
{
  gsize i;

  if (n_axes == 0)
    g_byte_array_append (bytes, data + position, 1);
  for (i = 0; n_axes > 0 && i < axes->count; i++)
    collect (data, shape + 1, axes + 1, n_axes - 1,
             position * shape[0] + (gsize) (axes->first + (gint64) i * axes->step), bytes);
}

/* A text that makes sense, of which the slice is known. */
static void
slice_by_rule (Input *input)
{
  g_autoptr (AprTensor) tensor = take_tensor (input, APR_DTYPE_U8);
  gsize n_dims, n_sliced_dims, i;
  const gsize *shape = apr_tensor_get_shape (tensor, &n_dims);
  gsize n_items = take (input, (guint) n_dims + 1);
  gsize ellipsis = take (input, (guint) n_items + 1);
  gboolean has_ellipsis = n_items < n_dims ? take (input, 2) : TRUE;
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GByteArray) expected = g_byte_array_new ();
  g_autoptr (AprTensor) slice = NULL;
  g_autoptr (GError) error = NULL;
  Axis axes[MAX_DIMS];
  gboolean is_good = TRUE;
  const gsize *sliced_shape;
  gconstpointer bytes;
  gsize size;

  for (i = 0; i < n_dims; i++)
    axes[i] = (Axis){ 0, 1, shape[i], FALSE };
  if (!has_ellipsis)
    ellipsis = n_items;
  for (i = 0; i < n_items; i++)
    {
      gsize dim = i < ellipsis ? i : n_dims - n_items + i;

      if (has_ellipsis && i == ellipsis)
        g_string_append (text, "...,");
      if (!take_item (input, text, (gint64) shape[dim], &axes[dim]))
        is_good = FALSE;
      if (i + 1 < n_items)
        g_string_append (text, ", ");
    }
  slice = apr_tensor_slice (tensor, text->str, &error);
  assert_verdict (slice, error);
  if ((slice != NULL) != is_good)
    g_error ("“%s” %s", text->str, error != NULL ? error->message : "is accepted");
  if (slice == NULL)
    return;

  sliced_shape = apr_tensor_get_shape (slice, &n_sliced_dims);
  for (i = 0; i < n_dims; i++)
    if (!axes[i].is_dropped)
      {
        g_assert_cmpuint (n_sliced_dims--, >, 0);
        g_assert_cmpuint (*sliced_shape++, ==, axes[i].count);
      }
  g_assert_cmpuint (n_sliced_dims, ==, 0);
  collect (g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL), shape, axes, n_dims, 0, expected);
  bytes = g_bytes_get_data (apr_tensor_get_bytes (slice), &size);
  g_assert_cmpmem (bytes, size, expected->data, expected->len);
}

/* A tensor's shape and indices: either a text, or numbers that become one. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  Input input = { data, data + size };

  if (take (&input, 2) == 0)
    slice_by_text (&input);
  else
    slice_by_rule (&input);
  return 0;
}
