/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <fenv.h>
#include <glib.h>

#ifdef __x86_64__
# include <xmmintrin.h>
#endif

G_BEGIN_DECLS

/* Arithmetic in which numbers are rounded to nearest and none is flushed to zero, whatever the program around has set: to be
 * entered by everything that promises bits. Threads take after the one that starts them. */
typedef struct
{
  gboolean changed;
  fenv_t before;
} AprArithmetic;

/* Whether it is so already; where that is not quick to tell, false. */
static inline gboolean
apr_arithmetic_is_usual (void)
{
#ifdef __x86_64__
  /* But for the flags, as a program starts. */
  return (_mm_getcsr () & ~0x3fu) == 0x1f80;
#else
  return FALSE;
#endif
}

static inline void
apr_arithmetic_enter (AprArithmetic *self)
{
  self->changed = !apr_arithmetic_is_usual ();
  if (!self->changed)
    return;

  fegetenv (&self->before);
  fesetenv (FE_DFL_ENV);
}

static inline void
apr_arithmetic_leave (AprArithmetic *self)
{
  if (self->changed)
    fesetenv (&self->before);
}

G_END_DECLS
