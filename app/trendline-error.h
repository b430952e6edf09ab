/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

AdwToast *trendline_error_create_toast (const GError *error, AdwToastOverlay *toasts, gboolean is_gap)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
