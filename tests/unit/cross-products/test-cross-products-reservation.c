/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/waiting.h"

/* A state that is reserved while samples are prepared. */

#define N_SAMPLES 4

typedef struct
{
  AprTensor *x;
  AprTensor *y;
  AprCrossProducts *state;
  GString *seen; /* what handlers saw of the state's property busy */
} Fixture;

static void
note_busy_cb (AprCrossProducts *state, GParamSpec *pspec, GString *seen)
{
  g_string_append (seen, apr_cross_products_get_busy (state) ? "busy " : "idle ");
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->x = matrix_new (N_SAMPLES, 1, (double[]){ 0, 1, 2, 4 });
  fixture->y = vector_new (N_SAMPLES, (double[]){ 1, 3, 5, 9 });
  fixture->state = apr_cross_products_new (1, 1, NULL);
  fixture->seen = g_string_new (NULL);
  g_signal_connect (fixture->state, "notify::busy", G_CALLBACK (note_busy_cb), fixture->seen);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  apr_tensor_unref (fixture->x);
  apr_tensor_unref (fixture->y);
  assert_finalizes (fixture->state);
  g_string_free (fixture->seen, TRUE);
}

static void
reserve (AprCrossProducts *state)
{
  GError *error = NULL;

  g_assert_true (apr_cross_products_reserve (state, &error));
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_get_busy (state));
}

static void
update (Fixture *fixture)
{
  GError *error = NULL;

  g_assert_true (apr_cross_products_update (fixture->state, fixture->x, fixture->y, NULL, NULL, &error));
  g_assert_no_error (error);
}

static void
assert_n_updates (Fixture *fixture, guint n)
{
  g_assert_cmpuint (apr_cross_products_get_n_samples (fixture->state), ==, n * N_SAMPLES);
}

/* Nothing can begin, in this thread. */
static gpointer
assert_refused (gpointer data)
{
  Fixture *fixture = data;
  g_autoptr (AprCrossProducts) other = apr_cross_products_new (1, 1, NULL);
  const char *const names[] = { "name", NULL };
  GError *error = NULL;

  g_assert_false (apr_cross_products_update (fixture->state, fixture->x, fixture->y, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_false (apr_cross_products_merge (fixture->state, other, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_false (apr_cross_products_set_feature_names (fixture->state, names, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_false (apr_cross_products_reserve (fixture->state, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);

  return NULL;
}

static void
assert_others_refused (Fixture *fixture)
{
  g_thread_join (g_thread_new ("other", assert_refused, fixture));
}

static void
test_refuses_others (Fixture *fixture, gconstpointer data)
{
  reserve (fixture->state);
  assert_refused (fixture);
  assert_others_refused (fixture);

  apr_cross_products_admit (fixture->state);
  assert_others_refused (fixture);
  update (fixture);
  /* One was let in, and the state is reserved still. */
  assert_refused (fixture);
  assert_others_refused (fixture);
  apr_cross_products_release (fixture->state);
  assert_n_updates (fixture, 1);
  g_assert_cmpstr (fixture->seen->str, ==, "busy idle ");

  apr_cross_products_admit (fixture->state);
  apr_cross_products_release (fixture->state);
  g_assert_cmpstr (fixture->seen->str, ==, "busy idle ");
  update (fixture);
}

/* The update goes on when the state has been released, and is not to be released. */
static void
test_asynchronous_update (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GAsyncResult) result = NULL;
  GError *error = NULL;

  reserve (fixture->state);
  apr_cross_products_admit (fixture->state);
  apr_cross_products_update_async (fixture->state, fixture->x, fixture->y, NULL, G_PRIORITY_DEFAULT, NULL,
                                   on_ready, &result);
  apr_cross_products_release (fixture->state);
  apr_cross_products_release (fixture->state);
  assert_refused (fixture);
  assert_others_refused (fixture);
  wait_for (&result);
  g_assert_true (apr_cross_products_update_finish (fixture->state, result, &error));
  g_assert_no_error (error);
  assert_n_updates (fixture, 1);
  g_assert_cmpstr (fixture->seen->str, ==, "busy idle ");
}

/* A function that reserves the state itself is let in by a caller that has reserved it, and ends later. */
static void
test_reserved_by_two (Fixture *fixture, gconstpointer data)
{
  reserve (fixture->state);
  apr_cross_products_admit (fixture->state);
  reserve (fixture->state);
  assert_refused (fixture);
  apr_cross_products_release (fixture->state);
  assert_refused (fixture);
  apr_cross_products_admit (fixture->state);
  update (fixture);
  apr_cross_products_release (fixture->state);
  assert_n_updates (fixture, 1);
  g_assert_cmpstr (fixture->seen->str, ==, "busy idle ");
}

static void
release_cb (AprCrossProducts *state, GParamSpec *pspec, gpointer user_data)
{
  apr_cross_products_release (state);
}

static void
test_released_by_a_handler (Fixture *fixture, gconstpointer data)
{
  GError *error = NULL;

  update (fixture);
  g_signal_connect (fixture->state, "notify::progress", G_CALLBACK (release_cb), NULL);
  g_assert_true (apr_cross_products_reserve (fixture->state, &error));
  g_assert_no_error (error);
  g_assert_false (apr_cross_products_get_busy (fixture->state));
  update (fixture);
}

#define ADD(name, function) \
 g_test_add ("/cross-products-reservation/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  ADD ("refuses-others", test_refuses_others);
  ADD ("asynchronous-update", test_asynchronous_update);
  ADD ("reserved-by-two", test_reserved_by_two);
  ADD ("released-by-a-handler", test_released_by_a_handler);

  return g_test_run ();
}
