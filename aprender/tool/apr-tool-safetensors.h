/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* @path is “-” for the standard input. */
AprSafetensorsReader *apr_tool_open_safetensors (const char *path, GError **error);

G_END_DECLS
