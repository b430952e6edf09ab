/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-npz.h"

#ifdef APR_NPZ

# include <errno.h>
# include <fcntl.h>
# include <locale.h>
# include <string.h>

# include <archive.h>
# include <archive_entry.h>
# include <glib/gstdio.h>

# include "aprender/tool/apr-npy.h"

# define SUFFIX ".npy"
# define BLOCK_SIZE (64 * 1024)

/* What libarchive found in a file has EILSEQ or no number, and a message; of what the system refused it says only which
 * number of a file. */
static gboolean
fail (struct archive *archive, GError **error)
{
  int code = archive_errno (archive);
  const char *message = archive_error_string (archive);

  if (code > 0 && code != EILSEQ)
    g_set_error_literal (error, G_IO_ERROR, g_io_error_from_errno (code), g_strerror (code));
  else
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                         message != NULL ? message : "a zip file failed");
  return FALSE;
}

/* libarchive takes names from UTF-8 to the character set of the thread's locale, also where it is asked for UTF-8. */
typedef locale_t Utf8Locale;

static Utf8Locale
enter_utf8 (void)
{
  locale_t locale = newlocale (LC_CTYPE_MASK, "C.UTF-8", (locale_t) 0);

  return locale != (locale_t) 0 ? uselocale (locale) : (locale_t) 0;
}

static void
leave_utf8 (Utf8Locale before)
{
  if (before != (locale_t) 0)
    freelocale (uselocale (before));
}

static gboolean
read_entry (gpointer source, gpointer buffer, gsize size, gsize *n_read, GError **error)
{
  *n_read = 0;
  while (*n_read < size)
    {
      la_ssize_t n = archive_read_data (source, (char *) buffer + *n_read, size - *n_read);

      if (n < 0)
        return fail (source, error);
      if (n == 0)
        break;
      *n_read += (gsize) n;
    }

  return TRUE;
}

/* The name of an array, or %NULL where the entry is none. */
static char *
get_array_name (struct archive_entry *entry)
{
  const char *name = archive_entry_pathname_utf8 (entry);

  if (name == NULL || !g_utf8_validate (name, -1, NULL) || !g_str_has_suffix (name, SUFFIX))
    return NULL;

  return g_strndup (name, strlen (name) - strlen (SUFFIX));
}

static gboolean
read_arrays (struct archive *archive, GPtrArray *names, GPtrArray *tensors, GError **error)
{
  struct archive_entry *entry;
  int status;

  while ((status = archive_read_next_header (archive, &entry)) == ARCHIVE_OK || status == ARCHIVE_WARN)
    {
      g_autofree char *name = get_array_name (entry);
      AprTensor *tensor;

      if (name == NULL)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                       "a file in it has no name in UTF-8 that ends with .npy");
          return FALSE;
        }
      tensor = apr_npy_read (read_entry, archive, error);
      if (tensor == NULL)
        {
          g_prefix_error (error, "“%s”: ", name);
          return FALSE;
        }
      g_ptr_array_add (names, g_steal_pointer (&name));
      g_ptr_array_add (tensors, tensor);
    }

  return status == ARCHIVE_EOF || fail (archive, error);
}

gboolean
apr_npz_read (const char *path, GPtrArray *names, GPtrArray *tensors, GError **error)
{
  int fd = g_open (path, O_RDONLY | O_CLOEXEC, 0);
  struct archive *archive;
  Utf8Locale before;
  gboolean ok;

  if (fd < 0)
    {
      int code = errno;

      g_set_error_literal (error, G_IO_ERROR, g_io_error_from_errno (code), g_strerror (code));
      return FALSE;
    }

  archive = archive_read_new ();
  before = enter_utf8 ();
  archive_read_support_format_zip_seekable (archive);
  archive_read_set_options (archive, "zip:hdrcharset=UTF-8");
  ok = archive_read_open_fd (archive, fd, BLOCK_SIZE) == ARCHIVE_OK
       ? read_arrays (archive, names, tensors, error)
       : fail (archive, error);
  archive_read_free (archive);
  leave_utf8 (before);
  g_close (fd, NULL);

  return ok;
}

static gboolean
write_array (struct archive *archive, const char *name, AprTensor *tensor, GError **error)
{
  struct archive_entry *entry;
  g_autoptr (GBytes) header = apr_npy_make_header (tensor, error);
  g_autofree char *path = g_strconcat (name, SUFFIX, NULL);
  gsize header_size;
  gsize size;
  gconstpointer header_data;
  gconstpointer data;
  gboolean ok;

  if (header == NULL)
    {
      g_prefix_error (error, "the tensor “%s”: ", name);
      return FALSE;
    }
  header_data = g_bytes_get_data (header, &header_size);
  data = g_bytes_get_data (apr_tensor_get_bytes (tensor), &size);

  entry = archive_entry_new ();
  archive_entry_set_pathname_utf8 (entry, path);
  archive_entry_set_filetype (entry, AE_IFREG);
  archive_entry_set_perm (entry, 0644);
  archive_entry_set_mtime (entry, 315532800,
                           0); /* 1980, where the times of zip begin: the same file each time */
  archive_entry_set_size (entry, (la_int64_t) (header_size + size));
  ok = archive_write_header (archive, entry) == ARCHIVE_OK &&
       archive_write_data (archive, header_data, header_size) == (la_ssize_t) header_size &&
       (size == 0 || archive_write_data (archive, data, size) == (la_ssize_t) size);
  archive_entry_free (entry);

  return ok || fail (archive, error);
}

gboolean
apr_npz_write (FILE *stream, GPtrArray *names, GPtrArray *tensors, GError **error)
{
  struct archive *archive = archive_write_new ();
  Utf8Locale before = enter_utf8 ();
  gboolean ok = TRUE;
  guint i;

  archive_write_set_format_zip (archive);
  archive_write_set_options (archive, "zip:compression=store,zip:hdrcharset=UTF-8");
  ok = archive_write_open_FILE (archive, stream) == ARCHIVE_OK || fail (archive, error);
  for (i = 0; ok && i < names->len; i++)
    ok = write_array (archive, g_ptr_array_index (names, i), g_ptr_array_index (tensors, i), error);
  ok = ok && (archive_write_close (archive) == ARCHIVE_OK || fail (archive, error));
  archive_write_free (archive);
  leave_utf8 (before);

  return ok;
}

#else

static gboolean
fail (GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               "aprender was built without libarchive, for .npz");
  return FALSE;
}

gboolean
apr_npz_read (const char *path, GPtrArray *names, GPtrArray *tensors, GError **error)
{
  return fail (error);
}

gboolean
apr_npz_write (FILE *stream, GPtrArray *names, GPtrArray *tensors, GError **error)
{
  return fail (error);
}

#endif
