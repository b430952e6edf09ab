/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* Whether a file is called as SafeTensors files, or indices of their shards, are. */
gboolean apr_tool_is_safetensors (const char *path);

/* @path is “-” for the standard input. */
AprSafetensorsReader *apr_tool_open_safetensors (const char *path, GError **error);

G_END_DECLS
