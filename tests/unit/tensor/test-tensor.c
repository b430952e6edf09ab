/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <fenv.h>
#include <math.h>

static void
test_from_doubles (void)
{
  const double values[] = { 1, 2, 3, 4, 5, 6 };
  g_autoptr (AprTensor) x = matrix_new (2, 3, values);
  gsize n_dims;
  gsize n_values;
  const gsize *shape = apr_tensor_get_shape (x, &n_dims);

  g_assert_cmpint (apr_tensor_get_dtype (x), ==, APR_DTYPE_F64);
  g_assert_cmpuint (n_dims, ==, 2);
  g_assert_cmpuint (apr_tensor_get_n_dims (x), ==, 2);
  g_assert_cmpuint (shape[0], ==, 2);
  g_assert_cmpuint (shape[1], ==, 3);
  g_assert_cmpuint (apr_tensor_get_n_elements (x), ==, 6);
  g_assert_cmpmem (apr_tensor_get_doubles (x, &n_values, NULL), n_values * sizeof (double), values,
                   sizeof values);
}

static void
test_from_floats_is_little_endian (void)
{
  const float values[] = { 1.0f, -2.5f };
  const guint8 expected[] = { 0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x20, 0xc0 };
  g_autoptr (AprTensor) x = float_vector_new (2, values);
  gsize size;
  gconstpointer data = g_bytes_get_data (apr_tensor_get_bytes (x), &size);

  g_assert_cmpmem (data, size, expected, sizeof expected);
}

static void
test_from_bytes_shares (void)
{
  const gsize shape[] = { 2 };
  const guint8 data[] = { 0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x20, 0xc0 };
  g_autoptr (GBytes) bytes = g_bytes_new_static (data, sizeof data);
  g_autoptr (AprTensor) x = apr_tensor_new_from_bytes (APR_DTYPE_F32, shape, 1, bytes, NULL);

  g_assert_true (g_bytes_get_data (apr_tensor_get_bytes (x), NULL) == data);
  assert_same_double (element (x, 1), -2.5);
}

/* AddressSanitizer asks this, and would else end a program that asks for too much. */
const char *__asan_default_options (void);

const char *
__asan_default_options (void)
{
  return "allocator_may_return_null=1";
}

static void
test_larger_than_memory (void)
{
  static const guint8 bytes[sizeof (double) + 1];
  const gsize n = G_MAXSSIZE / 64;
  const double *values = (gconstpointer) bytes;
  const AprDType dtypes[] = { APR_DTYPE_BF16, APR_DTYPE_F32, APR_DTYPE_F64 };
  gsize i;

  g_test_summary ("What would copy more than memory can hold fails, and touches nothing.");

  for (i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      gsize size = n * apr_dtype_get_bits (dtypes[i]) / 8;
      g_autoptr (GError) error = NULL;
      g_autoptr (AprTensor) tensor = /* never aligned */
        apr_tensor_new_from_memory (dtypes[i], &n, 1, (const guint8 *) ((guintptr) bytes | 1), size, NULL,
                                    NULL, &error);
      gsize n_values = 1;

      g_assert_no_error (error);
      g_assert_null (
        apr_tensor_cast (tensor, dtypes[i] == APR_DTYPE_F32 ? APR_DTYPE_F64 : APR_DTYPE_F32, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
      assert_message_has (error, "no memory for a tensor of ");
      g_clear_error (&error);
      if (dtypes[i] == APR_DTYPE_F32)
        g_assert_null (apr_tensor_get_floats (tensor, &n_values, &error));
      else if (dtypes[i] == APR_DTYPE_F64)
        g_assert_null (apr_tensor_get_doubles (tensor, &n_values, &error));
      else
        continue;
      g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
      g_assert_cmpuint (n_values, ==, 0);
      g_clear_error (&error);

      g_assert_null (apr_tensor_new_from_doubles (values, n, &n, 1, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
    }
}

static void
test_scalar_and_empty (void)
{
  const double value = 7;
  const gsize empty[] = { 3, 0 };
  g_autoptr (AprTensor) scalar = apr_tensor_new_from_doubles (&value, 1, NULL, 0, NULL);
  g_autoptr (AprTensor) none = apr_tensor_new_from_doubles (NULL, 0, empty, 2, NULL);
  g_autofree char *scalar_text = apr_tensor_to_string (scalar);
  g_autofree char *none_text = apr_tensor_to_string (none);

  g_assert_cmpuint (apr_tensor_get_n_elements (scalar), ==, 1);
  g_assert_cmpuint (apr_tensor_get_n_elements (none), ==, 0);
  g_assert_cmpstr (scalar_text, ==, "F64 [] 7");
  g_assert_cmpstr (none_text, ==, "F64 [3, 0]");
}

static void
test_wrong_sizes (void)
{
  const struct
  {
    AprDType dtype;
    gsize shape[3];
    gsize n_dims;
    gsize size;
    gint code;
    const char *text;
  } cases[] = {
    { APR_DTYPE_F32, { 2, 3 }, 2, 23, APR_ERROR_SHAPE, "F32 [2, 3] needs 24 bytes, but there are 23" },
    { APR_DTYPE_F32, { 2, 3 }, 2, 25, APR_ERROR_SHAPE, "but there are 25" },
    { APR_DTYPE_NONE, { 1 }, 1, 0, APR_ERROR_DTYPE, "dtype 0" },
    { (AprDType) 23, { 1 }, 1, 0, APR_ERROR_DTYPE, "dtype 23" },
    { APR_DTYPE_U8, { G_MAXSIZE, 2 }, 2, 0, APR_ERROR_RANGE, "larger than memory" },
    { APR_DTYPE_F32, { (gsize) 1 << (8 * sizeof (gsize) - 4) }, 1, 0, APR_ERROR_RANGE, "larger than memory" },
    { APR_DTYPE_F64, { (gsize) 1 << 32, (gsize) 1 << 32, 3 }, 3, 0, APR_ERROR_RANGE, "larger than memory" },
    { APR_DTYPE_F4, { 3 }, 1, 2, APR_ERROR_SHAPE, "12 bits" },
    { APR_DTYPE_F6_E2M3, { 3 }, 1, 3, APR_ERROR_SHAPE, "18 bits" },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = g_bytes_new_take (g_malloc0 (cases[i].size), cases[i].size);
      g_autoptr (AprTensor) tensor =
        apr_tensor_new_from_bytes (cases[i].dtype, cases[i].shape, cases[i].n_dims, bytes, &error);

      g_assert_null (tensor);
      g_assert_error (error, APR_ERROR, cases[i].code);
      assert_message_has (error, cases[i].text);
    }
}

static void
test_wrong_number_of_values (void)
{
  const gsize shape[] = { 2, 2 };
  const double values[] = { 1, 2, 3 };
  g_autoptr (GError) error = NULL;

  g_assert_null (apr_tensor_new_from_doubles (values, 3, shape, 2, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  assert_message_has (error, "[2, 2] needs 4 values, but there are 3");
}

static void
count_cb (gpointer user_data)
{
  ++*(int *) user_data;
}

static void
test_from_memory_releases_once (void)
{
  const gsize shape[] = { 4 };
  double memory[] = { 1, 2, 3, 4 };
  int n_released = 0;
  g_autoptr (GError) error = NULL;
  AprTensor *x =
    apr_tensor_new_from_memory (APR_DTYPE_F64, shape, 1, memory, sizeof memory, count_cb, &n_released, NULL);
  AprTensor *rows = apr_tensor_slice_rows (x, 1, 3, NULL);

  swap_on_big_endian (memory, 4, sizeof *memory);
  g_assert_true (g_bytes_get_data (apr_tensor_get_bytes (x), NULL) == memory);
  apr_tensor_unref (x);
  g_assert_cmpint (n_released, ==, 0);
  assert_same_double (element (rows, 0), 2);
  apr_tensor_unref (rows);
  g_assert_cmpint (n_released, ==, 1);

  g_assert_null (
    apr_tensor_new_from_memory (APR_DTYPE_F64, shape, 1, memory, 8, count_cb, &n_released, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_assert_cmpint (n_released, ==, 2);
}

static void
test_memory (void)
{
  const gsize shape[] = { 2, 3 };
  const double memory[6] = { 0 };
  g_autoptr (AprTensor) x =
    apr_tensor_new_from_memory (APR_DTYPE_F64, shape, 2, memory, sizeof memory, NULL, NULL, NULL);
  g_autoptr (AprTensor) row = apr_tensor_slice_rows (x, 1, 2, NULL);
  const gsize *found;
  gconstpointer place;
  gsize n_dims, size;
  AprDType dtype;

  apr_tensor_get_memory (row, NULL, NULL, NULL, NULL, NULL);
  apr_tensor_get_memory (row, &dtype, &found, &n_dims, &place, &size);
  g_assert_cmpint (dtype, ==, APR_DTYPE_F64);
  g_assert_cmpuint (n_dims, ==, 2);
  g_assert_cmpuint (found[0], ==, 1);
  g_assert_cmpuint (found[1], ==, 3);
  g_assert_true (place == memory + 3);
  g_assert_cmpuint (size, ==, 3 * sizeof (double));
}

static void
test_unaligned (void)
{
  const gsize shape[] = { 2 };
  const guint8 data[] = { 0xff, 0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x20, 0xc0 };
  g_autoptr (GBytes) whole = g_bytes_new (data, sizeof data);
  g_autoptr (GBytes) bytes = g_bytes_new_from_bytes (whole, 1, 8);
  g_autoptr (AprTensor) x = apr_tensor_new_from_bytes (APR_DTYPE_F32, shape, 1, bytes, NULL);
  const float *floats = apr_tensor_get_floats (x, NULL, NULL);

  g_test_summary ("Files need not align their tensors; a float must not be read where none can stand.");
  g_assert_cmpuint ((guintptr) floats % sizeof (float), ==, 0);
  g_assert_true (floats[0] == 1.0f && floats[1] == -2.5f);
  g_assert_true (apr_tensor_get_floats (x, NULL, NULL) == floats);
  assert_same_double (element (x, 1), -2.5);
}

static void
test_accessors_want_their_dtype (void)
{
  const double value = 1;
  g_autoptr (AprTensor) x = vector_new (1, &value);
  g_autoptr (GError) error = NULL;
  gsize n = 5;

  g_assert_null (apr_tensor_get_floats (x, &n, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_DTYPE);
  assert_message_has (error, "F64, not F32");
  g_assert_cmpuint (n, ==, 0);
}

static void
test_element_out_of_range (void)
{
  const double values[] = { 1, 2 };
  g_autoptr (AprTensor) x = vector_new (2, values);
  g_autoptr (GError) error = NULL;

  apr_tensor_get_double (x, 2, &error);
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  assert_message_has (error, "Element 2 of a tensor that has 2");
}

static void
test_element_of_opaque_dtype (void)
{
  const gsize shape[] = { 1 };
  g_autoptr (GBytes) bytes = g_bytes_new ("12345678", 8);
  g_autoptr (AprTensor) x = apr_tensor_new_from_bytes (APR_DTYPE_C64, shape, 1, bytes, NULL);
  g_autoptr (GError) error = NULL;

  apr_tensor_get_double (x, 0, &error);
  g_assert_error (error, APR_ERROR, APR_ERROR_DTYPE);
}

static void
test_elements_of_every_numeric_dtype (void)
{
  const struct
  {
    AprDType dtype;
    const char *data; /* of the second element; the first is zero */
    double expected;
  } cases[] = {
    { APR_DTYPE_BOOL, "\x01", 1 },
    { APR_DTYPE_U8, "\xff", 255 },
    { APR_DTYPE_I8, "\xff", -1 },
    { APR_DTYPE_U16, "\xfe\xff", 65534 },
    { APR_DTYPE_I16, "\xfe\xff", -2 },
    { APR_DTYPE_U32, "\xff\xff\xff\xff", 4294967295.0 },
    { APR_DTYPE_I32, "\xff\xff\xff\xff", -1 },
    { APR_DTYPE_U64, "\xff\xff\xff\xff\xff\xff\xff\xff", 0x1p64 },
    { APR_DTYPE_I64, "\x00\x00\x00\x00\x00\x00\x00\x80", -0x1p63 },
    { APR_DTYPE_F16, "\x00\xc1", -2.5 },
    { APR_DTYPE_F16, "\x01\x00", 0x1p-24 },
    { APR_DTYPE_F16, "\xff\x7b", 65504 },
    { APR_DTYPE_BF16, "\x10\x40", 2.25 },
    { APR_DTYPE_F32, "\x00\x00\x20\xc0", -2.5 },
    { APR_DTYPE_F64, "\x9a\x99\x99\x99\x99\x99\xb9\x3f", 0.1 },
  };
  const gsize shape[] = { 2 };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gsize width = apr_dtype_get_bits (cases[i].dtype) / 8;
      guint8 data[16] = { 0 };
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (AprTensor) x = NULL;

      memcpy (data + width, cases[i].data, width);
      bytes = g_bytes_new (data, 2 * width);
      x = apr_tensor_new_from_bytes (cases[i].dtype, shape, 1, bytes, NULL);
      assert_same_double (element (x, 0), 0);
      assert_same_double (element (x, 1), cases[i].expected);
    }
}

static void
test_half_specials (void)
{
  const guint16 halves[] = { GUINT16_TO_LE (0x7c00), GUINT16_TO_LE (0xfc00), GUINT16_TO_LE (0x7e00),
                             GUINT16_TO_LE (0x8000) };
  const gsize shape[] = { 4 };
  g_autoptr (GBytes) bytes = g_bytes_new (halves, sizeof halves);
  g_autoptr (AprTensor) x = apr_tensor_new_from_bytes (APR_DTYPE_F16, shape, 1, bytes, NULL);

  assert_same_double (element (x, 0), INFINITY);
  assert_same_double (element (x, 1), -INFINITY);
  g_assert_true (isnan (element (x, 2)));
  assert_same_double (element (x, 3), -0.0);
}

static void
test_slice_rows (void)
{
  const double values[] = { 1, 2, 3, 4, 5, 6 };
  g_autoptr (AprTensor) x = matrix_new (3, 2, values);
  g_autoptr (AprTensor) rows = apr_tensor_slice_rows (x, 1, 3, NULL);
  g_autoptr (AprTensor) none = apr_tensor_slice_rows (x, 3, 3, NULL);
  g_autoptr (AprTensor) expected = matrix_new (2, 2, values + 2);

  g_assert_true (apr_tensor_equal (rows, expected));
  g_assert_true ((const guint8 *) g_bytes_get_data (apr_tensor_get_bytes (rows), NULL) ==
                 (const guint8 *) g_bytes_get_data (apr_tensor_get_bytes (x), NULL) + 2 * sizeof (double));
  g_assert_cmpuint (apr_tensor_get_n_elements (none), ==, 0);
  g_assert_cmpuint (apr_tensor_get_shape (none, NULL)[0], ==, 0);
  g_assert_cmpuint (apr_tensor_get_shape (none, NULL)[1], ==, 2);
}

static void
test_slice_rows_errors (void)
{
  const double values[] = { 1, 2, 3 };
  const gsize packed_shape[] = { 2, 1 };
  g_autoptr (AprTensor) x = vector_new (3, values);
  g_autoptr (AprTensor) scalar = apr_tensor_new_from_doubles (values, 1, NULL, 0, NULL);
  g_autoptr (GBytes) bytes = g_bytes_new ("x", 1);
  g_autoptr (AprTensor) packed = apr_tensor_new_from_bytes (APR_DTYPE_F4, packed_shape, 2, bytes, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (apr_tensor_slice_rows (x, 2, 1, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  g_clear_error (&error);
  g_assert_null (apr_tensor_slice_rows (x, 0, 4, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_RANGE);
  assert_message_has (error, "Rows 0 to 4 of a tensor that has 3");
  g_clear_error (&error);
  g_assert_null (apr_tensor_slice_rows (scalar, 0, 0, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_clear_error (&error);
  g_assert_null (apr_tensor_slice_rows (packed, 0, 1, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
}

static void
test_equal (void)
{
  const double values[] = { 0.0, NAN };
  const double negative[] = { -0.0, NAN };
  g_autoptr (AprTensor) x = vector_new (2, values);
  g_autoptr (AprTensor) same = vector_new (2, values);
  g_autoptr (AprTensor) other = vector_new (2, negative);
  g_autoptr (AprTensor) matrix = matrix_new (1, 2, values);
  g_autoptr (AprTensor) narrow = apr_tensor_cast (x, APR_DTYPE_F32, NULL);

  g_assert_true (apr_tensor_equal (x, x));
  g_assert_true (apr_tensor_equal (x, same));
  g_assert_false (apr_tensor_equal (x, other));
  g_assert_false (apr_tensor_equal (x, matrix));
  g_assert_false (apr_tensor_equal (x, narrow));
}

static void
test_to_string (void)
{
  const double values[] = { 10, 2500.5, 1e300, 0.1, -0.0, 1.0 / 3 };
  const float floats[] = { 0.1f, 1500000, 123456792 };
  double many[100];
  const gsize shape[] = { 1 };
  g_autoptr (AprTensor) x = matrix_new (2, 3, values);
  g_autoptr (AprTensor) y = float_vector_new (3, floats);
  g_autoptr (AprTensor) z = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new ("x", 1);
  g_autoptr (AprTensor) opaque = apr_tensor_new_from_bytes (APR_DTYPE_F8_E8M0, shape, 1, bytes, NULL);
  g_autofree char *x_text = apr_tensor_to_string (x);
  g_autofree char *y_text = apr_tensor_to_string (y);
  g_autofree char *z_text = NULL;
  g_autofree char *opaque_text = apr_tensor_to_string (opaque);
  g_autofree char *upward_text = NULL;
  gsize i;

  for (i = 0; i < 100; i++)
    many[i] = (double) i;
  z = vector_new (100, many);
  z_text = apr_tensor_to_string (z);

  g_assert_cmpstr (x_text, ==, "F64 [2, 3] [[10, 2500.5, 1e+300], [0.1, -0, 0.3333333333333333]]");
  g_assert_cmpstr (y_text, ==, "F32 [3] [0.1, 1500000, 123456792]");
  g_assert_cmpstr (z_text, ==, "F64 [100] [0, 1, 2, ..., 97, 98, 99]");
  g_assert_cmpstr (opaque_text, ==, "F8_E8M0 [1]");

  (void) fesetround (FE_UPWARD);
  upward_text = apr_tensor_to_string (x);
  (void) fesetround (FE_TONEAREST);
  g_assert_cmpstr (upward_text, ==, x_text);
}

static void
test_to_string_of_long_integers (void)
{
  const guint8 data[] = { 0, 0, 0, 0, 0, 0, 0, 0x80, 1, 0, 0, 0, 0, 0, 0x20, 0 };
  const gsize shape[] = { 2 };
  g_autoptr (GBytes) bytes = g_bytes_new (data, sizeof data);
  g_autoptr (AprTensor) with_sign = apr_tensor_new_from_bytes (APR_DTYPE_I64, shape, 1, bytes, NULL);
  g_autoptr (AprTensor) without = apr_tensor_new_from_bytes (APR_DTYPE_U64, shape, 1, bytes, NULL);
  g_autofree char *with_sign_text = apr_tensor_to_string (with_sign);
  g_autofree char *without_text = apr_tensor_to_string (without);

  g_assert_cmpstr (with_sign_text, ==, "I64 [2] [-9223372036854775808, 9007199254740993]");
  g_assert_cmpstr (without_text, ==, "U64 [2] [9223372036854775808, 9007199254740993]");
}

static void
test_boxed (void)
{
  const double value = 1;
  AprTensor *x = vector_new (1, &value);
  AprTensor *copy = g_boxed_copy (APR_TYPE_TENSOR, x);

  g_assert_true (copy == x);
  g_boxed_free (APR_TYPE_TENSOR, copy);
  assert_same_double (element (x, 0), 1);
  apr_tensor_unref (x);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/tensor/from-doubles", test_from_doubles);
  g_test_add_func ("/tensor/from-floats-is-little-endian", test_from_floats_is_little_endian);
  g_test_add_func ("/tensor/from-bytes-shares", test_from_bytes_shares);
  g_test_add_func ("/tensor/larger-than-memory", test_larger_than_memory);
  g_test_add_func ("/tensor/scalar-and-empty", test_scalar_and_empty);
  g_test_add_func ("/tensor/wrong-sizes", test_wrong_sizes);
  g_test_add_func ("/tensor/wrong-number-of-values", test_wrong_number_of_values);
  g_test_add_func ("/tensor/from-memory-releases-once", test_from_memory_releases_once);
  g_test_add_func ("/tensor/memory", test_memory);
  g_test_add_func ("/tensor/unaligned", test_unaligned);
  g_test_add_func ("/tensor/accessors-want-their-dtype", test_accessors_want_their_dtype);
  g_test_add_func ("/tensor/element/out-of-range", test_element_out_of_range);
  g_test_add_func ("/tensor/element/opaque-dtype", test_element_of_opaque_dtype);
  g_test_add_func ("/tensor/element/every-numeric-dtype", test_elements_of_every_numeric_dtype);
  g_test_add_func ("/tensor/element/half-specials", test_half_specials);
  g_test_add_func ("/tensor/slice-rows", test_slice_rows);
  g_test_add_func ("/tensor/slice-rows/errors", test_slice_rows_errors);
  g_test_add_func ("/tensor/equal", test_equal);
  g_test_add_func ("/tensor/to-string", test_to_string);
  g_test_add_func ("/tensor/to-string/long-integers", test_to_string_of_long_integers);
  g_test_add_func ("/tensor/boxed", test_boxed);

  return g_test_run ();
}
