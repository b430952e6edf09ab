/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Decompresses zstd, any number of frames. Fails where the library was built without it. */
GConverter *apr_zstd_decompressor_new (GError **error);

G_END_DECLS
