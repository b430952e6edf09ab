/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/serve/apr-serve-model.h"

G_BEGIN_DECLS

/* What the page for people says of a model. */
GBytes *apr_serve_page_describe (const AprServeModel *model);

G_END_DECLS
