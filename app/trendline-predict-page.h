/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "app/trendline-fit-session.h"

G_BEGIN_DECLS

#define TRENDLINE_TYPE_PREDICT_PAGE (trendline_predict_page_get_type ())

G_DECLARE_FINAL_TYPE (TrendlinePredictPage, trendline_predict_page, TRENDLINE, PREDICT_PAGE, AdwBin)

void trendline_predict_page_set_session (TrendlinePredictPage *self, TrendlineFitSession *session);

G_END_DECLS
