/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/*
 * AprAtomicFile:
 *
 * A file that replaces another atomically, or is created atomically: the path holds either the whole old file or the
 * whole new one, even after a crash or a power cut.
 *
 * Open, write as often as needed, commit, free. Freeing without a commit leaves the old file and nothing else. Errors
 * have the domain %G_IO_ERROR and begin with the path.
 */
typedef struct _AprAtomicFile AprAtomicFile;

AprAtomicFile *apr_atomic_file_open (const char *path, GError **error);

gboolean apr_atomic_file_write (AprAtomicFile *self,
                                const GOutputVector *vectors,
                                gsize n_vectors,
                                GCancellable *cancellable,
                                GError **error);

gboolean apr_atomic_file_finish (AprAtomicFile *self,
                                 const AprAtomicFile *neighbour,
                                 gboolean durable,
                                 GError **error);

gboolean apr_atomic_file_commit (AprAtomicFile *self, gboolean durable, GError **error);

void apr_atomic_file_free (AprAtomicFile *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprAtomicFile, apr_atomic_file_free)

G_END_DECLS
