/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <aprender/base/apr-error.h>

G_BEGIN_DECLS

#define APR_SAFETENSORS_ERROR (apr_safetensors_error_quark ())
#define APR_TYPE_SAFETENSORS_ERROR (apr_safetensors_error_get_type ())

/**
 * AprSafetensorsError:
 * @APR_SAFETENSORS_ERROR_TRUNCATED: the file is shorter than its header says
 * @APR_SAFETENSORS_ERROR_TRAILING_DATA: there are bytes after the last tensor
 * @APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE: the header is longer than the limit
 * @APR_SAFETENSORS_ERROR_ENCODING: the header is not UTF-8
 * @APR_SAFETENSORS_ERROR_SYNTAX: the header is not the JSON that the format requires
 * @APR_SAFETENSORS_ERROR_DEPTH: the header nests deeper than the limit
 * @APR_SAFETENSORS_ERROR_FIELD: a tensor's entry lacks a field, or a field has the wrong type
 * @APR_SAFETENSORS_ERROR_METADATA: the metadata are not a map of strings
 * @APR_SAFETENSORS_ERROR_DUPLICATE: two tensors, two metadata keys or two fields have the same name
 * @APR_SAFETENSORS_ERROR_NAME: a name that the format does not allow (reserved, or with a NUL) or that another reader
 *   refuses
 * @APR_SAFETENSORS_ERROR_DTYPE: a dtype that the format does not have
 * @APR_SAFETENSORS_ERROR_OVERFLOW: a shape or an offset does not fit in 64 bits
 * @APR_SAFETENSORS_ERROR_OVERLAP: two tensors overlap, or a tensor ends before it begins
 * @APR_SAFETENSORS_ERROR_GAP: there are bytes before a tensor that belong to no tensor
 * @APR_SAFETENSORS_ERROR_MISALIGNED: sub-byte elements do not fill whole bytes
 * @APR_SAFETENSORS_ERROR_SIZE_MISMATCH: a tensor's data do not have the size that its dtype and shape need
 * @APR_SAFETENSORS_ERROR_NOT_FOUND: there is no tensor of this name
 * @APR_SAFETENSORS_ERROR_SHARD_NAME: an index names a shard that is, or may be, outside the folder of the index
 * @APR_SAFETENSORS_ERROR_INDEX: an index of shards is invalid, or does not match the shards
 *
 * What is wrong with a SafeTensors file.
 *
 * The message has the tensor's name and the numbers. Errors of input and output have the domain %G_IO_ERROR. More codes
 * may be added.
 *
 * Since: 0.1
 */
typedef enum
{
  APR_SAFETENSORS_ERROR_TRUNCATED,
  APR_SAFETENSORS_ERROR_TRAILING_DATA,
  APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE,
  APR_SAFETENSORS_ERROR_ENCODING,
  APR_SAFETENSORS_ERROR_SYNTAX,
  APR_SAFETENSORS_ERROR_DEPTH,
  APR_SAFETENSORS_ERROR_FIELD,
  APR_SAFETENSORS_ERROR_METADATA,
  APR_SAFETENSORS_ERROR_DUPLICATE,
  APR_SAFETENSORS_ERROR_NAME,
  APR_SAFETENSORS_ERROR_DTYPE,
  APR_SAFETENSORS_ERROR_OVERFLOW,
  APR_SAFETENSORS_ERROR_OVERLAP,
  APR_SAFETENSORS_ERROR_GAP,
  APR_SAFETENSORS_ERROR_MISALIGNED,
  APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
  APR_SAFETENSORS_ERROR_NOT_FOUND,
  APR_SAFETENSORS_ERROR_SHARD_NAME,
  APR_SAFETENSORS_ERROR_INDEX,
} AprSafetensorsError;

APR_AVAILABLE_IN_ALL
GQuark apr_safetensors_error_quark (void);

APR_AVAILABLE_IN_ALL
GType apr_safetensors_error_get_type (void);

APR_AVAILABLE_IN_ALL
gboolean apr_safetensors_error_get_offset (const GError *error, guint64 *offset);

G_END_DECLS
