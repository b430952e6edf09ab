/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* numpy's archive of several arrays: a zip file with one .npy file for each. The command may be built without it. */

/* Adds all arrays of an archive, or only the one that is called @wanted. libarchive composes names, and takes \ for /
 * in a name without /. */
gboolean
apr_npz_read (const char *path, const char *wanted, GPtrArray *names, GPtrArray *tensors, GError **error);

/* Whether an archive can hold this name so that it is read as the same. */
gboolean apr_npz_check_name (const char *name, GError **error);

typedef struct
{
  FILE *stream; /* (nullable) */
  struct archive *archive;
} AprNpzWriter;

void apr_npz_writer_init (AprNpzWriter *self, FILE *stream);

/* Takes names that apr_npz_check_name() takes. */
gboolean apr_npz_writer_add (AprNpzWriter *self, const char *name, AprTensor *tensor, GError **error);

gboolean apr_npz_writer_finish (AprNpzWriter *self, GError **error);

void apr_npz_writer_clear (AprNpzWriter *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprNpzWriter, apr_npz_writer_clear)

G_END_DECLS
