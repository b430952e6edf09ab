/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/least-squares/kernels/apr-double-double-kernel-private.h"

#include "aprender/base/apr-cpu-private.h"

static const AprDoubleDoubleKernel *const table[APR_CPU_N_SETS] = {
  [APR_CPU_PORTABLE] = &apr_double_double_kernel_portable,
#ifdef APR_KERNELS_ARM
  [APR_CPU_NEON] = &apr_double_double_kernel_neon,
#endif
#ifdef APR_KERNELS_X86
  [APR_CPU_AVX2] = &apr_double_double_kernel_avx2,
  [APR_CPU_AVX512] = &apr_double_double_kernel_avx512,
#endif
};

APR_DEFINE_KERNELS (AprDoubleDoubleKernel, apr_double_double_kernel, table)
