/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include <string.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/base/apr-run-private.h"

/* A page of the allocator, what is still its, and large pages. */
static const gsize sizes[] = { 0, 1, 4000, 3 << 20, (4 << 20) - 64, 4 << 20, 9999999 };

static void
test_memory (void)
{
  gsize i;
  gsize at;

  g_test_summary (
    "Memory of any size is aligned, all 0 where that is asked for, and can be written to its end.");

  for (i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      guint8 *pages = apr_pages_new (sizes[i], TRUE);
      guint8 *others = apr_run_new_pages (&(AprRun){ 0 }, sizes[i], 1, FALSE);

      g_assert_cmpuint ((guintptr) pages % 64, ==, 0);
      g_assert_cmpuint ((guintptr) others % 64, ==, 0);
      for (at = 0; at < sizes[i]; at++)
        g_assert_cmpuint (pages[at], ==, 0);
      memset (pages, 1, sizes[i]);
      memset (others, 2, sizes[i]);
      for (at = 0; at < sizes[i]; at += 997)
        {
          g_assert_cmpuint (pages[at], ==, 1);
          g_assert_cmpuint (others[at], ==, 2);
        }
      apr_pages_free (pages);
      apr_pages_free (others);
    }
  apr_pages_free (NULL);
}

static void
test_too_much (void)
{
  gsize missing = 0;
  const AprRun watching = apr_run_watch_memory (&(AprRun){ 0 }, &missing);
  g_autoptr (GError) error = NULL;

  g_test_summary (
    "What no memory can hold is NULL, and cancels a run, or ends the program with the numbers.");

  if (g_test_subprocess ())
    {
      apr_pages_free (apr_run_new_pages (&(AprRun){ 0 }, G_MAXSIZE / 8 + 2, 8, FALSE));
      return;
    }

  g_assert_false (apr_run_is_cancelled (&watching));
  g_assert_false (apr_run_set_error_if_cancelled (&watching, &error));
  g_assert_null (apr_run_new_pages (&watching, (gsize) 1 << 40, (gsize) 1 << 20, FALSE));
  g_assert_null (apr_run_new_pages (&watching, G_MAXSIZE / 8 + 2, 8, FALSE));
  g_assert_null (apr_run_new_doubles (&watching, G_MAXSIZE / 32, 2));
  g_assert_true (apr_run_is_cancelled (&watching));
  g_assert_true (apr_run_set_error_if_cancelled (&watching, &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
  g_assert_cmpstr (error->message, ==, "There is no memory for a matrix of 1152921504606846976 bytes");
  g_assert_null (apr_pages_new (G_MAXSIZE, FALSE));
  g_assert_null (apr_pages_new (G_MAXSSIZE, FALSE));
  g_assert_null (apr_pages_new (G_MAXSSIZE - (8 << 20), FALSE));

  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*no memory for 18446744073709551615 bytes*");
}

/* AddressSanitizer asks this, and would else end a program that asks for too much. */
const char *__asan_default_options (void);

const char *
__asan_default_options (void)
{
  return "allocator_may_return_null=1";
}

static void
test_reported (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree gpointer nothing = apr_memory_new (0, 8, "a test", &error);
  g_autofree char *some = apr_memory_new (3, 8, "a test", &error);
  g_autofree char *many = apr_memory_new (9999999, 1, "a test", &error);

  g_test_summary ("What a file or a caller is too large for is an error with the number.");

  g_assert_no_error (error);
  g_assert_nonnull (nothing);
  memset (some, 1, 24);
  memset (many, 1, 9999999);
  g_assert_null (apr_memory_new (G_MAXSSIZE / 8, 8, "a test", &error));
  g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
  if (GLIB_SIZEOF_SIZE_T == 8)
    assert_message_has (error, "There is no memory for a test of 9223372036854775800 bytes");
  g_clear_error (&error);
  g_assert_null (apr_memory_new (G_MAXSIZE / 8 + 2, 8, "a test", &error)); /* 8 bytes, if it wrapped around */
  g_assert_error (error, APR_ERROR, APR_ERROR_NO_MEMORY);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/pages/memory", test_memory);
  g_test_add_func ("/pages/too-much", test_too_much);
  g_test_add_func ("/pages/reported", test_reported);

  return g_test_run ();
}
