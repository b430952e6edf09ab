/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a program that is ended by SIGINT, SIGTERM or SIGHUP takes back before it ends: one file, and the line that the
 * cursor of the standard error is in. */

/* @path must stay as long as it is set; %NULL for no file. */
void apr_tool_interrupt_set_file (const char *path);
void apr_tool_interrupt_set_line (gboolean shown);

/* Lets a signal wait while something is written whose temporary file only the library knows; a second signal ends the
 * program at once. */
void apr_tool_interrupt_hold (void);
gboolean apr_tool_interrupt_is_waiting (void);
/* Ends the program if a signal waits. */
void apr_tool_interrupt_release (void);

G_END_DECLS
