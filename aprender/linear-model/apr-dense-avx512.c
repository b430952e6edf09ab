/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define KERNEL apr_dense_avx512
#define KERNEL_NAME "avx512"
#define LANES 8
#define ROWS 8

#include "aprender/linear-model/apr-dense-template.h"
