/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "app/trendline-fit-session.h"

G_BEGIN_DECLS

#define TRENDLINE_TYPE_SIDEBAR (trendline_sidebar_get_type ())

G_DECLARE_FINAL_TYPE (TrendlineSidebar, trendline_sidebar, TRENDLINE, SIDEBAR, AdwBin)

void trendline_sidebar_set_session (TrendlineSidebar *self, TrendlineFitSession *session);

G_END_DECLS
