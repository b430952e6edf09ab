/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define APR_SERVE_N_BUCKETS 14

/* Counts what has been answered. All members are atomic. Start with { 0 }. */
typedef struct
{
  guint64 n_requests[600]; /* by status */
  guint64 n_rows;
  guint64 microseconds;
  /* How many requests took at most as long as the bucket says, and longer than the bucket before it says. */
  guint64 buckets[APR_SERVE_N_BUCKETS];
} AprServeMetrics;

void apr_serve_metrics_add (AprServeMetrics *self, guint status, gint64 began, gsize n_rows);

G_END_DECLS
