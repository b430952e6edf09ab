/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* A column of a table, as the preview shows it and as the fit uses it. */
#define TRENDLINE_TYPE_COLUMN (trendline_column_get_type ())

G_DECLARE_FINAL_TYPE (TrendlineColumn, trendline_column, TRENDLINE, COLUMN, GObject)

TrendlineColumn *trendline_column_new (const char *name, gboolean is_text) G_GNUC_WARN_UNUSED_RESULT;

const char *trendline_column_get_name (TrendlineColumn *self);

gboolean trendline_column_get_is_text (TrendlineColumn *self);

gboolean trendline_column_get_is_feature (TrendlineColumn *self);

void trendline_column_set_is_feature (TrendlineColumn *self, gboolean is_feature);

/* Whether the name contains a text, whatever the case. */
gboolean trendline_column_matches (TrendlineColumn *self, const char *text);

G_END_DECLS
