/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "app/trendline-fit-session.h"

G_BEGIN_DECLS

#define TRENDLINE_TYPE_PLOTS_PAGE (trendline_plots_page_get_type ())

G_DECLARE_FINAL_TYPE (TrendlinePlotsPage, trendline_plots_page, TRENDLINE, PLOTS_PAGE, AdwBin)

void trendline_plots_page_set_session (TrendlinePlotsPage *self, TrendlineFitSession *session);

G_END_DECLS
