/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-safetensors-error-private.h"
#include "aprender/safetensors/apr-safetensors-header-private.h"

/* Whether the header's length fits the file, and the tensors fit the data. */

/* Longer shapes are cut in messages. */
#define MAX_DISPLAYED_DIMS 8

#define refuse apr_safetensors_header_refuse

static char *
display_shape (const AprSafetensorsHeader *self, const AprSafetensorsEntry *entry)
{
  GString *display = g_string_new ("[");
  guint32 i;

  for (i = 0; i < entry->n_dims && i < MAX_DISPLAYED_DIMS; i++)
    g_string_append_printf (display, "%s%" G_GSIZE_FORMAT, i == 0 ? "" : ", ", self->dims[entry->shape + i]);
  if (i < entry->n_dims)
    g_string_append_printf (display, ", … (%u dimensions)", entry->n_dims);
  g_string_append_c (display, ']');
  return g_string_free (display, FALSE);
}

/* Checks that a tensor has exactly the bytes that its dtype and shape need. */
static gboolean
check_size (const AprSafetensorsHeader *self, const AprSafetensorsEntry *entry, GError **error)
{
  g_autofree char *shape = NULL;
  guint64 n_bits = 1;
  gboolean fits = TRUE;
  guint32 i;

  /* In this order, with the bits last, a size of zero hides the same overflows as in the reference. */
  for (i = 0; fits && i < entry->n_dims; i++)
    fits = g_uint64_checked_mul (&n_bits, n_bits, self->dims[entry->shape + i]);
  fits = fits && g_uint64_checked_mul (&n_bits, n_bits, apr_dtype_get_bits (entry->dtype));
  if (fits && n_bits % 8 == 0 && n_bits / 8 == entry->end - entry->begin)
    return TRUE;

  shape = display_shape (self, entry);
  if (!fits)
    return refuse (self, entry, APR_SAFETENSORS_ERROR_OVERFLOW, error,
                   "the size of %s %s takes more than 64 bits", apr_dtype_to_string (entry->dtype), shape);
  if (n_bits % 8 != 0)
    return refuse (self, entry, APR_SAFETENSORS_ERROR_MISALIGNED, error,
                   "%s %s takes %" G_GUINT64_FORMAT " bits, which are not whole bytes",
                   apr_dtype_to_string (entry->dtype), shape, n_bits);
  return refuse (self, entry, APR_SAFETENSORS_ERROR_SIZE_MISMATCH, error,
                 "%" G_GUINT64_FORMAT " bytes at [%" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT
                 "), but %s %s needs %" G_GUINT64_FORMAT,
                 entry->end - entry->begin, entry->begin, entry->end, apr_dtype_to_string (entry->dtype),
                 shape, n_bits / 8);
}

/* Checks a tensor against the one before it in the data, if any. */
static gboolean
check_entry (const AprSafetensorsHeader *self,
             const AprSafetensorsEntry *entry,
             const AprSafetensorsEntry *before,
             GError **error)
{
  guint64 expected = before != NULL ? before->end : 0;

  if (entry->end < entry->begin)
    return refuse (self, entry, APR_SAFETENSORS_ERROR_OVERLAP, error,
                   "it ends at byte %" G_GUINT64_FORMAT ", before it begins at byte %" G_GUINT64_FORMAT,
                   entry->end, entry->begin);
  if (before != NULL && entry->begin < expected)
    {
      const char *name = apr_safetensors_header_get_name (self, before);
      g_autofree char *display = apr_json_display (name, strlen (name));

      return refuse (self, entry, APR_SAFETENSORS_ERROR_OVERLAP, error,
                     "[%" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT
                     ") overlaps tensor “%s” at [%" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT ")",
                     entry->begin, entry->end, display, before->begin, before->end);
    }
  if (entry->begin > expected)
    return refuse (self, entry, APR_SAFETENSORS_ERROR_GAP, error,
                   "it begins at byte %" G_GUINT64_FORMAT ", but the bytes from %" G_GUINT64_FORMAT
                   " up to there belong to no tensor",
                   entry->begin, expected);
  return check_size (self, entry, error);
}

/* @offset: return location for the first byte of the data that is wrong, of the last check */
static gboolean
check_data (const AprSafetensorsHeader *self, guint64 data_size, guint64 *offset, GError **error)
{
  g_autofree guint32 *order = apr_safetensors_header_sort_places (self);
  const AprSafetensorsEntry *before = NULL;
  gsize i;

  for (i = 0; i < self->n_entries; i++)
    {
      const AprSafetensorsEntry *entry = &self->entries[order != NULL ? order[i] : i];

      *offset = MIN (entry->begin, before != NULL ? before->end : 0);
      if (!check_entry (self, entry, before, error))
        return FALSE;
      before = entry;
    }
  *offset = before != NULL ? before->end : 0;
  if (before == NULL && data_size > 0)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRAILING_DATA,
                   "%" G_GUINT64_FORMAT " bytes follow a header without tensors", data_size);
      return FALSE;
    }
  if (before != NULL && before->end > data_size)
    return refuse (self, before, APR_SAFETENSORS_ERROR_TRUNCATED, error,
                   "it ends at byte %" G_GUINT64_FORMAT " of the data, but there are only %" G_GUINT64_FORMAT,
                   before->end, data_size);
  if (before != NULL && before->end < data_size)
    return refuse (self, before, APR_SAFETENSORS_ERROR_TRAILING_DATA, error,
                   "it is the last and ends at byte %" G_GUINT64_FORMAT
                   " of the data, but there are %" G_GUINT64_FORMAT,
                   before->end, data_size);
  return TRUE;
}

gboolean
apr_safetensors_header_check (const AprSafetensorsHeader *self, guint64 data_size, GError **error)
{
  guint64 offset = 0;

  if (check_data (self, data_size, &offset, error))
    return TRUE;
  /* No file is large enough for what a header may claim. */
  offset = MIN (MIN (offset, data_size), G_MAXUINT64 - self->data_start);
  apr_safetensors_error_set_offset (error, self->data_start + offset);
  return FALSE;
}

/* What other formats begin with is an enormous length of a header, more than any SafeTensors file may have. */
static char *
describe_format (const char *bytes, guint64 claimed)
{
  GString *description = g_string_new (NULL);
  gsize i;

  if (claimed > APR_SAFETENSORS_MAX_HEADER_SIZE)
    {
      g_string_append (description, ": this is no SafeTensors file, as it begins with “");
      for (i = 0; i < APR_SAFETENSORS_PREFIX_SIZE; i++)
        if (g_ascii_isprint (bytes[i]))
          g_string_append_c (description, bytes[i]);
        else
          g_string_append_printf (description, "\\x%02x", (guint8) bytes[i]);
      g_string_append (description, "”");
    }
  return g_string_free (description, FALSE);
}

gboolean
apr_safetensors_header_scan_prefix (
  const char *bytes, guint64 file_size, guint64 max_header_size, guint32 *length, GError **error)
{
  guint64 claimed;

  if (file_size < APR_SAFETENSORS_PREFIX_SIZE)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED,
                   "%" G_GUINT64_FORMAT
                   " bytes are no SafeTensors file: the length of the header alone takes %d",
                   file_size, APR_SAFETENSORS_PREFIX_SIZE);
      apr_safetensors_error_set_offset (error, file_size);
      return FALSE;
    }
  memcpy (&claimed, bytes, APR_SAFETENSORS_PREFIX_SIZE);
  claimed = GUINT64_FROM_LE (claimed);
  max_header_size = MIN (max_header_size, G_MAXUINT32);
  if (claimed > max_header_size)
    {
      g_autofree char *format = describe_format (bytes, claimed);

      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE,
                   "the header claims %" G_GUINT64_FORMAT " bytes, more than the limit of %" G_GUINT64_FORMAT
                   "%s",
                   claimed, max_header_size, format);
      apr_safetensors_error_set_offset (error, 0);
      return FALSE;
    }
  if (claimed > file_size - APR_SAFETENSORS_PREFIX_SIZE)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_TRUNCATED,
                   "the header claims %" G_GUINT64_FORMAT " bytes, but only %" G_GUINT64_FORMAT
                   " follow its length",
                   claimed, file_size - APR_SAFETENSORS_PREFIX_SIZE);
      apr_safetensors_error_set_offset (error, file_size);
      return FALSE;
    }
  *length = (guint32) claimed;
  return TRUE;
}
