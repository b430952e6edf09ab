/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/kernels/apr-dense-kernel-private.h"

const AprDenseKernel *const *
apr_dense_kernels (void)
{
  static const AprDenseKernel *kernels[4];
  static gsize initialized = 0;

  if (g_once_init_enter (&initialized))
    {
      gsize n = 0;

#ifdef APR_KERNELS_X86
      __builtin_cpu_init ();
      if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512dq"))
        kernels[n++] = &apr_dense_kernel_avx512;
      if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
        kernels[n++] = &apr_dense_kernel_avx2;
#endif
      kernels[n++] = &apr_dense_kernel_portable;
      g_once_init_leave (&initialized, 1);
    }

  return kernels;
}
