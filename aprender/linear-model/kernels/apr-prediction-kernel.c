/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/kernels/apr-prediction-kernel-private.h"

#include "aprender/base/apr-cpu-private.h"

static const AprPredictionKernel *const table[APR_CPU_N_SETS] = {
  [APR_CPU_PORTABLE] = &apr_prediction_kernel_portable,
#ifdef APR_KERNELS_ARM
  [APR_CPU_NEON] = &apr_prediction_kernel_neon,
#endif
#ifdef APR_KERNELS_X86
  [APR_CPU_AVX2] = &apr_prediction_kernel_avx2,
  [APR_CPU_AVX512] = &apr_prediction_kernel_avx512,
#endif
};

APR_DEFINE_KERNELS (AprPredictionKernel, apr_prediction_kernel, table)
