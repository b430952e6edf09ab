/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-arrow-stream-private.h"

#include <string.h>

#include "aprender/base/apr-error.h"
#include "aprender/tensor/apr-tensor-private.h"

/* Blocks hold so many bytes; and enough rows that adding the sums of a block costs little beside making them; and a
 * multiple of the rows that the precision DOUBLE sums at a time. */
#define BLOCK_SIZE (4 << 20)
#define ROWS_PER_COLUMN 4
#define ROWS_AT_A_TIME 256

/* So many rows are converted column by column before the next ones are, so that they stay in the cache. */
#define TILE_ROWS 128

/* So many rows of a batch are worth being read where they are. */
#define MIN_ROWS_IN_PLACE 8192

/* What columns are for. */
enum
{
  X,
  Y,
  SAMPLE_WEIGHT,
  N_ROLES
};

static const char *const role_names[] = { "X", "y", "sample_weight" };

typedef struct
{
  GArray *columns; /* (owned) of gsize: which of the stream's */
  AprDType dtype;
  gsize row_size;
  guint8 *rows;          /* (owned) (nullable) of the block that is being filled, or its columns */
  const guint8 **places; /* (owned) where the columns are */
  gboolean converted;    /* whether the stream has any that are of another dtype */
} Role;

struct _AprArrowStream
{
  AprArrowArrayStream stream; /* (owned) */
  AprArrowArray batch;        /* (owned) */
  gboolean ended;             /* there are no more batches */
  gint64 n_taken;             /* rows of the batch */
  guint64 n_rows;             /* of the batches before it */
  GArray *columns;            /* (owned) of AprArrowColumn: all of the stream's */
  GPtrArray *feature_names;   /* (owned) */
  Role roles[N_ROLES];
  gsize block_rows;
};

/* The bytes of an element of the dtypes that apr_arrow_column_choose_dtype () chooses. */
static gsize
get_width (AprDType dtype)
{
  return dtype == APR_DTYPE_F32 ? sizeof (float) : sizeof (double);
}

static AprArrowColumn *
get_column (AprArrowStream *self, gsize i)
{
  return &g_array_index (self->columns, AprArrowColumn, i);
}

static void
release_batch (AprArrowStream *self)
{
  if (self->batch.release != NULL)
    self->batch.release (&self->batch);
  self->batch = (AprArrowArray){ 0 };
}

void
apr_arrow_stream_free (AprArrowStream *self)
{
  gsize i;

  release_batch (self);
  if (self->stream.release != NULL)
    self->stream.release (&self->stream);
  g_array_unref (self->columns);
  g_ptr_array_unref (self->feature_names);
  for (i = 0; i < N_ROLES; i++)
    {
      g_array_unref (self->roles[i].columns);
      g_free (self->roles[i].rows);
      g_free (self->roles[i].places);
    }
  g_free (self);
}

static gboolean
check_status (AprArrowStream *self, int status, GError **error)
{
  const char *text;
  g_autofree char *valid = NULL;

  if (status == 0)
    return TRUE;

  text = self->stream.get_last_error != NULL ? self->stream.get_last_error (&self->stream) : NULL;
  valid = text != NULL ? g_utf8_make_valid (text, -1) : g_strdup (g_strerror (status));
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (status), "The Arrow stream cannot be read: %s",
               valid);
  return FALSE;
}

static gboolean fail (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
fail (GError **error, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list arguments;

  va_start (arguments, format);
  what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, APR_ERROR, APR_ERROR_SHAPE, "This is no Arrow stream of columns: %s", what);

  return FALSE;
}

static gboolean
check_schema (const AprArrowSchema *schema, GError **error)
{
  g_autofree char *format = schema->format != NULL ? g_utf8_make_valid (schema->format, -1) : NULL;
  gint64 i;

  if (schema->release == NULL)
    return fail (error, "its schema has been released");
  if (g_strcmp0 (schema->format, "+s") != 0)
    return fail (error, "its Arrow type is “%s”", format != NULL ? format : "");
  if (schema->n_children < 0 || schema->n_children > G_MAXINT32 ||
      (schema->n_children > 0 && schema->children == NULL))
    return fail (error, "its schema has %" G_GINT64_FORMAT " columns", schema->n_children);
  for (i = 0; i < schema->n_children; i++)
    if (schema->children[i] == NULL || schema->children[i]->release == NULL)
      return fail (error, "the schema of its column %" G_GINT64_FORMAT " is missing", i);

  return TRUE;
}

static gboolean
has_name (const AprArrowSchema *schema, const char *name)
{
  return strcmp (schema->name != NULL ? schema->name : "", name) == 0;
}

static gboolean
add_named (AprArrowStream *self,
           const AprArrowSchema *schema,
           const char *name,
           guint role,
           guint8 *roles,
           GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);
  gsize n = (gsize) schema->n_children;
  gsize i;

  for (i = 0; i < n && !has_name (schema->children[i], name); i++)
    if (i < 20)
      {
        g_autofree char *valid =
          g_utf8_make_valid (schema->children[i]->name != NULL ? schema->children[i]->name : "", -1);

        g_string_append_printf (names, "%s“%s”", i > 0 ? ", " : "", valid);
      }
  if (i == n)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                   "The Arrow stream has no column “%s” to be %s; it has %s%s", name, role_names[role],
                   n > 0 ? names->str : "none", n > 20 ? ", …" : "");
      return FALSE;
    }
  if (roles[i] != X)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                   "The column “%s” cannot be %s twice, or %s and %s", name, role_names[role],
                   role_names[roles[i]], role_names[role]);
      return FALSE;
    }
  roles[i] = (guint8) role;
  g_array_append_val (self->roles[role].columns, i);

  return TRUE;
}

/* Gives each column a role. */
static gboolean
add_columns (AprArrowStream *self,
             const AprArrowSchema *schema,
             const char *const *targets,
             const char *sample_weight,
             GError **error)
{
  g_autofree guint8 *roles = g_new0 (guint8, (gsize) schema->n_children + 1);
  gsize i;

  for (i = 0; targets[i] != NULL; i++)
    if (!add_named (self, schema, targets[i], Y, roles, error))
      return FALSE;
  if (sample_weight != NULL && !add_named (self, schema, sample_weight, SAMPLE_WEIGHT, roles, error))
    return FALSE;

  g_array_set_size (self->columns, (guint) schema->n_children);
  for (i = 0; i < (gsize) schema->n_children; i++)
    {
      AprArrowColumn *column = get_column (self, i);

      if (!apr_arrow_column_init (column, schema->children[i], role_names[roles[i]], error))
        return FALSE;
      if (roles[i] != X)
        continue;
      g_array_append_val (self->roles[X].columns, i);
      g_ptr_array_add (self->feature_names, column->name);
    }
  g_ptr_array_add (self->feature_names, NULL);

  if (self->roles[X].columns->len > 0 && self->roles[Y].columns->len > 0)
    return TRUE;
  g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
               "The Arrow stream has %u features and %u targets: at least one of "
               "each is needed",
               self->roles[X].columns->len, self->roles[Y].columns->len);
  return FALSE;
}

/* There are fewer columns than 2^31. */
static void
choose_sizes (AprArrowStream *self)
{
  gsize n_columns = self->columns->len;
  gsize row_size = 0;
  gsize i;
  gsize j;

  for (i = 0; i < N_ROLES; i++)
    {
      Role *role = &self->roles[i];
      g_autofree const AprArrowColumn **columns = g_new (const AprArrowColumn *, role->columns->len + 1);

      for (j = 0; j < role->columns->len; j++)
        columns[j] = get_column (self, g_array_index (role->columns, gsize, j));
      /* Of weights, only doubles are taken. */
      role->dtype =
        i == SAMPLE_WEIGHT ? APR_DTYPE_F64 : apr_arrow_column_choose_dtype (columns, role->columns->len);
      for (j = 0; j < role->columns->len; j++)
        role->converted |= columns[j]->dtype != role->dtype;
      role->places = g_new0 (const guint8 *, role->columns->len + 1);
      role->row_size = role->columns->len * get_width (role->dtype);
      row_size += role->row_size;
    }

  self->block_rows = MAX (BLOCK_SIZE / row_size, ROWS_PER_COLUMN * n_columns);
  self->block_rows = (self->block_rows + ROWS_AT_A_TIME - 1) / ROWS_AT_A_TIME * ROWS_AT_A_TIME;
}

AprArrowStream *
apr_arrow_stream_new (AprArrowArrayStream *stream,
                      const char *const *targets,
                      const char *sample_weight,
                      GError **error)
{
  g_autoptr (AprArrowStream) self = g_new0 (AprArrowStream, 1);
  AprArrowSchema schema = { 0 };
  gboolean known;
  gsize i;

  /* As the interface has it moved. */
  self->stream = *stream;
  stream->release = NULL;
  self->columns = g_array_new (FALSE, TRUE, sizeof (AprArrowColumn));
  g_array_set_clear_func (self->columns, apr_arrow_column_clear);
  self->feature_names = g_ptr_array_new ();
  for (i = 0; i < N_ROLES; i++)
    self->roles[i].columns = g_array_new (FALSE, FALSE, sizeof (gsize));

  if (self->stream.release == NULL || self->stream.get_schema == NULL || self->stream.get_next == NULL)
    {
      fail (error, "it has been read, or released");
      return NULL;
    }
  known = check_status (self, self->stream.get_schema (&self->stream, &schema), error) &&
          check_schema (&schema, error) && add_columns (self, &schema, targets, sample_weight, error);
  if (schema.release != NULL)
    schema.release (&schema);
  if (!known)
    return NULL;

  choose_sizes (self);
  return g_steal_pointer (&self);
}

const char *const *
apr_arrow_stream_get_feature_names (AprArrowStream *self)
{
  return (const char *const *) self->feature_names->pdata;
}

gsize
apr_arrow_stream_get_n_targets (AprArrowStream *self)
{
  return self->roles[Y].columns->len;
}

static gboolean
check_batch (AprArrowStream *self, GError **error)
{
  const AprArrowArray *batch = &self->batch;
  gint64 end;
  gsize i;
  gsize j;

  if (batch->n_children != (gint64) self->columns->len || batch->children == NULL)
    return fail (error, "a batch has %" G_GINT64_FORMAT " columns instead of %u", batch->n_children,
                 self->columns->len);
  if (batch->length < 0 || batch->offset < 0 || __builtin_add_overflow (batch->offset, batch->length, &end))
    return fail (error, "a batch has %" G_GINT64_FORMAT " rows after %" G_GINT64_FORMAT, batch->length,
                 batch->offset);
  if (batch->n_buffers != 1 || batch->buffers == NULL || batch->dictionary != NULL)
    return fail (error, "a batch has %" G_GINT64_FORMAT " buffers", batch->n_buffers);
  if (batch->null_count > 0 && batch->buffers[0] == NULL)
    return fail (error, "%" G_GINT64_FORMAT " rows of a batch are missing, but not said which",
                 batch->null_count);
  if (!apr_arrow_check_valid (batch, batch->offset, batch->length, self->n_rows, role_names[X], NULL, error))
    return FALSE;

  for (i = 0; i < N_ROLES; i++)
    for (j = 0; j < self->roles[i].columns->len; j++)
      {
        gsize column = g_array_index (self->roles[i].columns, gsize, j);

        if (!apr_arrow_column_check (get_column (self, column), batch->children[column], batch->offset,
                                     batch->length, self->n_rows, role_names[i], error))
          return FALSE;
      }

  return TRUE;
}

/* Sees to it that there are rows in the batch, unless the stream has ended. */
static gboolean
read_batch (AprArrowStream *self, GCancellable *cancellable, GError **error)
{
  while (self->n_taken == self->batch.length && !self->ended)
    {
      self->n_rows += (guint64) self->batch.length;
      self->n_taken = 0;
      release_batch (self);
      if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
          !check_status (self, self->stream.get_next (&self->stream, &self->batch), error))
        return FALSE;
      if (self->batch.release == NULL)
        {
          self->batch = (AprArrowArray){ 0 };
          self->ended = TRUE;
          return TRUE;
        }
      if (!check_batch (self, error))
        return FALSE;
    }

  return TRUE;
}

/* The next value of a column in the batch. */
static gsize
find_value (const AprArrowStream *self, const AprArrowArray *array)
{
  return (gsize) (array->offset + self->batch.offset + self->n_taken);
}

/* Converts a column's values in some rows of the batch, from @first on, to those of the block from @row on. */
static void
copy_column (
  AprArrowStream *self, Role *role, gsize index, gsize first, gsize n, gsize row, gboolean by_columns)
{
  gsize column = g_array_index (role->columns, gsize, index);
  const AprArrowArray *array = self->batch.children[column];
  gsize n_columns = role->columns->len;
  gsize place = by_columns ? index * self->block_rows + row : row * n_columns + index;

  apr_arrow_column_read (get_column (self, column), array, find_value (self, array) + first, n, role->dtype,
                         role->rows + place * get_width (role->dtype), by_columns ? 1 : n_columns);
}

/* Converts rows of the batch to those of the block that begin with @row. */
static void
copy_rows (AprArrowStream *self, gsize row, gsize n, gboolean by_columns)
{
  gsize tile = by_columns ? n : TILE_ROWS;
  gsize first;
  gsize i;
  gsize j;

  for (first = 0; first < n; first += tile)
    for (i = 0; i < N_ROLES; i++)
      for (j = 0; j < self->roles[i].columns->len; j++)
        copy_column (self, &self->roles[i], j, first, MIN (tile, n - first), row + first, by_columns);
  self->n_taken += (gint64) n;
}

static gboolean
allocate_block (AprArrowStream *self, GError **error)
{
  gsize i;

  for (i = 0; i < N_ROLES; i++)
    {
      Role *role = &self->roles[i];
      gsize size;

      if (role->rows != NULL || role->row_size == 0)
        continue;
      if (g_size_checked_mul (&size, self->block_rows, role->row_size))
        role->rows = g_try_malloc (size);
      if (role->rows == NULL)
        {
          g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                       "No memory for %" G_GSIZE_FORMAT " rows of %u columns", self->block_rows,
                       self->columns->len);
          return FALSE;
        }
    }

  return TRUE;
}

static AprTensor *
take_tensor (AprArrowStream *self, guint role_index, gsize n_rows)
{
  Role *role = &self->roles[role_index];
  gsize n_columns = role->columns->len;
  gsize shape[2] = { n_rows, n_columns };

  return apr_tensor_new_take (role->dtype, shape, role_index == SAMPLE_WEIGHT ? 1 : 2,
                              g_steal_pointer (&role->rows), n_rows * role->row_size);
}

/* Whether the rows that are left of the batch can be read where they are. */
static gboolean
suits_in_place (const AprArrowStream *self)
{
  return self->batch.length - self->n_taken >= MIN_ROWS_IN_PLACE &&
         self->roles[SAMPLE_WEIGHT].columns->len == 0 && !self->roles[X].converted &&
         !self->roles[Y].converted;
}

/* Converts rows until the block is full, the stream ends, or what follows is better left where it is. */
static gboolean
fill_block (AprArrowStream *self,
            gboolean by_columns,
            gboolean in_place,
            gsize *n_filled,
            GCancellable *cancellable,
            GError **error)
{
  gsize filled = 0;

  while (filled < self->block_rows)
    {
      gsize n;

      if (!read_batch (self, cancellable, error))
        return FALSE;
      n = MIN (self->block_rows - filled, (gsize) (self->batch.length - self->n_taken));
      /* The end: there is no batch. */
      if (n == 0 || self->batch.children == NULL || (in_place && suits_in_place (self)))
        break;
      if (!allocate_block (self, error))
        return FALSE;
      copy_rows (self, filled, n, by_columns);
      filled += n;
    }

  *n_filled = filled;
  return TRUE;
}

gboolean
apr_arrow_stream_read_columns (AprArrowStream *self,
                               gboolean in_place,
                               AprArrowColumns *columns,
                               AprTensor **sample_weight,
                               GCancellable *cancellable,
                               GError **error)
{
  guint64 first_row = self->n_rows + (guint64) self->n_taken;
  gsize n_rows;
  gsize i;
  gsize j;

  *sample_weight = NULL;
  if (!fill_block (self, TRUE, in_place, &n_rows, cancellable, error))
    return FALSE;

  for (i = X; i <= Y; i++)
    for (j = 0; j < self->roles[i].columns->len; j++)
      {
        Role *role = &self->roles[i];
        const AprArrowArray *array = n_rows == 0 && self->batch.children != NULL
                                     ? self->batch.children[g_array_index (role->columns, gsize, j)]
                                     : NULL;
        gsize width = get_width (role->dtype);

        role->places[j] = array != NULL
                          ? (const guint8 *) array->buffers[1] + find_value (self, array) * width
                        : role->rows != NULL ? role->rows + j * self->block_rows * width
                                             : NULL;
      }
  if (n_rows > 0 && self->roles[SAMPLE_WEIGHT].columns->len > 0)
    *sample_weight = take_tensor (self, SAMPLE_WEIGHT, n_rows);
  if (n_rows == 0)
    {
      n_rows = (gsize) (self->batch.length - self->n_taken);
      self->n_taken = self->batch.length;
    }
  *columns = (AprArrowColumns){ .n_rows = n_rows,
                                .first_row = first_row,
                                .x_dtype = self->roles[X].dtype,
                                .y_dtype = self->roles[Y].dtype,
                                .x = self->roles[X].places,
                                .y = self->roles[Y].places };

  return TRUE;
}

gboolean
apr_arrow_stream_read (AprArrowStream *self,
                       AprTensor **x,
                       AprTensor **y,
                       AprTensor **sample_weight,
                       guint64 *first_row,
                       GCancellable *cancellable,
                       GError **error)
{
  gsize filled;

  *x = *y = *sample_weight = NULL;
  *first_row = self->n_rows + (guint64) self->n_taken;
  if (!fill_block (self, FALSE, FALSE, &filled, cancellable, error))
    return FALSE;
  if (filled == 0)
    return TRUE;

  *x = take_tensor (self, X, filled);
  *y = take_tensor (self, Y, filled);
  if (self->roles[SAMPLE_WEIGHT].row_size > 0)
    *sample_weight = take_tensor (self, SAMPLE_WEIGHT, filled);

  return TRUE;
}
