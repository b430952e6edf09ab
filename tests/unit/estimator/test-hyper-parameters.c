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
  GValue values[21];
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
  INSTALL (17, g_param_spec_long ("a-long", NULL, NULL, G_MINLONG, G_MAXLONG, 0, flags));
  INSTALL (18, g_param_spec_ulong ("a-ulong", NULL, NULL, 0, G_MAXULONG, 0, flags));
  INSTALL (19, g_param_spec_char ("a-char", NULL, NULL, G_MININT8, G_MAXINT8, 0, flags));
  INSTALL (20, g_param_spec_uchar ("a-uchar", NULL, NULL, 0, G_MAXUINT8, 0, flags));
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
  g_autofree char *key = apr_hyper_parameter_get_key (find (G_OBJECT (object), "an-int64"), NULL);
  guint i;

  g_assert_cmpuint (n, ==, 16);
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
    { "a-long", "-2147483648" },
    { "a-ulong", "4294967295" },
    { "a-char", "-128" },
    { "a-uchar", "255" },
    { "a-float", "0.25" },
    { "a-double", "0.10000000000000001" },
    { "a-double", "4.9406564584124654e-324" },
    { "a-string", "“quoted”, with a comma" },
    { "a-string", "" },
    { "an-enum", "f6-e2m3" },
    { "a-vector", "0.10000000000000001" },
    { "a-vector", "1,-0,4.9406564584124654e-324" },
    { "a-vector", "" },
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
    { "a-long", "9223372036854775808" },
    { "a-ulong", "-1" },
    { "a-char", "128" },
    { "a-uchar", "256" },
    { "a-double", "1x" },
    { "a-double", "" },
    { "a-double", "-1" },
    { "a-double", "1e999" },
    { "a-float", "1e40" },
    { "an-enum", "F32" },
    { "an-enum", "f33" },
    { "a-boxed", "x" },
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

static void
test_tensors (void)
{
  const gsize shape[] = { 2, 2 };
  const struct
  {
    AprDType dtype;
    gsize n_dims;
    const char *expected; /* the text, or what the error says */
  } cases[] = {
    { APR_DTYPE_I8, 1, "1,1" },
    { APR_DTYPE_I8, 2, "I8 [2, 2]" },
    { APR_DTYPE_I8, 0, "I8 []" },
    { APR_DTYPE_F8_E4M3, 1, "F8_E4M3 [2]" },
  };
  gsize i;

  g_test_summary ("A tensor that is no vector of numbers is not stored as one.");

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GObject) object = g_object_new (TEST_TYPE_OBJECT, NULL);
      g_autoptr (GBytes) bytes = g_bytes_new_static ("\1\1\1\1", (gsize) 1 << cases[i].n_dims);
      g_autoptr (AprTensor) tensor =
        apr_tensor_new_from_bytes (cases[i].dtype, shape, cases[i].n_dims, bytes, NULL);
      g_autofree char *text = NULL;
      g_autoptr (GError) error = NULL;

      g_object_set (object, "a-vector", tensor, NULL);
      if (apr_hyper_parameter_to_string (object, find (object, "a-vector"), &text, &error))
        {
          g_assert_cmpstr (text, ==, cases[i].expected);
          continue;
        }
      g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
      assert_message_has (error, "“a-vector” of TestObject");
      assert_message_has (error, cases[i].expected);
    }
}

/* An estimator with a label that is “a” by default, and with a property that is transient and set when it is made. */

G_DECLARE_DERIVABLE_TYPE (TestLabelled, test_labelled, TEST, LABELLED, AprEstimator)

struct _TestLabelledClass
{
  AprEstimatorClass parent_class;
};

typedef struct
{
  char *label;
  int n_workers;
} TestLabelledPrivate;

G_DEFINE_TYPE_WITH_PRIVATE (TestLabelled, test_labelled, APR_TYPE_ESTIMATOR)

static TestLabelledPrivate *
get_private (gpointer object)
{
  return test_labelled_get_instance_private (TEST_LABELLED (object));
}

static void
test_labelled_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  TestLabelledPrivate *priv = get_private (object);

  if (id == 1)
    {
      g_free (priv->label);
      priv->label = g_value_dup_string (value);
    }
  else
    priv->n_workers = g_value_get_int (value);
}

static void
test_labelled_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == 1)
    g_value_set_string (value, get_private (object)->label);
  else
    g_value_set_int (value, get_private (object)->n_workers);
}

static void
test_labelled_finalize (GObject *object)
{
  g_free (get_private (object)->label);

  G_OBJECT_CLASS (test_labelled_parent_class)->finalize (object);
}

static gboolean
test_labelled_fit (AprEstimator *self,
                   AprTensor *x,
                   AprTensor *y,
                   AprTensor *sample_weight,
                   GCancellable *cancellable,
                   GError **error)
{
  return apr_estimator_set_result (self, "y", y, error);
}

static void
test_labelled_class_init (TestLabelledClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = test_labelled_set_property;
  object_class->get_property = test_labelled_get_property;
  object_class->finalize = test_labelled_finalize;
  APR_ESTIMATOR_CLASS (klass)->fit = test_labelled_fit;
  g_object_class_install_property (
    object_class, 1, g_param_spec_string ("label", NULL, NULL, "a", G_PARAM_READWRITE | G_PARAM_CONSTRUCT));
  g_object_class_install_property (
    object_class, 2,
    g_param_spec_int ("n-workers", NULL, NULL, 0, 9, 0,
                      G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | APR_PARAM_TRANSIENT));
}

static void
test_labelled_init (TestLabelled *self)
{
}

/* A class that saves its results itself, so that a copy is made by way of a file. */

G_DECLARE_FINAL_TYPE (TestSaved, test_saved, TEST, SAVED, TestLabelled)

struct _TestSaved
{
  TestLabelled parent_instance;
};

G_DEFINE_FINAL_TYPE (TestSaved, test_saved, test_labelled_get_type ())

static gboolean
test_saved_save_tensors (AprEstimator *self, AprSafetensorsWriter *writer, GError **error)
{
  return APR_ESTIMATOR_CLASS (test_saved_parent_class)->save_tensors (self, writer, error);
}

static void
test_saved_class_init (TestSavedClass *klass)
{
  APR_ESTIMATOR_CLASS (klass)->save_tensors = test_saved_save_tensors;
}

static void
test_saved_init (TestSaved *self)
{
}

static AprEstimator *
fitted_labelled_new (GType type, const char *label)
{
  g_autoptr (AprTensor) x = matrix_new (2, 1, (double[]){ 1, 2 });
  g_autoptr (AprTensor) y = vector_new (2, (double[]){ 3, 4 });
  AprEstimator *model = g_object_new (type, "label", label, "n-workers", 3, NULL);

  g_assert_true (apr_estimator_fit (model, x, y, NULL, NULL, NULL));

  return model;
}

static void
test_unset_string (void)
{
  static const char *const labels[] = { NULL, "", "a", "b" };
  gsize i;

  g_test_summary ("A string that is NULL, but not by default, is NULL after a clone, a copy and a file.");

  for (i = 0; i < G_N_ELEMENTS (labels); i++)
    {
      g_autoptr (AprEstimator) model = fitted_labelled_new (test_labelled_get_type (), labels[i]);
      g_autoptr (AprEstimator) clone = apr_estimator_clone (model);
      g_autoptr (AprEstimator) copy = apr_estimator_copy (model, NULL);
      g_autoptr (GBytes) bytes = apr_estimator_to_bytes (model, NULL);
      g_autoptr (AprEstimator) loaded = apr_estimator_from_bytes (test_labelled_get_type (), bytes, NULL);
      g_autoptr (AprSafetensorsReader) reader = apr_safetensors_reader_new_from_bytes (bytes, NULL);
      GHashTable *metadata = apr_safetensors_reader_get_metadata (reader);

      g_assert_cmpstr (get_private (clone)->label, ==, labels[i]);
      g_assert_cmpstr (get_private (copy)->label, ==, labels[i]);
      g_assert_cmpstr (get_private (loaded)->label, ==, labels[i]);
      g_assert_cmpstr (g_hash_table_lookup (metadata, "aprender.label"), ==, labels[i]);
      g_assert_cmpstr (g_hash_table_lookup (metadata, "aprender.label.unset"), ==,
                       labels[i] == NULL ? "true" : NULL);
    }
}

static void
test_transient (void)
{
  const GType types[] = { test_labelled_get_type (), test_saved_get_type () };
  gsize i;

  g_test_summary ("What is transient is cloned and copied, also where it is set when an object is made.");

  for (i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr (AprEstimator) model = fitted_labelled_new (types[i], "b");
      g_autoptr (AprEstimator) clone = apr_estimator_clone (model);
      g_autoptr (AprEstimator) copy = apr_estimator_copy (model, NULL);
      g_autoptr (GBytes) bytes = apr_estimator_to_bytes (model, NULL);
      g_autoptr (AprEstimator) loaded = apr_estimator_from_bytes (types[i], bytes, NULL);

      g_assert_cmpint (get_private (clone)->n_workers, ==, 3);
      g_assert_cmpint (get_private (copy)->n_workers, ==, 3);
      g_assert_cmpint (get_private (loaded)->n_workers, ==, 0);
      g_assert_cmpstr (get_private (copy)->label, ==, "b");
      g_assert_true (apr_estimator_get_fitted (copy));
      g_assert_false (apr_estimator_get_fitted (clone));
    }
}

static void
get_number (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  g_value_set_int (value, 1);
}

static void
set_number (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
}

static void
add_number (gpointer klass, gpointer name)
{
  G_OBJECT_CLASS (klass)->get_property = get_number;
  G_OBJECT_CLASS (klass)->set_property = set_number;
  g_object_class_install_property (G_OBJECT_CLASS (klass), 100,
                                   g_param_spec_int (name, NULL, NULL, 0, 9, 1, G_PARAM_READWRITE));
}

/* A class derived from @parent, with a property that can be written and is called @name. */
static GType
register_with (GType parent, const char *name)
{
  g_autofree char *type_name = g_strdelimit (g_strdup_printf ("With %s", name), "- ", '_');
  GTypeQuery query;
  GTypeInfo info = { .class_init = add_number, .class_data = name };

  g_type_query (parent, &query);
  info.class_size = (guint16) query.class_size;
  info.instance_size = (guint16) query.instance_size;

  return g_type_register_static (parent, type_name, &info, 0);
}

static void
test_keys_of_library (void)
{
  static const char *const names[] = { "model",         "format",       "n-features", "n-targets",
                                       "feature-names", "target-names", "rank",       "number" };
  g_autoptr (AprTensor) x = matrix_new (2, 1, (double[]){ 1, 2 });
  g_autoptr (AprTensor) y = vector_new (2, (double[]){ 3, 4 });
  gsize i;

  g_test_summary ("A hyper-parameter that would take the place of what the library writes is an error.");

  for (i = 0; i < G_N_ELEMENTS (names); i++)
    {
      GType type = register_with (APR_TYPE_LINEAR_REGRESSION, names[i]);
      g_autoptr (AprEstimator) model = g_object_new (type, NULL);
      g_autoptr (AprEstimator) copy = NULL;
      g_autoptr (GBytes) bytes = NULL;
      g_autoptr (GError) error = NULL;

      g_assert_true (apr_estimator_fit (model, x, y, NULL, NULL, NULL));
      copy = apr_estimator_copy (model, NULL);
      g_assert_nonnull (copy);
      bytes = apr_estimator_to_bytes (model, &error);
      if (strcmp (names[i], "number") == 0)
        {
          g_assert_no_error (error);
          continue;
        }
      g_assert_null (bytes);
      g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
      assert_message_has (error, names[i]);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/hyper-parameters/list", test_list);
  g_test_add_func ("/hyper-parameters/round-trip", test_round_trip);
  g_test_add_func ("/hyper-parameters/refused", test_refused);
  g_test_add_func ("/hyper-parameters/without-text", test_without_text);
  g_test_add_func ("/hyper-parameters/tensors", test_tensors);
  g_test_add_func ("/hyper-parameters/unset-string", test_unset_string);
  g_test_add_func ("/hyper-parameters/transient", test_transient);
  g_test_add_func ("/hyper-parameters/keys-of-library", test_keys_of_library);

  return g_test_run ();
}
