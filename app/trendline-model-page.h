/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "app/trendline-fit-session.h"

G_BEGIN_DECLS

#define TRENDLINE_TYPE_MODEL_PAGE (trendline_model_page_get_type ())

G_DECLARE_FINAL_TYPE (TrendlineModelPage, trendline_model_page, TRENDLINE, MODEL_PAGE, AdwBin)

void trendline_model_page_set_session (TrendlineModelPage *self, TrendlineFitSession *session);

G_END_DECLS
