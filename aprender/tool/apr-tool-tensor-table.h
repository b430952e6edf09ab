/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

G_BEGIN_DECLS

/*
 * apr_tool_tensor_table_open:
 * @path: a SafeTensors file, or an index of shards
 * @error: return location for an error
 *
 * Opens a SafeTensors file as a table: each tensor of one dimension is a column of its name, and each of two as many
 * as it has columns, NAME[0] and so on. What reads CSV reads it, so that all commands treat it as any table.
 *
 * Returns: (transfer full): the table as CSV with commas, made as it is read
 */
GInputStream *apr_tool_tensor_table_open (const char *path, GError **error);

G_END_DECLS
