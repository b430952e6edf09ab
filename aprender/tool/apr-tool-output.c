/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "aprender/tool/apr-tool-interrupt.h"

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

gboolean
apr_tool_output_open (AprToolOutput *self, const char *path, GError **error)
{
  GStatBuf status;
  int fd;

  if (path == NULL || strcmp (path, "-") == 0)
    {
      self->stream = stdout;
      self->name = g_strdup ("standard output");
      return TRUE;
    }

  self->path = g_strdup (path);
  self->name = g_filename_display_name (path);
  if (g_stat (path, &status) != 0 || S_ISREG (status.st_mode))
    {
      self->temporary = g_strdup_printf ("%s.XXXXXX", path);
      /* Before it is there, so that it is never left behind. */
      apr_tool_interrupt_set_file (self->temporary);
      fd = g_mkstemp_full (self->temporary, O_WRONLY | O_CLOEXEC, 0666);
      if (fd < 0)
        forget_temporary (self);
    }
  else
    fd = g_open (path, O_WRONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return fail (self->name, errno, error);
  self->stream = fdopen (fd, "w");

  return self->stream != NULL || fail (self->name, errno, error);
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
