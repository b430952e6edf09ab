/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gio/gunixinputstream.h>
#include <glib/gstdio.h>

#include "aprender/tool/apr-tool-text.h"

AprTableReader *
apr_table_open (const char *path, const AprTableOptions *options, GError **error)
{
  gboolean standard_input = strcmp (path, "-") == 0;
  g_autofree char *name = standard_input ? g_strdup ("standard input") : g_filename_display_name (path);
  AprTableReader *reader;

  if (standard_input)
    {
      g_autoptr (GInputStream) stream = g_unix_input_stream_new (STDIN_FILENO, FALSE);

      reader = apr_table_reader_new (stream, name);
    }
  else
    {
      /* Not by GFile, which would make the path in messages absolute. */
      int fd = g_open (path, O_RDONLY | O_CLOEXEC, 0);
      struct stat status;
      int code = fd < 0 ? errno : fstat (fd, &status) == 0 && S_ISDIR (status.st_mode) ? EISDIR : 0;
      g_autoptr (GInputStream) stream = NULL;

      if (code != 0)
        {
          g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", name, g_strerror (code));
          if (fd >= 0)
            g_close (fd, NULL);
          return NULL;
        }
      stream = g_unix_input_stream_new (fd, TRUE);
      reader = apr_table_reader_new (stream, name);
    }

  apr_table_reader_set_delimiter (reader,
                                  g_strcmp0 (options->delimiter, "tab") == 0 ? "\t" : options->delimiter);
  apr_table_reader_set_decimal_comma (reader, options->decimal_comma);
  apr_table_reader_set_drop_missing (reader, options->drop_missing);

  return reader;
}

void
apr_table_report_dropped (AprTableReader *reader)
{
  g_autofree char *name = apr_tool_escape (apr_table_reader_get_name (reader));
  guint64 n_dropped = apr_table_reader_get_n_dropped (reader);

  if (n_dropped == 0)
    return;
  fflush (stdout);
  fprintf (stderr,
           "aprender: %s: passed over %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
           " rows, which miss a number\n",
           name, n_dropped, n_dropped + apr_table_reader_get_n_rows (reader));
}

void
apr_table_options_clear (AprTableOptions *options)
{
  g_clear_pointer (&options->delimiter, g_free);
}
