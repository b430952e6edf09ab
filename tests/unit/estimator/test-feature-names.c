/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

/* The linker sends the library's calls of this function here: whether they find memory. */
gpointer __real_apr_memory_new (gsize n, gsize size, const char *what, GError **error);
gpointer __wrap_apr_memory_new (gsize n, gsize size, const char *what, GError **error);

static gint no_memory;

gpointer
__wrap_apr_memory_new (gsize n, gsize size, const char *what, GError **error)
{
  /* So many bytes that they cannot be counted: nobody is asked for them. */
  return __real_apr_memory_new (g_atomic_int_get (&no_memory) ? G_MAXSIZE : n, MAX (size, 2), what, error);
}

/* The names of features as a property, which whatever sets properties can set: it cannot be refused, so the fit
 * checks it. */

typedef struct
{
  AprEstimator *model;
  AprTensor *x;
  AprTensor *y;
  int n_notified;
} Fixture;

static void
on_notify (G_GNUC_UNUSED GObject *model, G_GNUC_UNUSED GParamSpec *pspec, Fixture *fixture)
{
  fixture->n_notified++;
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  const double x[] = { 1, 2, 3, 5, 8, 13, 21, 34 };
  const double y[] = { 1, 2, 4, 9 };

  fixture->model = APR_ESTIMATOR (apr_linear_regression_new ());
  fixture->x = matrix_new (4, 2, x);
  fixture->y = vector_new (4, y);
  g_signal_connect (fixture->model, "notify::feature-names", G_CALLBACK (on_notify), fixture);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_object_unref (fixture->model);
  apr_tensor_unref (fixture->x);
  apr_tensor_unref (fixture->y);
}

static void
assert_names (AprEstimator *model, const char *expected)
{
  g_auto (GStrv) names = NULL;
  g_autofree char *text = NULL;

  g_object_get (model, "feature-names", &names, NULL);
  text = names != NULL ? g_strjoinv (" ", names) : NULL;
  g_assert_cmpstr (text, ==, expected);
}

static const char *const names[] = { "area", "rooms", NULL };
static const char *const three[] = { "a", "b", "c", NULL };

static void
test_bound (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprEstimator) source = g_object_new (APR_TYPE_LINEAR_REGRESSION, "feature-names", names, NULL);
  g_autoptr (AprEstimator) clone = NULL;
  g_autoptr (GError) error = NULL;

  assert_names (source, "area rooms");
  g_object_bind_property (source, "feature-names", fixture->model, "feature-names", G_BINDING_SYNC_CREATE);
  g_assert_cmpint (fixture->n_notified, ==, 1);
  g_object_set (source, "feature-names", names, NULL);
  g_assert_cmpint (fixture->n_notified, ==, 1);

  g_assert_true (apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, NULL, &error));
  g_assert_no_error (error);
  assert_names (fixture->model, "area rooms");
  g_assert_cmpint (fixture->n_notified, ==, 1);

  /* They are the data's, and no hyper-parameter. */
  clone = apr_estimator_clone (fixture->model);
  assert_names (clone, NULL);
  g_object_set (source, "feature-names", NULL, NULL);
  assert_names (fixture->model, NULL);
}

static gboolean
fit (Fixture *fixture, GError **error)
{
  return apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, NULL, error);
}

static gboolean
fit_partially (Fixture *fixture, GError **error)
{
  return apr_linear_regression_partial_fit (APR_LINEAR_REGRESSION (fixture->model), fixture->x, fixture->y,
                                            NULL, NULL, error);
}

static gboolean
fit_sums (Fixture *fixture, GError **error)
{
  g_autoptr (AprCrossProducts) sums = apr_cross_products_new (2, 1, NULL);

  g_assert_true (apr_cross_products_update (sums, fixture->x, fixture->y, NULL, NULL, NULL));

  return apr_linear_regression_fit_cross_products (APR_LINEAR_REGRESSION (fixture->model), sums, NULL, error);
}

static const char *const twice[] = { "a", "a", NULL };

static void
test_fit_checks (Fixture *fixture, gconstpointer data)
{
  const char *const bad[] = { "a", "\377", NULL };
  gboolean (*const fits[]) (Fixture *, GError **) = { fit, fit_partially, fit_sums };
  const struct
  {
    const char *const *names;
    const char *text;
  } cases[] = {
    { three, "There are 3 feature names, but X has 2 features" },
    { twice, "Two features have the name “a”" },
    { bad, "The name of feature 1 (counted from 0) is not UTF-8" },
  };
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    for (j = 0; j < G_N_ELEMENTS (fits); j++)
      {
        g_autoptr (GError) error = NULL;

        g_object_set (fixture->model, "feature-names", cases[i].names, NULL);
        g_assert_false (fits[j](fixture, &error));
        g_assert_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES);
        assert_message_has (error, cases[i].text);
        g_assert_false (apr_estimator_get_fitted (fixture->model));
      }
}

static void
finish_cb (GObject *model, GAsyncResult *result, gpointer is_done)
{
  g_assert_true (apr_estimator_fit_finish (APR_ESTIMATOR (model), result, NULL));
  *(gboolean *) is_done = TRUE;
}

static void
test_set_beside_first_fit (Fixture *fixture, gconstpointer data)
{
  gboolean is_done = FALSE;

  if (g_test_subprocess ())
    {
      g_log_set_always_fatal (G_LOG_LEVEL_ERROR);
      apr_estimator_fit_async (fixture->model, fixture->x, fixture->y, NULL, G_PRIORITY_DEFAULT, NULL,
                               finish_cb, &is_done);
      g_object_set (fixture->model, "feature-names", names, NULL);
      g_object_set (fixture->model, "feature-names", twice, NULL);
      while (!is_done)
        g_main_context_iteration (NULL, TRUE);
      assert_names (fixture->model, "area rooms");
      return;
    }

  g_test_summary ("Names that no model can have are left out, with a warning, beside the first fit too.");

  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr ("*AprLinearRegression*Two features have the name*");
}

static void
test_fitted (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  if (g_test_subprocess ())
    {
      g_log_set_always_fatal (G_LOG_LEVEL_ERROR);
      g_object_set (fixture->model, "feature-names", names, NULL);
      g_assert_true (apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, NULL, &error));
      g_object_set (fixture->model, "feature-names", three, NULL);
      assert_names (fixture->model, "area rooms");
      return;
    }

  g_test_summary ("A fitted model keeps its names where others cannot be its features', and says so.");

  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr ("*AprLinearRegression*3 feature names, but the model was fitted with 2*");
}

static void
test_dependent (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprTensor) x = matrix_new (3, 2, (double[]){ 1, 1, 2, 2, 4, 4 });
  g_autoptr (AprTensor) y = vector_new (3, (double[]){ 1, 2, 4 });
  g_auto (GStrv) dependent = NULL;

  g_test_summary ("The names of the features that depend on others change with the names of all.");

  g_assert_true (apr_estimator_fit (fixture->model, fixture->x, fixture->y, NULL, NULL, NULL));
  g_signal_connect (fixture->model, "notify::dependent-features", G_CALLBACK (on_notify), fixture);
  g_object_set (fixture->model, "feature-names", names, NULL);
  g_assert_cmpint (fixture->n_notified, ==, 1);

  g_assert_true (apr_estimator_fit (fixture->model, x, y, NULL, NULL, NULL));
  fixture->n_notified = 0;
  g_object_set (fixture->model, "feature-names", NULL, NULL);
  g_assert_cmpint (fixture->n_notified, ==, 2);
  g_object_set (fixture->model, "feature-names", names, NULL);
  g_assert_cmpint (fixture->n_notified, ==, 4);
  dependent = apr_linear_regression_get_dependent_features (APR_LINEAR_REGRESSION (fixture->model));
  g_assert_cmpstrv (dependent, names + 1);
}

static void
test_no_memory (void)
{
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (2, 1, NULL);
  g_autoptr (GError) error = NULL;

  g_atomic_int_set (&no_memory, TRUE);
  g_assert_false (apr_cross_products_set_feature_names (state, names, &error));
  g_atomic_int_set (&no_memory, FALSE);
  g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
  g_assert_null (apr_cross_products_get_feature_names (state));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, function) g_test_add ("/feature-names/" path, Fixture, NULL, set_up, function, tear_down)
  ADD ("bound", test_bound);
  ADD ("fit-checks", test_fit_checks);
  ADD ("set-beside-first-fit", test_set_beside_first_fit);
  ADD ("fitted", test_fitted);
  ADD ("dependent", test_dependent);
#undef ADD
  g_test_add_func ("/feature-names/no-memory", test_no_memory);

  return g_test_run ();
}
