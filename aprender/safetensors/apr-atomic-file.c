/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* O_PATH, fallocate() */

#include "aprender/safetensors/apr-atomic-file-private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* The limit of the kernel */
#define MAX_SYMLINKS 40

#define MAX_ATTEMPTS 100

/* A file name has at most 255 bytes; a temporary one has up to ten more than the target's. */
#define MAX_STEM 240

/* The limits of one system call, so that a cancellation is noticed soon */
#define BATCH_VECTORS 64
#define BATCH_BYTES ((gsize) 16 << 20)

/* From this size on, space is reserved before a write: file systems allocate it faster at once than page by page. */
#define RESERVED_BYTES ((gsize) 1 << 20)

struct _AprAtomicFile
{
  char *display;   /* the path as given, for messages */
  char *name;      /* the file to replace, within the folder */
  char *temporary; /* the new file, within the folder; NULL if there is none */
  int *folder_fd;  /* (owned) ref-counted; NULL if there is none */
  int fd;
  off_t position; /* where the next write goes */
};

static gboolean
fail (AprAtomicFile *self, const char *what, int saved_errno, GError **error)
{
  g_set_error (error, G_IO_ERROR, (int) g_io_error_from_errno (saved_errno), "%s: %s%s", self->display, what,
               g_strerror (saved_errno));
  return FALSE;
}

/*
 * Follows symbolic links from @path to the file to replace, which need not exist. By hand, because realpath () needs a
 * file that exists, and a target is relative to the folder of its link.
 */
static char *
resolve (AprAtomicFile *self, const char *path, GError **error)
{
  g_autofree char *current = g_strdup (path);
  char target[PATH_MAX + 1];
  guint n_links;

  for (n_links = 0; n_links <= MAX_SYMLINKS; n_links++)
    {
      g_autofree char *folder = g_path_get_dirname (current);
      ssize_t length = readlink (current, target, PATH_MAX);
      char *next;

      if (length == -1 && (errno == EINVAL || errno == ENOENT))
        return g_steal_pointer (&current);
      if (length == -1)
        {
          fail (self, "", errno, error);
          return NULL;
        }
      target[length] = '\0';
      next = g_path_is_absolute (target) ? g_strdup (target) : g_build_filename (folder, target, NULL);
      g_free (current);
      current = next;
    }
  fail (self, "", ELOOP, error);
  return NULL;
}

static gboolean
open_folder (AprAtomicFile *self, const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  int fd;

  fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  /* A folder that can be written to but not read cannot be flushed; that is all. */
  if (fd < 0 && errno == EACCES)
    fd = open (folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return fail (self, "", errno, error);
  self->folder_fd = g_rc_box_dup (sizeof fd, &fd);
  return TRUE;
}

static char *
make_temporary_name (const char *name)
{
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  gsize length = MIN (strlen (name), MAX_STEM);
  char *result, *p;

  while (length > 0 && ((guchar) name[length] & 0xc0) == 0x80)
    length--;
  result = g_strdup_printf (".%.*s.XXXXXX", (int) length, name);
  p = result + strlen (result);
  while (*--p != '.')
    *p = letters[g_random_int_range (0, sizeof letters - 1)];
  return result;
}

static gboolean
open_temporary (AprAtomicFile *self, mode_t mode, GError **error)
{
  guint i;

  for (i = 0; i < MAX_ATTEMPTS; i++)
    {
      g_autofree char *temporary = make_temporary_name (self->name);

      self->fd = openat (*self->folder_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (self->fd >= 0)
        {
          self->temporary = g_steal_pointer (&temporary);
          return TRUE;
        }
      if (errno != EEXIST && errno != EINTR)
        break;
    }
  return fail (self, "", errno, error);
}

/* Copies the mode of the old file, and its owner if that is allowed. */
static gboolean
copy_attributes (AprAtomicFile *self, const struct stat *old, GError **error)
{
  struct stat status;

  if (fstat (self->fd, &status) < 0)
    return fail (self, "", errno, error);
  if ((status.st_uid != old->st_uid || status.st_gid != old->st_gid) &&
      fchown (self->fd, old->st_uid, old->st_gid) < 0 && fchown (self->fd, (uid_t) -1, old->st_gid) < 0)
    g_debug ("%s: the new file has another owner: %s", self->display, g_strerror (errno));
  if (fchmod (self->fd, old->st_mode & 0777) < 0)
    return fail (self, "", errno, error);
  return TRUE;
}

static gboolean
open_all (AprAtomicFile *self, const char *path, GError **error)
{
  g_autofree char *target = NULL;
  gboolean replaces;
  struct stat old;

  replaces = stat (path, &old) == 0;
  if (!replaces && (errno != ENOENT || *path == '\0'))
    return fail (self, "", errno, error);
  if (replaces ? S_ISDIR (old.st_mode) : g_str_has_suffix (path, G_DIR_SEPARATOR_S))
    return fail (self, "", EISDIR, error);
  if (replaces && !S_ISREG (old.st_mode))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "%s: Not a regular file", self->display);
      return FALSE;
    }
  target = resolve (self, path, error);
  if (target == NULL || !open_folder (self, target, error))
    return FALSE;
  self->name = g_path_get_basename (target);
  /* Nobody else may read the new file before it has the mode of the old one. */
  return open_temporary (self, replaces ? 0600 : 0666, error) &&
         (!replaces || copy_attributes (self, &old, error));
}

/*
 * apr_atomic_file_open:
 * @path: (type filename): the path of the file to replace or create
 * @error: return location for an error
 *
 * Opens a new file that takes the place of @path when it is committed.
 *
 * If @path is a symbolic link, the file that it points to is replaced or created, and the link stays. A replaced file
 * keeps its mode; a created one has the mode 0666 without the umask.
 *
 * Fails if @path is anything but a regular file, or if its folder cannot be written to.
 *
 * Returns: (transfer full): the new file, to be freed by apr_atomic_file_free()
 */
AprAtomicFile *
apr_atomic_file_open (const char *path, GError **error)
{
  g_autoptr (AprAtomicFile) self = g_new0 (AprAtomicFile, 1);

  self->display = g_filename_display_name (path);
  self->fd = -1;
  return open_all (self, path, error) ? g_steal_pointer (&self) : NULL;
}

/*
 * A write beyond the limit on file sizes (ulimit -f) raises SIGXFSZ, which by default ends the program before it can
 * remove the temporary file. The kernel sends the signal to the writing thread, so this thread blocks it, and then
 * consumes it if it came. What remains is the error EFBIG. How the program handles signals is its own choice, which a
 * library must not change.
 */
static gssize
write_batch (AprAtomicFile *self, const struct iovec *batch, int n_batch, gsize size)
{
  const struct timespec at_once = { 0 };
  sigset_t signals, mask, before;
  gssize written;
  int saved_errno;

  sigemptyset (&signals);
  sigaddset (&signals, SIGXFSZ);
  sigpending (&before);
  pthread_sigmask (SIG_BLOCK, &signals, &mask);
  /* If this fails, the write fails too, or succeeds without a reservation. */
  if (size >= RESERVED_BYTES)
    (void) fallocate (self->fd, 0, self->position, (off_t) size);
  written = writev (self->fd, batch, n_batch);
  saved_errno = errno;
  /* A signal that was pending before belongs to the program. */
  if (!sigismember (&before, SIGXFSZ))
    (void) sigtimedwait (&signals, NULL, &at_once);
  pthread_sigmask (SIG_SETMASK, &mask, NULL);
  errno = saved_errno;
  return written;
}

/*
 * apr_atomic_file_write:
 * @self: an uncommitted file
 * @vectors: (array length=n_vectors): the pieces to write
 * @n_vectors: the number of pieces
 * @cancellable: (nullable): a cancellable, or `NULL`
 * @error: return location for an error
 *
 * Appends bytes to the new file.
 *
 * Returns: whether all bytes were written
 */
gboolean
apr_atomic_file_write (AprAtomicFile *self,
                       const GOutputVector *vectors,
                       gsize n_vectors,
                       GCancellable *cancellable,
                       GError **error)
{
  gsize done = 0; /* the bytes of the first vector that are written */

  while (n_vectors > 0)
    {
      struct iovec batch[BATCH_VECTORS];
      gsize size = 0;
      gsize n_batch, left;
      gssize written;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        {
          g_prefix_error (error, "%s: ", self->display);
          return FALSE;
        }
      for (n_batch = 0; n_batch < MIN (n_vectors, BATCH_VECTORS) && size < BATCH_BYTES; n_batch++)
        {
          gsize skipped = n_batch == 0 ? done : 0;

          batch[n_batch].iov_base = (char *) vectors[n_batch].buffer + skipped;
          batch[n_batch].iov_len = MIN (vectors[n_batch].size - skipped, BATCH_BYTES - size);
          size += batch[n_batch].iov_len;
        }
      written = write_batch (self, batch, (int) n_batch, size);
      if (written < 0 && errno != EINTR)
        return fail (self, "", errno, error);
      if (written == 0 && size > 0)
        return fail (self, "", ENOSPC, error);
      self->position += MAX (written, 0);
      for (left = (gsize) MAX (written, 0); n_vectors > 0 && left >= vectors->size - done;
           n_vectors--, vectors++)
        {
          left -= vectors->size - done;
          done = 0;
        }
      done += left;
    }
  return TRUE;
}

static int
flush (int fd)
{
  int result;

  do
    result = fsync (fd);
  while (result < 0 && errno == EINTR);
  return result;
}

static void
close_folder (gpointer folder_fd)
{
  close (*(int *) folder_fd);
}

/* Lets the files of one write share a descriptor of their folder. */
static void
share_folder (AprAtomicFile *self, const AprAtomicFile *neighbour)
{
  struct stat mine, theirs;

  if (self == neighbour || fstat (*self->folder_fd, &mine) != 0 ||
      fstat (*neighbour->folder_fd, &theirs) != 0 || mine.st_dev != theirs.st_dev ||
      mine.st_ino != theirs.st_ino)
    return;
  g_rc_box_release_full (self->folder_fd, close_folder);
  self->folder_fd = g_rc_box_acquire (neighbour->folder_fd);
}

/*
 * apr_atomic_file_finish:
 * @self: an uncommitted file
 * @neighbour: (nullable): another file, possibly in the same folder
 * @durable: whether to flush the bytes to the disk
 * @error: return location for an error
 *
 * Ends the writing of a file that is to be committed later, together with others, and closes the descriptors that are
 * not needed until then.
 *
 * Returns: whether everything is written
 */
gboolean
apr_atomic_file_finish (AprAtomicFile *self, const AprAtomicFile *neighbour, gboolean durable, GError **error)
{
  int fd = self->fd;

  if (durable && flush (fd) < 0)
    return fail (self, "", errno, error);
  self->fd = -1;
  if (close (fd) < 0 && errno != EINTR)
    return fail (self, "", errno, error);
  if (neighbour != NULL)
    share_folder (self, neighbour);
  return TRUE;
}

/*
 * apr_atomic_file_commit:
 * @self: an uncommitted file
 * @durable: whether to flush the file and its folder to the disk
 * @error: return location for an error
 *
 * Replaces the old file by the new one.
 *
 * If it is not durable, a power cut can leave the old file, the new one or, on some file systems, an empty one; a crash
 * of the program does no harm. If flushing the folder fails, the new file is in place nevertheless; the message says
 * so.
 *
 * Returns: whether the new file is in place and, if @durable, on the disk
 */
gboolean
apr_atomic_file_commit (AprAtomicFile *self, gboolean durable, GError **error)
{
  if (self->fd >= 0 && !apr_atomic_file_finish (self, NULL, durable, error))
    return FALSE;
  if (renameat (*self->folder_fd, self->temporary, *self->folder_fd, self->name) < 0)
    return fail (self, "", errno, error);
  g_clear_pointer (&self->temporary, g_free);
  /* Not every file system can flush a folder, and not every folder can be opened for it. */
  if (durable && flush (*self->folder_fd) < 0 && errno != EBADF && errno != EINVAL && errno != ENOTSUP)
    return fail (self, "written, but the folder could not be flushed: ", errno, error);
  return TRUE;
}

/*
 * apr_atomic_file_free:
 * @self: (transfer full): a file
 *
 * Frees the file, and removes it if it was not committed.
 */
void
apr_atomic_file_free (AprAtomicFile *self)
{
  if (self->fd >= 0)
    close (self->fd);
  if (self->temporary != NULL)
    unlinkat (*self->folder_fd, self->temporary, 0);
  if (self->folder_fd != NULL)
    g_rc_box_release_full (self->folder_fd, close_folder);
  g_free (self->temporary);
  g_free (self->name);
  g_free (self->display);
  g_free (self);
}
