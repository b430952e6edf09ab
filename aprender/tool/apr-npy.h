/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* numpy's file of one array: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */

/* Reads up to @size bytes, fewer only at the end. */
typedef gboolean (*AprNpyRead) (gpointer source, gpointer buffer, gsize size, gsize *n_read, GError **error);

/* Takes both byte orders, and arrays in Fortran's order, which are turned round. */
AprTensor *apr_npy_read (AprNpyRead read, gpointer source, GError **error);

/* All that stands before the tensor's bytes. Fails where numpy does not have the dtype. */
GBytes *apr_npy_make_header (AprTensor *tensor, GError **error);

G_END_DECLS
