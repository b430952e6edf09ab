/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-parallel-private.h"

#include "aprender/base/apr-processors-private.h"

guint
apr_parallel_count (guint n_threads, double n_worth)
{
  /* To ask for the processors can take longer than the work. */
  if (n_worth < 2 || n_threads == 1)
    return 1;

  return (guint) MIN (n_worth, n_threads != 0 ? n_threads : apr_processors_count ());
}

/* Calls @func in @n_threads threads, or as many as can be had, the calling one among them. As soon as the others are
 * started, their number is in @n_started. */
static void
run_threads (GThreadFunc func, gpointer data, guint n_threads, gint *n_started)
{
  g_autofree GThread **threads = g_new (GThread *, n_threads);
  guint n = 1;
  guint i;

  for (i = 1; i < n_threads; i++)
    {
      threads[n] = g_thread_try_new ("aprender", func, data, NULL);
      if (threads[n] != NULL)
        n++;
    }
  g_atomic_int_set (n_started, (gint) n);

  func (data);
  for (i = 1; i < n; i++)
    g_thread_join (threads[i]);
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

/* A wait is short: to sleep would take longer, unless there are fewer processors than threads. */
#define MAX_SPINS 4000

static void
wait_while (const gint *value, gint old)
{
  guint spins = 0;

  while (g_atomic_int_get (value) == old)
    if (++spins > MAX_SPINS)
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
