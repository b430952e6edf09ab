/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/header-test.h"

static void
test_limit (void)
{
  gsize size;
  g_autofree guint8 *file = make_file ("{}      ", 8, 8, 0, &size);
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsHeader) header = NULL;

  header = apr_safetensors_header_parse (file, size, 8, &error);
  g_assert_no_error (error);
  g_assert_nonnull (header);
  g_assert_null (apr_safetensors_header_parse (file, size, 7, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE);
  g_clear_error (&error);

  file[4] = 1;
  g_assert_null (apr_safetensors_header_parse (file, size, G_MAXUINT64, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE);
}

static void
test_long_name (void)
{
  g_autofree char *name = g_strnfill (1000000, 'n');
  g_autofree char *text =
    g_strdup_printf ("{\"%s\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", name);
  g_autoptr (GError) error = NULL;

  g_assert_null (parse (text, strlen (text), 4, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SIZE_MISMATCH);
  g_assert_cmpuint (strlen (error->message), <, 400);
  g_assert_nonnull (strstr (error->message, "(1000000 bytes)"));
  g_assert_nonnull (strstr (error->message, "needs 8"));
}

static void
test_depth (void)
{
  guint n_levels;

  g_test_summary ("The reference accepts 125 arrays in an ignored field, two levels down, and refuses 126.");

  for (n_levels = 124; n_levels <= 130; n_levels++)
    {
      g_autofree char *open = g_strnfill (n_levels, '[');
      g_autofree char *closed = g_strnfill (n_levels, ']');
      g_autofree char *text = g_strdup_printf (
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":%s%s}}", open, closed);
      Verdict verdict = { text, 8, n_levels <= 125 ? GOOD : APR_SAFETENSORS_ERROR_DEPTH, "127 levels" };

      check_verdicts (&verdict, 1);
    }
}

static void
test_offsets_wrap (void)
{
  g_autoptr (GString) text = g_string_new ("{");
  g_autoptr (GError) error = NULL;
  guint64 size = (G_GUINT64_CONSTANT (1) << 61) - 1;
  guint64 i;

  g_test_summary ("Eight tensors whose sizes add up to 2^64 - 8: with the header's size the sum wraps.");

  for (i = 0; i < 8; i++)
    g_string_append_printf (text,
                            "%s\"w%u\":{\"dtype\":\"U8\",\"shape\":[%" G_GUINT64_FORMAT
                            "],\"data_offsets\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "]}",
                            i > 0 ? "," : "", (guint) i, size, i * size, (i + 1) * size);
  g_string_append_c (text, '}');
  g_assert_null (parse (text->str, text->len, 8, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
  g_assert_nonnull (
    strstr (error->message, "“w7”: it ends at byte 18446744073709551608 of the data, but there are only 8"));
}

/* Appends an entry of no bytes. */
static void
append_empty (GString *text, const char *name)
{
  g_string_append_printf (text, "%s\"%s\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}",
                          text->len > 1 ? "," : "", name);
}

static void
test_many_names (void)
{
  g_autoptr (GString) text = g_string_new ("{");
  g_autoptr (AprSafetensorsHeader) header = NULL;
  g_autoptr (GError) error = NULL;
  guint i;

  for (i = 0; i < 3000; i++)
    {
      g_autofree char *name = g_strdup_printf ("layer.%u.weight", i);

      append_empty (text, name);
    }
  g_string_append_c (text, '}');
  header = parse (text->str, text->len, 0, &error);
  g_assert_no_error (error);
  for (i = 0; i < 3000; i++)
    {
      g_autofree char *name = g_strdup_printf ("layer.%u.weight", i);

      g_assert_true (apr_safetensors_header_find (header, name) == &header->entries[i]);
    }
  g_assert_null (apr_safetensors_header_find (header, "layer.3000.weight"));

  g_string_truncate (text, text->len - 1);
  append_empty (text, "layer.1234.weight");
  g_string_append_c (text, '}');
  g_assert_null (parse (text->str, text->len, 0, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_DUPLICATE);
  g_assert_nonnull (strstr (error->message, "“layer.1234.weight”"));
}

static void
test_absent_names (void)
{
  g_autoptr (GString) text = g_string_new ("{");
  guint n;

  g_test_summary ("The search for a name that is not there ends, however full the table of names is.");

  for (n = 1; n <= 70; n++)
    {
      g_autofree char *name = g_strdup_printf ("%u", n);
      g_autoptr (AprSafetensorsHeader) header = NULL;
      g_autoptr (GError) error = NULL;

      append_empty (text, name);
      g_string_append_c (text, '}');
      header = parse (text->str, text->len, 0, &error);
      g_assert_no_error (error);
      g_assert_true (apr_safetensors_header_find (header, name) == &header->entries[n - 1]);
      g_assert_null (apr_safetensors_header_find (header, "absent"));
      g_string_truncate (text, text->len - 1);
    }
}

static void
test_colliding_names (void)
{
  g_autoptr (GString) text = g_string_new ("{");
  g_autoptr (GString) metadata = g_string_new ("{\"__metadata__\":{");
  g_autoptr (AprSafetensorsHeader) header = NULL;
  g_autoptr (AprSafetensorsHeader) other = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) hashes = g_hash_table_new (NULL, NULL);
  char name[35] = "";
  guint i, j;

  g_test_summary (
    "“aa” and “b@” have the same hash in g_str_hash(), so that these 131,072 names take it 88 s.");

  g_assert_cmpuint (g_str_hash ("aa"), ==, g_str_hash ("b@"));
  for (i = 0; i < 131072; i++)
    {
      for (j = 0; j < 17; j++)
        memcpy (name + 2 * j, (i >> j & 1) != 0 ? "aa" : "b@", 2);
      g_hash_table_add (hashes, GUINT_TO_POINTER (apr_safetensors_name_hash (name)));
      append_empty (text, name);
      g_string_append_printf (metadata, "%s\"%s\":\"\"", i > 0 ? "," : "", name);
    }
  g_string_append_c (text, '}');
  g_string_append (metadata, "}}");

  /* Two of 2^32 random numbers are expected to be the same. */
  g_assert_cmpuint (g_hash_table_size (hashes), >, 131072 - 50);
  header = parse (text->str, text->len, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (header->n_entries, ==, 131072);
  other = parse (metadata->str, metadata->len, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (other->n_pairs, ==, 131072);
}

static void
test_names_of_one_hash (void)
{
  g_autoptr (GHashTable) by_hash = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (GString) text = g_string_new ("{");
  g_autoptr (AprSafetensorsHeader) header = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *name = NULL;
  const char *other = NULL;
  gpointer hash = NULL;
  guint i;

  g_test_summary ("Two names may have the same hash, as two of some 80,000 are expected to.");

  for (i = 0; other == NULL; i++)
    {
      if (name != NULL)
        g_hash_table_insert (by_hash, hash, g_steal_pointer (&name));
      name = g_strdup_printf ("%u", i);
      hash = GUINT_TO_POINTER (apr_safetensors_name_hash (name));
      other = g_hash_table_lookup (by_hash, hash);
    }
  append_empty (text, name);
  append_empty (text, other);
  g_string_append_c (text, '}');
  header = parse (text->str, text->len, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (header->n_entries, ==, 2);
  g_assert_cmpstr (apr_safetensors_header_get_name (header, apr_safetensors_header_find (header, name)), ==,
                   name);
  g_assert_cmpstr (apr_safetensors_header_get_name (header, apr_safetensors_header_find (header, other)), ==,
                   other);
}

static void
test_attacks (void)
{
  static const Verdict verdicts[] = {
    { "{\"w\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
      APR_SAFETENSORS_ERROR_OVERFLOW, "[4294967296, 4294967296]" },
    { "{\"w\":{\"dtype\":\"F32\",\"shape\":[4194305,4194305,211106198978564],\"data_offsets\":[0,16]}}", 16,
      APR_SAFETENSORS_ERROR_OVERFLOW, "211106198978564" },
    { "{\"w\":{\"dtype\":\"F32\",\"shape\":[32,8],\"data_offsets\":[0,65536]}}", 65536,
      APR_SAFETENSORS_ERROR_SIZE_MISMATCH, "“w”: 65536 bytes at [0, 65536), but F32 [32, 8] needs 1024" },
    { "{\"w\":{\"dtype\":\"F32\",\"shape\":[1000,1000],\"data_offsets\":[0,4]}}", 4,
      APR_SAFETENSORS_ERROR_SIZE_MISMATCH, "needs 4000000" },
    { "{\"liar\":{\"dtype\":\"F32\",\"shape\":[1024,1024],\"data_offsets\":[0,4194304]}}", 1,
      APR_SAFETENSORS_ERROR_TRUNCATED, "“liar”: it ends at byte 4194304 of the data, but there are only 1" },
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[18446744073709551615,1]}}", 2,
      APR_SAFETENSORS_ERROR_OVERLAP, "18446744073709551615" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[9223372036854775808,2],\"data_offsets\":[0,0]}}", 0,
      APR_SAFETENSORS_ERROR_OVERFLOW, "“a”" },
    { "{\"test\\u0000_tensor\":" T "}", 8, APR_SAFETENSORS_ERROR_NAME, "“test\\u0000_tensor”" },
    { "{\"__metadata__\":{\"frame\\u0000work\":\"pt\"}}", 0, APR_SAFETENSORS_ERROR_NAME,
      "“frame\\u0000work”" },
    { "{\"__metadata__\":{\"format\":\"pt\\u0000injected\"}}", 0, APR_SAFETENSORS_ERROR_METADATA,
      "“format”" },
  };

  g_test_summary ("What has been used against this and other implementations.");

  check_verdicts (verdicts, G_N_ELEMENTS (verdicts));
}

static void
test_attack_shared_bytes (void)
{
  g_autoptr (GString) text = g_string_new ("{");
  g_autoptr (GError) error = NULL;
  guint i;

  g_test_summary ("Many entries over the same bytes: a small file that asks for gigabytes.");

  for (i = 0; i < 100000; i++)
    g_string_append_printf (text,
                            "%s\"w%u\":{\"dtype\":\"F32\",\"shape\":[200,200],\"data_offsets\":[0,160000]}",
                            i > 0 ? "," : "", i);
  g_string_append_c (text, '}');
  g_assert_null (parse (text->str, text->len, 160000, &error));
  g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_OVERLAP);
  g_assert_nonnull (strstr (error->message, "[0, 160000)"));
}

static void
test_hostile_order (void)
{
  guint n_tensors = 50000;
  g_autoptr (GString) text = g_string_new ("{");
  g_autoptr (AprSafetensorsHeader) header = NULL;
  g_autoptr (GError) error = NULL;
  guint i;

  g_test_summary ("The tensors come last first, so that they have to be sorted.");

  for (i = n_tensors; i > 0; i--)
    g_string_append_printf (text, "%s\"w%u\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[%u,%u]}",
                            i < n_tensors ? "," : "", i, i - 1, i);
  g_string_append_c (text, '}');
  header = parse (text->str, text->len, n_tensors, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (header->entries[0].begin, ==, n_tensors - 1);
}

static const char small_header[] = "{\"__metadata__\":{\"k\":\"\\u00e9\"},\"w\":{\"dtype\":\"F32\",\"shape\":"
                                   "[1,2],\"data_offsets\":[0,8],\"x\":[{},-1.5e2]},"
                                   "\"\\n\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[8,9]}}";

static void
test_truncated_everywhere (void)
{
  gsize length = strlen (small_header);
  gsize size;
  g_autofree guint8 *file = make_file (small_header, length, length, 9, &size);
  gsize i;

  for (i = 0; i < size; i++)
    {
      g_autofree guint8 *part = g_memdup2 (file, MAX (i, 1));
      g_autoptr (GError) error = NULL;

      g_assert_null (apr_safetensors_header_parse (part, i, APR_SAFETENSORS_MAX_HEADER_SIZE, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED);
    }

  for (i = 0; i < length; i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (parse (small_header, i, 9, &error));
      g_assert_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_SYNTAX);
    }
}

static void
test_every_byte_changed (void)
{
  gsize length = strlen (small_header);
  gsize size;
  g_autofree guint8 *file = make_file (small_header, length, length, 9, &size);
  guint n_accepted = 0;
  gsize i;
  guint value;

  g_test_summary (
    "Each byte takes each value: whatever the verdict, it comes with either a header or an error.");

  for (i = 0; i < size; i++)
    for (value = 0; value < 256; value++)
      {
        g_autoptr (GError) error = NULL;
        g_autoptr (AprSafetensorsHeader) header = NULL;
        guint8 good = file[i];

        file[i] = (guint8) value;
        header = apr_safetensors_header_parse (file, size, APR_SAFETENSORS_MAX_HEADER_SIZE, &error);
        g_assert_cmpint (header != NULL, ==, error == NULL);
        g_assert_true (error == NULL || g_utf8_validate (error->message, -1, NULL));
        n_accepted += header != NULL;
        file[i] = good;
      }
  /* The nine bytes of data may be anything. */
  g_assert_cmpuint (n_accepted, >, 9 * 256);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/safetensors/header/limit", test_limit);
  g_test_add_func ("/safetensors/header/long-name", test_long_name);
  g_test_add_func ("/safetensors/header/many-names", test_many_names);
  g_test_add_func ("/safetensors/header/depth", test_depth);
  g_test_add_func ("/safetensors/header/offsets-wrap", test_offsets_wrap);
  g_test_add_func ("/safetensors/header/attacks", test_attacks);
  g_test_add_func ("/safetensors/header/attack-shared-bytes", test_attack_shared_bytes);
  g_test_add_func ("/safetensors/header/absent-names", test_absent_names);
  g_test_add_func ("/safetensors/header/colliding-names", test_colliding_names);
  g_test_add_func ("/safetensors/header/names-of-one-hash", test_names_of_one_hash);
  g_test_add_func ("/safetensors/header/hostile-order", test_hostile_order);
  g_test_add_func ("/safetensors/header/truncated-everywhere", test_truncated_everywhere);
  g_test_add_func ("/safetensors/header/every-byte-changed", test_every_byte_changed);

  return g_test_run ();
}
