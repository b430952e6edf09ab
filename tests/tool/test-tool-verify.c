/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tool-run.h"

#include <signal.h>
#include <string.h>

#include <json-glib/json-glib.h>

/* Writes a header with its length before it, and a number of bytes of data behind it. */
static void
write_safetensors (const char *name, const char *header, gsize n_bytes)
{
  g_autoptr (GString) file = g_string_new (NULL);
  guint64 length = GUINT64_TO_LE (strlen (header));

  g_string_append_len (file, (const char *) &length, sizeof length);
  g_string_append (file, header);
  for (; n_bytes > 0; n_bytes--)
    g_string_append_c (file, 'x');
  tool_write (name, file->str, (gssize) file->len);
}

static void
write_files (void)
{
  write_safetensors ("good.safetensors", "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}",
                     3);
  write_safetensors ("gap.safetensors", "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}", 3);
  write_safetensors ("syntax.safetensors", "{\"a\";{}}", 0);
}

static void
test_verdicts (void)
{
  g_autoptr (Run) good = NULL;
  g_autoptr (Run) bad = NULL;
  g_autoptr (Run) piped = NULL;

  g_test_summary (
    "A line for each file, with the rule, the tensor and the offset; status 3 if one is invalid.");

  write_files ();
  good = tool_run ("verify good.safetensors");
  g_assert_cmpstr (good->output, ==, "good.safetensors: valid, 1 tensor, 3 bytes\n");
  bad = tool_run_with ("verify gap.safetensors good.safetensors syntax.safetensors", NULL, 0, NULL);
  g_assert_cmpint (bad->status, ==, 3);
  g_assert_cmpstr (bad->messages, ==, "");
  g_assert_cmpstr (
    bad->output, ==,
    "gap.safetensors: invalid (gap): tensor “a”: it begins at byte 1, but the bytes from 0 up to there "
    "belong to no tensor\n"
    "good.safetensors: valid, 1 tensor, 3 bytes\n"
    "syntax.safetensors: invalid (syntax): header byte 4: expected “:”, found “;”\n");
  piped = tool_run_with ("verify -", "{}", 2, NULL);
  g_assert_cmpint (piped->status, ==, 3);
  g_assert_true (g_str_has_prefix (piped->output, "standard input: invalid (truncated): 2 bytes are no"));
}

/* Runs the command with more on its standard input than any pipe holds, and asserts that it does not read it all. */
static char *
verify_beginning (const char *beginning, gsize length)
{
  const gsize size = 16 << 20;
  g_autofree char *input = g_malloc0 (size);
  g_autoptr (GSubprocess) process = NULL;
  char *output = NULL;
  GError *error = NULL;

  memcpy (input, beginning, length);
  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error,
                              g_getenv ("APR_TOOL"), "verify", "-", NULL);
  g_assert_no_error (error);
  g_output_stream_write_all (g_subprocess_get_stdin_pipe (process), input, size, NULL, NULL, &error);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE);
  g_clear_error (&error);
  g_subprocess_communicate_utf8 (process, NULL, NULL, &output, NULL, &error);
  g_clear_error (&error);
  g_assert_cmpint (g_subprocess_get_exit_status (process), ==, 3);

  return output;
}

static void
test_endless_input (void)
{
  static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}";
  g_autoptr (GString) file = g_string_new (NULL);
  guint64 length = GUINT64_TO_LE (strlen (header));
  g_autofree char *none = NULL;
  g_autofree char *longer = NULL;

  g_test_summary ("What cannot be a file is not read to its end, nor what follows one.");

  signal (SIGPIPE, SIG_IGN);
  none = verify_beginning ("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  g_assert_true (g_str_has_prefix (none, "standard input: invalid (header-too-large): "));
  g_string_append_len (file, (const char *) &length, sizeof length);
  g_string_append (file, header);
  longer = verify_beginning (file->str, file->len);
  g_assert_cmpstr (longer, ==,
                   "standard input: invalid (trailing-data): the last tensor ends at byte 64, but the stream "
                   "goes on\n");
}

static void
test_unreadable (void)
{
  g_autoptr (Run) run = NULL;

  g_test_summary ("What cannot be read is neither; status 1, and the others are checked all the same.");

  write_files ();
  run = tool_run_with ("verify none.safetensors good.safetensors", NULL, 0, NULL);
  g_assert_cmpint (run->status, ==, 1);
  g_assert_cmpstr (run->messages, ==, "aprender: none.safetensors: No such file or directory\n");
  g_assert_cmpstr (run->output, ==, "good.safetensors: valid, 1 tensor, 3 bytes\n");
}

static void
test_json (void)
{
  g_autoptr (Run) run = NULL;
  g_autoptr (JsonNode) node = NULL;
  JsonObject *first;
  JsonObject *second;

  write_files ();
  run = tool_run_with ("verify --json gap.safetensors good.safetensors", NULL, 0, NULL);
  g_assert_cmpint (run->status, ==, 3);
  node = json_from_string (run->output, NULL);
  g_assert_nonnull (node);
  first = json_array_get_object_element (json_node_get_array (node), 0);
  second = json_array_get_object_element (json_node_get_array (node), 1);
  g_assert_false (json_object_get_boolean_member (first, "valid"));
  g_assert_cmpstr (json_object_get_string_member (first, "reason"), ==, "gap");
  /* The data begin behind the length of the header and its 53 bytes. */
  g_assert_cmpint (json_object_get_int_member (first, "offset"), ==, 8 + 53);
  g_assert_true (json_object_get_boolean_member (second, "valid"));
  g_assert_false (json_object_has_member (second, "offset"));
  g_assert_cmpint (json_object_get_int_member (second, "tensors"), ==, 1);
}

static void
test_json_of_shard (void)
{
  g_autoptr (Run) run = NULL;
  g_autoptr (JsonNode) node = NULL;
  JsonObject *verdict;

  g_test_summary ("The message of an index begins with the name of the shard that the offset is in.");

  write_files ();
  tool_write ("m.index.json", "{\"weight_map\":{\"a\":\"gap.safetensors\"}}", -1);
  run = tool_run_with ("verify --json m.index.json", NULL, 0, NULL);
  g_assert_cmpint (run->status, ==, 3);
  node = json_from_string (run->output, NULL);
  verdict = json_array_get_object_element (json_node_get_array (node), 0);
  g_assert_cmpstr (json_object_get_string_member (verdict, "file"), ==, "m.index.json");
  g_assert_true (g_str_has_prefix (json_object_get_string_member (verdict, "message"),
                                   "shard “gap.safetensors”: tensor “a”: "));
  g_assert_cmpint (json_object_get_int_member (verdict, "offset"), ==, 8 + 53);
}

static void
test_total_size (void)
{
  static const struct
  {
    const char *metadata;
    const char *warning;
  } cases[] = {
    { "", NULL },
    { "\"metadata\":{},", NULL },
    { "\"metadata\":{\"total_size\":3},", NULL },
    { "\"metadata\":{\"total_size\":3.0},", NULL },
    { "\"metadata\":{\"total_size\":64},", "“total_size” is 64, but the tensors have 3 bytes" },
    { "\"metadata\":{\"total_size\":64.0},", "“total_size” is 64, but the tensors have 3 bytes" },
  };
  gsize i;

  g_test_summary ("Some programs count the bytes of the files: readers do not mind, but there is a warning.");

  write_files ();
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *index =
        g_strdup_printf ("{%s\"weight_map\":{\"a\":\"good.safetensors\"}}", cases[i].metadata);
      g_autofree char *expected = g_strdup_printf ("m.index.json: valid, 1 tensor, 3 bytes%s%s\n",
                                                   cases[i].warning != NULL ? "; warning: " : "",
                                                   cases[i].warning != NULL ? cases[i].warning : "");
      g_autoptr (Run) text = NULL;
      g_autoptr (Run) json = NULL;
      g_autoptr (JsonNode) node = NULL;
      JsonObject *verdict;

      tool_write ("m.index.json", index, -1);
      text = tool_run ("verify m.index.json");
      g_assert_cmpstr (text->output, ==, expected);
      json = tool_run ("verify m.index.json --json");
      node = json_from_string (json->output, NULL);
      verdict = json_array_get_object_element (json_node_get_array (node), 0);
      g_assert_true (json_object_get_boolean_member (verdict, "valid"));
      g_assert_cmpstr (json_object_get_string_member_with_default (verdict, "warning", NULL), ==,
                       cases[i].warning);
    }
}

static void
add_tests (void)
{
  g_test_add_func ("/tool/verify", test_verdicts);
  g_test_add_func ("/tool/verify/endless-input", test_endless_input);
  g_test_add_func ("/tool/verify/unreadable", test_unreadable);
  g_test_add_func ("/tool/verify/json", test_json);
  g_test_add_func ("/tool/verify/json-of-shard", test_json_of_shard);
  g_test_add_func ("/tool/verify/total-size", test_total_size);
}

int
main (int argc, char **argv)
{
  return tool_main (argc, argv, add_tests);
}
