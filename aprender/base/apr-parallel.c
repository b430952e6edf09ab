/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* pthread_attr_setaffinity_np() */

#include "aprender/base/apr-parallel-private.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "aprender/base/apr-processors-private.h"

guint
apr_parallel_count (guint n_threads, double n_worth)
{
  /* To ask for the processors can take longer than the work. */
  if (n_worth < 2 || n_threads == 1)
    return 1;

  if (n_threads == 0)
    n_threads = apr_processors_count ();

  return (guint) MIN (n_worth, MIN (n_threads, APR_PARALLEL_MAX_THREADS));
}

/* Threads start on another processor than the one that starts them. Left to itself, the system may let a thread wait
 * for its parent's processor while others sleep, in virtual machines above all, and takes milliseconds to correct that,
 * in which nothing is done in parallel. Once they run, they may run anywhere. */
typedef struct
{
  GThreadFunc func;
  gpointer data;
  pthread_attr_t attributes;
  gboolean placed;
#ifdef __GLIBC__
  cpu_set_t allowed; /* if @placed */
#endif
} Start;

static void
start_init (Start *self, GThreadFunc func, gpointer data)
{
  self->func = func;
  self->data = data;
  self->placed = FALSE;
  (void) pthread_attr_init (&self->attributes);
#ifdef __GLIBC__
  {
    int current = sched_getcpu ();
    cpu_set_t others;

    if (current < 0 || current >= CPU_SETSIZE ||
        sched_getaffinity (0, sizeof self->allowed, &self->allowed) != 0)
      return;
    others = self->allowed;
    CPU_CLR (current, &others);
    self->placed =
      CPU_COUNT (&others) > 0 && pthread_attr_setaffinity_np (&self->attributes, sizeof others, &others) == 0;
  }
#endif
}

static gpointer
do_start (gpointer data)
{
  const Start *self = data;

#ifdef __GLIBC__
  (void) pthread_setname_np (pthread_self (), "aprender");
  if (self->placed)
    (void) sched_setaffinity (0, sizeof self->allowed, &self->allowed);
#endif

  return self->func (self->data);
}

static gboolean
start_thread (Start *self, pthread_t *thread)
{
  int status = pthread_create (thread, &self->attributes, do_start, self);

  /* A sandbox may forbid to choose processors. */
  if (status != 0 && status != EAGAIN)
    status = pthread_create (thread, NULL, do_start, self);

  return status == 0;
}

/* Calls @func in @n_threads threads, or as many as can be had, the calling one among them. As soon as the others are
 * started, their number is in @n_started. */
static void
run_threads (GThreadFunc func, gpointer data, guint n_threads, gint *n_started)
{
  g_autofree pthread_t *threads = NULL;
  Start start;
  guint n = 1;
  guint i;

  /* To find out where others may run would take longer than a small fit's work. */
  if (n_threads == 1)
    {
      g_atomic_int_set (n_started, 1);
      func (data);
      return;
    }

  threads = g_new (pthread_t, n_threads);
  start_init (&start, func, data);
  for (i = 1; i < n_threads; i++)
    n += start_thread (&start, &threads[n]) ? 1 : 0;
  g_atomic_int_set (n_started, (gint) n);

  func (data);
  for (i = 1; i < n; i++)
    (void) pthread_join (threads[i], NULL);
  (void) pthread_attr_destroy (&start.attributes);
}

typedef struct
{
  AprParallelFunc func;
  gpointer data;
  gsize n_parts;
  gint next_part;
  gint n_started;
} Work;

static gpointer
take_parts (gpointer data)
{
  Work *work = data;
  gsize part;

  while ((part = (gsize) g_atomic_int_add (&work->next_part, 1)) < work->n_parts)
    work->func (work->data, part, work->n_parts);

  return NULL;
}

void
apr_parallel_run_parts (AprParallelFunc func, gpointer data, guint n_threads, gsize n_parts)
{
  Work work = { func, data, n_parts };

  if (n_threads > 1 && n_parts > 1)
    run_threads (take_parts, &work, (guint) MIN (n_threads, n_parts), &work.n_started);
  else
    take_parts (&work);
}

void
apr_parallel_run (AprParallelFunc func, gpointer data, guint n_threads, double n_operations)
{
  guint n = apr_parallel_count (n_threads, n_operations / APR_PARALLEL_OPERATIONS);

  apr_parallel_run_parts (func, data, n, n);
}

/* Most waits are shorter than sleeping takes. A longer one means that there are fewer processors than threads, or that
 * another program runs on the processor of the thread that is waited for. Then this thread lets others run: it yields,
 * and after a while it sleeps. */
#define MAX_SPINS 4000
#define MAX_YIELDS 500
#define SLEEP_MICROSECONDS 50

static void
wait_while (const gint *value, gint old)
{
  guint spins = 0;

  while (g_atomic_int_get (value) == old)
    if (++spins > MAX_SPINS + MAX_YIELDS)
      g_usleep (SLEEP_MICROSECONDS);
    else if (spins > MAX_SPINS)
      g_thread_yield ();
}

void
apr_team_barrier (AprTeam *self)
{
  gint n_passed;

  if (self->n_parts == 1)
    return;

  n_passed = g_atomic_int_get (&self->n_passed);
  if (g_atomic_int_add (&self->n_waiting, 1) + 1 < self->n_parts)
    {
      wait_while (&self->n_passed, n_passed);
      return;
    }
  g_atomic_int_set (&self->n_waiting, 0);
  g_atomic_int_inc (&self->n_passed);
}

typedef struct
{
  AprTeam team; /* of no parts, until all that there will be are there */
  AprTeamFunc func;
  gpointer data;
  gint next_part;
} Assignment;

static gpointer
take_part (gpointer data)
{
  Assignment *assignment = data;

  wait_while (&assignment->team.n_parts, 0);
  assignment->func (&assignment->team, assignment->data,
                    (gsize) g_atomic_int_add (&assignment->next_part, 1));

  return NULL;
}

void
apr_team_run (AprTeamFunc func, gpointer data, guint n_threads, double n_operations)
{
  Assignment assignment = { { 0 }, func, data };

  run_threads (take_part, &assignment, apr_parallel_count (n_threads, n_operations / APR_PARALLEL_OPERATIONS),
               &assignment.team.n_parts);
}
