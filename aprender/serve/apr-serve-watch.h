/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/serve/apr-serve-model.h"

G_BEGIN_DECLS

/* Hears in the default main context that files of models are replaced, loads them again in a thread of its own, and
 * logs what became of it. */
typedef struct _AprServeWatch AprServeWatch;

AprServeWatch *apr_serve_watch_new (AprServeModels *models);
void apr_serve_watch_free (AprServeWatch *self);

/* Has all models loaded again, whether their files have changed or not, and watches the folders that have these names
 * now. */
void apr_serve_watch_reload_all (AprServeWatch *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprServeWatch, apr_serve_watch_free)

G_END_DECLS
