/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <immintrin.h>

#include <glib.h>

/* What the kernels that use AMX do with its tiles before and after their products. */

/* All eight tiles have sixteen rows of 64 bytes. The fields are in the processor's order. */
static const struct
{
  guint8 palette;
  guint8 first_row;
  guint8 reserved[14];
  guint16 n_bytes[16];
  guint8 n_rows[16];
} configuration = {
  .palette = 1,
  .n_bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
  .n_rows = { 16, 16, 16, 16, 16, 16, 16, 16 },
};

G_STATIC_ASSERT (sizeof configuration == 64);

static void
start (void)
{
  _tile_loadconfig (&configuration);
}

static void
stop (void)
{
  _tile_release ();
}
