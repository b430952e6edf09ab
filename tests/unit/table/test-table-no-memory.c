/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/table-test.h"

/* The linker sends the library's calls of these functions here: without a thread that reads ahead, reading can be tried
 * again; of large texts, one finds no memory; and what ends the program where there is none is not asked for much. */
GThread *__wrap_g_thread_try_new (const char *name, GThreadFunc function, gpointer data, GError **error);

GThread *
__wrap_g_thread_try_new (const char *name G_GNUC_UNUSED,
                         GThreadFunc function G_GNUC_UNUSED,
                         gpointer data G_GNUC_UNUSED,
                         GError **error G_GNUC_UNUSED)
{
  return NULL;
}

#define LARGE 500000

static gint n_texts;

gpointer __real_g_try_realloc (gpointer memory, gsize size);
gpointer __wrap_g_try_realloc (gpointer memory, gsize size);

gpointer
__wrap_g_try_realloc (gpointer memory, gsize size)
{
  return size >= LARGE && n_texts-- == 0 ? NULL : __real_g_try_realloc (memory, size);
}

gpointer __real_g_realloc (gpointer memory, gsize size);
gpointer __wrap_g_realloc (gpointer memory, gsize size);

gpointer
__wrap_g_realloc (gpointer memory, gsize size)
{
  g_assert_cmpuint (size, <, LARGE);
  return __real_g_realloc (memory, size);
}

static void
test_long_rows (void)
{
  const char *const features[] = { "a", NULL };
  g_autofree char *cell = g_strnfill (900000, 'x');
  g_autofree char *text =
    g_strdup_printf ("a,b,c\n1,%s,\n2,%s,%s\n3,,\n4,%s,%s\n5,%s,\n", cell, cell, cell, cell, cell, cell);
  gboolean ended = FALSE;
  gint missing;

  g_test_summary ("Where there is no memory for a text, reading can go on later, and no row is lost.");

  for (missing = 0; !ended; missing++)
    {
      g_autoptr (AprTableReader) reader = reader_new (text, -1);
      g_autoptr (GError) error = NULL;
      AprTensor *x = NULL;
      double row = 0;

      apr_table_reader_set_features (reader, features);
      n_texts = missing;
      while (apr_table_reader_read (reader, &x, NULL, NULL, NULL, &error) || error != NULL)
        {
          gsize n = x != NULL ? apr_tensor_get_n_elements (x) : 0;
          gsize i;

          if (error != NULL)
            {
              g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
              g_assert_cmpstr (error->message, ==, "data: no memory for so much data");
              g_clear_error (&error);
            }
          for (i = 0; i < n; i++)
            g_assert_cmpfloat (apr_tensor_get_double (x, i, NULL), ==, ++row);
          g_clear_pointer (&x, apr_tensor_unref);
        }
      g_assert_cmpfloat (row, ==, 5);
      ended = n_texts >= 0;
    }
  g_assert_cmpint (missing, >, 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/table-no-memory/long-rows", test_long_rows);

  return g_test_run ();
}
