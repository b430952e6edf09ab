/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <glib-object.h>

/* Everything is hidden but what carries one of these. A new cycle that adds symbols adds its own macro here.
 */
#define APR_AVAILABLE_IN_ALL __attribute__ ((visibility ("default"))) extern
