/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-npz.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <gio/gunixinputstream.h>
#include <glib/gstdio.h>

#include "aprender/tool/apr-npy.h"

/* The records of a zip file: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 *
 * Each file in it stands behind a local header; then comes the directory, with an entry for each, and its end. Numbers
 * that are too large for their place, which then is all ones, are in Zip64's extra field of a header or an entry, or in
 * Zip64's end, which a locator names. */
#define ZIP_LOCAL 0x04034b50u
#define ZIP_ENTRY 0x02014b50u
#define ZIP_END 0x06054b50u
#define ZIP_END64 0x06064b50u
#define ZIP_LOCATOR64 0x07064b50u
#define ZIP_EXTRA64 1u

#define ZIP_LOCAL_SIZE 30u
#define ZIP_ENTRY_SIZE 46u
#define ZIP_END_SIZE 22u
#define ZIP_END64_SIZE 56u
#define ZIP_LOCATOR64_SIZE 20u
#define ZIP_MAX_COMMENT 65535u

#define ZIP_FLAG_ENCRYPTED (1u << 0)
#define ZIP_FLAG_UTF8 (1u << 11)
#define ZIP_STORED 0u
#define ZIP_DEFLATED 8u
#define ZIP_UNIX (3u << 8)
#define ZIP_VERSION 20u
#define ZIP_VERSION64 45u
#define ZIP_FIRST_DATE 0x21u /* 1980-01-01, so that the same tensors make the same file */
#define ZIP_PLAIN_FILE (0100644u << 16)

#define SUFFIX ".npy"
#define MAX_NAME (65535u - (guint) (sizeof SUFFIX - 1))
#define SHOWN_OF_NAME 40

/* What the directory says of a file in the archive. */
typedef struct
{
  char *name; /* of the array, where it is written */
  guint flags;
  guint method;
  guint32 crc;
  guint64 stored_size;
  guint64 size;
  guint64 offset;
} Entry;

/* A file of the archive that is being read. */
typedef struct
{
  GInputStream *stream;
  guint64 left;
  guint32 crc;
} Member;

/* Goes on with a checksum that began with 0. */
static guint32
update_crc (guint32 crc, gconstpointer bytes, gsize size)
{
  static guint32 table[256];
  const guint8 *p = bytes;
  guint32 i;
  guint bit;

  for (i = 0; table[255] == 0; i++)
    {
      table[i] = i;
      for (bit = 0; bit < 8; bit++)
        table[i] = table[i] >> 1 ^ ((table[i] & 1) != 0 ? 0xedb88320u : 0);
    }
  for (crc = ~crc; size > 0; size--)
    crc = crc >> 8 ^ table[(crc ^ *p++) & 0xff];

  return ~crc;
}

static gboolean
refuse (GError **error, const char *message)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "not a zip file that can be read: %s", message);
  return FALSE;
}

static gboolean
fail_errno (GError **error)
{
  int code = errno;

  g_set_error_literal (error, G_IO_ERROR, g_io_error_from_errno (code), g_strerror (code));
  return FALSE;
}

static guint64
load (const guint8 *bytes, guint n_bytes)
{
  guint64 value = 0;

  while (n_bytes-- > 0)
    value = value << 8 | bytes[n_bytes];

  return value;
}

static gboolean
read_at (int fd, guint64 offset, guint8 *buffer, gsize size, GError **error)
{
  gsize n_read = 0;

  while (n_read < size)
    {
      gssize n = offset > G_MAXINT64 - size
                 ? 0
                 : pread (fd, buffer + n_read, size - n_read, (off_t) (offset + n_read));

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return fail_errno (error);
      if (n == 0)
        return refuse (error, "it ends too early");
      n_read += (gsize) n;
    }

  return TRUE;
}

/* Finds the directory by the record at the end, behind which a comment may stand. */
static gboolean
find_directory (int fd, guint64 *offset, guint64 *size, GError **error)
{
  off_t end = lseek (fd, 0, SEEK_END);
  guint8 record[ZIP_END64_SIZE];
  g_autofree guint8 *tail = g_malloc (ZIP_LOCATOR64_SIZE + ZIP_END_SIZE + ZIP_MAX_COMMENT);
  gsize length;
  gsize i;

  if (end < 0)
    return fail_errno (error);
  length = (gsize) MIN ((guint64) end, ZIP_LOCATOR64_SIZE + ZIP_END_SIZE + ZIP_MAX_COMMENT);
  if (!read_at (fd, (guint64) end - length, tail, length, error))
    return FALSE;
  for (i = length < ZIP_END_SIZE ? 0 : length - ZIP_END_SIZE + 1; i-- > 0;)
    if (load (tail + i, 4) == ZIP_END && load (tail + i + 20, 2) == length - i - ZIP_END_SIZE)
      break;
  if (i == G_MAXSIZE)
    return refuse (error, "it has no directory");

  *size = load (tail + i + 12, 4);
  *offset = load (tail + i + 16, 4);
  if (i < ZIP_LOCATOR64_SIZE || load (tail + i - ZIP_LOCATOR64_SIZE, 4) != ZIP_LOCATOR64)
    return TRUE;
  if (!read_at (fd, load (tail + i - ZIP_LOCATOR64_SIZE + 8, 8), record, sizeof record, error))
    return FALSE;
  *size = load (record + 40, 8);
  *offset = load (record + 48, 8);

  return load (record, 4) == ZIP_END64 || refuse (error, "its Zip64 end is none");
}

static guint8 *
read_directory (int fd, gsize *size, GError **error)
{
  guint64 offset;
  guint64 n_bytes;
  g_autofree guint8 *directory = NULL;

  if (!find_directory (fd, &offset, &n_bytes, error))
    return NULL;
  if (n_bytes > (guint64) lseek (fd, 0, SEEK_END))
    {
      refuse (error, "its directory is longer than all of it");
      return NULL;
    }
  directory = g_try_malloc (MAX ((gsize) n_bytes, 1));
  if (directory == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                   "There is no memory for a directory of %" G_GUINT64_FORMAT " bytes", n_bytes);
      return NULL;
    }
  if (!read_at (fd, offset, directory, (gsize) n_bytes, error))
    return NULL;
  *size = (gsize) n_bytes;

  return g_steal_pointer (&directory);
}

/* The Zip64 extra field has those numbers that are too large for the record, in this order. */
static gboolean
parse_extra (Entry *self, const guint8 *extra, gsize length)
{
  guint64 *const numbers[] = { &self->size, &self->stored_size, &self->offset };
  gsize field;
  guint i;

  for (; length >= 4; extra += 4 + field, length -= 4 + field)
    {
      const guint8 *value = extra + 4;
      gsize left = field = load (extra + 2, 2);

      if (field > length - 4)
        return FALSE;
      for (i = 0; load (extra, 2) == ZIP_EXTRA64 && i < G_N_ELEMENTS (numbers); i++)
        if (*numbers[i] == G_MAXUINT32)
          {
            if (left < 8)
              return FALSE;
            *numbers[i] = load (value, 8);
            value += 8;
            left -= 8;
          }
    }

  return TRUE;
}

/* Takes the next entry of the directory, of which @path is not terminated. */
static gboolean
parse_entry (Entry *self, const guint8 **bytes, gsize *length, const char **path, gsize *path_length)
{
  const guint8 *entry = *bytes;
  gsize extra_length;
  gsize size;

  if (*length < ZIP_ENTRY_SIZE || load (entry, 4) != ZIP_ENTRY)
    return FALSE;
  *path_length = load (entry + 28, 2);
  extra_length = load (entry + 30, 2);
  size = ZIP_ENTRY_SIZE + *path_length + extra_length + load (entry + 32, 2);
  if (size > *length)
    return FALSE;
  self->flags = (guint) load (entry + 8, 2);
  self->method = (guint) load (entry + 10, 2);
  self->crc = (guint32) load (entry + 16, 4);
  self->stored_size = load (entry + 20, 4);
  self->size = load (entry + 24, 4);
  self->offset = load (entry + 42, 4);
  *path = (const char *) entry + ZIP_ENTRY_SIZE;
  *bytes += size;
  *length -= size;

  return parse_extra (self, entry + ZIP_ENTRY_SIZE + *path_length, extra_length);
}

static gboolean
read_member (gpointer source, gpointer buffer, gsize size, gsize *n_read, GError **error)
{
  Member *self = source;

  if (!g_input_stream_read_all (self->stream, buffer, MIN (size, self->left), n_read, NULL, error))
    return FALSE;
  self->crc = update_crc (self->crc, buffer, *n_read);
  self->left -= *n_read;

  return TRUE;
}

/* The stream may go on behind the file: it has as many bytes as the directory says. */
static GInputStream *
open_member (int fd, const Entry *entry, GError **error)
{
  guint8 local[ZIP_LOCAL_SIZE];
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (GConverter) inflate = NULL;
  guint64 offset;

  if ((entry->flags & ZIP_FLAG_ENCRYPTED) != 0)
    {
      refuse (error, "it is encrypted");
      return NULL;
    }
  if (entry->method != ZIP_STORED && entry->method != ZIP_DEFLATED)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                   "the method of compression %u cannot be read, only 0 and 8 can", entry->method);
      return NULL;
    }
  if (!read_at (fd, entry->offset, local, sizeof local, error))
    return NULL;
  if (load (local, 4) != ZIP_LOCAL)
    {
      refuse (error, "its directory names a place where no file begins");
      return NULL;
    }
  offset = entry->offset + sizeof local + load (local + 26, 2) + load (local + 28, 2);
  if (lseek (fd, (off_t) offset, SEEK_SET) < 0)
    {
      fail_errno (error);
      return NULL;
    }

  stream = g_unix_input_stream_new (fd, FALSE);
  if (entry->method == ZIP_STORED)
    return g_steal_pointer (&stream);
  inflate = G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW));

  return g_converter_input_stream_new (stream, inflate);
}

static AprTensor *
read_array (int fd, const Entry *entry, GError **error)
{
  g_autoptr (GInputStream) stream = open_member (fd, entry, error);
  Member member = { stream, entry->size, 0 };
  g_autoptr (AprTensor) tensor = stream != NULL ? apr_npy_read (read_member, &member, error) : NULL;

  if (tensor != NULL && (member.left > 0 || member.crc != entry->crc))
    {
      refuse (error, "its checksum is wrong");
      return NULL;
    }

  return g_steal_pointer (&tensor);
}

/* The name of an array, or %NULL with an error where the file of this path is none. */
static char *
get_array_name (const char *path, gsize length, GError **error)
{
  const gsize suffix = strlen (SUFFIX);

  if (!g_utf8_validate (path, (gssize) length, NULL) || length < suffix ||
      memcmp (path + length - suffix, SUFFIX, suffix) != 0)
    {
      g_autofree char *shown = g_utf8_make_valid (path, (gssize) length);

      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                   "the file “%s” in it has no name in UTF-8 that ends with .npy", shown);
      return NULL;
    }

  return g_strndup (path, length - suffix);
}

static gboolean
read_arrays (int fd, const char *wanted, GPtrArray *names, GPtrArray *tensors, GError **error)
{
  gsize length;
  g_autofree guint8 *directory = read_directory (fd, &length, error);
  const guint8 *rest = directory;

  if (directory == NULL)
    return FALSE;
  while (length > 0)
    {
      Entry entry = { NULL };
      const char *path;
      gsize path_length;
      g_autofree char *name = NULL;
      AprTensor *tensor;

      if (!parse_entry (&entry, &rest, &length, &path, &path_length))
        return refuse (error, "its directory is broken");
      name = get_array_name (path, path_length, error);
      if (name == NULL)
        return FALSE;
      if (wanted != NULL && strcmp (name, wanted) != 0)
        continue;
      tensor = read_array (fd, &entry, error);
      if (tensor == NULL)
        {
          g_prefix_error (error, "“%s”: ", name);
          return FALSE;
        }
      g_ptr_array_add (names, g_steal_pointer (&name));
      g_ptr_array_add (tensors, tensor);
    }

  return TRUE;
}

gboolean
apr_npz_read (const char *path, const char *wanted, GPtrArray *names, GPtrArray *tensors, GError **error)
{
  int fd = g_open (path, O_RDONLY | O_CLOEXEC, 0);
  gboolean ok;

  if (fd < 0)
    return fail_errno (error);
  ok = read_arrays (fd, wanted, names, tensors, error);
  g_close (fd, NULL);

  return ok;
}

static void
entry_free (gpointer data)
{
  Entry *self = data;

  g_free (self->name);
  g_free (self);
}

void
apr_npz_writer_init (AprNpzWriter *self, FILE *stream)
{
  self->stream = stream;
  self->position = 0;
  self->entries = g_ptr_array_new_with_free_func (entry_free);
}

void
apr_npz_writer_clear (AprNpzWriter *self)
{
  g_clear_pointer (&self->entries, g_ptr_array_unref);
}

static gboolean
put (AprNpzWriter *self, gconstpointer bytes, gsize size, GError **error)
{
  if (size > 0 && fwrite (bytes, 1, size, self->stream) < size)
    return fail_errno (error);
  self->position += size;

  return TRUE;
}

static void
append (GByteArray *record, guint64 value, guint n_bytes)
{
  for (; n_bytes > 0; n_bytes--, value >>= 8)
    {
      guint8 byte = value & 0xff;

      g_byte_array_append (record, &byte, 1);
    }
}

/* The local header of a file, or its entry in the directory, which has the same fields between others. */
static gboolean
put_header (AprNpzWriter *self, const Entry *entry, gboolean in_directory, GError **error)
{
  g_autoptr (GByteArray) record = g_byte_array_new ();
  gboolean is_large = entry->size >= G_MAXUINT32 || entry->offset >= G_MAXUINT32;
  gsize length = strlen (entry->name);
  guint extra = in_directory ? 24 : 16;

  append (record, in_directory ? ZIP_ENTRY : ZIP_LOCAL, 4);
  if (in_directory)
    append (record, ZIP_UNIX | ZIP_VERSION64, 2);
  append (record, is_large ? ZIP_VERSION64 : ZIP_VERSION, 2);
  append (record, ZIP_FLAG_UTF8, 2);
  append (record, ZIP_STORED, 2);
  append (record, 0, 2); /* the time */
  append (record, ZIP_FIRST_DATE, 2);
  append (record, entry->crc, 4);
  append (record, is_large ? G_MAXUINT32 : entry->size, 4);
  append (record, is_large ? G_MAXUINT32 : entry->size, 4);
  append (record, length + strlen (SUFFIX), 2);
  append (record, is_large ? 4 + extra : 0, 2);
  if (in_directory)
    {
      append (record, 0, 6); /* no comment, the first disk, nothing known of the contents */
      append (record, ZIP_PLAIN_FILE, 4);
      append (record, is_large ? G_MAXUINT32 : entry->offset, 4);
    }
  g_byte_array_append (record, (const guint8 *) entry->name, (guint) length);
  g_byte_array_append (record, (const guint8 *) SUFFIX, (guint) strlen (SUFFIX));
  if (is_large)
    {
      append (record, ZIP_EXTRA64, 2);
      append (record, extra, 2);
      append (record, entry->size, 8);
      append (record, entry->size, 8);
      if (in_directory)
        append (record, entry->offset, 8);
    }

  return put (self, record->data, record->len, error);
}

static gboolean
check_name (const char *name, GError **error)
{
  gsize length = strlen (name);
  g_autofree char *shown = NULL;

  if (length <= MAX_NAME)
    return TRUE;

  shown = g_utf8_substring (name, 0, SHOWN_OF_NAME);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FILENAME_TOO_LONG,
               "the name of the tensor “%s…” has %" G_GSIZE_FORMAT
               " bytes, but names in .npz have at most %u",
               shown, length, MAX_NAME);
  return FALSE;
}

gboolean
apr_npz_writer_add (AprNpzWriter *self, const char *name, AprTensor *tensor, GError **error)
{
  g_autoptr (GBytes) header = NULL;
  Entry *entry;
  gsize header_size;
  gsize size;
  gconstpointer header_data;
  gconstpointer data;

  if (!check_name (name, error))
    return FALSE;
  header = apr_npy_make_header (tensor, error);
  if (header == NULL)
    {
      g_prefix_error (error, "the tensor “%s”: ", name);
      return FALSE;
    }
  header_data = g_bytes_get_data (header, &header_size);
  data = g_bytes_get_data (apr_tensor_get_bytes (tensor), &size);

  entry = g_new0 (Entry, 1);
  entry->name = g_strdup (name);
  entry->offset = self->position;
  entry->size = (guint64) header_size + size;
  entry->crc = update_crc (update_crc (0, header_data, header_size), data, size);
  g_ptr_array_add (self->entries, entry);

  return put_header (self, entry, FALSE, error) && put (self, header_data, header_size, error) &&
         put (self, data, size, error);
}

gboolean
apr_npz_writer_finish (AprNpzWriter *self, GError **error)
{
  g_autoptr (GByteArray) end = g_byte_array_new ();
  guint64 start = self->position;
  guint64 size;
  guint n = self->entries->len;
  guint i;

  for (i = 0; i < n; i++)
    if (!put_header (self, g_ptr_array_index (self->entries, i), TRUE, error))
      return FALSE;
  size = self->position - start;

  if (n >= G_MAXUINT16 || self->position >= G_MAXUINT32)
    {
      append (end, ZIP_END64, 4);
      append (end, ZIP_END64_SIZE - 12, 8);
      append (end, ZIP_UNIX | ZIP_VERSION64, 2);
      append (end, ZIP_VERSION64, 2);
      append (end, 0, 8); /* the first disk */
      append (end, n, 8);
      append (end, n, 8);
      append (end, size, 8);
      append (end, start, 8);
      append (end, ZIP_LOCATOR64, 4);
      append (end, 0, 4);
      append (end, self->position, 8);
      append (end, 1, 4);
    }
  append (end, ZIP_END, 4);
  append (end, 0, 4);
  append (end, MIN (n, G_MAXUINT16), 2);
  append (end, MIN (n, G_MAXUINT16), 2);
  append (end, MIN (size, G_MAXUINT32), 4);
  append (end, MIN (start, G_MAXUINT32), 4);
  append (end, 0, 2);

  return put (self, end->data, end->len, error);
}
