/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>
#include <sys/stat.h>

G_BEGIN_DECLS

/* So many connections wait to be accepted, at most. */
#define APR_SERVE_BACKLOG 1024

/* A socket that accepts connections. */
typedef struct
{
  int fd;
  char *address;    /* such as "http://127.0.0.1:8080" or "unix:/run/aprender/socket" */
  char *path;       /* (nullable) the file that is to be removed when it is closed */
  struct stat file; /* as it was made */
  gboolean exposed; /* whether other machines can reach it */
} AprServeListener;

/* Listens at @address: HOST:PORT, where port 0 is any that is free, or unix:PATH. */
gboolean apr_serve_listen (AprServeListener *self, const char *address, GError **error);

/* Adds the sockets that systemd passes to a service. */
gboolean apr_serve_listen_activated (GArray *listeners, GError **error);

void apr_serve_listener_clear (gpointer self);

G_END_DECLS
