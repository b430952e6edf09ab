/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <fenv.h>
#include <glib.h>

G_BEGIN_DECLS

/* Floating-point arithmetic as bounds on its errors count on it: to nearest, and no number that is flushed to zero, whatever the
 * program around does. Threads that are started meanwhile have the same. What the program had comes back when the variable goes out
 * of scope. */
typedef fenv_t AprEnvironment;

static inline AprEnvironment
apr_environment_enter (void)
{
  AprEnvironment environment;

  fegetenv (&environment);
  fesetenv (FE_DFL_ENV);

  return environment;
}

static inline void
apr_environment_leave (AprEnvironment *environment)
{
  fesetenv (environment);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprEnvironment, apr_environment_leave)

G_END_DECLS
