/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "app/trendline-fit-session.h"

G_BEGIN_DECLS

#define TRENDLINE_TYPE_DATA_PAGE (trendline_data_page_get_type ())

G_DECLARE_FINAL_TYPE (TrendlineDataPage, trendline_data_page, TRENDLINE, DATA_PAGE, AdwBin)

void trendline_data_page_set_session (TrendlineDataPage *self, TrendlineFitSession *session);

G_END_DECLS
