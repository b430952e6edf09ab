/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arm_neon.h>

#define KERNEL apr_double_double_kernel_neon
#define KERNEL_NAME "neon"
#define LANES 2
#define ROWS 4
#define VECTORS 4
#define MULTIPLY_ADD(a, b, c) (Vector) vfmaq_f64 ((float64x2_t) (c), (float64x2_t) (a), (float64x2_t) (b))

#include "aprender/least-squares/kernels/apr-double-double-kernel-template.h"
