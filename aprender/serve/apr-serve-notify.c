/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-notify.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "aprender/serve/apr-serve-log.h"

/* The protocol of sd_notify(3): a datagram to a socket. */

void
apr_serve_notify (const char *state)
{
  const char *path = g_getenv ("NOTIFY_SOCKET");
  struct sockaddr_un name = { .sun_family = AF_UNIX };
  gsize length = path != NULL ? strlen (path) : 0;
  int fd;

  /* Other managers may use other kinds of sockets. */
  if (length < 2 || length >= sizeof name.sun_path || strchr ("/@", path[0]) == NULL)
    return;

  memcpy (name.sun_path, path, length);
  if (path[0] == '@')
    name.sun_path[0] = '\0';
  fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || sendto (fd, state, strlen (state), MSG_NOSIGNAL, (const struct sockaddr *) &name,
                        (socklen_t) (offsetof (struct sockaddr_un, sun_path) + length)) < 0)
    apr_serve_log (G_LOG_LEVEL_WARNING, "the service manager cannot be told", "state", state, "error",
                   g_strerror (errno), NULL);
  if (fd >= 0)
    close (fd);
}
