/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Of the monotonic clock, in nanoseconds. */
gint64 machine_now (void);

/* Of all threads of this process, in nanoseconds. */
gint64 machine_processor_time (void);

/* The nanoseconds that threads together take to read memory once. */
double machine_time_reading (const void *memory, gsize n_bytes, guint n_threads);

/* The multiply-adds of doubles, or other vector operations, that threads together do in a second. */
double machine_measure_peak (guint n_threads);

/* The products of bytes, each with an addition; 0 where the library does not use any. */
double machine_measure_byte_peak (guint n_threads);

G_END_DECLS
