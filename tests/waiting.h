/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

/* Runs the main loop until an asynchronous call has its result. */
static inline void
on_ready (GObject *source, GAsyncResult *result, gpointer place)
{
  *(GAsyncResult **) place = g_object_ref (result);
}

static inline GAsyncResult *
wait_for (GAsyncResult **result)
{
  while (*result == NULL)
    g_main_context_iteration (NULL, TRUE);

  return *result;
}
