/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

GMenuModel *trendline_recent_get_menu (void);

G_END_DECLS
