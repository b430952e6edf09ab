/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* numpy's archive of several arrays, a zip file with one .npy file for each. Both functions fail where the command was
 * built without libarchive. */

/* Adds all arrays of an archive. */
gboolean apr_npz_read (const char *path, GPtrArray *names, GPtrArray *tensors, GError **error);

gboolean apr_npz_write (FILE *stream, GPtrArray *names, GPtrArray *tensors, GError **error);

G_END_DECLS
