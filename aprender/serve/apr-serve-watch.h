/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/serve/apr-serve-model.h"

G_BEGIN_DECLS

/* Loads models again when their files are replaced, in the default main context, and logs what became of it. */
typedef struct _AprServeWatch AprServeWatch;

AprServeWatch *apr_serve_watch_new (AprServeModels *models);
void apr_serve_watch_free (AprServeWatch *self);

/* Loads all models again, whether their files have changed or not. */
void apr_serve_watch_reload_all (AprServeWatch *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprServeWatch, apr_serve_watch_free)

G_END_DECLS
