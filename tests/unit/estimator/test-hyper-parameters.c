/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <math.h>

#include "aprender/estimator/apr-hyper-parameters-private.h"

/* An object with a property of every type that a file can hold, and one that it cannot. */

#define TEST_TYPE_OBJECT (test_object_get_type ())
G_DECLARE_FINAL_TYPE (TestObject, test_object, TEST, OBJECT, GObject)

struct _TestObject
{
  GObject parent_instance;
  GValue values[17];
};

G_DEFINE_FINAL_TYPE (TestObject, test_object, G_TYPE_OBJECT)

static void
test_object_set_property (GObject *object, guint property_id, const GValue *value, GParamSpec *pspec)
{
  GValue *place = &TEST_OBJECT (object)->values[property_id];

  if (G_IS_VALUE (place))
    g_value_unset (place);
  g_value_init (place, pspec->value_type);
  g_value_copy (value, place);
}

static void
test_object_get_property (GObject *object, guint property_id, GValue *value, GParamSpec *pspec)
{
  g_value_copy (&TEST_OBJECT (object)->values[property_id], value);
}

static void
test_object_finalize (GObject *object)
{
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (TEST_OBJECT (object)->values); i++)
    if (G_IS_VALUE (&TEST_OBJECT (object)->values[i]))
      g_value_unset (&TEST_OBJECT (object)->values[i]);

  G_OBJECT_CLASS (test_object_parent_class)->finalize (object);
}

static void
test_object_class_init (TestObjectClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_CONSTRUCT;

  object_class->set_property = test_object_set_property;
  object_class->get_property = test_object_get_property;
  object_class->finalize = test_object_finalize;

#define INSTALL(id, spec) g_object_class_install_property (object_class, (id), (spec))
  INSTALL (1, g_param_spec_boolean ("a-boolean", NULL, NULL, FALSE, flags));
  INSTALL (2, g_param_spec_int ("an-int", NULL, NULL, -5, 5, 0, flags));
  INSTALL (3, g_param_spec_uint ("a-uint", NULL, NULL, 0, 5, 0, flags));
  INSTALL (4, g_param_spec_int64 ("an-int64", NULL, NULL, G_MININT64, G_MAXINT64, 0, flags));
  INSTALL (5, g_param_spec_uint64 ("a-uint64", NULL, NULL, 0, G_MAXUINT64, 0, flags));
  INSTALL (6, g_param_spec_float ("a-float", NULL, NULL, -G_MAXFLOAT, G_MAXFLOAT, 0, flags));
  INSTALL (7, g_param_spec_double ("a-double", NULL, NULL, 0, G_MAXDOUBLE, 0, flags));
  INSTALL (8, g_param_spec_string ("a-string", NULL, NULL, NULL, flags));
  INSTALL (9, g_param_spec_enum ("an-enum", NULL, NULL, APR_TYPE_DTYPE, APR_DTYPE_NONE, flags));
  INSTALL (10, g_param_spec_boxed ("a-boxed", NULL, NULL, G_TYPE_STRV, flags));
  INSTALL (11, g_param_spec_int ("not-construct", NULL, NULL, 0, 1, 0, G_PARAM_READWRITE));
  INSTALL (12, g_param_spec_int ("no-read-only", NULL, NULL, 0, 1, 0, G_PARAM_READABLE));
  INSTALL (13, g_param_spec_int ("no-write-only", NULL, NULL, 0, 1, 0, G_PARAM_WRITABLE));
  INSTALL (14, g_param_spec_int ("no-deprecated", NULL, NULL, 0, 1, 0, flags | G_PARAM_DEPRECATED));
  INSTALL (15, g_param_spec_int ("no-transient", NULL, NULL, 0, 1, 0, flags | APR_PARAM_TRANSIENT));
  INSTALL (16, g_param_spec_boxed ("a-vector", NULL, NULL, APR_TYPE_TENSOR, flags));
#undef INSTALL
}

static void
test_object_init (TestObject *self)
{
}

static GParamSpec *
find (GObject *object, const char *name)
{
  return g_object_class_find_property (G_OBJECT_GET_CLASS (object), name);
}

static void
test_list (void)
{
  g_autoptr (TestObject) object = g_object_new (TEST_TYPE_OBJECT, NULL);
  guint n;
  g_autofree GParamSpec **pspecs = apr_hyper_parameters_list (G_OBJECT_GET_CLASS (object), &n);
  g_autofree char *key = apr_hyper_parameter_get_key (find (G_OBJECT (object), "an-int64"));
  guint i;

  g_assert_cmpuint (n, ==, 12);
  for (i = 0; i < n; i++)
    g_assert_false (g_str_has_prefix (pspecs[i]->name, "no-"));
  g_assert_cmpstr (key, ==, "an_int64");
}

static void
test_round_trip (void)
{
  const struct
  {
    const char *property;
    const char *text;
  } cases[] = {
    { "a-boolean", "true" },
    { "a-boolean", "false" },
    { "an-int", "-5" },
    { "a-uint", "5" },
    { "an-int64", "-9223372036854775808" },
    { "a-uint64", "18446744073709551615" },
    { "a-float", "0.25" },
    { "a-double", "0.10000000000000001" },
    { "a-double", "4.9406564584124654e-324" },
    { "a-string", "“quoted”, with a comma" },
    { "a-string", "" },
    { "an-enum", "f6-e2m3" },
    { "a-vector", "0.10000000000000001" },
    { "a-vector", "1,-0,4.9406564584124654e-324" },
  };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GObject) object = g_object_new (TEST_TYPE_OBJECT, NULL);
      GParamSpec *pspec = find (object, cases[i].property);
      g_auto (GValue) value = G_VALUE_INIT;
      g_autofree char *text = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_true (apr_hyper_parameter_from_string (pspec, cases[i].text, &value, &error));
      g_assert_no_error (error);
      g_object_set_property (object, cases[i].property, &value);
      g_assert_true (apr_hyper_parameter_to_string (object, pspec, &text, &error));
      g_assert_no_error (error);
      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

static void
test_refused (void)
{
  const struct
  {
    const char *property;
    const char *text;
  } cases[] = {
    { "a-boolean", "maybe" },
    { "a-boolean", "TRUE" },
    { "a-boolean", "" },
    { "an-int", "6" },
    { "an-int", "1.0" },
    { "an-int", " 1" },
    { "a-uint", "-1" },
    { "a-uint", "6" },
    { "an-int64", "9223372036854775808" },
    { "a-uint64", "18446744073709551616" },
    { "a-double", "1x" },
    { "a-double", "" },
    { "a-double", "-1" },
    { "a-double", "1e999" },
    { "a-float", "1e40" },
    { "an-enum", "F32" },
    { "an-enum", "f33" },
    { "a-boxed", "x" },
    { "a-vector", "" },
    { "a-vector", "1," },
    { "a-vector", ",1" },
    { "a-vector", "1,,2" },
    { "a-vector", "1 2" },
  };
  g_autoptr (GObject) object = g_object_new (TEST_TYPE_OBJECT, NULL);
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      GValue value = G_VALUE_INIT;
      g_autoptr (GError) error = NULL;

      g_assert_false (
        apr_hyper_parameter_from_string (find (object, cases[i].property), cases[i].text, &value, &error));
      g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
      assert_message_has (error, cases[i].property);
      assert_message_has (error, cases[i].text);
      g_assert_false (G_IS_VALUE (&value));
    }
}

static void
test_without_text (void)
{
  g_autoptr (GObject) object = g_object_new (TEST_TYPE_OBJECT, NULL);
  g_autoptr (GError) error = NULL;
  char *text = NULL;

  g_assert_true (apr_hyper_parameter_to_string (object, find (object, "a-string"), &text, &error));
  g_assert_no_error (error);
  g_assert_null (text);

  g_assert_true (apr_hyper_parameter_to_string (object, find (object, "a-vector"), &text, &error));
  g_assert_no_error (error);
  g_assert_null (text);

  g_assert_false (apr_hyper_parameter_to_string (object, find (object, "a-boxed"), &text, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
  assert_message_has (error, "a-boxed");
  assert_message_has (error, "GStrv");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/hyper-parameters/list", test_list);
  g_test_add_func ("/hyper-parameters/round-trip", test_round_trip);
  g_test_add_func ("/hyper-parameters/refused", test_refused);
  g_test_add_func ("/hyper-parameters/without-text", test_without_text);

  return g_test_run ();
}
