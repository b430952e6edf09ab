/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define KERNEL apr_dense_kernel_portable
#define KERNEL_NAME "portable"
#define LANES 2
#define ROWS 4
#define SUBTRACT_PRODUCT(c, a, b) ((c) - (a) * (b))

#include "aprender/least-squares/kernels/apr-dense-kernel-template.h"
