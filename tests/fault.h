/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>

/*
 * System calls and allocations that fail on demand: the linker sends the library's calls of these functions to a test
 * (--wrap), which asks here. So what a full disk or another process does at the worst of all moments can be tested on
 * any machine.
 */
typedef enum
{
  CALL_NONE,
  CALL_OPEN,
  CALL_OPENAT,
  CALL_FSTAT,
  CALL_LSTAT,
  CALL_READLINK,
  CALL_REALPATH,
  CALL_PREAD,
  CALL_MAP,
  CALL_FCHOWN,
  CALL_FCHMOD,
  CALL_WRITEV,
  CALL_FSYNC,
  CALL_CLOSE,
  CALL_RENAMEAT,
  CALL_MALLOC,
  CALL_REALLOC,
  CALL_REALLOC_N,
  N_CALLS,
} Call;

typedef struct
{
  Call call;
  guint n_good;  /* calls that go well before */
  guint n_bad;   /* calls that do not */
  int code;      /* an errno, or, below 0, what the test's call does instead of failing */
  guint n_chown; /* how often the owner cannot be changed, besides */
} Fault;

static Fault fault;
static guint n_calls[N_CALLS];

static void
inject (const Fault *next)
{
  memset (n_calls, 0, sizeof n_calls);
  fault = next != NULL ? *next : (Fault){ CALL_NONE };
}

/* Whether this call is to go wrong: then errno is set. */
static gboolean
strikes (Call call)
{
  guint n = n_calls[call]++;

  if (call == CALL_FCHOWN && n < fault.n_chown)
    {
      errno = EPERM;
      return TRUE;
    }
  if (call != fault.call || n < fault.n_good || n - fault.n_good >= fault.n_bad)
    return FALSE;
  errno = fault.code;
  return TRUE;
}

/* How many descriptors are open: none may be lost on the way. */
static guint
count_descriptors (void)
{
  guint n = 0;
  int fd;

  for (fd = 0; fd < 256; fd++)
    n += fcntl (fd, F_GETFD) >= 0;
  return n;
}

/* With large files glibc renames these, and then the linker must be asked for the other name. */
#ifdef __USE_FILE_OFFSET64
# define FILE_CALL(prefix, name) prefix##name##64
# define CHECKED_CALL(prefix, name) prefix##name##64_2
#else
# define FILE_CALL(prefix, name) prefix##name
# define CHECKED_CALL(prefix, name) prefix##name##_2
#endif
