/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"

#include "aprender/base/apr-cpu-private.h"
#include "aprender/exact-sums/kernels/apr-sums-kernel-private.h"
#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"
#include "aprender/linear-model/kernels/apr-prediction-kernel-private.h"

#define VARIABLE "APRENDER_KERNEL"

static const char *const sets[] = { "portable", "neon",   "dotprod",   "i8mm",       "avx2",
                                    "avxvnni",  "avx512", "avx512dot", "avx512vnni", "amx" };

static gboolean
is_available (const char *name)
{
  return g_strv_contains (apr_list_kernels (), name);
}

static void
test_list (void)
{
  const char *const *available = apr_list_kernels ();
  g_autofree char *info = NULL;
  gsize n_sets = 0;
  gsize i;

  g_assert_cmpstr (available[0], ==, "portable");
  g_assert_true (is_available (apr_get_kernel ()));
  for (i = 0; i < G_N_ELEMENTS (sets); i++)
    n_sets += is_available (sets[i]) ? 1 : 0;
  g_assert_cmpuint (g_strv_length ((char **) available), ==, n_sets);

  /* What the system says of the processor. */
#ifdef APR_KERNELS_ARM
  g_assert_true (is_available ("neon"));
  /* An emulator may show the processor that it runs on. */
  if (g_file_get_contents ("/proc/cpuinfo", &info, NULL, NULL) && strstr (info, "\nFeatures") != NULL)
    {
      g_assert_true (is_available ("dotprod") == (strstr (info, " asimddp") != NULL));
      g_assert_true (is_available ("i8mm") == (strstr (info, " i8mm") != NULL));
    }
  return;
#endif
  if (!g_file_get_contents ("/proc/cpuinfo", &info, NULL, NULL) || strstr (info, "\nflags") == NULL)
    {
      g_test_skip ("no flags in /proc/cpuinfo");
      return;
    }
#ifdef APR_KERNELS_X86
  g_assert_true (is_available ("avx2") ==
                 (strstr (info, " avx2 ") != NULL && strstr (info, " fma ") != NULL));
  g_assert_true (is_available ("avxvnni") ==
                 (strstr (info, " avx2 ") != NULL && strstr (info, " fma ") != NULL &&
                  strstr (info, " avx_vnni ") != NULL));
  g_assert_true (is_available ("avx512") ==
                 (strstr (info, " avx512f ") != NULL && strstr (info, " avx512dq ") != NULL &&
                  strstr (info, " avx512bw ") != NULL && strstr (info, " avx512vl ") != NULL));
  g_assert_true (is_available ("avx512dot") ==
                 (is_available ("avx512") && strstr (info, " avx512_vnni ") != NULL));
  g_assert_true (is_available ("avx512vnni") ==
                 (is_available ("avx512dot") && strstr (info, " avx512vbmi ") != NULL &&
                  strstr (info, " avx512ifma ") != NULL));
#else
  g_assert_false (is_available ("avx2"));
#endif
  g_assert_true (!is_available ("amx") || strstr (info, " amx_int8") != NULL);
}

static void
test_chosen_in_subprocess (void)
{
  const char *name = g_getenv (VARIABLE);
  const char *const *available = apr_list_kernels ();

  g_assert_cmpstr (apr_get_kernel (), ==, name);
  g_assert_cmpstr (apr_sums_kernel_choose ()->name, ==, name);
  /* These have no kernels for products of integers. */
  if (g_str_has_prefix (name, "avx512") || g_str_equal (name, "amx"))
    name = "avx512";
  if (g_str_equal (name, "avxvnni"))
    name = "avx2";
  if (g_str_equal (name, "dotprod") || g_str_equal (name, "i8mm"))
    name = "neon";
  g_assert_cmpstr (apr_dense_kernel_choose ()->name, ==, name);
  g_assert_cmpstr (apr_prediction_kernel_choose ()->name, ==, name);

  /* Tests still find them all. */
  g_assert_cmpstr (apr_sums_kernels ()[0]->name, ==, available[g_strv_length ((char **) available) - 1]);
}

static void
test_chosen (void)
{
  const char *const *name;

  if (g_test_subprocess ())
    {
      test_chosen_in_subprocess ();
      return;
    }

  for (name = apr_list_kernels (); *name != NULL; name++)
    {
      g_setenv (VARIABLE, *name, TRUE);
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
      g_test_trap_assert_passed ();
    }
  g_unsetenv (VARIABLE);
}

/* With the fastest, and a warning that tells what there is. */
static void
test_not_available (void)
{
  const char *unknown[] = { "abacus", "AVX2", "avx2 ", NULL, NULL };
  gsize i;

  if (g_test_subprocess ())
    {
      g_log_set_always_fatal (G_LOG_FATAL_MASK);
      g_assert_cmpint (apr_cpu_get_limit (), ==, APR_CPU_N_SETS - 1);
      /* Once. */
      g_log_set_always_fatal ((GLogLevelFlags) (G_LOG_FATAL_MASK | G_LOG_LEVEL_WARNING));
      g_assert_cmpint (apr_cpu_get_limit (), ==, APR_CPU_N_SETS - 1);
      return;
    }

  /* A set that is known but not here. What this process starts runs without valgrind, and may have more sets. */
  if (g_getenv ("APRENDER_UNDER_VALGRIND") == NULL)
    for (i = 0; i < G_N_ELEMENTS (sets); i++)
      if (!is_available (sets[i]))
        unknown[3] = sets[i];

  g_setenv ("G_DEBUG", "", TRUE);
  for (i = 0; unknown[i] != NULL; i++)
    {
      g_autofree char *pattern = g_strdup_printf ("*APRENDER_KERNEL=%s is*portable*", unknown[i]);

      g_setenv (VARIABLE, unknown[i], TRUE);
      g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
      g_test_trap_assert_passed ();
      g_test_trap_assert_stderr (pattern);
    }
  g_unsetenv (VARIABLE);
}

static void
test_without_variable (void)
{
  g_assert_cmpint (apr_cpu_parse_limit (NULL), ==, APR_CPU_N_SETS - 1);
  g_assert_cmpint (apr_cpu_parse_limit (""), ==, APR_CPU_N_SETS - 1);
  g_assert_cmpint (apr_cpu_parse_limit ("portable"), ==, APR_CPU_PORTABLE);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  /* valgrind's processor is not the one that the system describes. */
  if (g_getenv ("APRENDER_UNDER_VALGRIND") == NULL)
    g_test_add_func ("/cpu/list", test_list);
  g_test_add_func ("/cpu/chosen", test_chosen);
  g_test_add_func ("/cpu/not-available", test_not_available);
  g_test_add_func ("/cpu/without-variable", test_without_variable);

  return g_test_run ();
}
