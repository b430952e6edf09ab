/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arm_neon.h>

#define KERNEL apr_dense_kernel_neon
#define KERNEL_NAME "neon"
#define LANES 2
#define ROWS 8
#define SUBTRACT_PRODUCT(c, a, b) (Vector) vfmsq_f64 ((float64x2_t) (c), (float64x2_t) (a), (float64x2_t) (b))
#define FUSED

#include "aprender/least-squares/kernels/apr-dense-kernel-template.h"
