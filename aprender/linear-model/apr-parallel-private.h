/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* One of @n_parts shares of some work, which no other share depends on. */
typedef void (*AprParallelFunc) (gpointer data, gsize part, gsize n_parts);

/* Does the work in the calling thread and others, @n_threads in all, or, where that is 0, as many as @n_operations, counted
 * in nanoseconds or so, are worth. */
void apr_parallel_run (AprParallelFunc func, gpointer data, guint n_threads, double n_operations);

G_END_DECLS
