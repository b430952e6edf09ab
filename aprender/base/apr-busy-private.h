/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Why an object is busy: it is written to, or reserved while the data of a write are prepared. Both may be so at once:
 * who reserves the object admits a write, or another one who reserves it. To be used under a lock of the object. */
typedef struct
{
  gboolean is_written;
  guint n_reserved;
  GThread
    *admitted; /* (unowned) (nullable) the thread whose next call is let in although the object is reserved */
} AprBusy;

static inline gboolean
apr_busy_is_set (const AprBusy *self)
{
  return self->is_written || self->n_reserved > 0;
}

/* Begins a write, or with @reserves a reservation. Returns: false where the object is busy for others */
static inline gboolean
apr_busy_begin (AprBusy *self, gboolean reserves)
{
  if (self->is_written || (self->n_reserved > 0 && self->admitted != g_thread_self ()))
    return FALSE;

  self->admitted = NULL;
  if (reserves)
    self->n_reserved++;
  else
    self->is_written = TRUE;
  return TRUE;
}

static inline void
apr_busy_admit (AprBusy *self)
{
  if (self->n_reserved > 0)
    self->admitted = g_thread_self ();
}

/* Ends a write. Returns: whether the object is busy no longer */
static inline gboolean
apr_busy_end (AprBusy *self)
{
  self->is_written = FALSE;
  return !apr_busy_is_set (self);
}

/* Ends a reservation, where there is one. Returns: whether the object was busy, and is no longer */
static inline gboolean
apr_busy_release (AprBusy *self)
{
  if (self->n_reserved == 0)
    return FALSE;

  self->admitted = NULL;
  self->n_reserved--;
  return !apr_busy_is_set (self);
}

G_END_DECLS
