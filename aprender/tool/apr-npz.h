/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* numpy's archive of several arrays: a zip file with one .npy file for each, stored or deflated. Names are taken and
 * given byte for byte. */

/* Adds all arrays of an archive, or only the one that is called @wanted. */
gboolean
apr_npz_read (const char *path, const char *wanted, GPtrArray *names, GPtrArray *tensors, GError **error);

typedef struct
{
  FILE *stream;
  guint64 position;
  GPtrArray *entries;
} AprNpzWriter;

void apr_npz_writer_init (AprNpzWriter *self, FILE *stream);

gboolean apr_npz_writer_add (AprNpzWriter *self, const char *name, AprTensor *tensor, GError **error);

gboolean apr_npz_writer_finish (AprNpzWriter *self, GError **error);

void apr_npz_writer_clear (AprNpzWriter *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprNpzWriter, apr_npz_writer_clear)

G_END_DECLS
