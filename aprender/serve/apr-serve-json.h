/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

#include "aprender/safetensors/apr-json-scanner-private.h"

G_BEGIN_DECLS

/* Reads the next value if it is a number, rounded to the nearest double; one that is too large is an infinity. If it is
 * none, the cursor skips only white space. The text must be followed by APR_DECIMAL_PADDING readable bytes. */
gboolean apr_serve_json_scan_number (AprJsonCursor *self, double *value);

/* Makes room for @n_more numbers behind the first @n of @numbers, which has room for @capacity. Fails where there is no
 * memory, and then they are as they were. */
gboolean
apr_serve_json_reserve_numbers (double **numbers, gsize *capacity, gsize n, gsize n_more, GError **error);

/* Whether a string of a request has this text. */
gboolean apr_serve_json_equal (const AprJsonString *self, const char *text);

/* A member of an object that is looked for, and where its value begins, or NULL where it is missing. */
typedef struct
{
  const char *name;
  const char *value;

  /* (nullable): reads the value at once; otherwise it is only skipped. */
  gboolean (*scan) (AprJsonCursor *cursor, gpointer data, GError **error);
  gpointer data;
} AprServeMember;

/* Reads an object at @depth, the number of arrays and objects around it, and finds members in it; others are
 * skipped. */
gboolean apr_serve_json_scan_members (
  AprJsonCursor *self, AprServeMember *members, guint n_members, guint depth, GError **error);

/* Checks a whole request, which is an object, and finds members in it. */
gboolean
apr_serve_json_scan_request (AprJsonCursor *self, AprServeMember *members, guint n_members, GError **error);

/* The longest text that a request may have for a name or an identifier, in bytes. */
#define APR_SERVE_MAX_TEXT 4096

/* Reads a string of at most APR_SERVE_MAX_TEXT bytes; @field is what it is called in messages. */
char *apr_serve_json_scan_text (AprJsonCursor *self, const char *field, GError **error);

/* What the next value is, for messages, such as “null” or “a string”, or its first bytes. */
char *apr_serve_json_describe (const AprJsonCursor *self);

/* Makes any text of a client's fit for a message. */
char *apr_serve_json_display (const char *text);

/* Appends a number with the fewest digits that bring it back when they are read as @dtype. It must be finite. */
void apr_serve_json_append_number (GString *json, double value, AprDType dtype);

void apr_serve_json_append_string (GString *json, const char *text);

G_END_DECLS
