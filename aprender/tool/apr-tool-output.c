/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "aprender/tool/apr-tool-interrupt.h"

/* The limit of the kernel */
#define MAX_SYMLINKS 40

/* Forgets the temporary file, which is there no more. */
static void
forget_temporary (AprToolOutput *self)
{
  if (self->temporary != NULL)
    apr_tool_interrupt_set_file (NULL);
  g_clear_pointer (&self->temporary, g_free);
}

static gboolean
fail (const char *name, int code, GError **error)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", name,
               code != 0 ? g_strerror (code) : "cannot be written");
  return FALSE;
}

gboolean
apr_tool_is_same_file (const char *input, const char *output)
{
  struct stat a;
  struct stat b;

  if (output == NULL || strcmp (output, "-") == 0 ||
      (strcmp (input, "-") == 0 ? fstat (STDIN_FILENO, &a) : stat (input, &a)) != 0 || stat (output, &b) != 0)
    return FALSE;

  return S_ISREG (a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

const char *
apr_tool_find_same_file (char **paths)
{
  g_autoptr (GHashTable) files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  struct stat status;

  for (; *paths != NULL; paths++)
    if (stat (*paths, &status) == 0 && S_ISREG (status.st_mode) &&
        !g_hash_table_add (files, g_strdup_printf ("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT,
                                                   (guint64) status.st_dev, (guint64) status.st_ino)))
      return *paths;

  return NULL;
}

/* Writes out what a stream still holds. */
gboolean
apr_tool_flush (FILE *stream, const char *name, GError **error)
{
  gboolean failed = ferror (stream) != 0;

  errno = 0;
  if (fflush (stream) == 0 && !failed)
    return TRUE;

  return fail (name, errno, error);
}

/* The descriptor of this program that a path such as /proc/self/fd/1 names; -1 of any other path. To open it anew would
 * write over what a file has from others, also where they append, and sockets cannot be opened. */
static int
find_descriptor (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *number = g_path_get_basename (path);
  g_autofree char *found = realpath (folder, NULL);
  g_autofree char *own = realpath ("/proc/self/fd", NULL);
  guint64 fd;

  return own != NULL && g_strcmp0 (found, own) == 0 &&
             g_ascii_string_to_unsigned (number, 10, 0, G_MAXINT, &fd, NULL)
         ? (int) fd
         : -1;
}

/* Follows symbolic links to the file to replace, which need not exist, or to a descriptor of this program. Where they
 * go in a circle, stat() fails, too. */
static char *
resolve (const char *path, int *fd)
{
  char *current = g_strdup (path);
  guint n_links;

  for (n_links = 0; (*fd = find_descriptor (current)) < 0 && n_links <= MAX_SYMLINKS; n_links++)
    {
      g_autofree char *target = g_file_read_link (current, NULL);
      g_autofree char *before = current;
      g_autofree char *folder = g_path_get_dirname (before);

      if (target == NULL)
        return g_steal_pointer (&before);
      current = g_path_is_absolute (target) ? g_strdup (target) : g_build_filename (folder, target, NULL);
    }

  return current;
}

gboolean
apr_tool_is_descriptor (const char *path)
{
  int fd;
  g_autofree char *resolved G_GNUC_UNUSED = resolve (path, &fd);

  return fd >= 0;
}

gboolean
apr_tool_output_check (const char *path, GError **error)
{
  g_autofree char *name = NULL;
  g_autofree char *resolved = NULL;
  g_autofree char *folder = NULL;
  g_autofree char *inside = NULL;
  struct stat status;
  int fd;

  if (path == NULL || strcmp (path, "-") == 0)
    return TRUE;

  name = g_filename_display_name (path);
  resolved = resolve (path, &fd);
  folder = g_path_get_dirname (resolved);
  inside = g_build_filename (folder, ".", NULL);
  if (stat (path, &status) == 0)
    {
      if (S_ISDIR (status.st_mode))
        return fail (name, EISDIR, error);
      if (!S_ISREG (status.st_mode))
        return TRUE;
    }

  return fd >= 0 || access (inside, W_OK | X_OK) == 0 || fail (name, errno, error);
}

static int
open_temporary (AprToolOutput *self, int mode)
{
  int fd;

  self->temporary = g_strdup_printf ("%s.XXXXXX", self->path);
  /* Before it is there, so that it is never left behind. */
  apr_tool_interrupt_set_file (self->temporary);
  fd = g_mkstemp_full (self->temporary, O_WRONLY | O_CLOEXEC, mode);
  if (fd < 0)
    forget_temporary (self);

  return fd;
}

/* Copies the mode of the old file, and its owner and group where that is allowed. */
static gboolean
copy_attributes (int fd, const GStatBuf *old)
{
  if (fchown (fd, old->st_uid, old->st_gid) != 0 && fchown (fd, (uid_t) -1, old->st_gid) != 0)
    g_debug ("the new file has another owner: %s", g_strerror (errno));

  return fchmod (fd, old->st_mode & 0777) == 0;
}

gboolean
apr_tool_output_open (AprToolOutput *self, const char *path, GError **error)
{
  GStatBuf old;
  gboolean exists;
  int fd;

  if (path == NULL || strcmp (path, "-") == 0)
    {
      self->stream = stdout;
      self->name = g_strdup ("standard output");
      return TRUE;
    }

  self->name = g_filename_display_name (path);
  self->path = resolve (path, &fd);
  exists = g_stat (path, &old) == 0;
  if (fd >= 0)
    fd = fcntl (fd, F_DUPFD_CLOEXEC, 0);
  else if (!exists && errno != ENOENT)
    return fail (self->name, errno, error);
  /* A pipe or a device, or a file that has no path: such links are in /proc only. */
  else if (exists && !apr_tool_is_same_file (path, self->path))
    fd = g_open (path, O_WRONLY | O_TRUNC | O_CLOEXEC, 0);
  /* Nobody else may read the new file before it has the mode of the old one. */
  else
    fd = open_temporary (self, exists ? 0600 : 0666);
  self->stream = fd >= 0 ? fdopen (fd, "w") : NULL;

  return (self->stream != NULL && (self->temporary == NULL || !exists || copy_attributes (fd, &old))) ||
         fail (self->name, errno, error);
}

gboolean
apr_tool_output_close (AprToolOutput *self, GError **error)
{
  FILE *stream = g_steal_pointer (&self->stream);

  if (stream == stdout)
    return apr_tool_flush (stream, self->name, error);
  if (!apr_tool_flush (stream, self->name, error))
    {
      fclose (stream);
      return FALSE;
    }
  if (fclose (stream) != 0 || (self->temporary != NULL && g_rename (self->temporary, self->path) != 0))
    return fail (self->name, errno, error);
  forget_temporary (self);

  return TRUE;
}

void
apr_tool_output_clear (AprToolOutput *self)
{
  if (self->stream != NULL && self->stream != stdout)
    fclose (self->stream);
  self->stream = NULL;
  if (self->temporary != NULL)
    g_unlink (self->temporary);
  forget_temporary (self);
  g_clear_pointer (&self->path, g_free);
  g_clear_pointer (&self->name, g_free);
}
