/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/inference/apr-inverse-private.h"

G_BEGIN_DECLS

/* Whether the features leave nothing of @target; false where cancelled. */
gboolean apr_is_exact_fit (const AprDesign *design, gsize target, const AprRun *run);

G_END_DECLS
