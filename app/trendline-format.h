/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

char *trendline_format_isolate (const char *number) G_GNUC_WARN_UNUSED_RESULT;

char *trendline_format_number (double number) G_GNUC_WARN_UNUSED_RESULT;

char *trendline_format_p_value (double p) G_GNUC_WARN_UNUSED_RESULT;

const char *trendline_format_stars (double p);

char *trendline_format_found (double penalty, guint64 n_dropped) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
