/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-writer.h"

G_BEGIN_DECLS

/* Names of the columns of X, or of y: NULL-terminated, and in files a JSON array of strings. */
typedef enum
{
  APR_FEATURE_NAMES,
  APR_TARGET_NAMES,
  APR_N_NAMES
} AprNames;

/* The property that holds them, and what the metadata of a file call them. */
const char *apr_names_get_property (AprNames kind);
const char *apr_names_get_key (AprNames kind);

/* That all are UTF-8 and none is there twice; or %NULL. */
gboolean apr_names_check (const char *const *names, AprNames kind, GError **error);

/* That they are @n, or %NULL; @whose of the message is “X has”. */
gboolean
apr_names_check_n (const char *const *names, AprNames kind, gsize n, const char *whose, GError **error);

/* That two lists are equal; @whose of the message is “the model was fitted”. */
gboolean apr_names_compare (
  const char *const *expected, const char *const *names, AprNames kind, const char *whose, GError **error);

/* Either may be %NULL. */
gboolean apr_names_equal (char **a, char **b);

/* Adds @names, unless they are %NULL, to the metadata of a file; @prefix goes before @key. */
gboolean apr_names_save (
  char **names, const char *key, AprSafetensorsWriter *writer, const char *prefix, GError **error);

/* @names are %NULL where the metadata have none. */
gboolean
apr_names_load (GHashTable *metadata, const char *key, const char *prefix, char ***names, GError **error);

G_END_DECLS
