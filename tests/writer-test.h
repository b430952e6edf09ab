/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

/* What the tests of the writer need. */

static inline void
add (AprSafetensorsWriter *writer,
     const char *name,
     AprDType dtype,
     gsize n_dims,
     const gsize *shape,
     gconstpointer data,
     gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_bytes (dtype, shape, n_dims, bytes, &error);

  g_assert_no_error (error);
  apr_safetensors_writer_add_tensor (writer, name, tensor, &error);
  g_assert_no_error (error);
}

#define SHAPE(...)                                    \
 G_N_ELEMENTS (((gsize[]){ __VA_ARGS__ })), (gsize[]) \
 {                                                    \
  __VA_ARGS__                                         \
 }

static inline void
set (AprSafetensorsWriter *writer, const char *key, const char *value)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (apr_safetensors_writer_set_metadata (writer, key, value, &error));
  g_assert_no_error (error);
}

static const guint8 zero_to_five[] = "\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40";
