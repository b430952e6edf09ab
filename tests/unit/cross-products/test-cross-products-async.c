/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <glib/gstdio.h>
#include <math.h>

/* What is done without blocking, beside the same with. Each test iterates a main context of its own. */

#define N_SAMPLES 3000
#define N_FEATURES 5

typedef struct
{
  GMainContext *context; /* (owned) */
  AprTensor *x;          /* (owned) */
  AprTensor *y;          /* (owned) */
  AprTensor *weights;    /* (owned) */
  AprCrossProducts *state;
  AprCrossProducts *expected; /* (owned) the state after one update */
  char *folder;               /* (owned) */
  GFile *file;                /* (owned) */
  GAsyncResult *result;       /* (owned) (nullable) */
  GString *events;            /* (owned) */
} Fixture;

static AprCrossProducts *
new_state (void)
{
  return apr_cross_products_new (N_FEATURES, 1, NULL);
}

static void
set_up (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autofree double *values = g_new (double, N_SAMPLES *N_FEATURES);
  g_autoptr (GError) error = NULL;
  gsize i;

  fixture->context = g_main_context_new ();
  g_main_context_push_thread_default (fixture->context);
  for (i = 0; i < N_SAMPLES * N_FEATURES; i++)
    values[i] = g_rand_double_range (rand, -1, 1);
  fixture->x = matrix_new (N_SAMPLES, N_FEATURES, values);
  fixture->y = vector_new (N_SAMPLES, values + N_SAMPLES);
  for (i = 0; i < N_SAMPLES; i++)
    values[i] = g_rand_double_range (rand, 0.5, 2);
  fixture->weights = vector_new (N_SAMPLES, values);
  fixture->state = new_state ();
  fixture->expected = new_state ();
  g_assert_true (
    apr_cross_products_update (fixture->expected, fixture->x, fixture->y, fixture->weights, NULL, &error));
  g_assert_no_error (error);
  fixture->folder = g_dir_make_tmp ("aprender-XXXXXX", NULL);
  fixture->file = g_file_new_build_filename (fixture->folder, "state.safetensors", NULL);
  fixture->events = g_string_new (NULL);
}

static void
tear_down (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  g_assert_null (fixture->result);
  assert_finalizes (fixture->state);
  g_object_unref (fixture->expected);
  apr_tensor_unref (fixture->x);
  apr_tensor_unref (fixture->y);
  apr_tensor_unref (fixture->weights);
  (void) g_file_delete (fixture->file, NULL, NULL);
  g_assert_cmpint (g_rmdir (fixture->folder), ==, 0);
  g_object_unref (fixture->file);
  g_free (fixture->folder);
  g_string_free (fixture->events, TRUE);
  g_main_context_pop_thread_default (fixture->context);
  g_main_context_unref (fixture->context);
}

static void
ended_cb (GObject *object G_GNUC_UNUSED, GAsyncResult *result, gpointer user_data)
{
  Fixture *fixture = user_data;

  g_assert_null (fixture->result);
  fixture->result = g_object_ref (result);
}

static void
wait (Fixture *fixture)
{
  while (fixture->result == NULL)
    g_main_context_iteration (fixture->context, TRUE);
}

static void
start_update (Fixture *fixture, AprCrossProducts *state, GCancellable *cancellable)
{
  apr_cross_products_update_async (state, fixture->x, fixture->y, fixture->weights, G_PRIORITY_DEFAULT,
                                   cancellable, ended_cb, fixture);
}

static gboolean
finish_update (Fixture *fixture, AprCrossProducts *state, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  wait (fixture);
  result = g_steal_pointer (&fixture->result);

  return apr_cross_products_update_finish (state, result, error);
}

static void
notify_cb (GObject *object, GParamSpec *pspec, Fixture *fixture)
{
  AprCrossProducts *state = APR_CROSS_PRODUCTS (object);

  /* Before the callback, in the context of the call. */
  g_assert_null (fixture->result);
  g_assert_true (g_main_context_is_owner (fixture->context) || g_str_equal (pspec->name, "busy"));
  if (g_str_equal (pspec->name, "busy"))
    g_string_append (fixture->events, apr_cross_products_get_busy (state) ? "busy " : "idle ");
  else if (g_str_equal (pspec->name, "progress") && apr_cross_products_get_progress (state) == 1)
    g_string_append (fixture->events, "all ");
}

static void
test_update (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  g_autoptr (AprCrossProducts) before = apr_cross_products_copy (fixture->state);
  g_autoptr (GError) error = NULL;

  g_signal_connect (fixture->state, "notify", G_CALLBACK (notify_cb), fixture);
  start_update (fixture, fixture->state, NULL);
  g_assert_true (apr_cross_products_get_busy (fixture->state));
  /* It can be read as it was. */
  g_assert_true (apr_cross_products_equal (fixture->state, before));
  g_assert_true (finish_update (fixture, fixture->state, &error));
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_equal (fixture->state, fixture->expected));
  g_assert_false (apr_cross_products_get_busy (fixture->state));
  g_assert_cmpfloat (apr_cross_products_get_progress (fixture->state), ==, 1);
  g_assert_cmpstr (fixture->events->str, ==, "busy all idle ");
}

static void
release_cb (AprCrossProducts *state, GParamSpec *pspec, gpointer user_data)
{
  apr_cross_products_release (state);
}

static void
test_reserve (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  g_autoptr (GError) error = NULL;

  g_signal_connect (fixture->state, "notify", G_CALLBACK (notify_cb), fixture);
  g_assert_true (apr_cross_products_reserve (fixture->state, &error));
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_get_busy (fixture->state));
  g_assert_false (apr_cross_products_reserve (fixture->state, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);
  g_assert_false (
    apr_cross_products_update (fixture->state, fixture->x, fixture->y, fixture->weights, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
  g_clear_error (&error);

  apr_cross_products_release (fixture->state);
  g_assert_false (apr_cross_products_get_busy (fixture->state));
  start_update (fixture, fixture->state, NULL);
  /* It is reserved no longer, and the update is not ended. */
  apr_cross_products_release (fixture->state);
  g_assert_true (apr_cross_products_get_busy (fixture->state));
  g_assert_true (finish_update (fixture, fixture->state, &error));
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_equal (fixture->state, fixture->expected));
  g_assert_cmpstr (fixture->events->str, ==, "busy idle busy all idle ");

  g_signal_connect (fixture->state, "notify::progress", G_CALLBACK (release_cb), NULL);
  g_assert_true (apr_cross_products_reserve (fixture->state, &error));
  g_assert_false (apr_cross_products_get_busy (fixture->state));
}

static void
progress_cb (AprCrossProducts *state, GParamSpec *pspec G_GNUC_UNUSED, double *last)
{
  double progress = apr_cross_products_get_progress (state);

  g_assert_cmpfloat (progress, >=, *last);
  g_assert_cmpfloat (progress, <=, 1);
  *last = progress;
}

static void
test_progress (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  g_autoptr (GError) error = NULL;
  double last = 0;

  g_signal_connect (fixture->state, "notify::progress", G_CALLBACK (progress_cb), &last);
  start_update (fixture, fixture->state, NULL);
  g_assert_true (finish_update (fixture, fixture->state, &error));
  g_assert_cmpfloat (last, ==, 1);
}

/* Many rows, whose updates have much to report. */
#define N_MANY 200003

typedef struct
{
  double last;
  guint n_told;
  guint cancel_when; /* so many have been told; 0 for never */
  GCancellable *cancellable;
  AprTensor *x; /* (nullable) to update with meanwhile */
  AprTensor *y;
} Told;

static void
told_cb (AprCrossProducts *state, GParamSpec *pspec G_GNUC_UNUSED, Told *told)
{
  g_autoptr (GError) error = NULL;
  double progress = apr_cross_products_get_progress (state);

  g_assert_true (progress > told->last || progress == 0);
  g_assert_cmpfloat (progress, <=, 1);
  g_assert_true (apr_cross_products_get_busy (state));
  told->last = progress;
  told->n_told++;
  if (told->n_told == told->cancel_when)
    g_cancellable_cancel (told->cancellable);
  if (told->x == NULL)
    return;

  g_assert_false (apr_cross_products_update (state, told->x, told->y, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_PENDING);
}

static void
test_progress_of_update (void)
{
  g_autofree double *values = g_new (double, N_MANY);
  g_autoptr (AprCrossProducts) silent = apr_cross_products_new (1, 1, NULL);
  g_autoptr (AprCrossProducts) state = apr_cross_products_new (1, 1, NULL);
  g_autoptr (AprCrossProducts) copy = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (GError) error = NULL;
  Told told = { .cancellable = cancellable };
  gsize i;

  for (i = 0; i < N_MANY; i++)
    values[i] = (double) (i % 1000);
  x = matrix_new (N_MANY, 1, values);
  y = vector_new (N_MANY, values);

  g_assert_true (apr_cross_products_update (silent, x, y, NULL, NULL, NULL));
  apr_cross_products_set_n_threads (state, 1);
  g_signal_connect (state, "notify::progress", G_CALLBACK (told_cb), &told);
  g_assert_true (apr_cross_products_update (state, x, y, NULL, NULL, NULL));
  g_assert_cmpuint (told.n_told, >=, 20);
  g_assert_cmpuint (told.n_told, <=, 34);
  g_assert_cmpfloat (told.last, ==, 1);
  g_assert_true (apr_cross_products_equal (state, silent));

  /* A copy has its own handlers: none. */
  told.n_told = 0;
  copy = apr_cross_products_copy (state);
  g_assert_true (apr_cross_products_update (copy, x, y, NULL, NULL, NULL));
  g_assert_cmpuint (told.n_told, ==, 0);

  g_test_message ("A handler cannot write to the state, but it can cancel the update.");
  told.x = x;
  told.y = y;
  g_assert_true (apr_cross_products_update (state, x, y, NULL, NULL, NULL));
  g_assert_true (apr_cross_products_equal (state, copy));
  told.x = NULL;
  told.n_told = 0;
  told.cancel_when = 5;
  g_assert_false (apr_cross_products_update (state, x, y, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (told.n_told, ==, 5);
  g_assert_true (apr_cross_products_equal (state, copy));
  g_assert_false (apr_cross_products_get_busy (state));
}

/* With its error in @pending. */
#define assert_pending(call)                                \
 G_STMT_START                                               \
 {                                                          \
  g_assert_false (call);                                    \
  g_assert_error (pending, G_IO_ERROR, G_IO_ERROR_PENDING); \
  g_clear_error (&pending);                                 \
 }                                                          \
 G_STMT_END

static void
pending_cb (GObject *object, GAsyncResult *result, gpointer user_data)
{
  g_autoptr (GError) pending = NULL;
  guint *n_calls = user_data;

  if (g_async_result_is_tagged (result, apr_cross_products_merge_async))
    assert_pending (apr_cross_products_merge_finish (APR_CROSS_PRODUCTS (object), result, &pending));
  else
    assert_pending (apr_cross_products_update_finish (APR_CROSS_PRODUCTS (object), result, &pending));
  ++*n_calls;
}

static void
test_one_write_at_a_time (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  AprCrossProducts *state = fixture->state;
  const char *const names[] = { "a", "b", "c", "d", "e", NULL };
  g_autoptr (AprCrossProducts) other = apr_cross_products_copy (fixture->expected);
  g_autoptr (GError) pending = NULL;
  g_autoptr (GError) error = NULL;
  guint n_calls = 0;

  start_update (fixture, state, NULL);
  apr_cross_products_update_async (state, fixture->x, fixture->y, NULL, G_PRIORITY_HIGH, NULL, pending_cb,
                                   &n_calls);
  assert_pending (apr_cross_products_update (state, fixture->x, fixture->y, NULL, NULL, &pending));
  assert_pending (apr_cross_products_merge (state, other, &pending));
  assert_pending (apr_cross_products_subtract (state, state, &pending));
  assert_pending (apr_cross_products_set_feature_names (state, names, &pending));
  apr_cross_products_merge_async (state, other, G_PRIORITY_HIGH, NULL, pending_cb, &n_calls);
  /* To be merged elsewhere is to be read. */
  g_assert_true (apr_cross_products_merge (other, state, &error));
  g_assert_true (apr_cross_products_equal (other, fixture->expected));

  g_assert_true (finish_update (fixture, state, &error));
  while (n_calls < 2)
    g_main_context_iteration (fixture->context, TRUE);
  g_assert_true (apr_cross_products_equal (state, fixture->expected));

  g_assert_true (apr_cross_products_merge (state, other, &error));
  g_assert_true (apr_cross_products_subtract (state, other, &error));
  g_assert_true (apr_cross_products_equal (state, fixture->expected));
}

static void
test_cancel (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  g_autoptr (AprCrossProducts) before = apr_cross_products_copy (fixture->state);
  guint n_iterations;

  g_test_summary ("Whenever it is cancelled before its end, the state is as it was.");
  for (n_iterations = 0; n_iterations < 4; n_iterations++)
    {
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (GError) error = NULL;
      guint i;

      start_update (fixture, fixture->state, cancellable);
      for (i = 0; i < n_iterations; i++)
        (void) g_main_context_iteration (fixture->context, FALSE);
      g_cancellable_cancel (cancellable);
      if (finish_update (fixture, fixture->state, &error))
        {
          g_assert_true (apr_cross_products_equal (fixture->state, fixture->expected));
          g_assert_true (apr_cross_products_subtract (fixture->state, fixture->expected, NULL));
          continue;
        }
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_true (apr_cross_products_equal (fixture->state, before) ||
                     apr_cross_products_get_n_samples (fixture->state) == 0);
      g_assert_false (apr_cross_products_get_busy (fixture->state));
    }
}

static void
test_fails (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  g_autoptr (AprCrossProducts) before = apr_cross_products_copy (fixture->state);
  g_autoptr (AprTensor) nan = matrix_new (1, N_FEATURES, (double[]){ 1, 2, NAN, 4, 5 });
  g_autoptr (AprTensor) one = vector_new (1, (double[]){ 1 });
  g_autoptr (AprTensor) narrow = matrix_new (1, 1, (double[]){ 1 });
  g_autoptr (GError) error = NULL;

  apr_cross_products_update_async (fixture->state, nan, one, NULL, G_PRIORITY_LOW, NULL, ended_cb, fixture);
  g_assert_false (finish_update (fixture, fixture->state, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NOT_FINITE);
  assert_message_has (error, "row 0, column 2");
  g_clear_error (&error);

  apr_cross_products_update_async (fixture->state, narrow, one, NULL, G_PRIORITY_LOW, NULL, ended_cb,
                                   fixture);
  g_assert_false (finish_update (fixture, fixture->state, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
  g_assert_true (apr_cross_products_equal (fixture->state, before));
  g_assert_false (apr_cross_products_get_busy (fixture->state));
}

static void
test_nobody_waits (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  g_test_summary ("Without a callback, and without a reference of the caller's, it goes on to its end.");
  apr_cross_products_update_async (fixture->state, fixture->x, fixture->y, fixture->weights,
                                   G_PRIORITY_DEFAULT, NULL, NULL, NULL);
  while (apr_cross_products_get_busy (fixture->state))
    g_main_context_iteration (fixture->context, TRUE);
  g_assert_true (apr_cross_products_equal (fixture->state, fixture->expected));
}

static void
test_save_and_load (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  g_autoptr (GAsyncResult) saved = NULL;
  g_autoptr (GAsyncResult) read = NULL;
  g_autoptr (AprCrossProducts) state = apr_cross_products_copy (fixture->expected);
  g_autoptr (AprCrossProducts) loaded = NULL;
  g_autoptr (AprCrossProducts) again = NULL;
  g_autoptr (GError) error = NULL;

  apr_cross_products_save_to_file_async (state, fixture->file, G_PRIORITY_DEFAULT, NULL, ended_cb, fixture);
  /* What is written is what it was. */
  g_assert_true (apr_cross_products_merge (state, fixture->expected, &error));
  wait (fixture);
  saved = g_steal_pointer (&fixture->result);
  g_assert_true (apr_cross_products_save_to_file_finish (state, saved, &error));
  g_assert_no_error (error);

  apr_cross_products_load_from_file_async (fixture->file, G_PRIORITY_DEFAULT, NULL, ended_cb, fixture);
  wait (fixture);
  read = g_steal_pointer (&fixture->result);
  loaded = apr_cross_products_load_from_file_finish (read, &error);
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_equal (loaded, fixture->expected));

  again = apr_cross_products_load_from_file (fixture->file, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (apr_cross_products_equal (again, fixture->expected));
  g_assert_true (apr_cross_products_save_to_file (state, fixture->file, NULL, &error));
}

static void
test_save_and_load_fail (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GFile) nowhere = g_file_get_child (fixture->file, "below");
  g_autoptr (GAsyncResult) saved = NULL;
  g_autoptr (GAsyncResult) read = NULL;
  g_autoptr (GAsyncResult) model = NULL;
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  apr_cross_products_save_to_file_async (fixture->expected, fixture->file, G_PRIORITY_DEFAULT, cancellable,
                                         ended_cb, fixture);
  wait (fixture);
  saved = g_steal_pointer (&fixture->result);
  g_assert_false (apr_cross_products_save_to_file_finish (fixture->expected, saved, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_false (g_file_query_exists (fixture->file, NULL));
  g_clear_error (&error);

  apr_cross_products_load_from_file_async (nowhere, G_PRIORITY_DEFAULT, NULL, ended_cb, fixture);
  wait (fixture);
  read = g_steal_pointer (&fixture->result);
  g_assert_null (apr_cross_products_load_from_file_finish (read, &error));
  g_assert_true (error->domain == G_IO_ERROR);
  g_clear_error (&error);

  g_assert_true (g_file_replace_contents (fixture->file, "\2\0\0\0\0\0\0\0{}", 10, NULL, FALSE,
                                          G_FILE_CREATE_NONE, NULL, NULL, &error));
  apr_cross_products_load_from_file_async (fixture->file, G_PRIORITY_DEFAULT, NULL, ended_cb, fixture);
  wait (fixture);
  model = g_steal_pointer (&fixture->result);
  g_assert_null (apr_cross_products_load_from_file_finish (model, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_MODEL);
  assert_message_has (error, "state.safetensors: ");
}

typedef enum
{
  MERGE,
  MERGE_BYTES,
  SUBTRACT,
  EQUAL,
  TO_BYTES,
  FROM_BYTES,
  N_CALLS
} Call;

static void
start_call (Fixture *fixture, Call call, AprCrossProducts *other, GBytes *bytes, GCancellable *cancellable)
{
  AprCrossProducts *self = fixture->state;
  const int priority = G_PRIORITY_DEFAULT;

  switch (call)
    {
    case MERGE:
      apr_cross_products_merge_async (self, other, priority, cancellable, ended_cb, fixture);
      break;
    case MERGE_BYTES:
      apr_cross_products_merge_bytes_async (self, bytes, priority, cancellable, ended_cb, fixture);
      break;
    case SUBTRACT:
      apr_cross_products_subtract_async (self, other, priority, cancellable, ended_cb, fixture);
      break;
    case EQUAL:
      apr_cross_products_equal_async (self, other, priority, cancellable, ended_cb, fixture);
      break;
    case TO_BYTES:
      apr_cross_products_to_bytes_async (self, priority, cancellable, ended_cb, fixture);
      break;
    case FROM_BYTES:
    case N_CALLS:
    default:
      apr_cross_products_from_bytes_async (bytes, priority, cancellable, ended_cb, fixture);
      break;
    }
}

/* Whether it succeeded, and what it made. */
static gboolean
finish_result (AprCrossProducts *self, GAsyncResult *result, Call call, gpointer *made, GError **error)
{
  *made = NULL;
  switch (call)
    {
    case MERGE:
      return apr_cross_products_merge_finish (self, result, error);
    case MERGE_BYTES:
      return apr_cross_products_merge_bytes_finish (self, result, error);
    case SUBTRACT:
      return apr_cross_products_subtract_finish (self, result, error);
    case EQUAL:
      return apr_cross_products_equal_finish (self, result, error);
    case TO_BYTES:
      *made = apr_cross_products_to_bytes_finish (self, result, error);
      return *made != NULL;
    case FROM_BYTES:
    case N_CALLS:
    default:
      *made = apr_cross_products_from_bytes_finish (result, error);
      return *made != NULL;
    }
}

static gboolean
finish_call (Fixture *fixture, Call call, gpointer *made, GError **error)
{
  g_autoptr (GAsyncResult) result = NULL;

  wait (fixture);
  result = g_steal_pointer (&fixture->result);

  return finish_result (fixture->state, result, call, made, error);
}

static void
test_twins (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  Call call;

  g_test_summary (
    "Each uses the states as they are when it is called, and does what the synchronous method does.");
  g_signal_connect (fixture->state, "notify", G_CALLBACK (notify_cb), fixture);
  for (call = MERGE; call < N_CALLS; call++)
    {
      gboolean writes = call <= SUBTRACT;
      g_autoptr (AprCrossProducts) other = apr_cross_products_copy (fixture->expected);
      g_autoptr (AprCrossProducts) before = NULL;
      g_autoptr (AprCrossProducts) after = NULL;
      g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (other, NULL);
      g_autoptr (GError) error = NULL;
      gpointer made;

      g_assert_true (apr_cross_products_set_identity (other, call == MERGE ? "there" : NULL, NULL));
      if (call == EQUAL)
        g_assert_true (apr_cross_products_subtract (fixture->state, fixture->expected, NULL));
      before = apr_cross_products_copy (fixture->state);
      after = apr_cross_products_copy (fixture->state);
      if (call == SUBTRACT)
        g_assert_true (apr_cross_products_subtract (after, other, NULL));
      else if (writes)
        g_assert_true (apr_cross_products_merge (after, other, NULL));

      start_call (fixture, call, other, bytes, NULL);
      g_assert_true (apr_cross_products_get_busy (fixture->state) == writes);
      g_assert_true (apr_cross_products_equal (fixture->state, before));
      if (call != EQUAL)
        g_assert_true (apr_cross_products_update (other, fixture->x, fixture->y, NULL, NULL, NULL));
      g_assert_true (finish_call (fixture, call, &made, &error) == (call != EQUAL));
      g_assert_no_error (error);
      g_assert_true (apr_cross_products_equal (fixture->state, after));
      g_assert_cmpstr (fixture->events->str, ==, writes ? "busy all idle " : "");
      g_string_truncate (fixture->events, 0);
      if (call == TO_BYTES)
        {
          g_autoptr (GBytes) expected = apr_cross_products_to_bytes (fixture->state, NULL);

          g_assert_true (g_bytes_equal (made, expected));
          g_bytes_unref (made);
        }
      else if (call == FROM_BYTES)
        {
          g_assert_true (apr_cross_products_equal (made, fixture->expected));
          g_object_unref (made);
        }
    }
}

static void
test_equal (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  g_autoptr (GError) error = NULL;
  gpointer made;

  g_assert_true (
    apr_cross_products_update (fixture->state, fixture->x, fixture->y, fixture->weights, NULL, NULL));
  start_call (fixture, EQUAL, fixture->expected, NULL, NULL);
  g_assert_true (finish_call (fixture, EQUAL, &made, &error));
  g_assert_no_error (error);
}

static void
test_twins_fail (Fixture *fixture, gconstpointer user_data G_GNUC_UNUSED)
{
  g_autoptr (AprCrossProducts) before = apr_cross_products_copy (fixture->state);
  g_autoptr (AprCrossProducts) narrow = apr_cross_products_new (1, 1, NULL);
  g_autoptr (GBytes) bytes = apr_cross_products_to_bytes (fixture->expected, NULL);
  g_autoptr (GBytes) narrow_bytes = apr_cross_products_to_bytes (narrow, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Call call;

  g_cancellable_cancel (cancellable);
  for (call = MERGE; call < N_CALLS; call++)
    {
      g_autoptr (GAsyncResult) result = NULL;
      g_autoptr (GError) error = NULL;
      gpointer made;
      Call other_call;

      start_call (fixture, call, fixture->expected, bytes, cancellable);
      g_assert_false (finish_call (fixture, call, &made, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_error (&error);

      if (call <= SUBTRACT)
        {
          start_call (fixture, call, narrow, narrow_bytes, NULL);
          g_assert_false (finish_call (fixture, call, &made, &error));
          g_assert_error (error, APR_ERROR, APR_ERROR_SHAPE);
          g_clear_error (&error);
        }

      /* The result of another method. */
      start_call (fixture, call, fixture->expected, bytes, cancellable);
      wait (fixture);
      result = g_steal_pointer (&fixture->result);
      for (other_call = MERGE; other_call < N_CALLS; other_call++)
        if (other_call != call)
          {
            g_assert_false (finish_result (fixture->state, result, other_call, &made, &error));
            g_assert_error (error, APR_ERROR, APR_ERROR_FAILED);
            g_clear_error (&error);
          }
      g_assert_false (finish_result (fixture->state, result, call, &made, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_assert_true (apr_cross_products_equal (fixture->state, before));
      g_assert_false (apr_cross_products_get_busy (fixture->state));
    }
}

#define ADD(path, function) \
 g_test_add ("/cross-products-async/" path, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  ADD ("update", test_update);
  ADD ("reserve", test_reserve);
  ADD ("progress", test_progress);
  g_test_add_func ("/cross-products-async/progress-of-update", test_progress_of_update);
  ADD ("one-write-at-a-time", test_one_write_at_a_time);
  ADD ("cancel", test_cancel);
  ADD ("fails", test_fails);
  ADD ("nobody-waits", test_nobody_waits);
  ADD ("save-and-load", test_save_and_load);
  ADD ("save-and-load-fail", test_save_and_load_fail);
  ADD ("twins", test_twins);
  ADD ("equal", test_equal);
  ADD ("twins-fail", test_twins_fail);

  return g_test_run ();
}
