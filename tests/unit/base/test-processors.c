/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* sched_setaffinity() */
#include "tests/apr-test.h"
#include "tests/folder.h"

#include <math.h>
#include <sched.h>

#include "aprender/base/apr-parallel-private.h"
#include "aprender/base/apr-processors-private.h"

/* The files of control groups, as Linux has them, in a folder of their own. */
static const struct
{
  const char *name;
  const char *membership;
  const char *files[6]; /* path and contents */
  double limit;
} cases[] = {
  { "none", "", { NULL }, INFINITY },
  { "nonsense", "0\n:::::\nabc:def\n", { NULL }, INFINITY },
  { "v2", "0::/a/b\n", { "a/b/cpu.max", "150000 100000\n" }, 1.5 },
  { "v2-max", "0::/a\n", { "a/cpu.max", "max 100000\n" }, INFINITY },
  { "v2-parent", "0::/a/b\n", { "a/cpu.max", "200000 100000\n", "a/b/cpu.max", "max 100000\n" }, 2 },
  { "v2-least", "0::/a/b\n", { "a/cpu.max", "200000 100000\n", "a/b/cpu.max", "50000 100000\n" }, 0.5 },
  { "v2-container", "0::/\n", { "cpu.max", "300000 100000\n" }, 3 },
  { "v2-broken", "0::/a\n", { "a/cpu.max", "many\n" }, INFINITY },
  { "v2-no-period", "0::/a\n", { "a/cpu.max", "100000 0\n" }, INFINITY },
  { "v1",
    "5:memory:/m\n4:cpu,cpuacct:/docker/x\n",
    { "cpu,cpuacct/docker/x/cpu.cfs_quota_us", "400000\n", "cpu,cpuacct/docker/x/cpu.cfs_period_us",
      "100000\n" },
    4 },
  { "v1-container", /* the path is the host's */
    "4:cpu:/docker/x\n",
    { "cpu/cpu.cfs_quota_us", "250000\n", "cpu/cpu.cfs_period_us", "100000\n" },
    2.5 },
  { "v1-unlimited",
    "4:cpu:/x\n",
    { "cpu/x/cpu.cfs_quota_us", "-1\n", "cpu/x/cpu.cfs_period_us", "100000\n" },
    INFINITY },
};

static void
write_file (const char *root, const char *path, const char *contents)
{
  g_autofree char *full = g_build_filename (root, path, NULL);
  g_autofree char *folder = g_path_get_dirname (full);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_file_set_contents (full, contents, -1, &error);
  g_assert_no_error (error);
}

static void
test_control_groups (void)
{
  gsize i;
  gsize j;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *root = make_folder ();

      g_test_message ("%s", cases[i].name);
      for (j = 0; cases[i].files[j] != NULL; j += 2)
        write_file (root, cases[i].files[j], cases[i].files[j + 1]);
      assert_same_double (apr_processors_read_limit (cases[i].membership, root), cases[i].limit);
      remove_tree (root);
    }
}

static void
test_affinity (void)
{
  cpu_set_t before;
  cpu_set_t one;
  int first = 0;

  g_assert_cmpint (sched_getaffinity (0, sizeof before, &before), ==, 0);
  g_assert_cmpuint (apr_processors_count (), >=, 1);
  g_assert_cmpuint (apr_processors_count (), <=, (guint) CPU_COUNT (&before));

  while (!CPU_ISSET (first, &before))
    first++;
  CPU_ZERO (&one);
  CPU_SET (first, &one);
  g_assert_cmpint (sched_setaffinity (0, sizeof one, &one), ==, 0);
  g_assert_cmpuint (apr_processors_count (), ==, 1);
  g_assert_cmpuint (apr_parallel_count (0, 1e9), ==, 1);
  g_assert_cmpint (sched_setaffinity (0, sizeof before, &before), ==, 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/processors/control-groups", test_control_groups);
  g_test_add_func ("/processors/affinity", test_affinity);

  return g_test_run ();
}
