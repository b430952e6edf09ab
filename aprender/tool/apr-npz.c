/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-npz.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>
#include <glib/gstdio.h>

#include "aprender/tool/apr-npy.h"

#define SUFFIX ".npy"
#define BLOCK_SIZE (64 * 1024)
#define EMPTY_SIZE 22
#define FIRST_TIME 315532800 /* 1980, where the times of zip begin: the same file each time */
/* Zip has 16 bits for the length of a file's name. libarchive does not check that: at 65,536 bytes the archive is
 * broken, and from 65,537 on it writes beyond its memory. */
#define MAX_NAME (G_MAXUINT16 - (guint) (sizeof SUFFIX - 1))
#define MAX_SHOWN 40

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
static locale_t
enter_utf8 (void)
{
  locale_t locale = newlocale (LC_CTYPE_MASK, "C.UTF-8", (locale_t) 0);

  return locale != (locale_t) 0 ? uselocale (locale) : (locale_t) 0;
}

static void
leave_utf8 (locale_t before)
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

/* The name of an array that no file before it has, or %NULL with an error. */
static char *
add_array_name (GHashTable *names, struct archive_entry *entry, GError **error)
{
  const char *path = archive_entry_pathname_utf8 (entry);
  char *name;

  if (path == NULL || !g_utf8_validate (path, -1, NULL))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "file number %u in it has no name in UTF-8",
                   g_hash_table_size (names) + 1);
      return NULL;
    }
  if (!g_str_has_suffix (path, SUFFIX))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                   "the file “%s” in it has no name that ends with .npy", path);
      return NULL;
    }
  name = g_strndup (path, strlen (path) - strlen (SUFFIX));
  if (g_hash_table_contains (names, name))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "two arrays in it are called “%s”", name);
      g_free (name);
      return NULL;
    }
  g_hash_table_add (names, name);

  return name;
}

static gboolean
read_arrays (
  struct archive *archive, const char *wanted, GPtrArray *names, GPtrArray *tensors, GError **error)
{
  g_autoptr (GHashTable) all_names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  struct archive_entry *entry;
  int status;

  while ((status = archive_read_next_header (archive, &entry)) == ARCHIVE_OK || status == ARCHIVE_WARN)
    {
      const char *name = add_array_name (all_names, entry, error);
      AprTensor *tensor;

      if (name == NULL)
        return FALSE;
      if (wanted != NULL && strcmp (name, wanted) != 0)
        continue;
      /* A warning is of sizes or a checksum that differ from those in the directory. */
      if (status == ARCHIVE_WARN)
        fail (archive, error);
      tensor = status == ARCHIVE_OK ? apr_npy_read (read_entry, archive, error) : NULL;
      if (tensor == NULL)
        {
          g_prefix_error (error, "“%s”: ", name);
          return FALSE;
        }
      g_ptr_array_add (names, g_strdup (name));
      g_ptr_array_add (tensors, tensor);
    }
  if (status != ARCHIVE_EOF)
    return fail (archive, error);
  if (g_hash_table_size (all_names) > 0)
    return TRUE;

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "its directory cannot be read");
  return FALSE;
}

/* Whether this is a zip file of no files, only the record that ends a directory: libarchive does not recognize it. */
static gboolean
is_empty (int fd)
{
  char record[EMPTY_SIZE + 1];

  return pread (fd, record, sizeof record, 0) == EMPTY_SIZE && memcmp (record, "PK\5\6", 4) == 0;
}

gboolean
apr_npz_read (const char *path, const char *wanted, GPtrArray *names, GPtrArray *tensors, GError **error)
{
  int fd = g_open (path, O_RDONLY | O_CLOEXEC, 0);
  struct archive *archive;
  locale_t before;
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
  if (is_empty (fd))
    ok = TRUE;
  else
    ok = archive_read_open_fd (archive, fd, BLOCK_SIZE) == ARCHIVE_OK
         ? read_arrays (archive, wanted, names, tensors, error)
         : fail (archive, error);
  archive_read_free (archive);
  leave_utf8 (before);
  g_close (fd, NULL);

  return ok;
}

gboolean
apr_npz_check_name (const char *name, GError **error)
{
  gsize length = strlen (name);
  g_autofree char *valid = g_utf8_make_valid (name, -1);
  g_autofree char *composed = g_utf8_normalize (valid, -1, G_NORMALIZE_NFC);
  g_autofree char *reason = NULL;
  g_autofree char *start = NULL;
  gboolean is_short = g_utf8_strlen (valid, -1) <= MAX_SHOWN;

  if (strcmp (valid, name) != 0)
    reason = g_strdup ("it is not UTF-8");
  else if (length > MAX_NAME)
    reason = g_strdup_printf ("it has %" G_GSIZE_FORMAT " bytes, more than %u", length, MAX_NAME);
  else if (strchr (name, '\\') != NULL)
    reason = g_strdup ("it would be read with / for \\");
  else if (strcmp (composed, name) != 0)
    reason = g_strdup ("it is not in Unicode's composed form (NFC)");
  else
    return TRUE;

  start = g_utf8_substring (valid, 0, is_short ? -1 : MAX_SHOWN);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_FILENAME,
               "the tensor “%s%s” cannot have its name in .npz: %s", start, is_short ? "" : "…", reason);
  return FALSE;
}

static la_ssize_t
write_block (struct archive *archive, void *data, const void *block, size_t size)
{
  AprNpzWriter *self = data;

  if (self->stream == NULL || fwrite (block, 1, size, self->stream) == size)
    return (la_ssize_t) size;

  archive_set_error (archive, errno, "%s", g_strerror (errno));
  return -1;
}

/* What fails here makes all that follows fail, with the same error. */
void
apr_npz_writer_init (AprNpzWriter *self, FILE *stream)
{
  locale_t before = enter_utf8 ();

  self->stream = stream;
  self->archive = archive_write_new ();
  archive_write_set_format_zip (self->archive);
  archive_write_set_options (self->archive, "zip:compression=store,zip:hdrcharset=UTF-8");
  /* No zeros behind the end. */
  archive_write_set_bytes_in_last_block (self->archive, 1);
  archive_write_open (self->archive, self, NULL, write_block, NULL);
  leave_utf8 (before);
}

/* libarchive takes at most %G_MAXINT bytes at once. */
static gboolean
write_bytes (struct archive *archive, GBytes *bytes, GError **error)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  while (size > 0)
    {
      la_ssize_t n = archive_write_data (archive, data, size);

      if (n <= 0)
        return fail (archive, error);
      data += n;
      size -= (gsize) n;
    }

  return TRUE;
}

static gboolean
write_entry (struct archive *archive, const char *name, gsize size, GError **error)
{
  struct archive_entry *entry = archive_entry_new ();
  g_autofree char *path = g_strconcat (name, SUFFIX, NULL);
  locale_t before = enter_utf8 ();
  int status;

  archive_entry_set_pathname_utf8 (entry, path);
  archive_entry_set_filetype (entry, AE_IFREG);
  archive_entry_set_perm (entry, 0644);
  archive_entry_set_mtime (entry, FIRST_TIME, 0);
  archive_entry_set_size (entry, (la_int64_t) size);
  status = archive_write_header (archive, entry);
  archive_entry_free (entry);
  leave_utf8 (before);

  return status == ARCHIVE_OK || fail (archive, error);
}

gboolean
apr_npz_writer_add (AprNpzWriter *self, const char *name, AprTensor *tensor, GError **error)
{
  g_autoptr (GBytes) header = apr_npy_make_header (tensor, error);
  GBytes *data = apr_tensor_get_bytes (tensor);

  if (header == NULL)
    {
      g_prefix_error (error, "the tensor “%s”: ", name);
      return FALSE;
    }

  return write_entry (self->archive, name, g_bytes_get_size (header) + g_bytes_get_size (data), error) &&
         write_bytes (self->archive, header, error) && write_bytes (self->archive, data, error);
}

gboolean
apr_npz_writer_finish (AprNpzWriter *self, GError **error)
{
  return archive_write_close (self->archive) == ARCHIVE_OK || fail (self->archive, error);
}

void
apr_npz_writer_clear (AprNpzWriter *self)
{
  /* libarchive ends an archive that is not finished, so that it looks like a whole one: this goes nowhere. */
  self->stream = NULL;
  g_clear_pointer (&self->archive, archive_write_free);
}
