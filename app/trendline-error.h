/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

void trendline_error_show (AdwToastOverlay *toasts, const GError *error);

const char *trendline_error_get_title (const GError *error);

G_END_DECLS
