/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Logs a message with pairs of a key, in lower case, and a text, up to NULL: as fields where the standard error is the
 * journal, else as one line of key=value. */
void apr_serve_log (GLogLevelFlags level, const char *message, ...) G_GNUC_NULL_TERMINATED;

G_END_DECLS
