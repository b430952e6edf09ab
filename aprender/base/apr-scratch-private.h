/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns room for @n values that a function needs until it returns: on its stack where they are few, else allocated,
 * and then @heap, a g_autofree pointer of the function's that is %NULL, is set to them. Thousands of small systems are
 * solved faster without allocations than with them. */
#define APR_SCRATCH_FEW 64
#define apr_scratch_new(Type, n, heap) \
 ((n) <= APR_SCRATCH_FEW ? g_newa (Type, MAX ((n), 1)) : (Type *) (*(heap) = g_new (Type, (n))))

G_END_DECLS
