/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "aprender/tool/apr-tool-json.h"
#include "aprender/tool/apr-tool-safetensors.h"
#include "aprender/tool/apr-tool-text.h"
#include "aprender/tool/apr-tool.h"

typedef struct
{
  gboolean json;
} VerifyOptions;

static const AprToolOption options_of_verify[] = { APR_TOOL_JSON_OPTION (VerifyOptions), { NULL } };

/* The name of a code of AprSafetensorsError, such as “gap”. */
static const char *
get_reason (const GError *error)
{
  g_autoptr (GEnumClass) class = g_type_class_ref (APR_TYPE_SAFETENSORS_ERROR);
  const GEnumValue *value = g_enum_get_value (class, error->code);

  return value != NULL ? value->value_nick : "unknown";
}

/* The message without the name of the file, which stands before it already. */
static const char *
get_message (const GError *error, const char *name)
{
  gsize length = strlen (name);

  return g_str_has_prefix (error->message, name) && g_str_has_prefix (error->message + length, ": ")
         ? error->message + length + 2
         : error->message;
}

/* No reader needs the total size of an index of shards, but whoever writes one may like to know that it is wrong.
 * Returns: (nullable): what is wrong with it */
static char *
check_total_size (const char *path, guint64 n_bytes)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonObject *index;
  JsonObject *metadata;
  guint64 total_size;

  if (!g_str_has_suffix (path, ".index.json") || !json_parser_load_from_file (parser, path, NULL))
    return NULL;
  index = json_node_get_object (json_parser_get_root (parser));
  metadata =
    json_object_has_member (index, "metadata") ? json_object_get_object_member (index, "metadata") : NULL;
  if (metadata == NULL || !json_object_has_member (metadata, "total_size"))
    return NULL;
  total_size = (guint64) json_object_get_int_member (metadata, "total_size");

  return total_size == n_bytes ? NULL
                               : g_strdup_printf ("“total_size” is %" G_GUINT64_FORMAT
                                                  ", but the tensors have %" G_GUINT64_FORMAT " bytes",
                                                  total_size, n_bytes);
}

static void
add_verdict (JsonBuilder *builder,
             const char *name,
             gsize n_tensors,
             guint64 n_bytes,
             const char *warning,
             const GError *error)
{
  guint64 offset;

  json_builder_begin_object (builder);
  apr_tool_json_add_text (builder, "file", name);
  json_builder_set_member_name (builder, "valid");
  if (error != NULL && error->domain != APR_SAFETENSORS_ERROR)
    json_builder_add_null_value (builder);
  else
    json_builder_add_boolean_value (builder, error == NULL);
  if (error == NULL)
    {
      apr_tool_json_add_count (builder, "tensors", n_tensors);
      apr_tool_json_add_count (builder, "bytes", n_bytes);
      if (warning != NULL)
        apr_tool_json_add_text (builder, "warning", warning);
    }
  else
    {
      apr_tool_json_add_text (builder, "reason",
                              error->domain == APR_SAFETENSORS_ERROR ? get_reason (error) : "unreadable");
      if (apr_safetensors_error_get_offset (error, &offset))
        apr_tool_json_add_count (builder, "offset", offset);
      apr_tool_json_add_text (builder, "message", get_message (error, name));
    }
  json_builder_end_object (builder);
}

static void
print_verdict (const char *name, gsize n_tensors, guint64 n_bytes, const char *warning, const GError *error)
{
  g_autofree char *shown = apr_tool_escape (name);
  g_autofree char *message = error != NULL ? apr_tool_escape (get_message (error, name)) : NULL;

  if (error == NULL)
    printf ("%s: valid, %" G_GSIZE_FORMAT " %s, %" G_GUINT64_FORMAT " %s%s%s\n", shown, n_tensors,
            n_tensors == 1 ? "tensor" : "tensors", n_bytes, n_bytes == 1 ? "byte" : "bytes",
            warning != NULL ? "; warning: " : "", warning != NULL ? warning : "");
  else if (error->domain == APR_SAFETENSORS_ERROR)
    printf ("%s: invalid (%s): %s\n", shown, get_reason (error), message);
}

static AprToolStatus
verify (const char *path, JsonBuilder *builder)
{
  g_autofree char *name = apr_tool_get_display_name (path);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsReader) reader = apr_tool_open_safetensors (path, &error);
  const char *const *names = reader != NULL ? apr_safetensors_reader_get_names (reader) : NULL;
  gsize n_tensors = names != NULL ? g_strv_length ((char **) names) : 0;
  g_autofree char *warning = NULL;
  guint64 n_bytes = 0;
  gsize i;

  for (i = 0; i < n_tensors; i++)
    n_bytes += apr_safetensors_reader_get_size (reader, names[i], NULL);
  if (reader != NULL)
    warning = check_total_size (path, n_bytes);
  if (builder != NULL)
    add_verdict (builder, name, n_tensors, n_bytes, warning, error);
  else
    print_verdict (name, n_tensors, n_bytes, warning, error);

  if (error != NULL && error->domain != APR_SAFETENSORS_ERROR)
    {
      fflush (stdout);
      return apr_tool_fail (error);
    }
  return error != NULL ? APR_TOOL_INVALID : APR_TOOL_OK;
}

static AprToolStatus
run (char **arguments, gpointer data)
{
  const VerifyOptions *options = data;
  g_autoptr (JsonBuilder) builder = options->json ? json_builder_new () : NULL;
  AprToolStatus worst = APR_TOOL_OK;
  gsize i;

  if (builder != NULL)
    json_builder_begin_array (builder);
  for (i = 0; arguments[i] != NULL; i++)
    {
      AprToolStatus status = verify (arguments[i], builder);

      worst = MAX (worst, status);
    }
  if (builder != NULL)
    {
      g_autofree char *json = NULL;

      json_builder_end_array (builder);
      json = apr_tool_json_to_string (builder, FALSE);
      fputs (json, stdout);
    }

  return worst;
}

const AprToolCommand apr_tool_verify = {
  .name = "verify",
  .title = "Check whether files are valid SafeTensors files",
  .summary = "Checks whether files are valid SafeTensors files, and says why one is not: the rule that it "
             "breaks, the\n"
             "tensor, and the offset.",
  .parameters = { "FILE.safetensors" },
  .repeats = TRUE,
  .options = options_of_verify,
  .size = sizeof (VerifyOptions),
  .notes = "“-” reads a file from the standard input.\n"
           "An index of shards is checked together with all shards that it names. One whose “total_size” is "
           "not the\n"
           "size of all tensors in bytes is valid, but there is a warning.\n"
           "With --json, the offset is that of the first wrong byte of the file, or of the shard that the "
           "message\n"
           "names, counted from 0.\n"
           "The exit status is 0 if all are valid, 3 if one is not, and otherwise 1 if one cannot be read.",
  .example = "aprender verify model.safetensors",
  .run = run,
};
