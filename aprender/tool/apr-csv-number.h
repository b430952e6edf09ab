/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

gboolean apr_csv_parse_number (const char *text, gsize length, double *value, char **complaint);

G_END_DECLS
