/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

#define TRENDLINE_TYPE_APPLICATION (trendline_application_get_type ())

G_DECLARE_FINAL_TYPE (TrendlineApplication, trendline_application, TRENDLINE, APPLICATION, AdwApplication)

TrendlineApplication *trendline_application_new (GApplicationFlags flags) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
