/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#define KERNEL apr_double_double_kernel_portable
#define KERNEL_NAME "portable"
#define LANES 2
#define ROWS 4
#define VECTORS 1
/* An instruction where the processor has one, else the C library's function. */
#define MULTIPLY_ADD(a, b, c) ((Vector){ fma ((a)[0], (b)[0], (c)[0]), fma ((a)[1], (b)[1], (c)[1]) })

#include "aprender/inference/kernels/apr-double-double-kernel-template.h"
