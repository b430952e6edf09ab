/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#define MAX_DIMS 4
#define MAX_ELEMENTS 1024

/* A reference that shares nothing with the library: it lists positions one by one, by the definition in Python's
 * documentation, and picks the elements. */

typedef struct
{
  gboolean is_index;
  int start, stop, step;
  gboolean has_start, has_stop;
} NaiveItem;

typedef struct
{
  gsize n_positions;
  int positions[16];
  gboolean keeps;
} NaiveAxis;

static NaiveAxis
naive_axis (const NaiveItem *item, int size)
{
  NaiveAxis axis = { 0 };
  int lowest = item->step < 0 ? -1 : 0;
  int highest = item->step < 0 ? size - 1 : size;
  int start = item->start, stop = item->stop;
  int position;

  if (item->is_index)
    {
      axis.positions[axis.n_positions++] = start < 0 ? start + size : start;
      return axis;
    }
  axis.keeps = TRUE;
  if (!item->has_start)
    start = item->step < 0 ? highest : lowest;
  else
    start = CLAMP (start < 0 ? start + size : start, lowest, highest);
  if (!item->has_stop)
    stop = item->step < 0 ? lowest : highest;
  else
    stop = CLAMP (stop < 0 ? stop + size : stop, lowest, highest);
  for (position = start; item->step < 0 ? position > stop : position < stop; position += item->step)
    axis.positions[axis.n_positions++] = position;
  return axis;
}

static char *
naive_text (const NaiveItem *item)
{
  GString *text = g_string_new (NULL);

  if (item->is_index)
    g_string_append_printf (text, "%d", item->start);
  else
    {
      if (item->has_start)
        g_string_append_printf (text, "%d", item->start);
      g_string_append_c (text, ':');
      if (item->has_stop)
        g_string_append_printf (text, "%d", item->stop);
      if (item->step != 1)
        g_string_append_printf (text, ":%d", item->step);
    }
  return g_string_free (text, FALSE);
}

/* A tensor whose elements, of @width bytes, each hold their own number. */
static AprTensor *
count_new (AprDType dtype, const gsize *shape, gsize n_dims)
{
  gsize width = apr_dtype_get_bits (dtype) / 8;
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;
  AprTensor *tensor;
  gsize n = 1, i, j;
  guint8 *data;

  for (i = 0; i < n_dims; i++)
    n *= shape[i];
  data = g_malloc0 (n * width + 1);
  for (i = 0; i < n; i++)
    for (j = 0; j < width; j++)
      data[i * width + j] = (guint8) (j == 0 ? i : j == 1 ? i >> 8 : i + j);
  bytes = g_bytes_new_take (data, n * width);
  tensor = apr_tensor_new_from_bytes (dtype, shape, n_dims, bytes, &error);
  g_assert_no_error (error);
  return tensor;
}

static void
check_against_naive (AprTensor *tensor, const NaiveItem *items, gsize n_items, const char *indices)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) slice = NULL;
  gsize n_dims, n_slice_dims, n_expected = 1, n_kept = 0, width, size, i;
  const gsize *shape = apr_tensor_get_shape (tensor, &n_dims);
  const gsize *slice_shape;
  const guint8 *source, *data;
  NaiveAxis axes[MAX_DIMS];
  gsize expected[MAX_ELEMENTS];
  gboolean is_contiguous = TRUE;

  width = apr_dtype_get_bits (apr_tensor_get_dtype (tensor)) / 8;
  slice = apr_tensor_slice (tensor, indices, &error);
  g_assert_no_error (error);
  slice_shape = apr_tensor_get_shape (slice, &n_slice_dims);

  for (i = 0; i < n_dims; i++)
    {
      static const NaiveItem whole = { FALSE, 0, 0, 1, FALSE, FALSE };

      axes[i] = naive_axis (i < n_items ? &items[i] : &whole, (int) shape[i]);
      n_expected *= axes[i].n_positions;
      if (axes[i].keeps)
        {
          g_assert_cmpuint (n_kept, <, n_slice_dims);
          g_assert_cmpuint (slice_shape[n_kept++], ==, axes[i].n_positions);
        }
    }
  g_assert_cmpuint (n_kept, ==, n_slice_dims);
  g_assert_cmpuint (n_expected, <=, MAX_ELEMENTS);

  for (i = 0; i < n_expected; i++)
    {
      gsize rest = i, stride = 1, dim;

      expected[i] = 0;
      for (dim = n_dims; dim-- > 0; stride *= shape[dim])
        {
          expected[i] += (gsize) axes[dim].positions[rest % axes[dim].n_positions] * stride;
          rest /= axes[dim].n_positions;
        }
      if (i > 0 && expected[i] != expected[i - 1] + 1)
        is_contiguous = FALSE;
    }

  source = g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL);
  data = g_bytes_get_data (apr_tensor_get_bytes (slice), &size);
  g_assert_cmpuint (size, ==, n_expected * width);
  g_assert_cmpint (apr_tensor_get_dtype (slice), ==, apr_tensor_get_dtype (tensor));
  for (i = 0; i < n_expected; i++)
    if (memcmp (data + i * width, source + expected[i] * width, width) != 0)
      g_error ("“%s”: element %zu is not number %zu", indices, i, expected[i]);
  if (n_expected > 0)
    g_assert_true ((data == source + expected[0] * width) == is_contiguous);
}

static void
test_ranges (void)
{
  static const int steps[] = { 1, 2, 3, 7, -1, -2, -3, -7 };
  int size, start, stop;
  guint i;

  g_test_summary ("Every start, stop and step about the ends of one dimension, against a naive reference.");

  for (size = 0; size < 6; size++)
    {
      gsize shape = (gsize) size;
      g_autoptr (AprTensor) tensor = count_new (APR_DTYPE_U16, &shape, 1);

      /* 8 stands for none. */
      for (start = -7; start <= 8; start++)
        for (stop = -7; stop <= 8; stop++)
          for (i = 0; i < G_N_ELEMENTS (steps); i++)
            {
              NaiveItem item = { FALSE, start, stop, steps[i], start < 8, stop < 8 };
              g_autofree char *text = naive_text (&item);

              check_against_naive (tensor, &item, 1, text);
            }
    }
}

static void
test_dimensions (void)
{
  static const NaiveItem choices[] = {
    { FALSE, 0, 0, 1, FALSE, FALSE },  { FALSE, 1, 0, 1, TRUE, FALSE },  { FALSE, 0, -1, 1, FALSE, TRUE },
    { FALSE, 0, 0, -1, FALSE, FALSE }, { FALSE, 0, 0, 2, FALSE, FALSE }, { FALSE, 1, 1, 1, TRUE, TRUE },
    { FALSE, 5, 0, -2, TRUE, TRUE },   { TRUE, 0, 0, 1, FALSE, FALSE },  { TRUE, -1, 0, 1, FALSE, FALSE },
  };
  static const AprDType dtypes[] = { APR_DTYPE_U16, APR_DTYPE_U8, APR_DTYPE_F32, APR_DTYPE_C64 };
  const guint n_choices = G_N_ELEMENTS (choices);
  guint n_sizes = g_getenv ("APR_TEST_VALGRIND") != NULL ? 3 : 4;
  guint shapes, combination, i;

  g_test_summary ("All shapes of three small dimensions with all combinations of items.");

  for (shapes = 0; shapes < n_sizes * n_sizes * n_sizes; shapes++)
    {
      const gsize shape[] = { shapes % n_sizes, shapes / n_sizes % n_sizes, shapes / n_sizes / n_sizes };
      g_autoptr (AprTensor) tensor = count_new (dtypes[shapes % G_N_ELEMENTS (dtypes)], shape, 3);

      for (combination = 0; combination < n_choices * n_choices * n_choices; combination++)
        {
          guint which[] = { combination % n_choices, combination / n_choices % n_choices,
                            combination / n_choices / n_choices };
          NaiveItem items[3];
          char *texts[4] = { NULL };
          g_autofree char *text = NULL;
          gboolean is_possible = TRUE;

          for (i = 0; i < 3; i++)
            {
              items[i] = choices[which[i]];
              is_possible &= !items[i].is_index || shape[i] > 0;
            }
          if (!is_possible)
            continue;
          for (i = 0; i < 3; i++)
            texts[i] = naive_text (&items[i]);
          text = g_strjoinv (",", texts);
          check_against_naive (tensor, items, 3, text);
          for (i = 0; i < 3; i++)
            g_free (texts[i]);
        }
    }
}

static void
test_random (void)
{
  guint round;

  g_test_summary ("Random items over up to four dimensions, fewer items than dimensions among them.");

  for (round = 0; round < 3000; round++)
    {
      gsize n_dims = (gsize) g_test_rand_int_range (0, MAX_DIMS + 1);
      gsize n_items = (gsize) g_test_rand_int_range (0, (int) n_dims + 1);
      g_autoptr (AprTensor) tensor = NULL;
      g_autoptr (GString) text = g_string_new (NULL);
      NaiveItem items[MAX_DIMS];
      gsize shape[MAX_DIMS];
      gsize i;

      for (i = 0; i < n_dims; i++)
        shape[i] = (gsize) g_test_rand_int_range (1, 6);
      for (i = 0; i < n_items; i++)
        {
          g_autofree char *item = NULL;
          int size = (int) shape[i];

          items[i] = (NaiveItem){ g_test_rand_bit (), 0, g_test_rand_int_range (-8, 9), 0, g_test_rand_bit (),
                                  g_test_rand_bit () };
          items[i].start =
            items[i].is_index ? g_test_rand_int_range (-size, size) : g_test_rand_int_range (-8, 9);
          items[i].step = g_test_rand_int_range (1, 4) * (g_test_rand_bit () ? 1 : -1);
          item = naive_text (&items[i]);
          g_string_append_printf (text, "%s%s", i > 0 ? " , " : "", item);
        }
      tensor = count_new (APR_DTYPE_I16, shape, n_dims);
      check_against_naive (tensor, items, n_items, text->str);
    }
}

/* One that is known by heart: [2, 3, 4] from 0 to 23. */
static void
assert_slice (const char *indices, const char *expected)
{
  const gsize shape[] = { 2, 3, 4 };
  g_autoptr (AprTensor) tensor = count_new (APR_DTYPE_U8, shape, 3);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) slice = apr_tensor_slice (tensor, indices, &error);
  g_autoptr (GString) text = g_string_new ("[");
  gsize n_dims, i;
  const gsize *sizes;

  g_assert_no_error (error);
  sizes = apr_tensor_get_shape (slice, &n_dims);
  for (i = 0; i < n_dims; i++)
    g_string_append_printf (text, "%s%zu", i > 0 ? ", " : "", sizes[i]);
  g_string_append_c (text, ']');
  for (i = 0; i < apr_tensor_get_n_elements (slice); i++)
    g_string_append_printf (text, " %g", apr_tensor_get_double (slice, i, NULL));
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_notation (void)
{
  g_test_summary ("Shapes and elements as numpy gives them.");

  assert_slice ("1, 2, 3", "[] 23");
  assert_slice ("-1,-1,-1", "[] 23");
  assert_slice ("+1, 0, +0", "[] 12");
  assert_slice ("- 2, -0", "[4] 0 1 2 3");
  assert_slice ("0,", "[3, 4] 0 1 2 3 4 5 6 7 8 9 10 11");
  assert_slice ("..., 3", "[2, 3] 3 7 11 15 19 23");
  assert_slice ("0, ..., ::-2", "[3, 2] 3 1 7 5 11 9");
  assert_slice ("1, ..., 0, 0", "[] 12");
  assert_slice ("1, 2, 3, ...", "[] 23");
  assert_slice ("1, 1, ...", "[4] 16 17 18 19");
  assert_slice (" \t1\n:\r2 : 1 , :-1: , : : 3 ", "[1, 2, 2] 12 15 16 19");
  assert_slice ("0, 1:2, 9223372036854775807:-9223372036854775808:-1", "[1, 4] 7 6 5 4");
  assert_slice ("0, 1, -9223372036854775808::9223372036854775807", "[1] 4");
  assert_slice ("0, 1, ::-9223372036854775808", "[1] 7");
  assert_slice ("0, 2:2", "[0, 4]");
  assert_slice ("0, 3:1", "[0, 4]");
  assert_slice ("2:2, 0:2", "[0, 2, 4]");
}

static void
test_whole (void)
{
  static const char *const texts[] = { "", " ", "...", ":", ":,:,:", "::1, ...", "0:99, :, -99:" };
  const gsize shape[] = { 2, 3, 4 };
  g_autoptr (AprTensor) tensor = count_new (APR_DTYPE_F64, shape, 3);
  const gsize *no_shape = NULL;
  g_autoptr (AprTensor) scalar = count_new (APR_DTYPE_F64, no_shape, 0);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (AprTensor) slice = apr_tensor_slice (tensor, texts[i], NULL);

      g_assert_true (apr_tensor_equal (slice, tensor));
      g_assert_true (g_bytes_get_data (apr_tensor_get_bytes (slice), NULL) ==
                     g_bytes_get_data (apr_tensor_get_bytes (tensor), NULL));
    }
  for (i = 0; i < 3; i++)
    {
      g_autoptr (AprTensor) slice = apr_tensor_slice (scalar, texts[i], NULL);

      g_assert_true (apr_tensor_equal (slice, scalar));
    }
}

static void
test_slice_outlives_tensor (void)
{
  const gsize shape[] = { 4, 2 };
  AprTensor *tensor = count_new (APR_DTYPE_U8, shape, 2);
  g_autoptr (AprTensor) shared = apr_tensor_slice (tensor, "1:3", NULL);
  g_autoptr (AprTensor) again = apr_tensor_slice (shared, "1, ::-1", NULL);
  g_autofree char *text = NULL;

  apr_tensor_unref (tensor);
  g_assert_cmpfloat (apr_tensor_get_double (shared, 3, NULL), ==, 5);
  text = apr_tensor_to_string (again);
  g_assert_cmpstr (text, ==, "U8 [2] [5, 4]");
}

static void
test_errors (void)
{
  static const struct
  {
    const char *indices;
    AprError code;
    const char *message;
  } cases[] = {
    { "2", APR_ERROR_RANGE, "The index 2 is out of range for dimension 0 of size 2" },
    { "-3", APR_ERROR_RANGE, "The index -3 is out of range for dimension 0 of size 2" },
    { "..., 0, 4", APR_ERROR_RANGE, "The index 4 is out of range for dimension 2 of size 4" },
    { ":, 9223372036854775807", APR_ERROR_RANGE, "9223372036854775807 is out of range for dimension 1" },
    { "-9223372036854775808", APR_ERROR_RANGE, "-9223372036854775808 is out of range for dimension 0" },
    { "9223372036854775808", APR_ERROR_RANGE, "more than 64 bits" },
    { "-9223372036854775809:", APR_ERROR_RANGE, "more than 64 bits" },
    { "0:18446744073709551616", APR_ERROR_RANGE, "more than 64 bits" },
    { "::99999999999999999999999999999999999999999999999999999999", APR_ERROR_RANGE, "more than 64 bits" },
    { "::0", APR_ERROR_RANGE, "a step of 0 at position 3" },
    { "1:1:-0", APR_ERROR_RANGE, "a step of 0" },
    { "0, 0, 0, 0", APR_ERROR_SHAPE, "4 indices are too many for a tensor of 3 dimensions" },
    { ":,:,:,...,:", APR_ERROR_SHAPE, "4 indices" },
    { "..., ...", APR_ERROR_SYNTAX, "a second “...” at position 8" },
    { ",", APR_ERROR_SYNTAX, "“,”: no whole number, range or “...” at position 0" },
    { "1,,2", APR_ERROR_SYNTAX, "at position 2" },
    { "1 2", APR_ERROR_SYNTAX, "neither a comma nor the end at position 2" },
    { "1:2:3:4", APR_ERROR_SYNTAX, "neither a comma nor the end at position 5" },
    { "1.0", APR_ERROR_SYNTAX, "at position 1" },
    { "1e0", APR_ERROR_SYNTAX, "at position 1" },
    { "0x1", APR_ERROR_SYNTAX, "at position 1" },
    { "1_0", APR_ERROR_SYNTAX, "at position 1" },
    { "01", APR_ERROR_SYNTAX, "a number that begins with 0" },
    { "-", APR_ERROR_SYNTAX, "a sign without a number at position 1" },
    { "--1", APR_ERROR_SYNTAX, "a sign" },
    { "1:+", APR_ERROR_SYNTAX, "a sign" },
    { "[0]", APR_ERROR_SYNTAX, "at position 0" },
    { "None", APR_ERROR_SYNTAX, "at position 0" },
    { "..", APR_ERROR_SYNTAX, "at position 0" },
    { "....", APR_ERROR_SYNTAX, "at position 3" },
    { "...1", APR_ERROR_SYNTAX, "at position 3" },
    { "…", APR_ERROR_SYNTAX, "“…”" },
    { "\xff", APR_ERROR_SYNTAX, "“�”" },
    { "1234567890123, 1234567890123, 1234567890123, x", APR_ERROR_SYNTAX,
      "“1234567890123, 1234567890123, 1234567890…”" },
  };
  const gsize shape[] = { 2, 3, 4 };
  g_autoptr (AprTensor) tensor = count_new (APR_DTYPE_U8, shape, 3);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_tensor_slice (tensor, cases[i].indices, &error));
      g_assert_error (error, APR_ERROR, (int) cases[i].code);
      assert_message_has (error, cases[i].message);
      g_assert_true (g_utf8_validate (error->message, -1, NULL));
      /* No error is asked for: no crash. */
      g_assert_null (apr_tensor_slice (tensor, cases[i].indices, NULL));
    }
}

static void
test_zero_sizes (void)
{
  const gsize shape[] = { 0, G_MAXSIZE };
  g_autoptr (AprTensor) tensor = count_new (APR_DTYPE_F32, shape, 2);
  g_autoptr (AprTensor) slice = NULL;
  g_autoptr (GError) error = NULL;
  gsize n_dims;

  g_test_summary ("A dimension of nothing beside one beyond a signed number: nothing overflows.");

  slice = apr_tensor_slice (tensor, "::-1, 1::2", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_shape (slice, &n_dims)[1], ==, G_MAXSIZE / 2);
  g_clear_pointer (&slice, apr_tensor_unref);
  slice = apr_tensor_slice (tensor, ":, ::-1", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_shape (slice, &n_dims)[1], ==, G_MAXSIZE);
  g_clear_pointer (&slice, apr_tensor_unref);
  slice = apr_tensor_slice (tensor, ":, -1", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (apr_tensor_get_shape (slice, &n_dims)[0], ==, 0);
  g_assert_cmpuint (n_dims, ==, 1);
  g_assert_null (apr_tensor_slice (tensor, "0", &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  assert_message_has (error, "The index 0 is out of range for dimension 0 of size 0");
}

static void
test_sub_byte (void)
{
  static const struct
  {
    AprDType dtype;
    gsize shape[2];
    const char *indices;
    const char *expected; /* the bytes; NULL for an error */
  } cases[] = {
    { APR_DTYPE_F4, { 3, 4 }, "1", "cd" },          { APR_DTYPE_F4, { 3, 4 }, "::-1", "efcdab" },
    { APR_DTYPE_F4, { 3, 4 }, "::2, 2:", "bf" },    { APR_DTYPE_F4, { 3, 4 }, ":, -4:2", "ace" },
    { APR_DTYPE_F4, { 3, 4 }, "0, 1:3", NULL },     { APR_DTYPE_F4, { 3, 4 }, "0, 0", NULL },
    { APR_DTYPE_F4, { 3, 4 }, "0, ::2", NULL },     { APR_DTYPE_F4, { 3, 4 }, "0, 3:1", "" },
    { APR_DTYPE_F4, { 4, 3 }, "1", NULL },          { APR_DTYPE_F4, { 4, 3 }, "2:", "def" },
    { APR_DTYPE_F4, { 4, 3 }, "::2, :2", "ad" },    { APR_DTYPE_F4, { 4, 3 }, "::3, :2", NULL },
    { APR_DTYPE_F6_E2M3, { 2, 4 }, "1", "def" },    { APR_DTYPE_F6_E2M3, { 2, 4 }, "::-1", "defabc" },
    { APR_DTYPE_F6_E2M3, { 2, 4 }, ":, :2", NULL }, { APR_DTYPE_F6_E3M2, { 1, 8 }, "0, 4:", "def" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new_static ("abcdef", 6);
      g_autoptr (GError) error = NULL;
      g_autoptr (AprTensor) tensor =
        apr_tensor_new_from_bytes (cases[i].dtype, cases[i].shape, 2, bytes, &error);
      g_autoptr (AprTensor) slice = NULL;
      gsize size;
      gconstpointer data;

      g_assert_no_error (error);
      slice = apr_tensor_slice (tensor, cases[i].indices, &error);
      if (cases[i].expected == NULL)
        {
          g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
          g_assert_null (slice);
          continue;
        }
      g_assert_no_error (error);
      data = g_bytes_get_data (apr_tensor_get_bytes (slice), &size);
      g_assert_cmpmem (data, size, cases[i].expected, strlen (cases[i].expected));
    }
}

static void
test_sub_byte_message (void)
{
  const gsize shape[] = { 3, 4 };
  g_autoptr (GBytes) bytes = g_bytes_new_static ("abcdef", 6);
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (APR_DTYPE_F4, shape, 2, bytes, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (apr_tensor_slice (tensor, "1:, 1:3", &error));
  g_assert_cmpstr (
    error->message, ==,
    "A slice of F4 [3, 4] takes 4 elements of 4 bits from element 5 on, in pieces of 2, which do "
    "not all begin and end at whole bytes");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/tensor/slice/ranges", test_ranges);
  g_test_add_func ("/tensor/slice/dimensions", test_dimensions);
  g_test_add_func ("/tensor/slice/random", test_random);
  g_test_add_func ("/tensor/slice/notation", test_notation);
  g_test_add_func ("/tensor/slice/whole", test_whole);
  g_test_add_func ("/tensor/slice/outlives-tensor", test_slice_outlives_tensor);
  g_test_add_func ("/tensor/slice/errors", test_errors);
  g_test_add_func ("/tensor/slice/zero-sizes", test_zero_sizes);
  g_test_add_func ("/tensor/slice/sub-byte", test_sub_byte);
  g_test_add_func ("/tensor/slice/sub-byte-message", test_sub_byte_message);

  return g_test_run ();
}
