/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* What a client asks, whatever brought it here. */
typedef struct
{
  const char *method;
  const char *path;
  const char *interval;         /* (nullable) the argument of the query */
  const char *content_type;     /* (nullable) */
  const char *content_encoding; /* (nullable) */
  const char *authorization;    /* (nullable) */
  const char
    *json_length;      /* (nullable) the bytes of the body that are JSON, where binary tensors follow them */
  const char *model;   /* (nullable) the argument “model_id” of the query, or what the path names */
  const char *version; /* (nullable) what the path names */
  const char *body;    /* followed by APR_DECIMAL_PADDING readable bytes */
  gsize body_size;
  gint64 began;     /* when it had come, in microseconds */
  gsize max_answer; /* bytes that there is room for; 0 is no limit */
} AprServeRequest;

typedef struct
{
  guint status;
  const char *content_type; /* (unowned) static */
  const char *allow;        /* (nullable) (unowned) static: the method that the route knows */
  GString *body;            /* (owned) */
  GPtrArray *parts;         /* (owned) (nullable) of GBytes, which are sent in the body's place */
  gsize own_size;           /* bytes of parts that this answer does not share with others */
  gsize n_rows;             /* how many were predicted */
} AprServeResponse;

/* Whether an answer of at least @size bytes may be made, which is asked while it grows: a short request may have a long
 * answer. */
gboolean apr_serve_request_check_room (const AprServeRequest *self, gsize size, GError **error);

void apr_serve_response_clear (AprServeResponse *self);

/* Adds to the parts. */
void apr_serve_response_add_part (AprServeResponse *self, GBytes *part);

/* Answers with {"error": MESSAGE, "code": CODE}, as realizar does. Always returns FALSE. */
gboolean
apr_serve_response_fail (AprServeResponse *self, guint status, const char *code, const char *message);

/* The same for what was wrong with a request. */
gboolean apr_serve_response_fail_with (AprServeResponse *self, const GError *error);

G_END_DECLS
