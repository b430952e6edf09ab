/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#define _GNU_SOURCE /* O_PATH */

#include <aprender/aprender.h>

#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/fault.h"

/* What writes files, with system calls that fail on demand. */

/* What a call does instead of failing. */
enum
{
  WRITES_NOTHING = -1,
  WRITES_ONE_BYTE = -2,
  WRITES_A_PART = -8,
  OTHER_USER = -3,
  OTHER_GROUP = -4,
  NAMES_ITSELF = -5,
  FILLS_ALL = -6,
  MOVES_UP = -7,
  OTHER_DEVICE = -9,
};

/* What the last calls were asked for. */
static int folder_flags, file_flags;
static int file_mode;
static uid_t last_user;
static gsize most_bytes;
static int most_pieces;
static int last_protection, last_flags;
static GPtrArray *temporaries;

int FILE_CALL (__real_, open) (const char *path, int flags, ...);
int FILE_CALL (__wrap_, open) (const char *path, int flags, ...);
int CHECKED_CALL (__wrap___, open) (const char *path, int flags);
int FILE_CALL (__real_, openat) (int folder, const char *path, int flags, ...);
int FILE_CALL (__wrap_, openat) (int folder, const char *path, int flags, ...);
int FILE_CALL (__real_, fstat) (int fd, struct stat *status);
int FILE_CALL (__wrap_, fstat) (int fd, struct stat *status);
gssize __real_readlink (const char *path, char *target, gsize size);
gssize __wrap_readlink (const char *path, char *target, gsize size);
int __real_fchown (int fd, uid_t user, gid_t group);
int __wrap_fchown (int fd, uid_t user, gid_t group);
int __real_fchmod (int fd, mode_t mode);
int __wrap_fchmod (int fd, mode_t mode);
gssize __real_writev (int fd, const struct iovec *pieces, int n_pieces);
gssize __wrap_writev (int fd, const struct iovec *pieces, int n_pieces);
int __real_fsync (int fd);
int __wrap_fsync (int fd);
int __real_close (int fd);
int __wrap_close (int fd);
int __real_renameat (int folder, const char *path, int new_folder, const char *new_path);
int __wrap_renameat (int folder, const char *path, int new_folder, const char *new_path);
gpointer
  FILE_CALL (__real_, mmap) (gpointer place, gsize size, int protection, int flags, int fd, off_t offset);
gpointer
  FILE_CALL (__wrap_, mmap) (gpointer place, gsize size, int protection, int flags, int fd, off_t offset);

int
FILE_CALL (__wrap_, open) (const char *path, int flags, ...)
{
  gboolean is_struck = strikes (CALL_OPEN);
  int fd;

  if (is_struck && fault.code > 0)
    return -1;
  folder_flags = flags;
  fd = FILE_CALL (__real_, open) (path, flags);
  if (is_struck)
    {
      int higher = fcntl (fd, F_DUPFD_CLOEXEC, 100);

      __real_close (fd);
      fd = higher;
    }
  /* A call that goes well may leave any errno. */
  errno = EACCES;
  return fd;
}

/* The same where _FORTIFY_SOURCE is defined. */
int
CHECKED_CALL (__wrap___, open) (const char *path, int flags)
{
  return FILE_CALL (__wrap_, open) (path, flags);
}

int
FILE_CALL (__wrap_, openat) (int folder, const char *path, int flags, ...)
{
  va_list arguments;
  int mode;

  va_start (arguments, flags);
  mode = va_arg (arguments, int);
  va_end (arguments);
  file_flags = flags;
  file_mode = mode;
  if (temporaries != NULL)
    g_ptr_array_add (temporaries, g_strdup (path));
  return strikes (CALL_OPENAT) ? -1 : FILE_CALL (__real_, openat) (folder, path, flags, mode);
}

int
FILE_CALL (__wrap_, fstat) (int fd, struct stat *status)
{
  gboolean is_struck = strikes (CALL_FSTAT);
  int result;

  if (is_struck && fault.code > 0)
    return -1;
  result = FILE_CALL (__real_, fstat) (fd, status);
  if (is_struck && fault.code == OTHER_DEVICE)
    status->st_dev += 1;
  else if (is_struck)
    *(fault.code == OTHER_USER ? &status->st_uid : &status->st_gid) += 1;
  return result;
}

gssize
__wrap_readlink (const char *path, char *target, gsize size)
{
  if (!strikes (CALL_READLINK))
    return __real_readlink (path, target, size);
  if (fault.code > 0)
    return -1;
  if (fault.code == FILLS_ALL)
    {
      memset (target, 'x', size);
      return (gssize) size;
    }
  memcpy (target, path, strlen (path));
  return (gssize) strlen (path);
}

int
__wrap_fchown (int fd, uid_t user, gid_t group)
{
  last_user = user;
  return strikes (CALL_FCHOWN) ? -1 : __real_fchown (fd, user, group);
}

int
__wrap_fchmod (int fd, mode_t mode)
{
  return strikes (CALL_FCHMOD) ? -1 : __real_fchmod (fd, mode);
}

gssize
__wrap_writev (int fd, const struct iovec *pieces, int n_pieces)
{
  g_autoptr (GByteArray) all = g_byte_array_new ();
  gsize n_bytes = 0;
  int i;

  for (i = 0; i < n_pieces; i++)
    n_bytes += pieces[i].iov_len;
  most_bytes = MAX (most_bytes, n_bytes);
  most_pieces = MAX (most_pieces, n_pieces);
  if (!strikes (CALL_WRITEV))
    return __real_writev (fd, pieces, n_pieces);
  if (fault.code > 0)
    return -1;
  if (fault.code == WRITES_NOTHING)
    return 0;
  for (i = 0; i < n_pieces; i++)
    g_byte_array_append (all, pieces[i].iov_base, (guint) pieces[i].iov_len);
  return write (fd, all->data, fault.code == WRITES_ONE_BYTE ? 1 : MAX (n_bytes * 2 / 3, 1));
}

int
__wrap_fsync (int fd)
{
  return strikes (CALL_FSYNC) ? -1 : __real_fsync (fd);
}

/* As Linux does it: the descriptor is gone, whatever the result. */
int
__wrap_close (int fd)
{
  gboolean is_struck = strikes (CALL_CLOSE);
  int saved_errno = errno;
  int result = __real_close (fd);

  g_assert_cmpint (result, ==, 0);
  errno = saved_errno;
  return is_struck ? -1 : 0;
}

int
__wrap_renameat (int folder, const char *path, int new_folder, const char *new_path)
{
  return strikes (CALL_RENAMEAT) ? -1 : __real_renameat (folder, path, new_folder, new_path);
}

gpointer
FILE_CALL (__wrap_, mmap) (gpointer place, gsize size, int protection, int flags, int fd, off_t offset)
{
  if (fd < 0)
    return FILE_CALL (__real_, mmap) (place, size, protection, flags, fd, offset);
  last_protection = protection;
  last_flags = flags;
  return strikes (CALL_MAP) ? MAP_FAILED
                            : FILE_CALL (__real_, mmap) (place, size, protection, flags, fd, offset);
}
