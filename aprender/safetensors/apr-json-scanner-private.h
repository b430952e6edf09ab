/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "apr-safetensors-error.h"

G_BEGIN_DECLS

/* To be written by the safetensors part: see apr-json-scanner.c */
char **apr_json_scan_string_array (const char *text, gsize length, GError **error);

G_END_DECLS
