/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-feature-names-private.h"

#include <json-glib/json-glib.h>
#include <stdlib.h>
#include <string.h>

#include "aprender/safetensors/apr-json-scanner-private.h"

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(const char *const *) a, *(const char *const *) b);
}

/* By sorting: names come from files too, and a file can choose names that all hash alike. */
static const char *
find_duplicate (const char *const *names, gsize n)
{
  g_autofree const char **sorted = g_memdup2 (names, n * sizeof (const char *));
  gsize i;

  if (n > 1)
    qsort (sorted, n, sizeof (const char *), compare_names);
  for (i = 1; i < n; i++)
    if (g_strcmp0 (sorted[i - 1], sorted[i]) == 0)
      return sorted[i];

  return NULL;
}

/* @what is “feature” or “target”. */
static gboolean
check (const char *const *names, const char *what, GError **error)
{
  gsize n = g_strv_length ((char **) names);
  const char *duplicate;
  gsize i;

  for (i = 0; i < n; i++)
    if (!g_utf8_validate (names[i], -1, NULL))
      {
        g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                     "The name of %s %" G_GSIZE_FORMAT " (counted from 0) is not UTF-8", what, i);
        return FALSE;
      }

  duplicate = find_duplicate (names, n);
  if (duplicate == NULL)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES, "Two %ss have the name “%s”", what, duplicate);
  return FALSE;
}

gboolean
apr_feature_names_check (const char *const *names, GError **error)
{
  return check (names, "feature", error);
}

gboolean
apr_target_names_check (const char *const *names, GError **error)
{
  return check (names, "target", error);
}

gboolean
apr_feature_names_equal (char **a, char **b)
{
  return a == b ||
         (a != NULL && b != NULL && g_strv_equal ((const char *const *) a, (const char *const *) b));
}

static gboolean
check_n (const char *const *names, gsize n, const char *what, const char *whose, GError **error)
{
  guint n_names = names != NULL ? g_strv_length ((char **) names) : 0;

  if (names == NULL || n_names == n)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
               "There %s %u %s %s, but %s %" G_GSIZE_FORMAT " %s%s", n_names == 1 ? "is" : "are", n_names,
               what, n_names == 1 ? "name" : "names", whose, n, what, n == 1 ? "" : "s");
  return FALSE;
}

gboolean
apr_feature_names_check_n (const char *const *names, gsize n_features, const char *whose, GError **error)
{
  return check_n (names, n_features, "feature", whose, error);
}

gboolean
apr_target_names_check_n (const char *const *names, gsize n_targets, const char *whose, GError **error)
{
  return check_n (names, n_targets, "target", whose, error);
}

static gboolean
compare (
  const char *const *expected, const char *const *names, const char *what, const char *whose, GError **error)
{
  gsize i;

  for (i = 0; expected[i] != NULL && names[i] != NULL; i++)
    if (strcmp (expected[i], names[i]) != 0)
      {
        g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                     "%c%s %" G_GSIZE_FORMAT " (counted from 0) is “%s”, but %s with “%s” there",
                     g_ascii_toupper (what[0]), what + 1, i, names[i], whose, expected[i]);
        return FALSE;
      }

  if (expected[i] != NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES, "The %s “%s”, which %s with, is missing", what,
                 expected[i], whose);
  else if (names[i] != NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                 "There is a %s “%s”, but %s with %" G_GSIZE_FORMAT " others", what, names[i], whose, i);

  return expected[i] == NULL && names[i] == NULL;
}

gboolean
apr_feature_names_compare (const char *const *expected,
                           const char *const *names,
                           const char *whose,
                           GError **error)
{
  return compare (expected, names, "feature", whose, error);
}

gboolean
apr_target_names_compare (const char *const *expected,
                          const char *const *names,
                          const char *whose,
                          GError **error)
{
  return compare (expected, names, "target", whose, error);
}

char *
apr_feature_names_to_json (const char *const *names)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_ARRAY);
  g_autoptr (JsonArray) array = json_array_new ();
  g_autofree char *text = NULL;
  GString *json;
  gsize i;

  for (i = 0; names[i] != NULL; i++)
    json_array_add_string_element (array, names[i]);
  json_node_set_array (node, array);

  /* json-glib 1.6 leaves this one control character as it is. */
  text = json_to_string (node, FALSE);
  json = g_string_new (text);
  g_string_replace (json, "\x1f", "\\u001f", 0);

  return g_string_free (json, FALSE);
}

char **
apr_feature_names_from_json (const char *json, const char *key, GError **error)
{
  char **names = apr_json_scan_string_array (json, strlen (json), error);

  if (names == NULL)
    g_prefix_error (error, "The metadata “%s”: ", key);

  return names;
}
