/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define KERNEL apr_dense_avx2
#define KERNEL_NAME "avx2"
#define LANES 4
#define ROWS 4

#include "aprender/linear-model/apr-dense-template.h"
