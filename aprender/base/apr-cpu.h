/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <glib.h>

#include <aprender/base/apr-version-macros.h>

G_BEGIN_DECLS

APR_AVAILABLE_IN_ALL
const char *apr_get_kernel (void);

APR_AVAILABLE_IN_ALL
const char *const *apr_list_kernels (void);

G_END_DECLS
