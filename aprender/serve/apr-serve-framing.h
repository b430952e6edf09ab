/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

struct MHD_Connection;

/* How long the body of a request is, as its headers have it: 0 where they do not tell. Returns: (transfer full)
 * (nullable): why the request is refused; two programs that disagree on where a request ends can be made to see
 * different requests. */
char *apr_serve_framing_read (struct MHD_Connection *connection, const char *version, guint64 *length);

/* Where the path begins in the target of a request, before anything is replaced in it: behind the host where the target
 * is a whole address, as proxies are sent it (RFC 9112, 3.2.2). */
gsize apr_serve_framing_find_path (const char *target);

/* Replaces %XX by the byte, as libmicrohttpd does, but for %00, behind which it would see nothing. Returns: the length
 * of the text. */
gsize apr_serve_framing_unescape (gpointer data, struct MHD_Connection *connection, char *text);
