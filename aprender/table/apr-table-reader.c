/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-table-reader-private.h"

#include "aprender/base/apr-strings-private.h"
#include "aprender/estimator/apr-names-private.h"

/**
 * AprTableReader:
 *
 * Reads a table of numbers, such as a CSV file, in batches of tensors that a model or cross products take.
 *
 * Make a reader, say which columns are targets, and read until there are no more rows:
 *
 * ```c
 * g_autoptr (GFile) file = g_file_new_for_path ("rents.csv");
 * g_autoptr (AprTableReader) reader = apr_table_reader_new_for_file (file, NULL, &error);
 * const char *targets[] = { "rent", NULL };
 * AprTensor *x;
 * AprTensor *y;
 *
 * if (reader == NULL)
 *   return FALSE;
 * apr_table_reader_set_targets (reader, targets);
 * while (error == NULL && apr_table_reader_read (reader, &x, &y, NULL, NULL, &error))
 *   {
 *     apr_cross_products_update (sums, x, y, NULL, NULL, &error);
 *     apr_tensor_unref (x);
 *     apr_tensor_unref (y);
 *   }
 * ```
 *
 * A table is text as RFC 4180 describes it. Its first row names the columns; one without a name is left out. Unless
 * [property@Apr.TableReader:delimiter] is set, the delimiter is a comma, a semicolon or a tab, whichever the first row
 * has most of. Cells may be quoted; spaces around a cell do not count, and blank lines are passed over. Numbers have a
 * decimal point, or a comma where [property@Apr.TableReader:decimal-comma] is set, in every locale, and are rounded to
 * the nearest double. Text that is compressed by gzip or zstd is decompressed.
 *
 * The reader takes memory for a few blocks of text, however long the table is.
 *
 * How rows are made is chosen before they are read. A property that is set to something else later, even while a read
 * is under way, or a delimiter or decimal comma after the first row of names, stays as it was, and makes all further
 * reads fail with %G_IO_ERROR_FAILED.
 *
 * ## Threads, memory and blocking
 *
 * One thread at a time may use a reader. [method@Apr.TableReader.read] blocks, and has an asynchronous twin; until that
 * has ended, other reads fail with %G_IO_ERROR_PENDING, and the properties say what they said before: they notify then.
 * [ctor@Apr.TableReader.new_for_file] opens the file, and [method@Apr.TableReader.read_names] reads its first block. A
 * reader holds the stream and some blocks of text, and from the first row on has threads that read and parse ahead; the
 * tensors are the caller's.
 *
 * Since: 0.1
 */
enum
{
  PROP_0,
  PROP_STREAM,
  PROP_NAME,
  PROP_DELIMITER,
  PROP_DECIMAL_COMMA,
  PROP_DROP_MISSING,
  PROP_N_THREADS,
  PROP_FEATURES,
  PROP_TARGETS,
  PROP_WEIGHT,
  PROP_NAMES,
  PROP_N_ROWS,
  PROP_N_DROPPED,
  PROP_N_MISSING,
  PROP_ROW_NUMBERS,
  PROP_N_BYTES,
  PROP_PROGRESS,
  N_PROPS,
};

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (AprTableReader, apr_table_reader, G_TYPE_OBJECT)

static void
apr_table_reader_constructed (GObject *object)
{
  AprTableReader *self = APR_TABLE_READER (object);
  g_autoptr (GInputStream) nothing = NULL;

  G_OBJECT_CLASS (apr_table_reader_parent_class)->constructed (object);

  if (self->name == NULL)
    self->name = g_strdup ("table");
  if (self->stream == NULL)
    nothing = g_memory_input_stream_new ();
  self->size = apr_table_reader_find_size (self->stream);
  self->source = apr_table_source_new (self->stream != NULL ? self->stream : nothing);
}

static void
apr_table_reader_finalize (GObject *object)
{
  AprTableReader *self = APR_TABLE_READER (object);

  g_clear_pointer (&self->source, apr_table_source_free);
  g_clear_pointer (&self->columns, apr_table_columns_free);
  g_clear_pointer (&self->collected, g_ptr_array_unref);
  g_strfreev (self->collects);
  g_clear_error (&self->error);
  g_strfreev (self->chosen_features);
  g_strfreev (self->targets);
  g_free (self->weight);
  g_clear_pointer (&self->row_numbers, apr_tensor_unref);
  g_free (self->delimiter);
  g_free (self->name);
  g_clear_object (&self->stream);

  G_OBJECT_CLASS (apr_table_reader_parent_class)->finalize (object);
}

static void
apr_table_reader_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  AprTableReader *self = APR_TABLE_READER (object);

  switch (id)
    {
    case PROP_STREAM:
      g_value_set_object (value, self->stream);
      break;
    case PROP_NAME:
      g_value_set_string (value, self->name);
      break;
    case PROP_DELIMITER:
      g_value_set_string (value, self->delimiter);
      break;
    case PROP_DECIMAL_COMMA:
      g_value_set_boolean (value, self->decimal_comma);
      break;
    case PROP_DROP_MISSING:
      g_value_set_boolean (value, self->drop_missing);
      break;
    case PROP_N_THREADS:
      g_value_set_uint (value, apr_table_reader_get_n_threads (self));
      break;
    case PROP_FEATURES:
      g_value_set_boxed (value, apr_table_reader_get_features (self));
      break;
    case PROP_TARGETS:
      g_value_set_boxed (value, self->targets);
      break;
    case PROP_WEIGHT:
      g_value_set_string (value, self->weight);
      break;
    case PROP_NAMES:
      g_value_set_boxed (value, apr_table_reader_get_names (self));
      break;
    case PROP_N_ROWS:
      g_value_set_uint64 (value, self->told.n_rows);
      break;
    case PROP_N_DROPPED:
      g_value_set_uint64 (value, self->told.n_dropped);
      break;
    case PROP_N_MISSING:
      g_value_set_uint64 (value, self->told.n_missing);
      break;
    case PROP_ROW_NUMBERS:
      g_value_set_boxed (value, self->row_numbers);
      break;
    case PROP_N_BYTES:
      g_value_set_uint64 (value, self->told.n_bytes);
      break;
    case PROP_PROGRESS:
      g_value_set_double (value, apr_table_reader_get_progress (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
apr_table_reader_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  AprTableReader *self = APR_TABLE_READER (object);

  switch (id)
    {
    case PROP_STREAM:
      self->stream = g_value_dup_object (value);
      break;
    case PROP_NAME:
      self->name = g_value_dup_string (value);
      break;
    case PROP_DELIMITER:
      apr_table_reader_set_delimiter (self, g_value_get_string (value));
      break;
    case PROP_DECIMAL_COMMA:
      apr_table_reader_set_decimal_comma (self, g_value_get_boolean (value));
      break;
    case PROP_DROP_MISSING:
      apr_table_reader_set_drop_missing (self, g_value_get_boolean (value));
      break;
    case PROP_N_THREADS:
      apr_table_reader_set_n_threads (self, g_value_get_uint (value));
      break;
    case PROP_FEATURES:
      apr_table_reader_set_features (self, g_value_get_boxed (value));
      break;
    case PROP_TARGETS:
      apr_table_reader_set_targets (self, g_value_get_boxed (value));
      break;
    case PROP_WEIGHT:
      apr_table_reader_set_weight (self, g_value_get_string (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
apr_table_reader_class_init (AprTableReaderClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags construct_only = G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS;
  const GParamFlags writable = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
  const GParamFlags readable = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;

  object_class->constructed = apr_table_reader_constructed;
  object_class->finalize = apr_table_reader_finalize;
  object_class->get_property = apr_table_reader_get_property;
  object_class->set_property = apr_table_reader_set_property;

  /**
   * AprTableReader:stream:
   *
   * What the table is read from.
   *
   * Since: 0.1
   */
  props[PROP_STREAM] = g_param_spec_object ("stream", NULL, NULL, G_TYPE_INPUT_STREAM, construct_only);

  /**
   * AprTableReader:name:
   *
   * What messages call the table, such as the path of a file.
   *
   * Since: 0.1
   */
  props[PROP_NAME] = g_param_spec_string ("name", NULL, NULL, NULL, construct_only);

  /**
   * AprTableReader:delimiter: (getter get_delimiter) (setter set_delimiter)
   *
   * The ASCII character between two cells, or `NULL` to find it in the first row.
   *
   * Since: 0.1
   */
  props[PROP_DELIMITER] = g_param_spec_string ("delimiter", NULL, NULL, NULL, writable);

  /**
   * AprTableReader:decimal-comma: (getter get_decimal_comma) (setter set_decimal_comma)
   *
   * Whether numbers have a decimal comma, as spreadsheets in half of Europe write them, in place of a point.
   *
   * Since: 0.1
   */
  props[PROP_DECIMAL_COMMA] = g_param_spec_boolean ("decimal-comma", NULL, NULL, FALSE, writable);

  /**
   * AprTableReader:drop-missing: (getter get_drop_missing) (setter set_drop_missing)
   *
   * Whether rows that miss a number, or a text, are passed over, instead of being an error.
   *
   * One is missing where a cell that is needed is empty, or `NA`, `N/A`, `#N/A`, `<NA>`, `NaN`, `-NaN`, `NULL`, `None`
   * or `\N`.
   *
   * Since: 0.1
   */
  props[PROP_DROP_MISSING] = g_param_spec_boolean ("drop-missing", NULL, NULL, FALSE, writable);

  /**
   * AprTableReader:n-threads: (getter get_n_threads) (setter set_n_threads)
   *
   * How many threads read numbers at the most; 0 for as many as there are processors. No more are started than 16,
   * which is what reading is worth.
   *
   * Since: 0.1
   */
  props[PROP_N_THREADS] = g_param_spec_uint ("n-threads", NULL, NULL, 0, G_MAXUINT, 0, writable);

  /**
   * AprTableReader:features: (getter get_features) (setter set_features)
   *
   * The columns that make X, in this order; `NULL` for all columns with a name that are neither targets nor the weight,
   * whose names are here, and notify, once rows have been read.
   *
   * Since: 0.1
   */
  props[PROP_FEATURES] = g_param_spec_boxed ("features", NULL, NULL, G_TYPE_STRV, writable);

  /**
   * AprTableReader:targets: (getter get_targets) (setter set_targets)
   *
   * The columns that make y, or `NULL` for none.
   *
   * Since: 0.1
   */
  props[PROP_TARGETS] = g_param_spec_boxed ("targets", NULL, NULL, G_TYPE_STRV, writable);

  /**
   * AprTableReader:weight: (getter get_weight) (setter set_weight)
   *
   * The column of the samples' weights, or `NULL` for none.
   *
   * Since: 0.1
   */
  props[PROP_WEIGHT] = g_param_spec_string ("weight", NULL, NULL, NULL, writable);

  /**
   * AprTableReader:names: (getter get_names)
   *
   * The names of all columns, once the first row has been read; that of a column without a name is empty.
   *
   * Since: 0.1
   */
  props[PROP_NAMES] = g_param_spec_boxed ("names", NULL, NULL, G_TYPE_STRV, readable);

  /**
   * AprTableReader:n-rows: (getter get_n_rows)
   *
   * How many rows have been handed out.
   *
   * Since: 0.1
   */
  props[PROP_N_ROWS] = g_param_spec_uint64 ("n-rows", NULL, NULL, 0, G_MAXUINT64, 0, readable);

  /**
   * AprTableReader:n-dropped: (getter get_n_dropped)
   *
   * How many rows have been passed over because they miss a number.
   *
   * Since: 0.1
   */
  props[PROP_N_DROPPED] = g_param_spec_uint64 ("n-dropped", NULL, NULL, 0, G_MAXUINT64, 0, readable);

  /**
   * AprTableReader:n-missing: (getter get_n_missing)
   *
   * How many numbers are missing in a table that was found wrong because of that.
   *
   * Since: 0.1
   */
  props[PROP_N_MISSING] = g_param_spec_uint64 ("n-missing", NULL, NULL, 0, G_MAXUINT64, 0, readable);

  /**
   * AprTableReader:row-numbers: (getter get_row_numbers)
   *
   * Which rows of the table were handed out last, counted from 0; `NULL` unless #AprTableReader:drop-missing is set.
   *
   * Since: 0.1
   */
  props[PROP_ROW_NUMBERS] = g_param_spec_boxed ("row-numbers", NULL, NULL, APR_TYPE_TENSOR, readable);

  /**
   * AprTableReader:n-bytes: (getter get_n_bytes)
   *
   * How many bytes had been read from the stream when the last rows were handed out; compressed ones count as they are.
   *
   * Since: 0.1
   */
  props[PROP_N_BYTES] = g_param_spec_uint64 ("n-bytes", NULL, NULL, 0, G_MAXUINT64, 0, readable);

  /**
   * AprTableReader:progress: (getter get_progress)
   *
   * How much of the table has been read, from 0 to 1; it stays 0 until the end where the size of the stream is not
   * known.
   *
   * Since: 0.1
   */
  props[PROP_PROGRESS] = g_param_spec_double ("progress", NULL, NULL, 0, 1, 0, readable);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
apr_table_reader_init (AprTableReader *self)
{
}

static gboolean
are_names_equal (const char *const *a, const char *const *b)
{
  return apr_names_equal ((char **) a, (char **) b);
}

/**
 * apr_table_reader_get_name:
 * @self: a reader
 *
 * Gets what messages call the table.
 *
 * Returns: the name
 *
 * Since: 0.1
 */
const char *
apr_table_reader_get_name (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), NULL);

  return self->name;
}

/**
 * apr_table_reader_get_delimiter:
 * @self: a reader
 *
 * Gets the character between two cells.
 *
 * Returns: (nullable): the delimiter, or `NULL` to find it in the first row
 *
 * Since: 0.1
 */
const char *
apr_table_reader_get_delimiter (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), NULL);

  return self->delimiter;
}

/**
 * apr_table_reader_set_delimiter:
 * @self: a reader
 * @delimiter: (nullable): one ASCII character, or `NULL` to find it in the first row
 *
 * Sets the character between two cells, before the first row is read; that fails if it is a letter, a digit, a space, a
 * quote, a line end, a sign or the point.
 *
 * With [property@Apr.TableReader:decimal-comma], the comma is not found, but can be set: numbers with one are quoted.
 *
 * Since: 0.1
 */
void
apr_table_reader_set_delimiter (AprTableReader *self, const char *delimiter)
{
  g_return_if_fail (APR_IS_TABLE_READER (self));

  if (g_strcmp0 (self->delimiter, delimiter) == 0 || !apr_table_reader_begin_choice (self, "delimiter", TRUE))
    return;
  apr_string_set (&self->delimiter, delimiter);
  apr_table_reader_end_choice (self);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_DELIMITER]);
}

/**
 * apr_table_reader_get_decimal_comma:
 * @self: a reader
 *
 * Gets whether numbers have a decimal comma.
 *
 * Returns: the value of [property@Apr.TableReader:decimal-comma]
 *
 * Since: 0.1
 */
gboolean
apr_table_reader_get_decimal_comma (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), FALSE);

  return self->decimal_comma;
}

/**
 * apr_table_reader_set_decimal_comma:
 * @self: a reader
 * @decimal_comma: whether numbers have a decimal comma
 *
 * Sets whether numbers have a decimal comma. Call it before the first row is read.
 *
 * Since: 0.1
 */
void
apr_table_reader_set_decimal_comma (AprTableReader *self, gboolean decimal_comma)
{
  g_return_if_fail (APR_IS_TABLE_READER (self));

  decimal_comma = !!decimal_comma;
  if (self->decimal_comma == decimal_comma || !apr_table_reader_begin_choice (self, "decimal-comma", TRUE))
    return;
  self->decimal_comma = decimal_comma;
  apr_table_reader_end_choice (self);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_DECIMAL_COMMA]);
}

/**
 * apr_table_reader_get_drop_missing:
 * @self: a reader
 *
 * Gets whether rows that miss a number are passed over.
 *
 * Returns: the value of [property@Apr.TableReader:drop-missing]
 *
 * Since: 0.1
 */
gboolean
apr_table_reader_get_drop_missing (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), FALSE);

  return self->drop_missing;
}

/**
 * apr_table_reader_set_drop_missing:
 * @self: a reader
 * @drop_missing: whether to pass over rows that miss a number
 *
 * Sets whether rows that miss a number are passed over. Call it before rows are read.
 *
 * Since: 0.1
 */
void
apr_table_reader_set_drop_missing (AprTableReader *self, gboolean drop_missing)
{
  g_return_if_fail (APR_IS_TABLE_READER (self));

  drop_missing = !!drop_missing;
  if (self->drop_missing == drop_missing || !apr_table_reader_begin_choice (self, "drop-missing", FALSE))
    return;
  self->drop_missing = drop_missing;
  apr_table_reader_end_choice (self);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_DROP_MISSING]);
}

/**
 * apr_table_reader_get_n_threads:
 * @self: a reader
 *
 * Gets how many threads read numbers at the most.
 *
 * Returns: the value of [property@Apr.TableReader:n-threads]
 *
 * Since: 0.1
 */
guint
apr_table_reader_get_n_threads (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), 0);

  return g_atomic_int_get (&self->n_threads);
}

/**
 * apr_table_reader_set_n_threads:
 * @self: a reader
 * @n_threads: any number, 0 for as many as there are processors
 *
 * Limits the threads that read numbers. No more are started than 16, which is what reading is worth. The rows do not
 * depend on it.
 *
 * Since: 0.1
 */
void
apr_table_reader_set_n_threads (AprTableReader *self, guint n_threads)
{
  g_return_if_fail (APR_IS_TABLE_READER (self));

  if (apr_table_reader_get_n_threads (self) == n_threads)
    return;
  g_atomic_int_set (&self->n_threads, n_threads);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_N_THREADS]);
}

/**
 * apr_table_reader_get_features:
 * @self: a reader
 *
 * Gets the columns that make X, in their order.
 *
 * Once rows have been read, these are the names that belong to a model.
 *
 * Returns: (transfer none) (nullable) (array zero-terminated=1): the names of the features
 *
 * Since: 0.1
 */
const char *const *
apr_table_reader_get_features (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), NULL);

  return (const char *const *) (self->told.has_features ? self->columns->features : self->chosen_features);
}

/**
 * apr_table_reader_set_features:
 * @self: a reader
 * @features: (nullable) (array zero-terminated=1): names of columns, or `NULL` for all that are neither targets nor
 * the weight
 *
 * Sets the columns that make X, in this order. Call it before rows are read.
 *
 * A name that the table does not have, or that has another role too, makes the next read fail.
 *
 * Since: 0.1
 */
void
apr_table_reader_set_features (AprTableReader *self, const char *const *features)
{
  g_return_if_fail (APR_IS_TABLE_READER (self));

  if (are_names_equal (features, (const char *const *) self->chosen_features) ||
      are_names_equal (features, apr_table_reader_get_features (self)) ||
      !apr_table_reader_begin_choice (self, "features", FALSE))
    return;
  apr_strings_set (&self->chosen_features, features);
  apr_table_reader_end_choice (self);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_FEATURES]);
}

/**
 * apr_table_reader_get_targets:
 * @self: a reader
 *
 * Gets the columns that make y.
 *
 * Returns: (transfer none) (nullable) (array zero-terminated=1): the names of the targets
 *
 * Since: 0.1
 */
const char *const *
apr_table_reader_get_targets (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), NULL);

  return (const char *const *) self->targets;
}

/**
 * apr_table_reader_set_targets:
 * @self: a reader
 * @targets: (nullable) (array zero-terminated=1): names of columns, or `NULL` for none
 *
 * Sets the columns that make y. Call it before rows are read.
 *
 * A name that the table does not have, or that is there twice, makes the next read fail.
 *
 * Since: 0.1
 */
void
apr_table_reader_set_targets (AprTableReader *self, const char *const *targets)
{
  g_return_if_fail (APR_IS_TABLE_READER (self));

  if (are_names_equal (targets, (const char *const *) self->targets) ||
      !apr_table_reader_begin_choice (self, "targets", FALSE))
    return;
  apr_strings_set (&self->targets, targets);
  apr_table_reader_end_choice (self);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_TARGETS]);
}

/**
 * apr_table_reader_get_weight:
 * @self: a reader
 *
 * Gets the column of the samples' weights.
 *
 * Returns: (nullable): the name of the column
 *
 * Since: 0.1
 */
const char *
apr_table_reader_get_weight (AprTableReader *self)
{
  g_return_val_if_fail (APR_IS_TABLE_READER (self), NULL);

  return self->weight;
}

/**
 * apr_table_reader_set_weight:
 * @self: a reader
 * @weight: (nullable): the name of a column, or `NULL` for none
 *
 * Sets the column of the samples' weights, which must not be negative. Call it before rows are read.
 *
 * Since: 0.1
 */
void
apr_table_reader_set_weight (AprTableReader *self, const char *weight)
{
  g_return_if_fail (APR_IS_TABLE_READER (self));

  if (g_strcmp0 (self->weight, weight) == 0 || !apr_table_reader_begin_choice (self, "weight", FALSE))
    return;
  apr_string_set (&self->weight, weight);
  apr_table_reader_end_choice (self);
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_WEIGHT]);
}
