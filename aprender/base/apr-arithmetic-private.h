/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <fenv.h>
#include <glib.h>

#ifdef __x86_64__
# include <xmmintrin.h>
#endif

G_BEGIN_DECLS

/* Arithmetic in which numbers are rounded to nearest and none is flushed to zero, whatever the program around has
 * set: to be entered by everything that promises bits. Threads take after the one that starts them. */
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

static inline AprArithmetic
apr_arithmetic_enter (void)
{
  AprArithmetic self = { .changed = !apr_arithmetic_is_usual () };

  if (self.changed)
    {
      fegetenv (&self.before);
      fesetenv (FE_DFL_ENV);
    }

  return self;
}

/* When the variable goes out of scope. */
static inline void
apr_arithmetic_leave (AprArithmetic *self)
{
  if (self->changed)
    fesetenv (&self->before);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprArithmetic, apr_arithmetic_leave)

/* What there is before a function of somebody else is called, and again after that. */
static inline AprArithmetic
apr_arithmetic_save (void)
{
  AprArithmetic self = { .changed = !apr_arithmetic_is_usual () };

  if (self.changed)
    fegetenv (&self.before);

  return self;
}

static inline void
apr_arithmetic_restore (AprArithmetic *self)
{
  if (self->changed)
    fesetenv (&self->before);
  else if (!apr_arithmetic_is_usual ())
    fesetenv (FE_DFL_ENV);
}

G_END_DECLS
