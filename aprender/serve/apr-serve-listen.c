/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib-unix.h>
#include <glib/gstdio.h>

/* Where systemd's sockets begin. */
#define FIRST_ACTIVATED 3

static gboolean
fail (const char *address, int code, GError **error)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", address, g_strerror (code));

  return FALSE;
}

/* Finds out where a socket listens. */
static void
describe (AprServeListener *self)
{
  union
  {
    struct sockaddr any;
    struct sockaddr_un local;
    struct sockaddr_storage storage;
  } name = { 0 };
  socklen_t size = sizeof name;
  g_autoptr (GSocketAddress) address = NULL;

  if (getsockname (self->fd, &name.any, &size) != 0)
    return;

  if (name.any.sa_family == AF_UNIX)
    {
      const char *path = name.local.sun_path;
      int length = (int) (size - offsetof (struct sockaddr_un, sun_path));

      self->address = length > 0 && path[0] == '\0' ? g_strdup_printf ("unix:@%.*s", length - 1, path + 1)
                                                    : g_strdup_printf ("unix:%.*s", length, path);
      return;
    }

  address = g_socket_address_new_from_native (&name, size);
  if (G_IS_INET_SOCKET_ADDRESS (address))
    {
      g_autofree char *text = g_socket_connectable_to_string (G_SOCKET_CONNECTABLE (address));
      GInetAddress *host = g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS (address));

      self->address = g_strconcat ("http://", text, NULL);
      self->exposed = !g_inet_address_get_is_loopback (host);
    }
}

/* Removes a socket that nobody listens at any more. */
static void
remove_stale (const struct sockaddr_un *name)
{
  struct stat status;
  int fd;

  if (lstat (name->sun_path, &status) != 0 || !S_ISSOCK (status.st_mode))
    return;
  fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect (fd, (const struct sockaddr *) name, sizeof *name) != 0 && errno == ECONNREFUSED)
    g_unlink (name->sun_path);
  if (fd >= 0)
    close (fd);
}

static gboolean
listen_local (AprServeListener *self, const char *address, const char *path, GError **error)
{
  struct sockaddr_un name = { .sun_family = AF_UNIX };

  if (strlen (path) == 0 || strlen (path) >= sizeof name.sun_path)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                   "%s: the path of a socket has 1 to %" G_GSIZE_FORMAT " bytes, not %" G_GSIZE_FORMAT,
                   address, sizeof name.sun_path - 1, strlen (path));
      return FALSE;
    }
  memcpy (name.sun_path, path, strlen (path));
  remove_stale (&name);

  self->fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (self->fd < 0 || bind (self->fd, (const struct sockaddr *) &name, sizeof name) != 0)
    return fail (address, errno, error);
  if (lstat (path, &self->file) == 0)
    self->path = g_strdup (path);

  return listen (self->fd, APR_SERVE_BACKLOG) == 0 || fail (address, errno, error);
}

/* Returns: 0, or what went wrong as in errno */
static int
listen_at (AprServeListener *self, const struct addrinfo *place)
{
  const int one = 1;
  int code;

  self->fd = socket (place->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (self->fd >= 0 && setsockopt (self->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
      bind (self->fd, place->ai_addr, place->ai_addrlen) == 0 && listen (self->fd, APR_SERVE_BACKLOG) == 0)
    return 0;

  code = errno;
  apr_serve_listener_clear (self);

  return code;
}

static gboolean
listen_inet (AprServeListener *self, const char *address, GError **error)
{
  const char *colon = strrchr (address, ':');
  struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
  struct addrinfo *found = NULL;
  const struct addrinfo *place;
  g_autofree char *host = NULL;
  int code;

  if (colon == NULL || colon == address)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "%s: expected HOST:PORT or unix:PATH",
                   address);
      return FALSE;
    }
  /* getaddrinfo() would cut the number to 16 bits. */
  if (!g_ascii_string_to_unsigned (colon + 1, 10, 0, G_MAXUINT16, NULL, NULL))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                   "%s: the port must be from 0 to 65535, got “%s”", address, colon + 1);
      return FALSE;
    }
  host = address[0] == '[' && colon[-1] == ']' ? g_strndup (address + 1, (gsize) (colon - address) - 2)
                                               : g_strndup (address, (gsize) (colon - address));
  code = getaddrinfo (host, colon + 1, &hints, &found);
  if (code != 0)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_HOST_NOT_FOUND, "%s: %s", address, gai_strerror (code));
      return FALSE;
    }

  /* A name can have addresses that this machine cannot use, as localhost has ::1 where IPv6 is off. */
  for (place = found; place != NULL; place = place->ai_next)
    {
      code = listen_at (self, place);
      if (code != EAFNOSUPPORT && code != EADDRNOTAVAIL)
        break;
    }
  freeaddrinfo (found);

  return code == 0 || fail (address, code, error);
}

gboolean
apr_serve_listen (AprServeListener *self, const char *address, GError **error)
{
  *self = (AprServeListener){ .fd = -1 };
  if (!(g_str_has_prefix (address, "unix:") ? listen_local (self, address, address + strlen ("unix:"), error)
                                            : listen_inet (self, address, error)))
    {
      apr_serve_listener_clear (self);
      return FALSE;
    }
  describe (self);

  return TRUE;
}

static gboolean
is_listening (int fd)
{
  int listening = 0;
  socklen_t size = sizeof listening;

  return getsockopt (fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening != 0;
}

gboolean
apr_serve_listen_activated (GArray *listeners, GError **error)
{
  const char *pid = g_getenv ("LISTEN_PID");
  const char *n_fds = g_getenv ("LISTEN_FDS");
  guint64 number;
  guint64 own_pid;
  guint i;

  if (pid == NULL || n_fds == NULL || !g_ascii_string_to_unsigned (pid, 10, 1, G_MAXINT32, &own_pid, NULL) ||
      (pid_t) own_pid != getpid () || !g_ascii_string_to_unsigned (n_fds, 10, 0, 64, &number, NULL))
    return TRUE;

  for (i = 0; i < number; i++)
    {
      AprServeListener listener = { .fd = (int) (FIRST_ACTIVATED + i) };

      if (!is_listening (listener.fd))
        {
          g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                       "File %d of systemd is no socket that listens: it needs ListenStream= and Accept=no",
                       listener.fd);
          return FALSE;
        }
      fcntl (listener.fd, F_SETFD, FD_CLOEXEC);
      g_unix_set_fd_nonblocking (listener.fd, TRUE, NULL);
      describe (&listener);
      g_array_append_val (listeners, listener);
    }
  /* Not for the processes that this one may start. */
  g_unsetenv ("LISTEN_PID");
  g_unsetenv ("LISTEN_FDS");
  g_unsetenv ("LISTEN_FDNAMES");

  return TRUE;
}

void
apr_serve_listener_clear (gpointer self)
{
  AprServeListener *listener = self;
  struct stat file;

  /* Another server may have its socket there by now. While this one is open, no other file has its number. */
  if (listener->path != NULL && lstat (listener->path, &file) == 0 && file.st_dev == listener->file.st_dev &&
      file.st_ino == listener->file.st_ino)
    g_unlink (listener->path);
  if (listener->fd >= 0)
    close (listener->fd);
  listener->fd = -1;
  g_clear_pointer (&listener->path, g_free);
  g_clear_pointer (&listener->address, g_free);
}
