/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/safetensors-test.h"

/* What the tests of the reader need. */

static inline AprSafetensorsReader *
open_bytes (const char *header, gconstpointer data, gsize size)
{
  g_autoptr (GBytes) file = make_file (header, data, size);
  g_autoptr (GError) error = NULL;
  AprSafetensorsReader *reader = apr_safetensors_reader_new_from_bytes (file, &error);

  g_assert_no_error (error);
  g_assert_nonnull (reader);
  return reader;
}

static inline void
assert_floats (AprSafetensorsReader *reader, const char *name, const float *expected, gsize n_expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) tensor = apr_safetensors_reader_get_tensor (reader, name, &error);
  const float *values;
  gsize n_values;

  g_assert_no_error (error);
  values = apr_tensor_get_floats (tensor, &n_values, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (values, n_values * sizeof (float), expected, n_expected * sizeof (float));
}

/* 2.0, 3.0, 1.5 and 0.5, little-endian. */
static const char model_data[] = "\0\0\0\x40\0\0\x40\x40\0\0\xc0\x3f\0\0\0\x3f";
static const float coefficients[] = { 2, 3, 1.5f };
static const float intercept[] = { 0.5f };

static const char rust_header[] =
  "{\"coefficients\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]},"
  "\"intercept\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[12,16]}}";

static inline void
assert_model (AprSafetensorsReader *reader)
{
  assert_floats (reader, "coefficients", coefficients, 3);
  assert_floats (reader, "intercept", intercept, 1);
}
