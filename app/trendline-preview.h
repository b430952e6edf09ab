/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

GPtrArray *trendline_preview_parse (
  const char *text, gsize length, gboolean is_whole, gsize n_columns, gsize max_rows, char *delimiter)
  G_GNUC_WARN_UNUSED_RESULT;

gboolean trendline_preview_is_number (const char *cell);

G_END_DECLS
