/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/base/apr-error.h>

G_BEGIN_DECLS

/* Names of features, which are NULL-terminated, and their form in a file: a JSON array of strings. Those of targets are
 * like them. */

/* That all are UTF-8 and none is there twice. */
gboolean apr_feature_names_check (const char *const *names, GError **error);

gboolean apr_target_names_check (const char *const *names, GError **error);

/* Either may be %NULL. */
gboolean apr_feature_names_equal (char **a, char **b);

/* That they are as many as the features, or %NULL; @whose of the message is “X has”. */
gboolean
apr_feature_names_check_n (const char *const *names, gsize n_features, const char *whose, GError **error);

gboolean
apr_target_names_check_n (const char *const *names, gsize n_targets, const char *whose, GError **error);

/* That two lists are equal; @whose of the message is “the model was fitted”. */
gboolean apr_feature_names_compare (const char *const *expected,
                                    const char *const *names,
                                    const char *whose,
                                    GError **error);

gboolean apr_target_names_compare (const char *const *expected,
                                   const char *const *names,
                                   const char *whose,
                                   GError **error);

char *apr_feature_names_to_json (const char *const *names);

/* @key is what the message calls them. */
char **apr_feature_names_from_json (const char *json, const char *key, GError **error);

#define APR_FEATURE_NAMES_KEY "aprender.feature_names"
#define APR_TARGET_NAMES_KEY "aprender.target_names"

G_END_DECLS
