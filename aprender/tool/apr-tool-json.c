/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-json.h"

#include <math.h>

#include "aprender/base/apr-number-private.h"
#include "aprender/tool/apr-tool-text.h"

/* json-glib writes 17 digits of each double, and each number of an array on a line of its own. */

void
apr_tool_json_add_value (JsonBuilder *builder, double value, AprDType dtype)
{
  char buffer[APR_NUMBER_SIZE];

  if (!isfinite (value))
    {
      json_builder_add_null_value (builder);
      return;
    }
  /* The double that the shortest text of a float stands for. */
  apr_number_format (value, dtype == APR_DTYPE_F32, buffer);
  json_builder_add_double_value (builder, g_ascii_strtod (buffer, NULL));
}

void
apr_tool_json_add_number (JsonBuilder *builder, const char *name, double value)
{
  json_builder_set_member_name (builder, name);
  apr_tool_json_add_value (builder, value, APR_DTYPE_F64);
}

void
apr_tool_json_add_count (JsonBuilder *builder, const char *name, guint64 value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, (gint64) value);
}

void
apr_tool_json_add_text (JsonBuilder *builder, const char *name, const char *value)
{
  g_autofree char *valid = g_utf8_make_valid (value, -1);

  json_builder_set_member_name (builder, name);
  json_builder_add_string_value (builder, valid);
}

void
apr_tool_json_add_texts (JsonBuilder *builder, const char *name, const char *const *values)
{
  gsize i;

  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (i = 0; values[i] != NULL; i++)
    json_builder_add_string_value (builder, values[i]);
  json_builder_end_array (builder);
}

static void
append_indent (GString *text, int depth)
{
  if (depth < 0)
    return;
  g_string_append_c (text, '\n');
  for (; depth > 0; depth--)
    g_string_append (text, "  ");
}

static void append_node (GString *text, JsonNode *node, int depth);

static gboolean
has_only_values (JsonArray *array)
{
  guint i;

  for (i = 0; i < json_array_get_length (array); i++)
    {
      JsonNode *element = json_array_get_element (array, i);

      if (!JSON_NODE_HOLDS_VALUE (element) && !JSON_NODE_HOLDS_NULL (element))
        return FALSE;
    }

  return TRUE;
}

/* @depth is below 0 for one line. */
static void
append_array (GString *text, JsonArray *array, int depth)
{
  guint n = json_array_get_length (array);
  int inner = depth < 0 || has_only_values (array) ? -1 : depth + 1;
  guint i;

  g_string_append_c (text, '[');
  for (i = 0; i < n; i++)
    {
      if (i > 0)
        g_string_append (text, inner < 0 ? ", " : ",");
      append_indent (text, inner);
      append_node (text, json_array_get_element (array, i), inner);
    }
  if (n > 0 && inner >= 0)
    append_indent (text, depth);
  g_string_append_c (text, ']');
}

static void
append_text (GString *text, const char *value)
{
  g_autoptr (JsonNode) node = json_node_init_string (json_node_alloc (), value);
  g_autofree char *quoted = json_to_string (node, FALSE);

  g_string_append (text, quoted);
}

static void
append_object (GString *text, JsonObject *object, int depth)
{
  int inner = depth < 0 ? -1 : depth + 1;
  JsonObjectIter iter;
  const char *name;
  JsonNode *member;
  guint n = 0;

  g_string_append_c (text, '{');
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &member))
    {
      if (n++ > 0)
        g_string_append (text, inner < 0 ? ", " : ",");
      append_indent (text, inner);
      append_text (text, name);
      g_string_append (text, ": ");
      append_node (text, member, inner);
    }
  if (n > 0)
    append_indent (text, depth);
  g_string_append_c (text, '}');
}

static void
append_node (GString *text, JsonNode *node, int depth)
{
  char buffer[APR_NUMBER_SIZE];

  if (JSON_NODE_HOLDS_OBJECT (node))
    append_object (text, json_node_get_object (node), depth);
  else if (JSON_NODE_HOLDS_ARRAY (node))
    append_array (text, json_node_get_array (node), depth);
  else if (JSON_NODE_HOLDS_NULL (node))
    g_string_append (text, "null");
  else if (json_node_get_value_type (node) == G_TYPE_DOUBLE)
    g_string_append (text, apr_number_format (json_node_get_double (node), FALSE, buffer));
  else if (json_node_get_value_type (node) == G_TYPE_STRING)
    append_text (text, json_node_get_string (node));
  else
    {
      g_autofree char *value = json_to_string (node, FALSE);

      g_string_append (text, value);
    }
}

char *
apr_tool_json_to_string (JsonBuilder *builder, gboolean one_line)
{
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autoptr (GString) text = g_string_new (NULL);

  append_node (text, root, one_line ? -1 : 0);
  g_string_append_c (text, '\n');

  return apr_tool_escape_lines (text->str);
}
