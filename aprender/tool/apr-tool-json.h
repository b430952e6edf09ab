/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <json-glib/json-glib.h>

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* Adds a member that is a number, of a dtype; what is not finite is null, as JSON has no other word for it. */
void apr_tool_json_add_number (JsonBuilder *builder, const char *name, double value);
void apr_tool_json_add_count (JsonBuilder *builder, const char *name, guint64 value);
void apr_tool_json_add_text (JsonBuilder *builder, const char *name, const char *value);
void apr_tool_json_add_texts (JsonBuilder *builder, const char *name, const char *const *values);

/* A number with the fewest digits that bring it back when they are read as @dtype. */
void apr_tool_json_add_value (JsonBuilder *builder, double value, AprDType dtype);

/* Writes what a builder holds, without control characters: on lines of its own for each member, or all on one. */
char *apr_tool_json_to_string (JsonBuilder *builder, gboolean one_line);

G_END_DECLS
