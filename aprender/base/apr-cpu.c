/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-cpu-private.h"

#ifdef APR_KERNELS_ARM
# include <sys/auxv.h>
#endif
#ifdef APR_KERNELS_X86
# include <cpuid.h>

/* A bit of what leaf 7 of cpuid returns, in the second of its parts; older compilers have no name for it. */
# define AVX_VNNI (1u << 4)
#endif
#ifdef APR_KERNELS_AMX
# include <sys/syscall.h>
# include <unistd.h>

/* Bits of what leaf 7 of cpuid returns. */
# define AMX_TILE (1u << 24)
# define AMX_INT8 (1u << 25)

/* Linux gives room for tiles to the processes that ask for it: asm/prctl.h. */
# define REQUEST_PERMISSION 0x1023
# define TILE_DATA 18
#endif

static gboolean
has_portable (void)
{
  return TRUE;
}

static gboolean
has_neon (void)
{
#ifdef APR_KERNELS_ARM
  return TRUE;
#else
  return FALSE;
#endif
}

static gboolean
has_dotprod (void)
{
#ifdef APR_KERNELS_ARM
  return (getauxval (AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
  return FALSE;
#endif
}

static gboolean
has_i8mm (void)
{
#ifdef APR_KERNELS_ARM
  return has_dotprod () && (getauxval (AT_HWCAP2) & HWCAP2_I8MM) != 0;
#else
  return FALSE;
#endif
}

static gboolean
has_avx2 (void)
{
#ifdef APR_KERNELS_X86
  __builtin_cpu_init ();
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma");
#else
  return FALSE;
#endif
}

#ifdef APR_KERNELS_X86
static gboolean
ask_for_avx_vnni (void)
{
  guint a;
  guint b;
  guint c;
  guint d;

  return has_avx2 () && __get_cpuid_count (7, 1, &a, &b, &c, &d) && (a & AVX_VNNI) != 0;
}
#endif

/* Asked once, as a virtual machine traps the instruction: a fit to few samples would wait for it more than for anything
 * else. What the compiler finds out for the others it keeps itself. */
static gboolean
has_avx_vnni (void)
{
#ifdef APR_KERNELS_X86
  static gsize answer = 0;

  if (g_once_init_enter (&answer))
    g_once_init_leave (&answer, ask_for_avx_vnni () ? 2 : 1);

  return answer == 2;
#else
  return FALSE;
#endif
}

static gboolean
has_avx512 (void)
{
#ifdef APR_KERNELS_X86
  __builtin_cpu_init ();
  return __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512dq") &&
         __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512vl");
#else
  return FALSE;
#endif
}

static gboolean
has_avx512_dot (void)
{
#ifdef APR_KERNELS_X86
  return has_avx512 () && __builtin_cpu_supports ("avx512vnni");
#else
  return FALSE;
#endif
}

static gboolean
has_avx512_vnni (void)
{
#ifdef APR_KERNELS_X86
  return has_avx512_dot () && __builtin_cpu_supports ("avx512vbmi") && __builtin_cpu_supports ("avx512ifma");
#else
  return FALSE;
#endif
}

#ifdef APR_KERNELS_AMX
static gboolean
request_tiles (void)
{
  guint a;
  guint b;
  guint c;
  guint d;

  return has_avx512_vnni () && __get_cpuid_count (7, 0, &a, &b, &c, &d) &&
         (d & (AMX_TILE | AMX_INT8)) == (AMX_TILE | AMX_INT8) &&
         syscall (SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}
#endif

/* Permission for tiles enlarges the stacks that signal handlers need, so it is requested when kernels that use them
 * are first wanted: by those who sum, not by those who predict. */
static gboolean
has_amx (void)
{
#ifdef APR_KERNELS_AMX
  static gsize answer = 0;

  if (g_once_init_enter (&answer))
    g_once_init_leave (&answer, request_tiles () ? 2 : 1);

  return answer == 2;
#else
  return FALSE;
#endif
}

static const struct
{
  const char *name;
  gboolean (*has) (void);
} sets[] = {
  [APR_CPU_PORTABLE] = { "portable", has_portable },
  [APR_CPU_NEON] = { "neon", has_neon },
  [APR_CPU_DOTPROD] = { "dotprod", has_dotprod },
  [APR_CPU_I8MM] = { "i8mm", has_i8mm },
  [APR_CPU_AVX2] = { "avx2", has_avx2 },
  [APR_CPU_AVX_VNNI] = { "avxvnni", has_avx_vnni },
  [APR_CPU_AVX512] = { "avx512", has_avx512 },
  [APR_CPU_AVX512_DOT] = { "avx512dot", has_avx512_dot },
  [APR_CPU_AVX512_VNNI] = { "avx512vnni", has_avx512_vnni },
  [APR_CPU_AMX] = { "amx", has_amx },
};

G_STATIC_ASSERT (G_N_ELEMENTS (sets) == APR_CPU_N_SETS);

gboolean
apr_cpu_has (AprCpuSet set)
{
  g_return_val_if_fail (set < APR_CPU_N_SETS, FALSE);

  return sets[set].has ();
}

AprCpuSet
apr_cpu_parse_limit (const char *value)
{
  g_autofree char *available = NULL;
  guint set;

  if (value == NULL || *value == '\0')
    return APR_CPU_N_SETS - 1;

  for (set = 0; set < APR_CPU_N_SETS; set++)
    if (g_str_equal (value, sets[set].name) && apr_cpu_has ((AprCpuSet) set))
      return (AprCpuSet) set;

  available = g_strjoinv (", ", (char **) apr_list_kernels ());
  g_warning ("APRENDER_KERNEL=%s is not available: on this machine it can be one of %s; the fastest runs",
             value, available);

  return APR_CPU_N_SETS - 1;
}

AprCpuSet
apr_cpu_get_limit (void)
{
  static gsize limit = 0;

  if (g_once_init_enter (&limit))
    g_once_init_leave (&limit, 1 + (gsize) apr_cpu_parse_limit (g_getenv ("APRENDER_KERNEL")));

  return (AprCpuSet) (limit - 1);
}

/**
 * apr_get_kernel:
 *
 * Gets the fastest instruction set that the library uses in this process, for a log or a report.
 *
 * Results do not depend on it: every kernel gives the same bits. The environment variable `APRENDER_KERNEL` chooses
 * another one, for tests and to find out where a fault is; it is read once. A value that is not one of
 * [func@Apr.list_kernels] is reported by a warning and ignored.
 *
 * Returns: the name, such as `avx2`
 *
 * Since: 0.1
 */
const char *
apr_get_kernel (void)
{
  AprCpuSet set = apr_cpu_get_limit ();

  /* The first is there on every processor. */
  while (set > 0 && !apr_cpu_has (set))
    set--;

  return sets[set].name;
}

/**
 * apr_list_kernels:
 *
 * Lists the values that `APRENDER_KERNEL` may have on this machine: the instruction sets that this build has kernels
 * for and the processor runs.
 *
 * Returns: (transfer none) (array zero-terminated=1): the names, `portable` first, the fastest last
 *
 * Since: 0.1
 */
const char *const *
apr_list_kernels (void)
{
  static const char *available[APR_CPU_N_SETS + 1];
  static gsize initialized = 0;

  if (g_once_init_enter (&initialized))
    {
      guint n = 0;
      guint set;

      for (set = 0; set < APR_CPU_N_SETS; set++)
        if (apr_cpu_has ((AprCpuSet) set))
          available[n++] = sets[set].name;
      g_once_init_leave (&initialized, 1);
    }

  return available;
}
