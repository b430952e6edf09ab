/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* One of @n_parts shares of some work, which no other share depends on. */
typedef void (*AprParallelFunc) (gpointer data, gsize part, gsize n_parts);

/* How many threads take part in work that @n_worth of them are worth: at most @n_threads, or, where that is 0, one for each
 * processor. */
guint apr_parallel_count (guint n_threads, double n_worth);

/* Does the work in the calling thread and others, in as many as @n_operations, counted roughly, are worth, at most @n_threads
 * as above. */
void apr_parallel_run (AprParallelFunc func, gpointer data, guint n_threads, double n_operations);

G_END_DECLS
