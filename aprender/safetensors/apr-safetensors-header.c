/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/safetensors/apr-safetensors-header-private.h"
#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-sip-hash-private.h"

gboolean
apr_safetensors_header_refuse (const AprSafetensorsHeader *header,
                               const AprSafetensorsEntry *entry,
                               AprSafetensorsError code,
                               GError **error,
                               const char *format,
                               ...)
{
  const char *name = apr_safetensors_header_get_name (header, entry);
  g_autofree char *display = apr_json_display (name, strlen (name));
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, APR_SAFETENSORS_ERROR, (int) code, "tensor “%s”: %s", display, message);
  return FALSE;
}

static void
make_key (guint64 key[2])
{
  GRand *source = g_rand_new ();
  guint i;

  for (i = 0; i < 2; i++)
    key[i] = (guint64) g_rand_int (source) << 32 | g_rand_int (source);
  g_rand_free (source);
}

guint32
apr_safetensors_header_hash (const char *name, gsize length)
{
  static gsize is_made = 0;
  static guint64 key[2];

  if (g_once_init_enter (&is_made))
    {
      make_key (key);
      g_once_init_leave (&is_made, 1);
    }
  return (guint32) apr_sip_hash (key, name, length, 1, 3);
}

guint
apr_safetensors_name_hash (gconstpointer name)
{
  return apr_safetensors_header_hash (name, strlen (name));
}

AprSafetensorsHeader *
apr_safetensors_header_new (void)
{
  return g_new0 (AprSafetensorsHeader, 1);
}

void
apr_safetensors_header_free (AprSafetensorsHeader *self)
{
  g_free (self->entries);
  g_free (self->pairs);
  g_free (self->names);
  g_free (self->dims);
  g_free (self->table.slots);
  g_free (self);
}

const AprSafetensorsEntry *
apr_safetensors_header_find (const AprSafetensorsHeader *self, const char *name)
{
  AprSafetensorsSlot *slot;

  if (self->table.n_slots == 0)
    return NULL;
  slot = apr_safetensors_table_find (&self->table, self->names, name,
                                     apr_safetensors_header_hash (name, strlen (name)));
  return slot->index_and_one == 0 ? NULL : &self->entries[slot->index_and_one - 1];
}

static int
compare_numbers (guint64 one, guint64 other)
{
  return (one > other) - (one < other);
}

static int
compare_places (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const AprSafetensorsEntry *entries = user_data;
  const AprSafetensorsEntry *one = &entries[*(const guint32 *) a];
  const AprSafetensorsEntry *other = &entries[*(const guint32 *) b];
  int order = compare_numbers (one->begin, other->begin);

  return order != 0 ? order : compare_numbers (one->end, other->end);
}

guint32 *
apr_safetensors_header_sort_places (const AprSafetensorsHeader *self)
{
  guint32 *order;
  guint32 i;

  /* They are sorted in nearly every file. */
  for (i = 1; i < self->n_entries; i++)
    if (compare_places (&(guint32){ i - 1 }, &i, self->entries) > 0)
      break;
  if (i >= self->n_entries)
    return NULL;
  order = g_new (guint32, self->n_entries);
  for (i = 0; i < self->n_entries; i++)
    order[i] = i;
  g_qsort_with_data (order, (int) self->n_entries, sizeof *order, compare_places, self->entries);
  return order;
}

guint64
apr_safetensors_header_get_data_size (const AprSafetensorsHeader *self)
{
  guint64 size = 0;
  gsize i;

  for (i = 0; i < self->n_entries; i++)
    size = MAX (size, self->entries[i].end);
  return size;
}

AprSafetensorsHeader *
apr_safetensors_header_parse (gconstpointer bytes, gsize size, guint64 max_header_size, GError **error)
{
  g_autoptr (AprSafetensorsHeader) header = NULL;
  guint32 length;

  if (!apr_safetensors_header_scan_prefix (bytes, size, max_header_size, &length, error))
    return NULL;
  header =
    apr_safetensors_header_parse_text ((const char *) bytes + APR_SAFETENSORS_PREFIX_SIZE, length, error);
  if (header == NULL || !apr_safetensors_header_check (header, size - header->data_start, error))
    return NULL;
  return g_steal_pointer (&header);
}
