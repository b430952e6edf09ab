/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-names-private.h"

#include <json-glib/json-glib.h>
#include <stdlib.h>
#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/estimator/apr-model-file-private.h"
#include "aprender/safetensors/apr-json-scanner-private.h"

static const struct
{
  const char *what;
  const char *property;
  const char *key;
} kinds[APR_N_NAMES] = {
  [APR_FEATURE_NAMES] = { "feature", "feature-names", "feature_names" },
  [APR_TARGET_NAMES] = { "target", "target-names", "target_names" },
};

const char *
apr_names_get_property (AprNames kind)
{
  return kinds[kind].property;
}

const char *
apr_names_get_key (AprNames kind)
{
  return kinds[kind].key;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(const char *const *) a, *(const char *const *) b);
}

/* By sorting: names come from files too, and a file can choose names that all hash alike. */
static gboolean
check_different (const char *const *names, gsize n, const char *what, GError **error)
{
  g_autofree const char **sorted = apr_memory_new (n, sizeof *sorted, "names", error);
  gsize i;

  if (sorted == NULL)
    return FALSE;

  for (i = 0; i < n; i++)
    sorted[i] = names[i];
  if (n > 1)
    qsort (sorted, n, sizeof *sorted, compare_names);
  for (i = 1; i < n; i++)
    if (g_strcmp0 (sorted[i - 1], sorted[i]) == 0)
      {
        g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES, "Two %ss have the name “%s”", what,
                     sorted[i]);
        return FALSE;
      }

  return TRUE;
}

gboolean
apr_names_check (const char *const *names, AprNames kind, GError **error)
{
  gsize n = names != NULL ? g_strv_length ((char **) names) : 0;
  const char *what = kinds[kind].what;
  gsize i;

  for (i = 0; i < n; i++)
    if (!g_utf8_validate (names[i], -1, NULL))
      {
        g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
                     "The name of %s %" G_GSIZE_FORMAT " (counted from 0) is not UTF-8", what, i);
        return FALSE;
      }

  return check_different (names, n, what, error);
}

gboolean
apr_names_equal (char **a, char **b)
{
  return a == b ||
         (a != NULL && b != NULL && g_strv_equal ((const char *const *) a, (const char *const *) b));
}

gboolean
apr_names_check_n (const char *const *names, AprNames kind, gsize n, const char *whose, GError **error)
{
  const char *what = kinds[kind].what;
  guint n_names = names != NULL ? g_strv_length ((char **) names) : 0;

  if (names == NULL || n_names == n)
    return TRUE;

  g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES,
               "There %s %u %s %s, but %s %" G_GSIZE_FORMAT " %s%s", n_names == 1 ? "is" : "are", n_names,
               what, n_names == 1 ? "name" : "names", whose, n, what, n == 1 ? "" : "s");
  return FALSE;
}

gboolean
apr_names_compare (
  const char *const *expected, const char *const *names, AprNames kind, const char *whose, GError **error)
{
  const char *what = kinds[kind].what;
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

static char *
to_json (const char *const *names)
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

gboolean
apr_names_save (
  char **names, const char *key, AprSafetensorsWriter *writer, const char *prefix, GError **error)
{
  g_autofree char *full_key = apr_model_key_new (prefix, key);
  g_autofree char *json = names != NULL ? to_json ((const char *const *) names) : NULL;

  return json == NULL || apr_safetensors_writer_set_metadata (writer, full_key, json, error);
}

gboolean
apr_names_load (GHashTable *metadata, const char *key, const char *prefix, char ***names, GError **error)
{
  g_autofree char *full_key = apr_model_key_new (prefix, key);
  const char *json = g_hash_table_lookup (metadata, full_key);

  *names = json != NULL ? apr_json_scan_string_array (json, strlen (json), error) : NULL;
  if (json != NULL && *names == NULL)
    g_prefix_error (error, "The metadata “%s”: ", full_key);

  return json == NULL || *names != NULL;
}
