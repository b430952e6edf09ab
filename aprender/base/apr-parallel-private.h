/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* One of @n_parts shares of some work, which no other share depends on. */
typedef void (*AprParallelFunc) (gpointer data, gsize part, gsize n_parts);

/* How many threads take part in work that @n_worth of them are worth: at most @n_threads, or, where that is 0, one for each
 * processor. */
guint apr_parallel_count (guint n_threads, double n_worth);

/* Operations, counted roughly, that are worth a thread of their own: some ten times what it takes to start one. */
#define APR_PARALLEL_OPERATIONS 5e5

/* Does the work in the calling thread and others, in as many as @n_operations / APR_PARALLEL_OPERATIONS are worth, at
 * most @n_threads as above. */
void apr_parallel_run (AprParallelFunc func, gpointer data, guint n_threads, double n_operations);

/* Threads that do some work together, and wait for each other in between. */
typedef struct
{
  gint n_parts;
  gint n_waiting;
  gint n_meetings;
} AprTeam;

typedef void (*AprTeamFunc) (AprTeam *team, gpointer data, gsize part);

/* Returns when all have come here: what they wrote before, all can read then. */
void apr_team_meet (AprTeam *self);

/* As apr_parallel_run(), but with no fewer threads than there are parts. */
void apr_team_run (AprTeamFunc func, gpointer data, guint n_threads, double n_operations);

G_END_DECLS
