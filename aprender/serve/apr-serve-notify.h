/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Tells the service manager that started the program, such as systemd, of a change: "READY=1" or "STOPPING=1". Does
 * nothing where NOTIFY_SOCKET names no socket. */
void apr_serve_notify (const char *state);

G_END_DECLS
