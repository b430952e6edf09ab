/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <time.h>

G_BEGIN_DECLS

/* What a clock shows, in nanoseconds: CLOCK_MONOTONIC, or the processor time of this thread or process, for which what
 * other programs take does not count. */
static inline gint64
clock_read (clockid_t clock)
{
  struct timespec time;

  clock_gettime (clock, &time);

  return (gint64) time.tv_sec * 1000000000 + time.tv_nsec;
}

G_END_DECLS
