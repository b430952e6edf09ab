/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-safetensors.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

gboolean
apr_tool_is_safetensors (const char *path)
{
  return g_str_has_suffix (path, ".safetensors") || g_str_has_suffix (path, ".safetensors.index.json");
}

static GBytes *
read_standard_input (GError **error)
{
  g_autoptr (GByteArray) array = g_byte_array_new ();
  const guint block_size = 64 * 1024;

  for (;;)
    {
      guint used = array->len;
      gssize n_read;

      if (used > G_MAXUINT - 2 * block_size)
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_NO_SPACE,
                       "standard input: more than 4 GB cannot be read here: name the file instead");
          return NULL;
        }
      g_byte_array_set_size (array, used + block_size);
      do
        n_read = read (STDIN_FILENO, array->data + used, block_size);
      while (n_read < 0 && errno == EINTR);
      if (n_read < 0)
        {
          int code = errno;

          g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "standard input: %s",
                       g_strerror (code));
          return NULL;
        }
      g_byte_array_set_size (array, used + (guint) n_read);
      if (n_read == 0)
        return g_byte_array_free_to_bytes (g_steal_pointer (&array));
    }
}

AprSafetensorsReader *
apr_tool_open_safetensors (const char *path, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  AprSafetensorsReader *reader;

  if (strcmp (path, "-") != 0)
    return apr_safetensors_reader_new_from_path (path, error);

  bytes = read_standard_input (error);
  if (bytes == NULL)
    return NULL;
  reader = apr_safetensors_reader_new_from_bytes (bytes, error);
  if (reader == NULL)
    g_prefix_error (error, "standard input: ");

  return reader;
}
