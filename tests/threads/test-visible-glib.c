/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gio/gio.h>

/* Whether ThreadSanitizer reports real races beside GLib's synchronisation, and none where GLib's synchronisation
 * prevents one. Each program here runs as a process of its own. */

static int number;
static GMutex locks[2];
static GCond cond;

static void
run_twice (GThreadFunc func, gpointer first, gpointer second)
{
  GThread *threads[] = { g_thread_new ("first", func, first), g_thread_new ("second", func, second) };

  g_thread_join (threads[0]);
  g_thread_join (threads[1]);
}

static gpointer
add (gpointer data)
{
  GMutex *lock = data;

  if (lock != NULL)
    g_mutex_lock (lock);
  number++;
  if (lock != NULL)
    g_mutex_unlock (lock);

  return NULL;
}

static gpointer
try_to_add (gpointer data)
{
  GMutex *lock = data;

  while (!g_mutex_trylock (lock))
    g_thread_yield ();
  number++;
  g_mutex_unlock (lock);

  return NULL;
}

static void
race_without_a_lock (void)
{
  run_twice (add, NULL, NULL);
}

static void
race_under_two_locks (void)
{
  run_twice (add, &locks[0], &locks[1]);
}

static void
race_of_a_reader (void)
{
  run_twice (add, &locks[0], NULL);
}

static void
no_race_under_one_lock (void)
{
  run_twice (add, &locks[0], &locks[0]);
  run_twice (try_to_add, &locks[0], &locks[0]);
}

static gpointer
take_turn (gpointer data)
{
  int turn = GPOINTER_TO_INT (data);

  g_mutex_lock (&locks[0]);
  while (number % 2 != turn)
    if (turn == 0)
      g_cond_wait (&cond, &locks[0]);
    else
      g_cond_wait_until (&cond, &locks[0], g_get_monotonic_time () + 10 * G_TIME_SPAN_MILLISECOND);
  number++;
  g_cond_broadcast (&cond);
  g_mutex_unlock (&locks[0]);

  return NULL;
}

static void
no_race_by_condition (void)
{
  run_twice (take_turn, GINT_TO_POINTER (0), GINT_TO_POINTER (1));
}

/* A signal that nobody waits for under a lock orders nothing. */
static gpointer
add_and_signal (gpointer data)
{
  number++;
  g_cond_signal (&cond);

  return NULL;
}

static void
race_beside_a_condition (void)
{
  run_twice (add_and_signal, NULL, NULL);
}

static gpointer
initialize (gpointer data)
{
  static gsize initialized;

  if (g_once_init_enter (&initialized))
    {
      number = 1;
      g_once_init_leave (&initialized, 1);
    }
  g_assert_cmpint (number, ==, 1);

  return NULL;
}

static gpointer
initialize_and_add (gpointer data)
{
  initialize (NULL);
  number++;

  return NULL;
}

static void
no_race_done_once (void)
{
  run_twice (initialize, NULL, NULL);
}

static void
race_after_once (void)
{
  run_twice (initialize_and_add, NULL, NULL);
}

static gpointer
read_and_release (gpointer data)
{
  int *box = data;

  g_assert_cmpint (*box, ==, 1);
  g_atomic_rc_box_release (box);

  return NULL;
}

static gpointer
add_and_release (gpointer data)
{
  int *box = data;

  (*box)++;
  g_atomic_rc_box_release (box);

  return NULL;
}

static gpointer
new_box (void)
{
  int *box = g_atomic_rc_box_new (int);

  *box = 1;

  return g_atomic_rc_box_acquire (box);
}

static void
no_race_of_the_last_reference (void)
{
  int *box = new_box ();

  run_twice (read_and_release, box, box);
}

/* References keep the memory, not what is in it. */
static void
race_of_two_references (void)
{
  int *box = new_box ();

  run_twice (add_and_release, box, box);
}

static gpointer
use_object (gpointer data)
{
  g_assert_cmpint (GPOINTER_TO_INT (g_object_get_data (data, "number")), ==, 0);
  g_object_unref (data);

  return NULL;
}

static void
free_number (gpointer data)
{
  number++;
}

static void
no_race_of_the_last_object (void)
{
  GObject *object = g_object_new (G_TYPE_OBJECT, NULL);

  g_object_set_data_full (object, "free", object, free_number);
  run_twice (use_object, g_object_ref (object), object);
  g_assert_cmpint (number, ==, 1);
}

/* Orders two threads in time alone, so that what is a race is one each time. */
static int time_has_come;

static void
wait_for_time (void)
{
  while (!__atomic_load_n (&time_has_come, __ATOMIC_RELAXED))
    g_thread_yield ();
}

static void
let_time_come (void)
{
  __atomic_store_n (&time_has_come, TRUE, __ATOMIC_RELAXED);
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  int *sum = data;

  wait_for_time ();
  (*sum)++;
  g_task_return_int (task, *sum);
}

static void
finish (GObject *source, GAsyncResult *result, gpointer user_data)
{
  int *sum = g_task_get_task_data (G_TASK (result));

  (*sum)++;
  number++;
  g_main_loop_quit (user_data);
}

static void
run_task (gboolean race)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (GTask) task = g_task_new (NULL, NULL, finish, loop);
  int *sum = race ? &number : g_new0 (int, 1);

  g_task_set_task_data (task, sum, race ? NULL : g_free);
  g_task_run_in_thread (task, work);
  if (race)
    number++;
  let_time_come ();
  g_main_loop_run (loop);
}

static void
no_race_of_a_task (void)
{
  run_task (FALSE);
}

/* The one who hands a task over and its thread. */
static void
race_with_a_task (void)
{
  run_task (TRUE);
}

static gpointer
push (gpointer data)
{
  int *sum = g_new0 (int, 1);

  *sum = 1;
  g_async_queue_push (data, sum);

  return NULL;
}

static gpointer
pop (gpointer data)
{
  g_autofree int *sum = g_async_queue_pop (data);

  (*sum)++;

  return NULL;
}

static void
no_race_by_queue (void)
{
  GAsyncQueue *queue = g_async_queue_new ();

  run_twice (push, queue, queue);
  run_twice (pop, queue, queue);
  g_async_queue_unref (queue);
}

static gboolean
add_when_idle (gpointer data)
{
  (*(int *) data)++;

  return G_SOURCE_REMOVE;
}

static gpointer
attach (gpointer data)
{
  gboolean race = GPOINTER_TO_INT (data);
  g_autoptr (GSource) source = g_idle_source_new ();

  number = 1;
  g_source_set_callback (source, add_when_idle, &number, NULL);
  g_source_attach (source, NULL);
  if (race)
    number++;
  let_time_come ();

  return NULL;
}

/* No thread has the main loop while the source is attached, so that nothing wakes it up. */
static void
run_source (gboolean race)
{
  GThread *thread = g_thread_new ("attach", attach, GINT_TO_POINTER (race));

  wait_for_time ();
  g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (number, ==, race ? 3 : 2);
  g_thread_join (thread);
}

static void
no_race_of_a_source (void)
{
  run_source (FALSE);
}

static void
race_with_a_source (void)
{
  run_source (TRUE);
}

static gpointer
attach_many (gpointer data)
{
  GSource *sources[100];
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (sources); i++)
    {
      sources[i] = g_idle_source_new ();
      g_source_set_callback (sources[i], add_when_idle, &number, NULL);
      g_source_attach (sources[i], NULL);
    }
  for (i = 0; i < G_N_ELEMENTS (sources); i++)
    {
      g_source_destroy (sources[i]);
      g_source_unref (sources[i]);
    }

  return NULL;
}

/* The main context's table of them grows and shrinks in both threads. */
static void
no_race_of_many_sources (void)
{
  run_twice (attach_many, NULL, NULL);
}

static gpointer
grow (gpointer data)
{
  char **memory = data;

  __atomic_store_n (&memory[0], g_realloc (NULL, 100), __ATOMIC_RELAXED);
  let_time_come ();

  return NULL;
}

static gpointer
grow_later (gpointer data)
{
  char **memory = data;

  wait_for_time ();
  memory[1] = g_realloc (__atomic_load_n (&memory[0], __ATOMIC_RELAXED), 1000);

  return NULL;
}

static void
race_of_what_grows (void)
{
  char *memory[2] = { NULL };
  GThread *threads[] = { g_thread_new ("first", grow, memory), g_thread_new ("second", grow_later, memory) };

  g_thread_join (threads[0]);
  g_thread_join (threads[1]);
  g_free (memory[1]);
}

static const struct
{
  const char *name;
  void (*program) (void);
} programs[] = {
  { "race/without-a-lock", race_without_a_lock },
  { "race/under-two-locks", race_under_two_locks },
  { "race/of-a-reader", race_of_a_reader },
  { "race/beside-a-condition", race_beside_a_condition },
  { "race/after-once", race_after_once },
  { "race/of-two-references", race_of_two_references },
  { "race/with-a-task", race_with_a_task },
  { "race/with-a-source", race_with_a_source },
  { "race/of-what-grows", race_of_what_grows },
  { "no-race/under-one-lock", no_race_under_one_lock },
  { "no-race/by-condition", no_race_by_condition },
  { "no-race/done-once", no_race_done_once },
  { "no-race/of-the-last-reference", no_race_of_the_last_reference },
  { "no-race/of-the-last-object", no_race_of_the_last_object },
  { "no-race/of-a-task", no_race_of_a_task },
  { "no-race/of-a-source", no_race_of_a_source },
  { "no-race/of-many-sources", no_race_of_many_sources },
  { "no-race/by-queue", no_race_by_queue },
};

static void
test_program (gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE (data);

  if (g_test_subprocess ())
    {
      programs[i].program ();
      return;
    }

  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  if (g_str_has_prefix (programs[i].name, "race/"))
    {
      g_test_trap_assert_failed ();
      g_test_trap_assert_stderr ("*WARNING: ThreadSanitizer: data race*");
    }
  else
    {
      g_test_trap_assert_stderr_unmatched ("*ThreadSanitizer*");
      g_test_trap_assert_passed ();
    }
}

int
main (int argc, char **argv)
{
  gsize i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      g_autofree char *path = g_strdup_printf ("/visible-glib/%s", programs[i].name);

      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_program);
    }

  return g_test_run ();
}
