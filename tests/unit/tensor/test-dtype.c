/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

/* The format's own table: names and sizes in bits, in the order of its ranks. */
static const struct
{
  AprDType dtype;
  const char *name;
  guint bits;
} format[] = {
  { APR_DTYPE_BOOL, "BOOL", 8 },
  { APR_DTYPE_F4, "F4", 4 },
  { APR_DTYPE_F6_E2M3, "F6_E2M3", 6 },
  { APR_DTYPE_F6_E3M2, "F6_E3M2", 6 },
  { APR_DTYPE_U8, "U8", 8 },
  { APR_DTYPE_I8, "I8", 8 },
  { APR_DTYPE_F8_E5M2, "F8_E5M2", 8 },
  { APR_DTYPE_F8_E4M3, "F8_E4M3", 8 },
  { APR_DTYPE_F8_E8M0, "F8_E8M0", 8 },
  { APR_DTYPE_F8_E4M3FNUZ, "F8_E4M3FNUZ", 8 },
  { APR_DTYPE_F8_E5M2FNUZ, "F8_E5M2FNUZ", 8 },
  { APR_DTYPE_I16, "I16", 16 },
  { APR_DTYPE_U16, "U16", 16 },
  { APR_DTYPE_F16, "F16", 16 },
  { APR_DTYPE_BF16, "BF16", 16 },
  { APR_DTYPE_I32, "I32", 32 },
  { APR_DTYPE_U32, "U32", 32 },
  { APR_DTYPE_F32, "F32", 32 },
  { APR_DTYPE_C64, "C64", 64 },
  { APR_DTYPE_F64, "F64", 64 },
  { APR_DTYPE_I64, "I64", 64 },
  { APR_DTYPE_U64, "U64", 64 },
};

static void
test_names_and_sizes (void)
{
  gsize i;

  g_assert_cmpuint (G_N_ELEMENTS (format), ==, 22);
  for (i = 0; i < G_N_ELEMENTS (format); i++)
    {
      g_autoptr (GError) error = NULL;
      AprDType dtype = APR_DTYPE_NONE;

      g_assert_cmpint (format[i].dtype, ==, (int) i + 1);
      g_assert_cmpstr (apr_dtype_to_string (format[i].dtype), ==, format[i].name);
      g_assert_cmpuint (apr_dtype_get_bits (format[i].dtype), ==, format[i].bits);
      g_assert_true (apr_dtype_from_string (format[i].name, &dtype, &error));
      g_assert_no_error (error);
      g_assert_cmpint (dtype, ==, format[i].dtype);
    }
}

static void
test_unknown_names (void)
{
  const char *names[] = { "f32", "NONE", "", "F", "F32 ", "FLOAT" };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (GError) error = NULL;
      AprDType dtype = APR_DTYPE_I8;

      g_assert_false (apr_dtype_from_string (names[i], &dtype, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_DTYPE);
      assert_message_has (error, names[i]);
      g_assert_cmpint (dtype, ==, APR_DTYPE_I8);
    }
}

static void
test_none (void)
{
  g_assert_cmpuint (apr_dtype_get_bits (APR_DTYPE_NONE), ==, 0);
  g_assert_cmpstr (apr_dtype_to_string (APR_DTYPE_NONE), ==, "NONE");
}

static void
test_enum_is_registered (void)
{
  g_autoptr (GEnumClass) klass = g_type_class_ref (APR_TYPE_DTYPE);

  g_test_summary ("Bindings and files know a dtype by its nick.");
  g_assert_cmpint (g_enum_get_value_by_nick (klass, "f6-e2m3")->value, ==, APR_DTYPE_F6_E2M3);
  g_assert_cmpuint (klass->n_values, ==, 23);
}

static void
test_error_domains (void)
{
  g_test_summary ("Scripts compare the names of the domains.");
  g_assert_cmpstr (g_quark_to_string (APR_ERROR), ==, "apr-error-quark");
  g_assert_cmpstr (g_quark_to_string (APR_SAFETENSORS_ERROR), ==, "apr-safetensors-error-quark");
  g_assert_true (G_TYPE_IS_ENUM (APR_TYPE_ERROR));
  g_assert_true (G_TYPE_IS_ENUM (APR_TYPE_SAFETENSORS_ERROR));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/dtype/names-and-sizes", test_names_and_sizes);
  g_test_add_func ("/dtype/unknown-names", test_unknown_names);
  g_test_add_func ("/dtype/none", test_none);
  g_test_add_func ("/dtype/enum-is-registered", test_enum_is_registered);
  g_test_add_func ("/error/domains", test_error_domains);

  return g_test_run ();
}
