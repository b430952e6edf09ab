/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* A line on the standard error that says how far something has come, if that is a terminal and it takes more than a
 * second. */
typedef struct
{
  gboolean shown;
  gint64 started;
  gint64 next; /* when to show it again */
} AprToolProgress;

AprToolProgress apr_tool_progress_start (void);
void apr_tool_progress_show (AprToolProgress *self, AprTableReader *reader);
void apr_tool_progress_end (AprToolProgress *self);

G_END_DECLS
