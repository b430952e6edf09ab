/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/arrow-producer.h"
#include "tests/waiting.h"

/* The linker sends the library's calls of this function here: whether aligned copies of tensors find memory. */
gpointer __real_apr_memory_new (gsize n, gsize size, const char *what, GError **error);
gpointer __wrap_apr_memory_new (gsize n, gsize size, const char *what, GError **error);

static gint no_copies;

gpointer
__wrap_apr_memory_new (gsize n, gsize size, const char *what, GError **error)
{
  gboolean missing = g_str_equal (what, "an aligned copy") && g_atomic_int_get (&no_copies);

  return missing ? __real_apr_memory_new (G_MAXSIZE, 2, what, error)
                 : __real_apr_memory_new (n, size, what, error);
}

static void
test_update (void)
{
  g_autoptr (AprCrossProducts) expected = make_expected (NULL);
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, NULL);
  g_autoptr (GError) error = NULL;
  Producer producer = make_producer ();
  AprArrowArrayStream stream = open_stream (&producer);

  g_assert_true (apr_cross_products_update_arrow (state, &stream, targets, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_null (stream.release);
  g_assert_cmpuint (producer.n_alive, ==, 0);
  g_assert_true (apr_cross_products_equal (state, expected));

  /* Names that are there must be the same. */
  producer.names[2] = "c";
  stream = open_stream (&producer);
  g_assert_false (apr_cross_products_update_arrow (state, &stream, targets, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
  g_assert_cmpuint (producer.n_alive, ==, 0);
  g_assert_true (apr_cross_products_equal (state, expected));
}

/* Sums in double depend on where blocks begin, in their last digits. */
static void
assert_near (AprCrossProducts *state, AprCrossProducts *expected)
{
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autoptr (AprLinearRegression) expected_model = apr_linear_regression_new ();
  g_autoptr (AprTensor) coefficients = NULL;
  g_autoptr (AprTensor) expected_coefficients = NULL;
  gsize i;

  g_assert_true (apr_linear_regression_fit_cross_products (model, state, NULL, NULL));
  g_assert_true (apr_linear_regression_fit_cross_products (expected_model, expected, NULL, NULL));
  coefficients = apr_linear_regression_get_coefficients (model);
  expected_coefficients = apr_linear_regression_get_coefficients (expected_model);
  for (i = 0; i < apr_tensor_get_n_elements (coefficients); i++)
    {
      double value = apr_tensor_get_double (expected_coefficients, i, NULL);

      g_assert_cmpfloat_with_epsilon (apr_tensor_get_double (coefficients, i, NULL), value,
                                      1e-8 * fabs (value));
    }
}

/* More rows than a block of columns has. */
#define N_MANY 60000
#define N_BATCHES 10

static void
test_many_rows (void)
{
  const AprPrecision precisions[] = { APR_PRECISION_EXACT, APR_PRECISION_DOUBLE };
  const char *const formats[] = { "g", "f", "l" };
  const AprDType dtypes[] = { APR_DTYPE_F64, APR_DTYPE_F32, APR_DTYPE_I64 };
  const gsize shape[] = { N_MANY, 2 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autofree gint64 *whole = g_new (gint64, 2 * N_MANY);
  g_autofree double *y_data = g_new (double, N_MANY);
  g_autofree double *w_data = g_new (double, N_MANY);
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (AprTensor) w = NULL;
  gsize i;
  gsize j;

  g_test_summary ("Samples of several blocks are summed as the same rows of a tensor.");
  for (i = 0; i < N_MANY; i++)
    {
      whole[i] = (gint64) g_rand_int (rand) << 32 | g_rand_int (rand);
      whole[N_MANY + i] = g_rand_int_range (rand, -100, 100);
      y_data[i] = g_rand_double (rand);
      w_data[i] = g_rand_double (rand);
    }
  y = vector_new (N_MANY, y_data);
  w = vector_new (N_MANY, w_data);

  for (i = 0; i < 2 * G_N_ELEMENTS (formats); i++)
    {
      AprDType dtype = dtypes[i / 2];
      gsize width = apr_dtype_get_bits (dtype) / 8;
      g_autofree guint8 *columns = g_malloc (2 * N_MANY * width);
      guint8 *rows = g_malloc (2 * N_MANY * width);
      g_autoptr (AprCrossProducts) state =
        apr_cross_products_new_with_precision (2, 1, precisions[i % 2], NULL);
      g_autoptr (AprCrossProducts) expected =
        apr_cross_products_new_with_precision (2, 1, precisions[i % 2], NULL);
      const char *const names[] = { "a", "b", NULL };
      Producer producer = { .formats = { formats[i / 2], formats[i / 2], "g", "g" },
                            .names = { "a", "b", "y", "w" },
                            .values = { columns, columns + N_MANY * width, y_data, w_data },
                            .widths = { width, width, 8, 8 },
                            .n_columns = 4,
                            .n_rows = N_MANY / N_BATCHES,
                            .n_batches = N_BATCHES };
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (AprTensor) x = NULL;
      g_autoptr (GError) error = NULL;
      AprArrowArrayStream stream;

      for (j = 0; j < 2 * N_MANY; j++)
        {
          float narrow = (float) whole[j];
          double wide = (double) whole[j] / 3;
          gconstpointer value = dtype == APR_DTYPE_F64 ? (gconstpointer) &wide
                              : dtype == APR_DTYPE_F32 ? (gconstpointer) &narrow
                                                       : (gconstpointer) &whole[j];

          memcpy (columns + j * width, value, width);
          memcpy (rows + (j % N_MANY * 2 + j / N_MANY) * width, value, width);
        }
      swap_on_big_endian (rows, 2 * N_MANY, width);
      bytes = g_bytes_new_take (rows, 2 * N_MANY * width);
      x = apr_tensor_new_from_bytes (dtype, shape, 2, bytes, &error);
      g_assert_no_error (error);

      stream = open_stream (&producer);
      g_assert_true (apr_cross_products_update_arrow (state, &stream, targets, "w", NULL, &error));
      g_assert_no_error (error);
      g_assert_true (apr_cross_products_update (expected, x, y, w, NULL, &error));
      g_assert_true (apr_cross_products_set_feature_names (expected, names, &error));
      g_assert_true (apr_cross_products_set_target_names (expected, targets, &error));
      g_assert_cmpuint (apr_cross_products_get_n_samples (state), ==, N_MANY);
      if (precisions[i % 2] == APR_PRECISION_EXACT)
        g_assert_true (apr_cross_products_equal (state, expected));
      else
        assert_near (state, expected);

      /* Exact sums without weights are made where the batches are. */
      if (precisions[i % 2] == APR_PRECISION_EXACT)
        {
          g_autoptr (AprCrossProducts) in_place = apr_cross_products_new (2, 1, NULL);
          g_autoptr (AprCrossProducts) unweighted = apr_cross_products_new (2, 1, NULL);

          producer.n_columns = 3;
          stream = open_stream (&producer);
          g_assert_true (apr_cross_products_update_arrow (in_place, &stream, targets, NULL, NULL, &error));
          g_assert_no_error (error);
          g_assert_cmpuint (producer.n_alive, ==, 0);
          g_assert_true (apr_cross_products_update (unweighted, x, y, NULL, NULL, &error));
          g_assert_true (apr_cross_products_set_feature_names (unweighted, names, &error));
          g_assert_true (apr_cross_products_set_target_names (unweighted, targets, &error));
          g_assert_true (apr_cross_products_equal (in_place, unweighted));
        }
      if (dtype != APR_DTYPE_F64)
        continue;

      /* Of several, that of the first row is named. */
      ((double *) (gpointer) columns)[N_MANY - 5] = NAN;
      ((double *) (gpointer) columns)[2 * N_MANY - 7] = INFINITY;
      producer.n_columns = 3;
      producer.n_made = 0;
      stream = open_stream (&producer);
      g_assert_false (apr_cross_products_update_arrow (state, &stream, targets, NULL, NULL, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
      g_assert_cmpstr (error->message, ==, "X has an infinity at row 59993, column “b” (counted from 0)");
      g_assert_cmpuint (apr_cross_products_get_n_samples (state), ==, N_MANY);
    }
}

static void
test_weights (void)
{
  g_autoptr (AprCrossProducts) expected = make_expected (w_values);
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, NULL);
  g_autoptr (GError) error = NULL;
  const double negative[] = { 1, 1, 1, 1, -0.5, 1 };
  Producer producer = make_producer ();
  AprArrowArrayStream stream;

  producer.n_columns = 4;
  stream = open_stream (&producer);
  g_assert_true (apr_cross_products_update_arrow (state, &stream, targets, "w", NULL, &error));
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_equal (state, expected));

  /* The weight is read without a copy, also where its bytes have another order. */
  producer.values[3] = negative;
  stream = open_stream (&producer);
  g_atomic_int_set (&no_copies, TRUE);
  g_assert_false (apr_cross_products_update_arrow (state, &stream, targets, "w", NULL, &error));
  g_atomic_int_set (&no_copies, FALSE);
  g_assert_error (error, APR_ERROR, APR_ERROR_WEIGHTS);
  g_assert_cmpstr (error->message, ==, "sample_weight has the negative value -0.5 at row 4 (counted from 0)");
  g_assert_true (apr_cross_products_equal (state, expected));
}

/* Each type has the numbers 1, 0 and 1 in three rows, which make the same sums. */
static void
test_types (void)
{
  static const guint8 bits[] = { 0x05 };
  static const gint8 i8[] = { 1, 0, 1 };
  static const gint16 i16[] = { 1, 0, 1 };
  static const gint32 i32[] = { 1, 0, 1 };
  static const gint64 i64[] = { 1, 0, 1 };
  static const guint16 halves[] = { 0x3c00, 0, 0x3c00 };
  static const float floats[] = { 1, 0, 1 };
  static const double doubles[] = { 1, 0, 1 };
  static const gint64 decimals[] = { 100, 0, 100 };
  /* In the order of the processor: 10^22, of which 10^-22 is 1. */
  static const unsigned __int128 ten_to_22 = (unsigned __int128) 10000000000 * 1000000000000;
  const unsigned __int128 wide[] = { ten_to_22, 0, ten_to_22 };
  static const gint32 thousandths[] = { 1000, 0, 1000 };
  const struct
  {
    const char *format;
    gconstpointer values;
    gsize width;
  } types[] = {
    { "b", bits, 0 },
    { "c", i8, 1 },
    { "C", i8, 1 },
    { "s", i16, 2 },
    { "S", i16, 2 },
    { "i", i32, 4 },
    { "I", i32, 4 },
    { "l", i64, 8 },
    { "L", i64, 8 },
    { "e", halves, 2 },
    { "f", floats, 4 },
    { "g", doubles, 8 },
    { "d:5,2,64", decimals, 8 },
    { "d:38,22", wide, 16 },
    { "d:9,3,32", thousandths, 4 },
  };
  const double x[] = { 1, 0, 1 };
  g_autoptr (AprTensor) tensor = matrix_new (3, 1, x);
  g_autoptr (AprTensor) y = vector_new (3, y_values);
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr (AprCrossProducts) state = apr_cross_products_new (1, 1, NULL);
      g_autoptr (AprCrossProducts) expected = apr_cross_products_new (1, 1, NULL);
      g_autoptr (GError) error = NULL;
      gboolean narrow = strchr ("ef", types[i].format[0]) != NULL;
      Producer producer = { .formats = { types[i].format, "g" },
                            .names = { "a", "y" },
                            .values = { types[i].values, y_values },
                            .widths = { types[i].width, 8 },
                            .n_columns = 2,
                            .n_rows = 3,
                            .n_batches = 1 };
      AprArrowArrayStream stream = open_stream (&producer);
      g_autoptr (AprTensor) cast = apr_tensor_cast (tensor, narrow ? APR_DTYPE_F32 : APR_DTYPE_F64, NULL);
      const char *const names[] = { "a", NULL };

      g_test_message ("%s", types[i].format);
      g_assert_true (apr_cross_products_update_arrow (state, &stream, targets, NULL, NULL, &error));
      g_assert_no_error (error);
      g_assert_true (apr_cross_products_update (expected, cast, y, NULL, NULL, &error));
      g_assert_true (apr_cross_products_set_feature_names (expected, names, &error));
      g_assert_true (apr_cross_products_set_target_names (expected, targets, &error));
      g_assert_true (apr_cross_products_equal (state, expected));
    }
}

/* A decimal number is rounded once: 9007199254740993.5, halfway and a little, and its negative. */
static void
test_decimals (void)
{
  const __int128 whole = (__int128) 90071992547409935;
  const __int128 values[] = { whole, -whole, 10 };
  const double x[] = { 9007199254740994, -9007199254740994, 1 };
  const char *const names[] = { "a", NULL };
  g_autoptr (AprTensor) tensor = matrix_new (3, 1, x);
  g_autoptr (AprTensor) y = vector_new (3, y_values);
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (1, 1, NULL);
  g_autoptr (AprCrossProducts) expected = apr_cross_products_new (1, 1, NULL);
  g_autoptr (GError) error = NULL;
  Producer producer = { .formats = { "d:38,1", "g" },
                        .names = { "a", "y" },
                        .values = { values, y_values },
                        .widths = { 16, 8 },
                        .n_columns = 2,
                        .n_rows = 3,
                        .n_batches = 1 };
  AprArrowArrayStream stream = open_stream (&producer);

  g_assert_true (apr_cross_products_update_arrow (state, &stream, targets, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_update (expected, tensor, y, NULL, NULL, &error));
  g_assert_true (apr_cross_products_set_feature_names (expected, names, &error));
  g_assert_true (apr_cross_products_set_target_names (expected, targets, &error));
  g_assert_true (apr_cross_products_equal (state, expected));
}

/* What a hostile or broken producer says. */

static void
spoil_length (AprArrowArray *batch)
{
  batch->length = -1;
}

static void
spoil_offset (AprArrowArray *batch)
{
  batch->offset = G_MAXINT64;
}

static void
spoil_children (AprArrowArray *batch)
{
  batch->n_children = 2;
}

static void
spoil_no_children (AprArrowArray *batch)
{
  batch->children = NULL;
}

static void
spoil_child (AprArrowArray *batch)
{
  batch->children[1] = NULL;
}

static void
spoil_short (AprArrowArray *batch)
{
  batch->children[0]->length = 2;
}

static void
spoil_batch_offset (AprArrowArray *batch)
{
  batch->offset = 1;
}

static void
spoil_child_offset (AprArrowArray *batch)
{
  batch->children[0]->offset = G_MAXINT64 - 1;
}

static void
spoil_child_size (AprArrowArray *batch)
{
  batch->children[0]->offset = G_MAXINT64 / 8;
}

static void
spoil_buffers (AprArrowArray *batch)
{
  batch->children[0]->n_buffers = 1;
}

static void
spoil_values (AprArrowArray *batch)
{
  batch->children[2]->buffers[1] = NULL;
}

static void
spoil_null_count (AprArrowArray *batch)
{
  batch->children[0]->null_count = 2;
}

static void
spoil_too_many_nulls (AprArrowArray *batch)
{
  batch->children[0]->null_count = 4;
}

static void
spoil_value (AprArrowArray *batch)
{
  static const guint8 valid[] = { 0xfd };

  batch->children[2]->null_count = -1;
  batch->children[2]->buffers[0] = valid;
}

static void
spoil_row (AprArrowArray *batch)
{
  static const guint8 valid[] = { 0xfb };
  static const void *row_buffers[] = { valid };

  batch->null_count = 1;
  batch->buffers = row_buffers;
}

static void
spoil_nan (AprArrowArray *batch)
{
  static const double values[] = { 1, 2, NAN };

  batch->children[2]->buffers[1] = values;
}

static const struct
{
  const char *name;
  void (*spoil) (AprArrowArray *batch);
  int code;
  const char *message;
} batches[] = {
  { "length", spoil_length, APR_ERROR_SHAPE, "a batch has -1 rows after 0" },
  { "offset", spoil_offset, APR_ERROR_SHAPE, "rows after 9223372036854775807" },
  { "children", spoil_children, APR_ERROR_SHAPE, "a batch has 2 columns instead of 3" },
  { "no-children", spoil_no_children, APR_ERROR_SHAPE, "a batch has 3 columns instead of 3" },
  { "child", spoil_child, APR_ERROR_SHAPE, "“y” of y is no Arrow array: it has been released" },
  { "short", spoil_short, APR_ERROR_SHAPE,
    "“a” of X is no Arrow array: 3 rows after 0 of a table, but a length of 2" },
  { "batch-offset", spoil_batch_offset, APR_ERROR_SHAPE, "3 rows after 1 of a table, but a length of 3" },
  { "child-offset", spoil_child_offset, APR_ERROR_SHAPE, "larger than memory can be" },
  { "child-size", spoil_child_size, APR_ERROR_SHAPE, "larger than memory can be" },
  { "buffers", spoil_buffers, APR_ERROR_SHAPE, "1 buffers and 0 children" },
  { "values", spoil_values, APR_ERROR_SHAPE, "“b” of X is no Arrow array: no values" },
  { "null-count", spoil_null_count, APR_ERROR_SHAPE, "2 values are missing, but not said which" },
  { "too-many-nulls", spoil_too_many_nulls, APR_ERROR_SHAPE, "4 nulls" },
  { "value", spoil_value, APR_ERROR_NOT_FINITE,
    "X has a missing value at row 4, column “b” (counted from 0)" },
  { "row", spoil_row, APR_ERROR_NOT_FINITE, "X has a missing value at row 5 (counted from 0)" },
  { "nan", spoil_nan, APR_ERROR_NOT_FINITE, "X has a NaN at row 5, column “b” (counted from 0)" },
};

static void
assert_fails (Producer *producer, int code, const char *message)
{
  g_autoptr (AprCrossProducts) expected = make_expected (NULL);
  g_autoptr (AprCrossProducts) state = apr_cross_products_copy (expected);
  g_autoptr (GError) error = NULL;
  AprArrowArrayStream stream = open_stream (producer);

  g_assert_false (apr_cross_products_update_arrow (state, &stream, targets, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, code);
  if (strstr (error->message, message) == NULL)
    g_error ("“%s” is not in “%s”", message, error->message);
  g_assert_null (stream.release);
  g_assert_cmpuint (producer->n_alive, ==, 0);
  g_assert_true (apr_cross_products_equal (state, expected));
}

static void
test_batch (gconstpointer user_data)
{
  Producer producer = make_producer ();
  gsize i = GPOINTER_TO_SIZE (user_data);

  producer.spoil = batches[i].spoil;
  assert_fails (&producer, batches[i].code, batches[i].message);
}

static void
spoil_struct (AprArrowSchema *schema)
{
  schema->format = "g";
}

static void
spoil_format (AprArrowSchema *schema)
{
  schema->format = NULL;
}

static void
spoil_count (AprArrowSchema *schema)
{
  schema->n_children = -5;
}

static void
spoil_large_count (AprArrowSchema *schema)
{
  schema->n_children = G_MAXINT64;
}

static void
spoil_child_schema (AprArrowSchema *schema)
{
  schema->children[1] = NULL;
}

static void
spoil_child_format (AprArrowSchema *schema)
{
  schema->children[0]->format = NULL;
}

static void
spoil_text (AprArrowSchema *schema)
{
  schema->children[2]->format = "u";
}

static void
spoil_decimal (AprArrowSchema *schema)
{
  schema->children[2]->format = "d:9,99999999999";
}

static void
spoil_unknown (AprArrowSchema *schema)
{
  schema->children[2]->format = "\xff";
}

static void
spoil_category (AprArrowSchema *schema)
{
  schema->children[2]->dictionary = schema->children[0];
}

static void
spoil_missing (AprArrowSchema *schema)
{
  schema->children[1]->name = NULL;
}

static void
spoil_duplicate (AprArrowSchema *schema)
{
  schema->children[2]->name = "a";
}

static void
spoil_name (AprArrowSchema *schema)
{
  schema->children[2]->name = "\xff";
}

static const struct
{
  const char *name;
  void (*spoil) (AprArrowSchema *schema);
  int code;
  const char *message;
} spoilt_schemas[] = {
  { "struct", spoil_struct, APR_ERROR_SHAPE, "its Arrow type is “g”" },
  { "format", spoil_format, APR_ERROR_SHAPE, "its Arrow type is “”" },
  { "count", spoil_count, APR_ERROR_SHAPE, "its schema has -5 columns" },
  { "large-count", spoil_large_count, APR_ERROR_SHAPE, "its schema has 9223372036854775807 columns" },
  { "child", spoil_child_schema, APR_ERROR_SHAPE, "the schema of its column 1 is missing" },
  { "child-format", spoil_child_format, APR_ERROR_DTYPE, "Column “a” of X has no Arrow type" },
  { "text", spoil_text, APR_ERROR_DTYPE, "Column “b” of X holds text" },
  { "decimal", spoil_decimal, APR_ERROR_DTYPE, "Column “b” of X holds decimal numbers of another size" },
  { "unknown", spoil_unknown, APR_ERROR_DTYPE,
    "Column “b” of X holds values of the Arrow type “\xef\xbf\xbd”" },
  { "category", spoil_category, APR_ERROR_DTYPE, "Column “b” of X holds categories" },
  { "missing", spoil_missing, APR_ERROR_FEATURE_NAMES, "no column “y” to be y; it has “a”, “”, “b”" },
  { "duplicate", spoil_duplicate, APR_ERROR_FEATURE_NAMES, "“a”" },
  { "name", spoil_name, APR_ERROR_FEATURE_NAMES, "\xef\xbf\xbd" },
};

static void
test_schema (gconstpointer user_data)
{
  Producer producer = make_producer ();
  gsize i = GPOINTER_TO_SIZE (user_data);

  producer.spoil_schema = spoilt_schemas[i].spoil;
  assert_fails (&producer, spoilt_schemas[i].code, spoilt_schemas[i].message);
}

static void
test_failure (void)
{
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, NULL);
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Producer producer = make_producer ();
  AprArrowArrayStream stream;

  producer.status = EIO;
  stream = open_stream (&producer);
  g_assert_false (apr_cross_products_update_arrow (state, &stream, targets, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
  g_assert_cmpstr (error->message, ==, "The Arrow stream cannot be read: the disk is gone");
  g_assert_cmpuint (producer.n_alive, ==, 0);
  g_assert_cmpuint (apr_cross_products_get_n_samples (state), ==, 0);
  g_clear_error (&error);

  producer.status = 0;
  g_cancellable_cancel (cancelled);
  stream = open_stream (&producer);
  g_assert_false (apr_cross_products_update_arrow (state, &stream, targets, NULL, cancelled, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (producer.n_alive, ==, 0);
  g_clear_error (&error);

  /* A stream that has been taken. */
  stream = (AprArrowArrayStream){ 0 };
  g_assert_false (apr_cross_products_update_arrow (state, &stream, targets, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);

  /* No rows are no error. */
  producer.n_batches = 0;
  stream = open_stream (&producer);
  g_clear_error (&error);
  g_assert_true (apr_cross_products_update_arrow (state, &stream, targets, NULL, NULL, &error));
  g_assert_cmpuint (apr_cross_products_get_n_samples (state), ==, 0);
}

static void
test_async (void)
{
  g_autoptr (AprCrossProducts) expected = make_expected (NULL);
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, NULL);
  g_autoptr (GAsyncResult) result = NULL;
  g_autoptr (GAsyncResult) second_result = NULL;
  g_autoptr (GError) error = NULL;
  Producer producer = make_producer ();
  Producer other = make_producer ();
  Producer waiting = make_producer ();
  AprArrowArrayStream stream = open_stream (&producer);
  AprArrowArrayStream second = open_stream (&other);
  AprArrowArrayStream third = open_stream (&waiting);

  apr_cross_products_update_arrow_async (state, &stream, targets, NULL, G_PRIORITY_DEFAULT, NULL, on_ready,
                                         &result);
  g_assert_null (stream.release);
  g_assert_true (apr_cross_products_get_busy (state));
  /* One write at a time. */
  apr_cross_products_update_arrow_async (state, &second, targets, NULL, G_PRIORITY_DEFAULT, NULL, on_ready,
                                         &second_result);
  /* A stream that had to wait is not lost. */
  g_assert_false (apr_cross_products_update_arrow (state, &third, targets, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_nonnull (third.release);
  third.release (&third);
  wait_for (&result);
  wait_for (&second_result);
  g_assert_false (apr_cross_products_update_arrow_finish (state, second_result, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_true (apr_cross_products_update_arrow_finish (state, result, &error));
  g_assert_no_error (error);
  g_assert_false (apr_cross_products_get_busy (state));
  g_assert_true (apr_cross_products_equal (state, expected));
  g_assert_cmpuint (other.n_alive, ==, 0);
}

int
main (int argc, char *argv[])
{
  gsize i;

  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/cross-products-arrow/update", test_update);
  g_test_add_func ("/cross-products-arrow/many-rows", test_many_rows);
  g_test_add_func ("/cross-products-arrow/weights", test_weights);
  g_test_add_func ("/cross-products-arrow/types", test_types);
  g_test_add_func ("/cross-products-arrow/decimals", test_decimals);
  for (i = 0; i < G_N_ELEMENTS (batches); i++)
    {
      g_autofree char *path = g_strconcat ("/cross-products-arrow/batch/", batches[i].name, NULL);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_batch);
    }
  for (i = 0; i < G_N_ELEMENTS (spoilt_schemas); i++)
    {
      g_autofree char *path = g_strconcat ("/cross-products-arrow/schema/", spoilt_schemas[i].name, NULL);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_schema);
    }
  g_test_add_func ("/cross-products-arrow/failure", test_failure);
  g_test_add_func ("/cross-products-arrow/async", test_async);

  return g_test_run ();
}
