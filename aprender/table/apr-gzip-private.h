/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Decompresses gzip, any number of members, which zeros may follow. */
GConverter *apr_gzip_decompressor_new (void);

G_END_DECLS
