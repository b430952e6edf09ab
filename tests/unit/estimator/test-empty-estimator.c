/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

/* A subclass that supplies nothing, unless a test has it fit. */
#define TEST_TYPE_EMPTY (test_empty_get_type ())
G_DECLARE_FINAL_TYPE (TestEmpty, test_empty, TEST, EMPTY, AprEstimator)

struct _TestEmpty
{
  AprEstimator parent_instance;
};

G_DEFINE_FINAL_TYPE (TestEmpty, test_empty, APR_TYPE_ESTIMATOR)

static void
test_empty_class_init (TestEmptyClass *klass)
{
}

static void
test_empty_init (TestEmpty *self)
{
}

static gboolean
fit_nothing (AprEstimator *model,
             AprTensor *x,
             AprTensor *y,
             AprTensor *sample_weight,
             GCancellable *cancellable,
             GError **error)
{
  return TRUE;
}

static void
test_does_not_predict (void)
{
  g_autoptr (AprEstimator) model = g_object_new (TEST_TYPE_EMPTY, NULL);
  const double values[] = { 1, 2 };
  g_autoptr (AprTensor) x = matrix_new (2, 1, values);
  g_autoptr (AprTensor) y = vector_new (2, values);
  g_autoptr (GError) error = NULL;

  APR_ESTIMATOR_GET_CLASS (model)->fit = fit_nothing;
  g_assert_true (apr_estimator_fit (model, x, y, NULL, NULL, &error));
  APR_ESTIMATOR_GET_CLASS (model)->fit = NULL;

  g_assert_null (apr_estimator_predict (model, x, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  g_assert_cmpstr (error->message, ==, "TestEmpty has no predict");
}

static void
test_supplies_nothing (void)
{
  g_autoptr (AprEstimator) model = g_object_new (TEST_TYPE_EMPTY, NULL);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  const double values[] = { 1, 2 };
  g_autoptr (AprTensor) x = matrix_new (2, 1, values);
  g_autoptr (AprTensor) y = vector_new (2, values);
  g_autoptr (GError) error = NULL;

  g_assert_false (apr_estimator_fit (model, x, y, NULL, NULL, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
  assert_message_has (error, "TestEmpty has no fit");
  g_clear_error (&error);

  bytes = apr_safetensors_writer_write_to_bytes (writer, NULL);
  g_assert_null (apr_estimator_from_bytes (TEST_TYPE_EMPTY, bytes, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
  assert_message_has (error, "aprender.n_features");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/empty-estimator/supplies-nothing", test_supplies_nothing);
  g_test_add_func ("/empty-estimator/does-not-predict", test_does_not_predict);

  return g_test_run ();
}
