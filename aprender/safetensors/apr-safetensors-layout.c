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

/* Copies all but the source of the bytes. */
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

/*
 * Appends what json-glib generated for one object, without its braces, and spelled as the reference does:
 * 0x7f as it is, 0x1f as an escape (json-glib 1.6 forgets it), and numbers without a sign, which json-glib
 * does not know.
 */
static void
append_members (GString *header, const GString *object)
{
  const char *p = object->str + 1;
  const char *end = object->str + object->len - 1;
  gboolean in_string = FALSE;

  while (p < end)
    {
      if (*p == '"')
        in_string = !in_string;
      if (*p == '\\' && strncmp (p, "\\u007f", 6) == 0)
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
      else if (*p == '-' && !in_string)
        {
          char *rest;

          g_string_append_printf (header, "%" G_GUINT64_FORMAT, (guint64) g_ascii_strtoll (p, &rest, 10));
          p = rest;
        }
      else
        g_string_append_c (header, *p++);
    }
}

/* Appends "name":value, and takes the value. */
static void
append_pair (GString *header, const char *name, JsonNode *value)
{
  g_autoptr (JsonObject) object = json_object_new ();
  g_autoptr (JsonNode) node = json_node_init_object (json_node_alloc (), object);
  g_autoptr (JsonGenerator) generator = json_generator_new ();
  GString *text = g_string_new (NULL);

  /* One at a time: an object of all of them would hash hostile names without a key. */
  json_object_set_member (object, name, value);
  json_generator_set_root (generator, node);
  json_generator_to_gstring (generator, text);
  append_members (header, text);
  g_string_free (text, TRUE);
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
      append_pair (header, keys[i],
                   json_node_init_string (json_node_alloc (), g_hash_table_lookup (metadata, keys[i])));
    }
  g_string_append_c (header, '}');
}

static void
append_tensor (GString *header, const AprSafetensorsItem *item, guint64 begin, guint64 end)
{
  JsonObject *fields = json_object_new ();
  JsonArray *shape = json_array_new ();
  JsonArray *offsets = json_array_new ();
  gsize i;

  for (i = 0; i < item->n_dims; i++)
    json_array_add_int_element (shape, (gint64) item->shape[i]);
  json_array_add_int_element (offsets, (gint64) begin);
  json_array_add_int_element (offsets, (gint64) end);
  json_object_set_string_member (fields, "dtype", apr_dtype_to_string (item->dtype));
  json_object_set_array_member (fields, "shape", shape);
  json_object_set_array_member (fields, "data_offsets", offsets);
  append_pair (header, item->name, json_node_init_object (json_node_alloc (), fields));
  json_object_unref (fields);
}

/* Completes the header, of which the first bytes are left free for its length. */
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
