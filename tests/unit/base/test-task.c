/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include "aprender/base/apr-task-private.h"

/* In which thread the object of a task is freed. */

typedef struct
{
  GTask *task;    /* (owned) by the thread that holds it */
  gint is_left;   /* atomically: nobody else has the task any more */
  gint has_ended; /* atomically */
  GThread *freed_in;
} Fixture;

static void
freed_cb (gpointer user_data)
{
  Fixture *fixture = user_data;

  fixture->freed_in = g_thread_self ();
}

static void
run_in_thread (GTask *task,
               gpointer source G_GNUC_UNUSED,
               gpointer data G_GNUC_UNUSED,
               GCancellable *cancellable)
{
  g_task_return_boolean (task, TRUE);
}

/* GTask's own thread drops the task some time after it has returned; this one does so last of all. */
static gpointer
hold_task (gpointer data)
{
  Fixture *fixture = data;

  while (!g_atomic_int_get (&fixture->is_left))
    g_usleep (1000);
  g_object_unref (fixture->task);

  return NULL;
}

static void
ended_cb (GObject *source G_GNUC_UNUSED, GAsyncResult *result, gpointer user_data)
{
  Fixture *fixture = user_data;

  g_assert_true (g_task_propagate_boolean (G_TASK (result), NULL));
  g_atomic_int_set (&fixture->has_ended, 1);
}

static void
test_source (void)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  Fixture fixture = { 0 };
  GObject *object = g_object_new (G_TYPE_OBJECT, NULL);
  GThread *thread;

  g_test_summary (
    "A thread that has the last reference to a task leaves its object to the caller's context.");
  g_object_set_data_full (object, "data", &fixture, freed_cb);
  g_main_context_push_thread_default (context);
  fixture.task = g_task_new (object, NULL, ended_cb, &fixture);
  g_object_unref (object);
  apr_task_run_in_thread (fixture.task, run_in_thread);
  thread = g_thread_new ("holder", hold_task, &fixture);
  while (!g_atomic_int_get (&fixture.has_ended) || G_OBJECT (fixture.task)->ref_count > 1)
    g_main_context_iteration (context, FALSE);
  g_assert_null (fixture.freed_in);

  g_atomic_int_set (&fixture.is_left, 1);
  g_thread_join (thread);
  g_assert_null (fixture.freed_in);
  g_assert_true (g_main_context_iteration (context, FALSE));
  g_assert_true (fixture.freed_in == g_thread_self ());
  g_main_context_pop_thread_default (context);
}

static void
test_without_source (void)
{
  Fixture fixture = { 0 };
  g_autoptr (GTask) task = g_task_new (NULL, NULL, ended_cb, &fixture);

  g_test_summary ("A task may be of no object.");
  apr_task_run_in_thread (task, run_in_thread);
  while (!g_atomic_int_get (&fixture.has_ended))
    g_main_context_iteration (NULL, TRUE);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/task/source", test_source);
  g_test_add_func ("/task/without-source", test_without_source);

  return g_test_run ();
}
