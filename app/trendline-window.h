/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "app/trendline-fit-session.h"

G_BEGIN_DECLS

#define TRENDLINE_TYPE_WINDOW (trendline_window_get_type ())

G_DECLARE_FINAL_TYPE (TrendlineWindow, trendline_window, TRENDLINE, WINDOW, AdwApplicationWindow)

TrendlineWindow *trendline_window_new (GtkApplication *application) G_GNUC_WARN_UNUSED_RESULT;

TrendlineFitSession *trendline_window_get_session (TrendlineWindow *self);

void trendline_window_open (TrendlineWindow *self, GFile *file);

void trendline_window_save_model (TrendlineWindow *self, GFile *file);

void trendline_window_add_data (TrendlineWindow *self, GFile *file);

void trendline_window_predict_table (TrendlineWindow *self, GFile *table, GFile *output);

G_END_DECLS
