/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* What one run of the command has left. */
typedef struct
{
  int status;
  char *output;   /* (owned) */
  char *messages; /* (owned) */
} Run;

int tool_main (int argc, char **argv, void (*add_tests) (void));

Run *tool_run (const char *arguments);
Run *tool_run_with (const char *arguments, const char *input, gssize input_length, const char *locale);
void tool_run_free (Run *run);

char *tool_get_path (const char *name);
void tool_write (const char *name, const char *contents, gssize length);
char *tool_read (const char *name);
void tool_save_nameless (const char *name);

void tool_assert_contains (const char *text, const char *part);
void tool_assert_fails (const char *arguments, const char *input, gssize input_length, const char *message);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Run, tool_run_free)

G_END_DECLS
