/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-error.h"

G_BEGIN_DECLS

/* Says at which byte of its file an error is, if there is one: it has to be of APR_SAFETENSORS_ERROR. */
void apr_safetensors_error_set_offset (GError **error, guint64 offset);

/* Says which tensor an error is about, if there is one. */
void apr_safetensors_error_prefix_tensor (GError **error, const char *name);

G_END_DECLS
