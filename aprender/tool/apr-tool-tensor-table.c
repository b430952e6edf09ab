/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-tensor-table.h"

#include <math.h>
#include <string.h>

/* How many bytes of rows are made at a time, or some more. */
#define BLOCK_SIZE (64 * 1024)

/* A number of 17 digits is read back as itself. */
#define NUMBER_FORMAT "%.17g"

typedef struct
{
  AprTensor *tensor; /* (owned) */
  gsize n_columns;
} Part;

typedef struct
{
  GInputStream parent_instance;

  GArray *parts; /* of Part */
  gsize n_rows;
  gsize next_row;
  GString *text; /* rows that have been made */
  gsize n_read;  /* how many of its bytes have been handed out */
} AprToolTensorTable;

typedef GInputStreamClass AprToolTensorTableClass;

static GType apr_tool_tensor_table_get_type (void);

G_DEFINE_TYPE (AprToolTensorTable, apr_tool_tensor_table, G_TYPE_INPUT_STREAM)

/* Integers of 64 bits do not become doubles first: different ones could be the same category. */
static void
add_value (AprToolTensorTable *self, AprTensor *tensor, gsize index)
{
  AprDType dtype = apr_tensor_get_dtype (tensor);
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  guint64 bits;
  double value;

  if (dtype == APR_DTYPE_I64 || dtype == APR_DTYPE_U64)
    {
      const guint8 *data = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);

      memcpy (&bits, data + index * sizeof bits, sizeof bits);
      bits = GUINT64_FROM_LE (bits);
      if (dtype == APR_DTYPE_I64)
        g_string_append_printf (self->text, "%" G_GINT64_FORMAT, (gint64) bits);
      else
        g_string_append_printf (self->text, "%" G_GUINT64_FORMAT, bits);
      return;
    }

  value = apr_tensor_get_double (tensor, index, NULL);
  /* NaN is what those write who have no number. */
  g_string_append (self->text,
                   isnan (value) ? "NA" : g_ascii_formatd (number, sizeof number, NUMBER_FORMAT, value));
}

static void
add_row (AprToolTensorTable *self)
{
  guint i;
  gsize j;

  for (i = 0; i < self->parts->len; i++)
    {
      const Part *part = &g_array_index (self->parts, Part, i);

      for (j = 0; j < part->n_columns; j++)
        {
          add_value (self, part->tensor, self->next_row * part->n_columns + j);
          g_string_append_c (self->text, ',');
        }
    }
  self->text->str[self->text->len - 1] = '\n';
  self->next_row++;
}

static gssize
apr_tool_tensor_table_read (
  GInputStream *stream, void *buffer, gsize count, GCancellable *cancellable, GError **error)
{
  AprToolTensorTable *self = (AprToolTensorTable *) stream;
  gsize n;

  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return -1;
  if (self->n_read == self->text->len)
    {
      g_string_truncate (self->text, 0);
      self->n_read = 0;
      while (self->text->len < BLOCK_SIZE && self->next_row < self->n_rows)
        add_row (self);
    }
  n = MIN (count, self->text->len - self->n_read);
  memcpy (buffer, self->text->str + self->n_read, n);
  self->n_read += n;

  return (gssize) n;
}

static void
apr_tool_tensor_table_finalize (GObject *object)
{
  AprToolTensorTable *self = (AprToolTensorTable *) object;

  g_array_unref (self->parts);
  g_string_free (self->text, TRUE);
  G_OBJECT_CLASS (apr_tool_tensor_table_parent_class)->finalize (object);
}

static void
apr_tool_tensor_table_class_init (AprToolTensorTableClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = apr_tool_tensor_table_finalize;
  klass->read_fn = apr_tool_tensor_table_read;
}

static void
part_clear (gpointer part)
{
  apr_tensor_unref (((Part *) part)->tensor);
}

static void
apr_tool_tensor_table_init (AprToolTensorTable *self)
{
  self->parts = g_array_new (FALSE, FALSE, sizeof (Part));
  g_array_set_clear_func (self->parts, part_clear);
  self->text = g_string_new (NULL);
}

/* Adds a heading to the row of names. It stands between quotation marks, of which two stand for one. */
static void
add_heading (AprToolTensorTable *self, const char *name, gssize column)
{
  g_string_append_c (self->text, '"');
  for (; *name != '\0'; name++)
    {
      if (*name == '"')
        g_string_append_c (self->text, '"');
      g_string_append_c (self->text, *name);
    }
  if (column >= 0)
    g_string_append_printf (self->text, "[%" G_GSSIZE_FORMAT "]", column);
  g_string_append (self->text, "\",");
}

static gboolean
add_tensor (AprToolTensorTable *self, AprSafetensorsReader *reader, const char *name, GError **error)
{
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, name, error);
  g_autoptr (GError) local_error = NULL;
  const gsize *shape;
  gsize n_dims;
  gsize n_columns;
  Part part;
  gsize i;

  if (tensor == NULL)
    return FALSE;
  shape = apr_tensor_get_shape (tensor, &n_dims);
  if (n_dims != 1 && n_dims != 2)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "tensor “%s” has %" G_GSIZE_FORMAT
                   " dimensions: one is a column of a table, two are several",
                   name, n_dims);
      return FALSE;
    }
  if (self->parts->len > 0 && shape[0] != self->n_rows)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_SHAPE,
                   "tensor “%s” has %" G_GSIZE_FORMAT " rows, but those before it have %" G_GSIZE_FORMAT,
                   name, shape[0], self->n_rows);
      return FALSE;
    }
  /* Some dtypes have no numbers that can be read. */
  if (apr_tensor_get_n_elements (tensor) > 0)
    apr_tensor_get_double (tensor, 0, &local_error);
  if (local_error != NULL)
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&local_error), "tensor “%s”: ", name);
      return FALSE;
    }

  self->n_rows = shape[0];
  n_columns = n_dims == 1 ? 1 : shape[1];
  for (i = 0; i < n_columns; i++)
    add_heading (self, name, n_dims == 1 ? -1 : (gssize) i);
  part = (Part){ g_steal_pointer (&tensor), n_columns };
  g_array_append_val (self->parts, part);

  return TRUE;
}

GInputStream *
apr_tool_tensor_table_open (const char *path, GError **error)
{
  g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_path (path, error);
  g_autoptr (GInputStream) stream = g_object_new (apr_tool_tensor_table_get_type (), NULL);
  AprToolTensorTable *self = (AprToolTensorTable *) stream;
  const char *const *names = reader != NULL ? apr_safetensors_reader_get_names (reader) : NULL;
  gsize i;

  if (reader == NULL)
    return NULL;
  for (i = 0; names[i] != NULL; i++)
    if (!add_tensor (self, reader, names[i], error))
      {
        g_autofree char *name = g_filename_display_name (path);

        g_prefix_error (error, "%s: ", name);
        return NULL;
      }
  if (self->text->len > 0)
    self->text->str[self->text->len - 1] = '\n';
  else
    self->n_rows = 0;

  return g_steal_pointer (&stream);
}
