/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-fma-private.h"

#define KERNEL apr_double_double_kernel_portable
#define KERNEL_NAME "portable"
#define LANES 2
#define ROWS 4
#define VECTORS 2
#define MULTIPLY_ADD(a, b, c) apr_fma_pair (a, b, c)

#include "aprender/least-squares/kernels/apr-double-double-kernel-template.h"
