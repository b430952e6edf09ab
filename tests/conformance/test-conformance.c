/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "corpus-contents.h"

#include <string.h>

/* One subtest to a file of the corpus, the folder of which is in APR_CORPUS. A wrong verdict fails and does not
 * abort, so that one run tells of every file. */

typedef struct
{
  char *name;
  char *verdict;
  char *error;
  char *message;
} Case;

static char *
case_path (const Case *c, const char *suffix)
{
  g_autofree char *name = g_strconcat (c->name, suffix, NULL);

  return g_build_filename (g_getenv ("APR_CORPUS"), "files", name, NULL);
}

static void
check_contents (const Case *c, AprSafetensorsReader *reader)
{
  g_autofree char *path = case_path (c, ".contents");
  g_autofree char *expected = NULL;
  g_autofree char *contents = NULL;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (path, &expected, NULL, &error);
  g_assert_no_error (error);
  contents = corpus_contents (reader, &error);
  if (contents == NULL)
    g_test_fail_printf ("accepted, but: %s", error->message);
  else if (strcmp (contents, expected) != 0)
    g_test_fail_printf ("accepted, but it should hold:\n%sand is said to hold:\n%s", expected, contents);
}

static void
check_error (const Case *c, gboolean is_stream, const GError *error)
{
  /* Of a stream that goes on nobody knows how long it is. */
  const char *message =
    is_stream && g_str_equal (c->error, "trailing-data") ? "but the stream goes on" : c->message;
  g_autoptr (GEnumClass) codes = g_type_class_ref (APR_TYPE_SAFETENSORS_ERROR);
  const GEnumValue *expected = g_enum_get_value_by_nick (codes, c->error);

  g_assert_nonnull (expected);
  g_assert_cmpuint (strlen (c->message), >, 0);
  if (!g_error_matches (error, APR_SAFETENSORS_ERROR, expected->value))
    g_test_fail_printf ("refused, not for “%s”: %s", c->error, error->message);
  else if (strstr (error->message, message) == NULL)
    g_test_fail_printf ("refused without “%s”: %s", message, error->message);
  else if (!g_utf8_validate (error->message, -1, NULL) || strlen (error->message) > 1200)
    g_test_fail_printf ("the message is no UTF-8, or too long");
}

static void
check_reader (const Case *c, gboolean is_stream, AprSafetensorsReader *reader, const GError *error)
{
  g_assert_cmpint (reader != NULL, ==, error == NULL);
  if (g_str_equal (c->verdict, "accept"))
    {
      if (reader == NULL)
        g_test_fail_printf ("refused: %s", error->message);
      else
        check_contents (c, reader);
    }
  else if (reader != NULL)
    g_test_fail_printf ("accepted, instead of refused for “%s”", c->error);
  else
    check_error (c, is_stream, error);
}

static AprSafetensorsReader *
open_in_mode (const char *path, AprSafetensorsLoadMode load_mode, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);

  return g_initable_new (APR_TYPE_SAFETENSORS_READER, NULL, error, "file", file, "load-mode", load_mode,
                         NULL);
}

static AprSafetensorsReader *
open_stream (GBytes *bytes, GError **error)
{
  g_autoptr (GInputStream) stream = g_memory_input_stream_new_from_bytes (bytes);

  return apr_safetensors_reader_new_from_stream (stream, NULL, error);
}

/* Every way in has the same verdict. */
static void
test_file (gconstpointer data)
{
  const Case *c = data;
  g_autofree char *path = case_path (c, ".safetensors");
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  char *content;
  gsize length;
  guint way;

  g_file_get_contents (path, &content, &length, &error);
  g_assert_no_error (error);
  /* As many bytes as the file has, so that a sanitizer sees the first byte too far. */
  bytes = g_bytes_new (content, length);
  g_free (content);
  for (way = 0; way < 4; way++)
    {
      g_autoptr (GError) refusal = NULL;
      g_autoptr (AprSafetensorsReader) reader =
        way == 0   ? open_in_mode (path, APR_SAFETENSORS_LOAD_MODE_MAP, &refusal)
        : way == 1 ? open_in_mode (path, APR_SAFETENSORS_LOAD_MODE_READ, &refusal)
        : way == 2 ? apr_safetensors_reader_new_from_bytes (bytes, &refusal)
                   : open_stream (bytes, &refusal);

      check_reader (c, way == 3, reader, refusal);
    }
}

static void
free_case (gpointer data)
{
  Case *c = data;

  g_free (c->name);
  g_free (c->verdict);
  g_free (c->error);
  g_free (c->message);
  g_free (c);
}

static void
add_case (const char *line)
{
  g_auto (GStrv) cells = g_strsplit (line, "\t", -1);
  g_autofree char *path = NULL;
  Case *c;

  g_assert_cmpuint (g_strv_length (cells), ==, 5);
  c = g_new0 (Case, 1);
  c->name = g_strdup (cells[0]);
  c->verdict = g_strdup (cells[1]);
  c->error = g_strdup (cells[2]);
  c->message = g_strdup (cells[3]);
  path = g_strconcat ("/conformance/", c->name, NULL);
  g_test_add_data_func_full (path, c, test_file, free_case);
}

int
main (int argc, char **argv)
{
  g_autofree char *path = NULL;
  g_autofree char *index = NULL;
  g_auto (GStrv) lines = NULL;
  guint i;

  g_test_init (&argc, &argv, NULL);
  g_test_set_nonfatal_assertions ();
  g_assert_nonnull (g_getenv ("APR_CORPUS"));
  path = g_build_filename (g_getenv ("APR_CORPUS"), "index.tsv", NULL);
  if (!g_file_get_contents (path, &index, NULL, NULL))
    g_error ("%s cannot be read: make-corpus makes it", path);
  lines = g_strsplit (g_strchomp (index), "\n", -1);
  for (i = 0; lines[i] != NULL; i++)
    add_case (lines[i]);
  g_assert_cmpuint (i, >=, 300);
  return g_test_run ();
}
