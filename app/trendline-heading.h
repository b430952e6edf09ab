/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

void trendline_heading_align_end (GtkColumnView *view, guint position);

G_END_DECLS
