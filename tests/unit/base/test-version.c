/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#if !APR_CHECK_VERSION(0, 1, 0)
# error "The preprocessor understands it."
#endif

static void
test_version_is_the_projects (void)
{
  g_autofree char *version =
    g_strdup_printf ("%d.%d.%d", APR_VERSION_MAJOR, APR_VERSION_MINOR, APR_VERSION_MICRO);

  g_assert_cmpstr (version, ==, PACKAGE_VERSION);
}

static void
test_earlier_and_later (void)
{
  const int major = APR_VERSION_MAJOR, minor = APR_VERSION_MINOR, micro = APR_VERSION_MICRO;

  g_assert_true (APR_CHECK_VERSION (major, minor, micro));
  g_assert_true (APR_CHECK_VERSION (major, minor, micro - 1));
  g_assert_true (APR_CHECK_VERSION (major, minor - 1, micro + 1));
  g_assert_true (APR_CHECK_VERSION (major - 1, minor + 1, micro + 1));
  g_assert_false (APR_CHECK_VERSION (major, minor, micro + 1));
  g_assert_false (APR_CHECK_VERSION (major, minor + 1, micro - 1));
  g_assert_false (APR_CHECK_VERSION (major + 1, minor - 1, micro - 1));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/version/is-the-projects", test_version_is_the_projects);
  g_test_add_func ("/version/earlier-and-later", test_earlier_and_later);

  return g_test_run ();
}
