/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-parallel-private.h"

typedef struct
{
  AprParallelFunc func;
  gpointer data;
  gsize part;
  gsize n_parts;
} Share;

static gpointer
do_share (gpointer data)
{
  const Share *share = data;

  share->func (share->data, share->part, share->n_parts);

  return NULL;
}

guint
apr_parallel_count (guint n_threads, double n_worth)
{
  /* To ask for the processors, which reads a file, can take longer than the work. */
  if (n_worth < 2 || n_threads == 1)
    return 1;

  return (guint) MIN (n_worth, n_threads != 0 ? n_threads : g_get_num_processors ());
}

void
apr_parallel_run (AprParallelFunc func, gpointer data, guint n_threads, double n_operations)
{
  g_autofree GThread **threads = NULL;
  g_autofree Share *shares = NULL;
  guint n = apr_parallel_count (n_threads, n_operations / APR_PARALLEL_OPERATIONS);
  guint i;

  if (n == 1)
    {
      func (data, 0, 1);
      return;
    }

  threads = g_new (GThread *, n);
  shares = g_new (Share, n);
  for (i = 0; i < n; i++)
    shares[i] = (Share){ func, data, i, n };
  for (i = 1; i < n; i++)
    threads[i] = g_thread_try_new ("aprender", do_share, &shares[i], NULL);

  func (data, 0, n);
  /* A share whose thread could not be had is the caller's too. */
  for (i = 1; i < n; i++)
    if (threads[i] != NULL)
      g_thread_join (threads[i]);
    else
      func (data, i, n);
}

/* A meeting is short: to sleep would take longer, unless there are fewer processors than threads. */
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
apr_team_meet (AprTeam *self)
{
  gint meeting;

  if (self->n_parts == 1)
    return;

  meeting = g_atomic_int_get (&self->n_meetings);
  if (g_atomic_int_add (&self->n_waiting, 1) + 1 < self->n_parts)
    {
      wait_while (&self->n_meetings, meeting);
      return;
    }
  g_atomic_int_set (&self->n_waiting, 0);
  g_atomic_int_inc (&self->n_meetings);
}

typedef struct
{
  AprTeam team; /* of no parts, until all that there will be are there */
  AprTeamFunc func;
  gpointer data;
} Assignment;

typedef struct
{
  Assignment *assignment; /* (unowned) */
  gsize part;
} Member;

static gpointer
take_part (gpointer data)
{
  const Member *member = data;
  Assignment *assignment = member->assignment;

  wait_while (&assignment->team.n_parts, 0);
  assignment->func (&assignment->team, assignment->data, member->part);

  return NULL;
}

void
apr_team_run (AprTeamFunc func, gpointer data, guint n_threads, double n_operations)
{
  Assignment assignment = { { 0 }, func, data };
  guint n = apr_parallel_count (n_threads, n_operations / APR_PARALLEL_OPERATIONS);
  g_autofree GThread **threads = g_new (GThread *, n);
  g_autofree Member *members = g_new (Member, n);
  guint n_members = 1;
  guint i;

  for (i = 1; i < n; i++)
    {
      members[n_members] = (Member){ &assignment, n_members };
      threads[n_members] = g_thread_try_new ("aprender", take_part, &members[n_members], NULL);
      if (threads[n_members] != NULL)
        n_members++;
    }
  g_atomic_int_set (&assignment.team.n_parts, (gint) n_members);

  func (&assignment.team, data, 0);
  for (i = 1; i < n_members; i++)
    g_thread_join (threads[i]);
}
