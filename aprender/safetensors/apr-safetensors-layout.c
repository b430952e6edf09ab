/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-layout-private.h"
#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-safetensors-header-private.h"

#include <json-glib/json-glib.h>
#include <string.h>

AprSafetensorsItem *
apr_safetensors_item_new (const char *name, AprDType dtype, const gsize *shape, gsize n_dims, gsize size)
{
  AprSafetensorsItem *self = g_atomic_rc_box_alloc0 (sizeof *self + n_dims * sizeof *shape);

  self->name = g_strdup (name);
  self->dtype = dtype;
  self->size = size;
  self->start = -1;
  self->n_dims = n_dims;
  if (n_dims > 0)
    memcpy (self->shape, shape, n_dims * sizeof *shape);
  return self;
}

/* Copies everything except the source of the data. */
AprSafetensorsItem *
apr_safetensors_item_copy (const AprSafetensorsItem *self)
{
  return apr_safetensors_item_new (self->name, self->dtype, self->shape, self->n_dims, self->size);
}

static void
item_clear (gpointer data)
{
  AprSafetensorsItem *self = data;

  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_clear_object (&self->stream);
  g_free (self->name);
}

void
apr_safetensors_item_unref (AprSafetensorsItem *self)
{
  g_atomic_rc_box_release_full (self, item_clear);
}

static int
compare_items (gconstpointer a, gconstpointer b)
{
  const AprSafetensorsItem *one = *(AprSafetensorsItem *const *) a;
  const AprSafetensorsItem *other = *(AprSafetensorsItem *const *) b;

  if (one->dtype != other->dtype)
    return (int) other->dtype - (int) one->dtype;
  return strcmp (one->name, other->name);
}

void
apr_safetensors_sort_items (GPtrArray *items)
{
  g_ptr_array_sort (items, compare_items);
}

static int
compare_keys (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Appends a string as json-glib writes it, except for two characters that the reference writes differently: 0x7f
 * unescaped, and 0x1f escaped, which json-glib 1.6 forgets. */
static void
append_string (GString *header, const char *string)
{
  g_autoptr (JsonNode) node = json_node_init_string (json_node_alloc (), string);
  g_autofree char *text = json_to_string (node, FALSE);
  const char *p = text;

  while (*p != '\0')
    {
      gsize length = strcspn (p, "\\\x1f");

      g_string_append_len (header, p, (gssize) length);
      p += length;
      if (g_str_has_prefix (p, "\\u007f"))
        {
          g_string_append_c (header, '\x7f');
          p += 6;
        }
      else if (*p == '\\')
        {
          g_string_append_len (header, p, 2);
          p += 2;
        }
      else if (*p == '\x1f')
        {
          g_string_append (header, "\\u001f");
          p++;
        }
    }
}

/* The same, but fast for a name without anything to escape, as checkpoints have thousands of. */
static void
append_name (GString *header, const char *name)
{
  const char *p = name;

  while ((guchar) *p >= 0x20 && *p != '"' && *p != '\\')
    p++;
  if (*p != '\0')
    {
      append_string (header, name);
      return;
    }

  g_string_append_c (header, '"');
  g_string_append_len (header, name, p - name);
  g_string_append_c (header, '"');
}

static void
append_number (GString *header, guint64 number)
{
  char digits[20];
  char *p = digits + sizeof digits;

  do
    *--p = (char) ('0' + number % 10);
  while ((number /= 10) > 0);
  g_string_append_len (header, p, digits + sizeof digits - p);
}

static void
append_metadata (GHashTable *metadata, GString *header)
{
  g_autofree const char **keys = NULL;
  guint n_keys;
  guint i;

  keys = (const char **) g_hash_table_get_keys_as_array (metadata, &n_keys);
  if (n_keys == 0)
    return;
  qsort (keys, n_keys, sizeof *keys, compare_keys);
  g_string_append (header, "\"" APR_SAFETENSORS_METADATA_NAME "\":{");
  for (i = 0; i < n_keys; i++)
    {
      if (i > 0)
        g_string_append_c (header, ',');
      append_string (header, keys[i]);
      g_string_append_c (header, ':');
      append_string (header, g_hash_table_lookup (metadata, keys[i]));
    }
  g_string_append_c (header, '}');
}

static void
append_tensor (GString *header, const AprSafetensorsItem *item, guint64 begin, guint64 end)
{
  gsize i;

  append_name (header, item->name);
  g_string_append (header, ":{\"dtype\":\"");
  g_string_append (header, apr_dtype_to_string (item->dtype));
  g_string_append (header, "\",\"shape\":[");
  for (i = 0; i < item->n_dims; i++)
    {
      if (i > 0)
        g_string_append_c (header, ',');
      append_number (header, item->shape[i]);
    }
  g_string_append (header, "],\"data_offsets\":[");
  append_number (header, begin);
  g_string_append_c (header, ',');
  append_number (header, end);
  g_string_append (header, "]}");
}

/* Completes the header: pads it, and fills in its length at the start. */
static gboolean
finish_header (GString *header, guint alignment, GError **error)
{
  guint64 length;

  while (header->len % alignment != 0)
    g_string_append_c (header, ' ');
  length = header->len - APR_SAFETENSORS_PREFIX_SIZE;
  if (length > APR_SAFETENSORS_MAX_HEADER_SIZE)
    {
      g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE,
                   "the header would take %" G_GUINT64_FORMAT " bytes, more than the limit of %d", length,
                   APR_SAFETENSORS_MAX_HEADER_SIZE);
      return FALSE;
    }
  length = GUINT64_TO_LE (length);
  memcpy (header->str, &length, APR_SAFETENSORS_PREFIX_SIZE);
  return TRUE;
}

static gboolean
check_alignment (guint alignment, GError **error)
{
  if (alignment >= APR_SAFETENSORS_DEFAULT_ALIGNMENT && alignment <= APR_SAFETENSORS_MAX_ALIGNMENT &&
      (alignment & (alignment - 1)) == 0)
    return TRUE;
  g_set_error (error, APR_ERROR, APR_ERROR_RANGE, "the alignment is %u, not a power of two from %d to %d",
               alignment, APR_SAFETENSORS_DEFAULT_ALIGNMENT, APR_SAFETENSORS_MAX_ALIGNMENT);
  return FALSE;
}

AprSafetensorsLayout *
apr_safetensors_layout_new (GPtrArray *items, GHashTable *metadata, guint alignment, GError **error)
{
  static const char start[] = "12345678{";
  g_autoptr (AprSafetensorsLayout) self = g_new0 (AprSafetensorsLayout, 1);
  guint64 end = 0;
  guint i;

  self->items = items;
  self->header = g_string_new (start);
  if (!check_alignment (alignment, error))
    return NULL;
  append_metadata (metadata, self->header);
  for (i = 0; i < items->len; i++)
    {
      const AprSafetensorsItem *item = g_ptr_array_index (items, i);
      guint64 begin = end;

      if (item->size > G_MAXINT64 - APR_SAFETENSORS_PREFIX_SIZE - APR_SAFETENSORS_MAX_HEADER_SIZE - begin)
        {
          g_autofree char *display = apr_json_display (item->name, strlen (item->name));

          g_set_error (error, APR_SAFETENSORS_ERROR, APR_SAFETENSORS_ERROR_OVERFLOW,
                       "with tensor “%s” of %" G_GSIZE_FORMAT
                       " bytes the file would be larger than any file can be",
                       display, item->size);
          return NULL;
        }
      end = begin + item->size;
      if (self->header->len > strlen (start))
        g_string_append_c (self->header, ',');
      append_tensor (self->header, item, begin, end);
    }
  g_string_append_c (self->header, '}');
  if (!finish_header (self->header, alignment, error))
    return NULL;
  self->size = self->header->len + end;
  return g_steal_pointer (&self);
}

void
apr_safetensors_layout_free (AprSafetensorsLayout *self)
{
  g_string_free (self->header, TRUE);
  g_ptr_array_unref (self->items);
  g_free (self);
}
