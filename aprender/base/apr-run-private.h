/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "aprender/base/apr-arithmetic-private.h"

G_BEGIN_DECLS

/* Hears how much of some work is done, from 0 to 1, in the thread that asked for the work. */
typedef void (*AprRunProgress) (double fraction, gpointer user_data);

/* How some long work runs, who may stop it, and who hears how far it is: all 0 for what is usual. It is passed down to
 * the loops that take the time. These leave as soon as it is cancelled, and what they found means nothing then: the
 * function that was asked for the work fails in the end. Where there is no memory, the work cancels itself. */
typedef struct
{
  guint n_threads;           /* 0 means one per processor */
  GCancellable *cancellable; /* (unowned) (nullable) */
  AprRunProgress progress;   /* (nullable) */
  gpointer progress_data;    /* (unowned) */
  double *told;              /* (unowned) (nullable) what was told last, at first 0; without, all is told */
  double before;             /* the share of the whole work that is done before this part of it */
  double after;              /* the share that comes after it */
  gsize *missing;            /* (unowned) (nullable) (atomic) bytes that there was no memory for, or 0 */
} AprRun;

static inline gboolean
apr_run_is_cancelled (const AprRun *self)
{
  return (self->missing != NULL && g_atomic_pointer_get (self->missing) != 0) ||
         (self->cancellable != NULL && g_cancellable_is_cancelled (self->cancellable));
}

/* For functions that fail where there is no memory. Returns @self, but that *@missing, which is 0, becomes the number
 * of bytes that there was no memory for. A caller that watches already is told instead. */
static inline AprRun
apr_run_watch_memory (const AprRun *self, gsize *missing)
{
  AprRun run = *self;

  if (run.missing == NULL)
    run.missing = missing;

  return run;
}

/* As apr_pages_new(), for @n elements of @size bytes. Where there is no memory, it is %NULL, and the work is cancelled;
 * but the program ends where nobody watches. */
gpointer apr_run_new_pages (const AprRun *self, gsize n, gsize size, gboolean cleared);

/* The same for a matrix of zeros, to be freed with g_free(). */
double *apr_run_new_doubles (const AprRun *self, gsize n_rows, gsize n_columns);

/* As g_cancellable_set_error_if_cancelled(), or fails with %APR_ERROR_NO_MEMORY where there was no memory. */
gboolean apr_run_set_error_if_cancelled (const AprRun *self, GError **error);

/* How often progress is told, at most. */
#define APR_RUN_MAX_TOLD 40

/* Reports that @fraction of this part of the work is done. Only the thread that asked for the work may do so. A step
 * that is too small is not told, unless it is the end; nor is what is less than before, where work is done again. */
static inline void
apr_run_report (const AprRun *self, double fraction)
{
  double done = self->before + (1 - self->before - self->after) * fraction;
  AprArithmetic arithmetic;

  if (self->progress == NULL || apr_run_is_cancelled (self))
    return;
  if (self->told != NULL && (*self->told >= 1 || (done < *self->told + 1.0 / APR_RUN_MAX_TOLD && done < 1)))
    return;

  if (self->told != NULL)
    *self->told = done;
  /* Whatever it does to the environment, the work goes on as before. */
  arithmetic = apr_arithmetic_save ();
  self->progress (done, self->progress_data);
  apr_arithmetic_restore (&arithmetic);
}

/* For functions that take no cancellable and look at GLib's current one: to be called around them, in one thread.
 * @cancellable may be %NULL. */
static inline void
apr_run_push_cancellable (GCancellable *cancellable)
{
  if (cancellable != NULL)
    g_cancellable_push_current (cancellable);
}

static inline void
apr_run_pop_cancellable (GCancellable *cancellable)
{
  if (cancellable != NULL)
    g_cancellable_pop_current (cancellable);
}

/* Returns the part of @self from the fraction @begin to the fraction @end. */
static inline AprRun
apr_run_get_part (const AprRun *self, double begin, double end)
{
  double share = 1 - self->before - self->after;
  AprRun part = *self;

  part.before += share * begin;
  part.after += share * (1 - end);

  return part;
}

G_END_DECLS
