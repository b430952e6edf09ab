/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-dense-private.h"

const AprDenseKernel *const *
apr_dense_kernels (void)
{
  static const AprDenseKernel *kernels[4];
  static gsize initialized = 0;

  if (g_once_init_enter (&initialized))
    {
      gsize n = 0;

#ifdef APR_GRAM_X86
      __builtin_cpu_init ();
      if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512dq"))
        kernels[n++] = &apr_dense_avx512;
      if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
        kernels[n++] = &apr_dense_avx2;
#endif
      kernels[n++] = &apr_dense_portable;
      g_once_init_leave (&initialized, 1);
    }

  return kernels;
}
