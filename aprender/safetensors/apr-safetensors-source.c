/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-source-private.h"
#include "aprender/safetensors/apr-safetensors-error-private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* How much is read between two checks for cancellation, and how much memory a stream gets to begin with */
#define CHUNK_SIZE ((gsize) 1 << 20)
#define FIRST_CAPACITY ((gsize) 1 << 16)

static AprSafetensorsSource *
source_new (const char *name)
{
  AprSafetensorsSource *self = g_new0 (AprSafetensorsSource, 1);

  self->fd = -1;
  self->name = g_strdup (name);
  g_mutex_init (&self->lock);
  return self;
}

void
apr_safetensors_source_free (AprSafetensorsSource *self)
{
  g_clear_pointer (&self->header, apr_safetensors_header_free);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  if (self->fd >= 0)
    close (self->fd);
  g_clear_object (&self->stream);
  g_mutex_clear (&self->lock);
  g_free (self->name);
  g_free (self);
}

static gboolean
fail_errno (GError **error, int saved_errno)
{
  g_set_error_literal (error, G_IO_ERROR, (int) g_io_error_from_errno (saved_errno),
                       g_strerror (saved_errno));
  return FALSE;
}

static gboolean
fail_memory (GError **error, guint64 size)
{
  g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY, "There is no memory for %" G_GUINT64_FORMAT " bytes",
               size);
  return FALSE;
}

int
apr_safetensors_open_regular (const char *path, int flags, GError **error)
{
  struct stat status;
  int fd;

  do
    fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags);
  while (fd < 0 && errno == EINTR);
  if (fd < 0)
    {
      fail_errno (error, errno);
      return -1;
    }
  if (fstat (fd, &status) < 0)
    fail_errno (error, errno);
  else if (S_ISDIR (status.st_mode))
    fail_errno (error, EISDIR);
  else if (!S_ISREG (status.st_mode))
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "Not a regular file");
  else
    return fd;
  close (fd);
  return -1;
}

/* Reads @size bytes at an offset of the file, or fewer if the file ends before. */
static gboolean
read_fd (int fd,
         guint64 offset,
         guint8 *buffer,
         gsize size,
         gsize *n_read,
         GCancellable *cancellable,
         GError **error)
{
  *n_read = 0;
  while (*n_read < size)
    {
      gssize n;

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      n = pread (fd, buffer + *n_read, MIN (size - *n_read, CHUNK_SIZE), (off_t) (offset + *n_read));
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return fail_errno (error, errno);
      if (n == 0)
        return TRUE;
      *n_read += (gsize) n;
    }
  return TRUE;
}

static gboolean
read_at (AprSafetensorsSource *self,
         guint64 offset,
         guint8 *buffer,
         gsize size,
         gsize *n_read,
         GCancellable *cancellable,
         GError **error)
{
  gboolean succeeded;

  if (self->fd >= 0)
    return read_fd (self->fd, offset, buffer, size, n_read, cancellable, error);
  g_mutex_lock (&self->lock);
  succeeded = g_seekable_seek (G_SEEKABLE (self->stream), (goffset) offset, G_SEEK_SET, cancellable, error) &&
              g_input_stream_read_all (self->stream, buffer, size, n_read, cancellable, error);
  g_mutex_unlock (&self->lock);
  return succeeded;
}

static gboolean
read_header_bytes (AprSafetensorsSource *self,
                   guint64 offset,
                   char *buffer,
                   gsize size,
                   GCancellable *cancellable,
                   GError **error)
{
  gsize n_read;

  if (!read_at (self, offset, (guint8 *) buffer, size, &n_read, cancellable, error))
    return FALSE;
  if (n_read == size)
    return TRUE;
  g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED,
               "the header is needed up to byte %" G_GUINT64_FORMAT
               ", but the file ends at byte %" G_GUINT64_FORMAT " now",
               offset + size, offset + n_read);
  apr_safetensors_error_set_offset (error, offset + n_read);
  return FALSE;
}

/* Reads the header, and nothing else, of a file that can be read at any offset. */
static gboolean
read_header (AprSafetensorsSource *self,
             guint64 file_size,
             guint64 max_header_size,
             GCancellable *cancellable,
             GError **error)
{
  char prefix[APR_SAFETENSORS_PREFIX_SIZE];
  g_autofree char *text = NULL;
  guint32 length;

  if (file_size >= sizeof prefix && !read_header_bytes (self, 0, prefix, sizeof prefix, cancellable, error))
    return FALSE;
  if (!apr_safetensors_header_scan_prefix (prefix, file_size, max_header_size, &length, error))
    return FALSE;
  text = g_try_malloc ((gsize) length + (length == 0));
  if (text == NULL)
    return fail_memory (error, length);
  if (!read_header_bytes (self, sizeof prefix, text, length, cancellable, error))
    return FALSE;
  self->header = apr_safetensors_header_parse_text (text, length, error);
  return self->header != NULL &&
         apr_safetensors_header_check (self->header, file_size - self->header->data_start, error);
}

AprSafetensorsSource *
apr_safetensors_source_new_from_bytes (GBytes *bytes, guint64 max_header_size, GError **error)
{
  g_autoptr (AprSafetensorsSource) self = source_new (NULL);
  gconstpointer data;
  gsize size;

  data = g_bytes_get_data (bytes, &size);
  self->header = apr_safetensors_header_parse (data, size, max_header_size, error);
  if (self->header == NULL)
    return NULL;
  self->bytes = g_bytes_ref (bytes);
  return g_steal_pointer (&self);
}

typedef struct
{
  gpointer memory;
  gsize size;
} Mapping;

static void
unmap (gpointer data)
{
  Mapping *self = data;

  munmap (self->memory, self->size);
  g_free (self);
}

/* Maps the first @size bytes of a file privately: a script that writes to a view of a tensor gets its own copy of the
 * page, and does not change the file. */
static GBytes *
map_fd (int fd, gsize size, GError **error)
{
  Mapping *self;
  gpointer memory;

  if (size == 0)
    return g_bytes_new (NULL, 0);
  /* Without a reservation, because pages that nobody writes to need no memory and the file can be larger than memory.
   * Systems that never overcommit memory (vm.overcommit_memory = 2) ignore the flag; there only a read-only mapping
   * needs no reservation. */
  memory = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  if (memory == MAP_FAILED && errno == ENOMEM)
    memory = mmap (NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (memory == MAP_FAILED)
    {
      fail_errno (error, errno);
      return NULL;
    }
  self = g_new (Mapping, 1);
  self->memory = memory;
  self->size = size;
  return g_bytes_new_with_free_func (memory, size, unmap, self);
}

AprSafetensorsSource *
apr_safetensors_source_new_from_fd (int fd,
                                    const char *name,
                                    AprSafetensorsLoadMode load_mode,
                                    guint64 max_header_size,
                                    GCancellable *cancellable,
                                    GError **error)
{
  g_autoptr (AprSafetensorsSource) self = source_new (name);
  struct stat status;

  self->fd = fd;
  if (fstat (fd, &status) < 0)
    {
      fail_errno (error, errno);
      return NULL;
    }
  if (load_mode == APR_SAFETENSORS_LOAD_MODE_MAP)
    {
      g_autoptr (GBytes) bytes = NULL;
      AprSafetensorsSource *mapped;

      if ((guint64) status.st_size > G_MAXSIZE) /* GCOVR_EXCL_BR_LINE: any file fits into 64 bits */
        {
          fail_memory (error, (guint64) status.st_size); /* GCOVR_EXCL_LINE: see above */
          return NULL;                                   /* GCOVR_EXCL_LINE: see above */
        }
      bytes = map_fd (fd, (gsize) status.st_size, error);
      if (bytes == NULL)
        return NULL;
      mapped = apr_safetensors_source_new_from_bytes (bytes, max_header_size, error);
      if (mapped != NULL)
        mapped->name = g_steal_pointer (&self->name);
      return mapped;
    }
  if (!read_header (self, (guint64) status.st_size, max_header_size, cancellable, error))
    return NULL;
  return g_steal_pointer (&self);
}

typedef struct
{
  guint8 *data;
  gsize size;
  gsize capacity;
} Buffer;

static void
buffer_clear (Buffer *self)
{
  g_clear_pointer (&self->data, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Buffer, buffer_clear)

/* Reads until the buffer has @wanted bytes or the stream ends. Since a hostile header can make @wanted huge, memory is
 * allocated for at most twice what has arrived. */
static gboolean
buffer_fill (Buffer *self, GInputStream *stream, guint64 wanted, GCancellable *cancellable, GError **error)
{
  while (self->size < wanted)
    {
      gssize n;

      /* Not every stream checks it. */
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      if (self->size == self->capacity)
        {
          /* No allocation exceeds G_MAXSSIZE, so this cannot overflow. */
          gsize capacity = MAX (FIRST_CAPACITY, 2 * self->capacity);
          guint8 *data = g_try_realloc (self->data, capacity);

          if (data == NULL)
            return fail_memory (error, capacity);
          self->data = data;
          self->capacity = capacity;
        }
      n = g_input_stream_read (stream, self->data + self->size,
                               (gsize) MIN (wanted - self->size, self->capacity - self->size), cancellable,
                               error);
      if (n < 0)
        return FALSE;
      if (n == 0)
        return TRUE;
      self->size += (gsize) n;
    }
  return TRUE;
}

static GBytes *
buffer_take (Buffer *self)
{
  guint8 *data = g_steal_pointer (&self->data);

  return g_bytes_new_take (g_realloc (data, self->size), self->size);
}

GBytes *
apr_safetensors_load_stream (GInputStream *stream, guint64 limit, GCancellable *cancellable, GError **error)
{
  g_auto (Buffer) buffer = { 0 };

  limit = MIN (limit, G_MAXUINT32);
  if (!buffer_fill (&buffer, stream, limit + 1, cancellable, error))
    return NULL;
  if (buffer.size > limit)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE,
                   "the index has more than the %" G_GUINT64_FORMAT " bytes that are allowed", limit);
      apr_safetensors_error_set_offset (error, limit);
      return NULL;
    }
  return buffer_take (&buffer);
}

AprSafetensorsSource *
apr_safetensors_source_new_from_stream (GInputStream *stream,
                                        guint64 max_header_size,
                                        GCancellable *cancellable,
                                        GError **error)
{
  g_autoptr (AprSafetensorsSource) self = source_new (NULL);
  g_auto (Buffer) buffer = { 0 };
  guint64 data_size, wanted;
  guint32 length;

  if (!buffer_fill (&buffer, stream, APR_SAFETENSORS_PREFIX_SIZE, cancellable, error))
    return NULL;
  if (!apr_safetensors_header_scan_prefix (
        (const char *) buffer.data, buffer.size < APR_SAFETENSORS_PREFIX_SIZE ? buffer.size : G_MAXUINT64,
        max_header_size, &length, error))
    return NULL;
  wanted = (guint64) APR_SAFETENSORS_PREFIX_SIZE + length;
  if (!buffer_fill (&buffer, stream, wanted, cancellable, error))
    return NULL;
  if (buffer.size < wanted)
    {
      /* With the true size this sets the error. */
      apr_safetensors_header_scan_prefix ((const char *) buffer.data, buffer.size, max_header_size, &length,
                                          error);
      return NULL;
    }
  self->header = apr_safetensors_header_parse_text ((const char *) buffer.data + APR_SAFETENSORS_PREFIX_SIZE,
                                                    length, error);
  if (self->header == NULL)
    return NULL;

  /* The header says where the stream must end, so an endless stream is noticed. */
  data_size = apr_safetensors_header_get_data_size (self->header);
  if (!apr_safetensors_header_check (self->header, data_size, error))
    return NULL;
  wanted = data_size < G_MAXUINT64 - wanted ? wanted + data_size : G_MAXUINT64 - 1;
  if (!buffer_fill (&buffer, stream, wanted + 1, cancellable, error))
    return NULL;
  if (buffer.size > wanted)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRAILING_DATA,
                   "the last tensor ends at byte %" G_GUINT64_FORMAT ", but the stream goes on", wanted);
      apr_safetensors_error_set_offset (error, wanted);
      return NULL;
    }
  if (!apr_safetensors_header_check (self->header, buffer.size - self->header->data_start, error))
    return NULL;
  self->bytes = buffer_take (&buffer);
  return g_steal_pointer (&self);
}

AprSafetensorsSource *
apr_safetensors_source_new_from_file (GFile *file,
                                      const char *name,
                                      AprSafetensorsLoadMode load_mode,
                                      guint64 max_header_size,
                                      GCancellable *cancellable,
                                      GError **error)
{
  g_autoptr (AprSafetensorsSource) self = source_new (name);
  goffset size;

  self->stream = (GInputStream *) g_file_read (file, cancellable, error);
  if (self->stream == NULL)
    return NULL;
  if (load_mode == APR_SAFETENSORS_LOAD_MODE_MAP || !g_seekable_can_seek (G_SEEKABLE (self->stream)))
    return apr_safetensors_source_new_from_stream (self->stream, max_header_size, cancellable, error);

  if (!g_seekable_seek (G_SEEKABLE (self->stream), 0, G_SEEK_END, cancellable, error))
    return NULL;
  size = g_seekable_tell (G_SEEKABLE (self->stream));
  if (!read_header (self, (guint64) size, max_header_size, cancellable, error))
    return NULL;
  return g_steal_pointer (&self);
}

GBytes *
apr_safetensors_source_read (
  AprSafetensorsSource *self, const AprSafetensorsEntry *entry, gsize begin, gsize end, GError **error)
{
  /* Within the size of a checked file, so nothing here can overflow. */
  guint64 offset = self->header->data_start + entry->begin + begin;
  g_autofree guint8 *data = NULL;
  gboolean succeeded;
  gsize n_read;

  if (self->bytes != NULL)
    return g_bytes_new_from_bytes (self->bytes, (gsize) offset, end - begin);
  if (begin == end)
    return g_bytes_new (NULL, 0);

  data = g_try_malloc (end - begin);
  if (data == NULL)
    succeeded = fail_memory (error, end - begin);
  else
    succeeded = read_at (self, offset, data, end - begin, &n_read, g_cancellable_get_current (), error);
  if (succeeded && n_read == end - begin)
    return g_bytes_new_take (g_steal_pointer (&data), end - begin);
  if (succeeded)
    {
      apr_safetensors_header_refuse (self->header, entry, APR_SAFETENSORS_ERROR_TRUNCATED, error,
                                     "its bytes from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                                     " of the file are needed, but only %" G_GSIZE_FORMAT
                                     " of them are there now",
                                     offset, offset + (end - begin), n_read);
      apr_safetensors_error_set_offset (error, offset + n_read);
    }
  else
    apr_safetensors_error_prefix_tensor (error, apr_safetensors_header_get_name (self->header, entry));
  g_prefix_error (error, "%s: ", self->name);
  return NULL;
}
