/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-number-private.h"
#include "tests/folder.h"
#include "tests/german-locale.h"

static void
test_format (Folder *folder, gconstpointer data)
{
  const struct
  {
    double value;
    gboolean narrow;
    const char *text;
  } cases[] = {
    { 0.5, FALSE, "0.5" },           { -0.0, FALSE, "-0" },
    { 0.1f, TRUE, "0.1" },           { 0.1f, FALSE, "0.10000000149011612" },
    { 1e300, TRUE, "1e+300" },       { 1e23, FALSE, "1e+23" },
    { 0x1p-1074, FALSE, "5e-324" },  { 0x1p-149, TRUE, "1e-45" },
    { 16777217, FALSE, "16777217" }, { INFINITY, FALSE, "inf" },
    { NAN, FALSE, "nan" },
  };
  char buffer[APR_NUMBER_SIZE];
  gsize i;

  g_test_summary ("Numbers have the fewest digits that bring them back, and a point in every locale.");

  enter_german_numbers (folder->folder);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpstr (apr_number_format (cases[i].value, cases[i].narrow, buffer), ==, cases[i].text);
  leave_german_numbers ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/number/format", Folder, NULL, folder_set_up, test_format, folder_tear_down);

  return g_test_run ();
}
