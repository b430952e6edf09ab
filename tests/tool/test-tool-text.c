/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "aprender/tool/apr-tool-text.h"

#define N_BITS 18

/* “aR” and “b1” have the same hash in g_str_hash(), and so have all texts that are made of as many of them. */
static char **
make_colliding (void)
{
  char **names = g_new0 (char *, (1 << N_BITS) + 1);
  gsize i;
  guint bit;

  for (i = 0; i < 1 << N_BITS; i++)
    {
      names[i] = g_malloc0 (2 * N_BITS + 1);
      for (bit = 0; bit < N_BITS; bit++)
        memcpy (names[i] + 2 * (gsize) bit, (i >> bit & 1) != 0 ? "aR" : "b1", 2);
    }

  return names;
}

static void
test_find_other (void)
{
  g_auto (GStrv) none = g_strsplit ("", ",", 0);
  g_auto (GStrv) few = g_strsplit ("b,a,c", ",", 0);
  g_auto (GStrv) others = g_strsplit ("c,b", ",", 0);

  g_test_summary ("The first of the names that is not among the others, in whatever order these are.");
  g_assert_cmpstr (apr_tool_find_other (few, others), ==, "a");
  g_assert_cmpstr (apr_tool_find_other (few, none), ==, "b");
  g_assert_null (apr_tool_find_other (others, few));
  g_assert_null (apr_tool_find_other (none, few));
  g_assert_null (apr_tool_find_other (none, none));
}

static void
test_find_other_of_colliding (void)
{
  g_auto (GStrv) names = make_colliding ();
  g_auto (GStrv) others = make_colliding ();

  g_test_summary (
    "Names of a file that all hash alike, of which a hash table would compare each with all others, "
    "for hours.");
  g_assert_null (apr_tool_find_other (names, others));
  others[77][0] = 'x';
  g_assert_cmpstr (apr_tool_find_other (names, others), ==, names[77]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tool/text/find-other", test_find_other);
  g_test_add_func ("/tool/text/find-other-of-colliding", test_find_other_of_colliding);

  return g_test_run ();
}
