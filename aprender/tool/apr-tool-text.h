/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* A longer name, which a file may have, moves what stands behind it, but does not make all other rows as long. */
#define APR_TOOL_MAX_NAME_WIDTH 60

char *apr_tool_escape (const char *text);
char *apr_tool_escape_lines (const char *text);

/* What messages call a file of the command line, which is “-” for the standard input. */
char *apr_tool_get_display_name (const char *path);

gsize apr_tool_get_width (const char *text);
void apr_tool_append_padded (GString *string, const char *text, gsize width);

/* The same with the text on the right, behind a space. */
void apr_tool_append_aligned (GString *string, const char *text, gsize width);

/* Compares what two pointers to strings point to, as g_ptr_array_sort() and qsort() need it. */
int apr_tool_compare_texts (gconstpointer a, gconstpointer b);

/* Returns: (nullable): the first of the names that is none of the others. */
const char *apr_tool_find_other (char **names, char **others);

/* The first of the names in quotation marks, and how many more there are. */
char *apr_tool_quote_names (char **names);

G_END_DECLS
