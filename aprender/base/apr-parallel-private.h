/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The one way to run threads. They live as long as the call that starts them: nothing is left for a forked child to
 * miss. The calling thread works too, and alone where no other can be had. A thread starts with the floating-point
 * environment of the calling one. */

/* One of @n_parts parts of some work, none of which depends on another. */
typedef void (*AprParallelFunc) (gpointer data, gsize part, gsize n_parts);

/* A program may ask for any number of threads. */
#define APR_PARALLEL_MAX_THREADS 1024

/* Returns MIN (n_worth, n_threads, APR_PARALLEL_MAX_THREADS), at least 1; 0 threads mean one per processor. */
guint apr_parallel_count (guint n_threads, double n_worth);

/* Does @n_parts parts of some work, which @n_threads threads take in turns. */
void apr_parallel_run_parts (AprParallelFunc func, gpointer data, guint n_threads, gsize n_parts);

/* Operations, counted roughly, that are worth a thread of their own: some ten times what it takes to start one. */
#define APR_PARALLEL_OPERATIONS 5e5

/* Does the work in as many threads as @n_operations / APR_PARALLEL_OPERATIONS are worth, at most @n_threads, and in
 * as many parts. */
void apr_parallel_run (AprParallelFunc func, gpointer data, guint n_threads, double n_operations);

/* Threads that work together, and wait for each other in between. */
typedef struct
{
  gint n_parts;
  gint n_waiting;
  gint n_passed; /* barriers */
} AprTeam;

typedef void (*AprTeamFunc) (AprTeam *team, gpointer data, gsize part);

/* Returns when all have come here: what they wrote before, all can read then. */
void apr_team_barrier (AprTeam *self);

/* As apr_parallel_run (), but every part has a thread of its own. */
void apr_team_run (AprTeamFunc func, gpointer data, guint n_threads, double n_operations);

G_END_DECLS
