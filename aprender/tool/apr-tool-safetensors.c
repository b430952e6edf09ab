/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-safetensors.h"

#include <string.h>
#include <unistd.h>

#include <gio/gunixinputstream.h>

gboolean
apr_tool_is_safetensors (const char *path)
{
  return g_str_has_suffix (path, ".safetensors") || g_str_has_suffix (path, ".safetensors.index.json");
}

AprSafetensorsReader *
apr_tool_open_safetensors (const char *path, GError **error)
{
  g_autoptr (GInputStream) stream = NULL;
  AprSafetensorsReader *reader;

  if (strcmp (path, "-") != 0)
    return apr_safetensors_reader_new_from_path (path, error);

  stream = g_unix_input_stream_new (STDIN_FILENO, FALSE);
  reader = apr_safetensors_reader_new_from_stream (stream, NULL, error);
  if (reader == NULL)
    g_prefix_error (error, "standard input: ");

  return reader;
}
