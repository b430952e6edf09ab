/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

#include <gio/gio.h>

G_BEGIN_DECLS

/* Where a command writes: the standard output, or a file, which stays as it is until all has been written, and whose
 * mode the new one has. A symbolic link stays, and leads to the file. What is no plain file, such as a pipe, or has no
 * path, is written to at once. */
typedef struct
{
  FILE *stream;    /* (owned) but for the standard output */
  char *path;      /* (owned) (nullable) of the file to replace, behind all links */
  char *name;      /* (owned) of the file in messages */
  char *temporary; /* (owned) (nullable) */
} AprToolOutput;

/* Whether there is a folder to write the file in, for those who work for long before they do. @path is as below. */
gboolean apr_tool_output_check (const char *path, GError **error);

/* @path is %NULL or “-” for the standard output. */
gboolean apr_tool_output_open (AprToolOutput *self, const char *path, GError **error);

/* Writes out what is left, and puts the file in its place. */
gboolean apr_tool_output_close (AprToolOutput *self, GError **error);

/* Takes back what has been written to a file, unless it has been closed. */
void apr_tool_output_clear (AprToolOutput *self);

/* Whether writing to one file would destroy what is read from the other, under any names; “-” is standard input, and
 * %NULL as the output the standard output. */
gboolean apr_tool_is_same_file (const char *input, const char *output);

/* Returns: (nullable): the first of these paths that leads to a file that one before it leads to */
const char *apr_tool_find_same_file (char **paths);

/* Whether a path leads to what this program has open, as /dev/stdout does. To replace a file behind it would take from
 * others what they have written there. */
gboolean apr_tool_is_descriptor (const char *path);

gboolean apr_tool_flush (FILE *stream, const char *name, GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprToolOutput, apr_tool_output_clear)

G_END_DECLS
