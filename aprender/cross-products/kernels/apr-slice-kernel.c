/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/cross-products/kernels/apr-slice-kernel-private.h"

#ifdef APR_KERNELS_AMX
# include <cpuid.h>
# include <sys/syscall.h>
# include <unistd.h>

/* In what leaf 7 of cpuid returns. */
# define AVX512_VBMI (1u << 1)
# define AMX_TILE (1u << 24)
# define AMX_INT8 (1u << 25)

/* Linux gives room for tiles to the processes that ask for it: asm/prctl.h. */
# define REQUEST_PERMISSION 0x1023
# define TILE_DATA 18

static gboolean
has_tiles (void)
{
  guint a;
  guint b;
  guint c;
  guint d;

  return __get_cpuid_count (7, 0, &a, &b, &c, &d) && (d & (AMX_TILE | AMX_INT8)) == (AMX_TILE | AMX_INT8) &&
         (c & AVX512_VBMI) != 0 && syscall (SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}
#endif

const AprSliceKernel *const *
apr_slice_kernels (void)
{
  static const AprSliceKernel *kernels[5];
  static gsize initialized = 0;

  if (g_once_init_enter (&initialized))
    {
      gsize n = 0;

#ifdef APR_KERNELS_X86
      __builtin_cpu_init ();
      if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512dq"))
        {
# ifdef APR_KERNELS_AMX
          static AprSliceKernel with_tiles;

          with_tiles = apr_slice_kernel_avx512;
          with_tiles.name = apr_byte_kernel_amx.name;
          with_tiles.digits = &apr_byte_kernel_amx;
          if (has_tiles ())
            kernels[n++] = &with_tiles;
# endif
          kernels[n++] = &apr_slice_kernel_avx512;
        }
      if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
        kernels[n++] = &apr_slice_kernel_avx2;
#endif
      kernels[n++] = &apr_slice_kernel_portable;
      g_once_init_leave (&initialized, 1);
    }

  return kernels;
}
