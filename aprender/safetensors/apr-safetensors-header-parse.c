/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/base/apr-error.h"
#include "aprender/base/apr-pages-private.h"
#include "aprender/safetensors/apr-json-scanner-private.h"
#include "aprender/safetensors/apr-safetensors-error-private.h"
#include "aprender/safetensors/apr-safetensors-header-private.h"

/* From the header's text to entries and pairs. Whether they fit the data is checked later. */

/* How many arrays and objects are open around a field of an entry: the header and the entry. */
#define FIELD_DEPTH 2

#define refuse apr_safetensors_header_refuse

typedef struct
{
  AprSafetensorsHeader *header;
  AprJsonCursor cursor;
  AprSafetensorsTable keys; /* of the metadata */
  AprDType last_dtype;
  gboolean has_metadata;
} Parser;

static gboolean
grow_slots (AprSafetensorsTable *self, GError **error)
{
  gsize n_slots = MAX (16, self->n_slots * 2);
  AprSafetensorsSlot *slots = apr_memory_new (n_slots, sizeof *slots, "a header", error);
  gsize i, j;

  if (slots == NULL)
    return FALSE;
  memset (slots, 0, n_slots * sizeof *slots);
  for (i = 0; i < self->n_slots; i++)
    if (self->slots[i].index_and_one != 0)
      {
        for (j = self->slots[i].hash & (n_slots - 1); slots[j].index_and_one != 0;
             j = (j + 1) & (n_slots - 1))
          ;
        slots[j] = self->slots[i];
      }
  g_free (self->slots);
  self->slots = slots;
  self->n_slots = n_slots;
  return TRUE;
}

/* Returns @n elements with room for @n_more, where they are or elsewhere; NULL, and they are where they were, where
 * there is no memory. */
static gpointer
reserve (gpointer elements, gsize n, gsize n_more, gsize *max, gsize size, GError **error)
{
  gsize larger_max = MAX (MAX (16, 2 * *max), n + n_more);
  gpointer larger;

  if (n_more <= *max - n)
    return elements;
  larger = g_try_realloc_n (elements, larger_max, size);
  if (larger == NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
                 "There is no memory for a header of %" G_GSIZE_FORMAT " bytes", larger_max * size);
  else
    *max = larger_max;
  return larger;
}

/* Adds a string to the pool of names, where it is at @place. */
static gboolean
add_string (AprSafetensorsHeader *self, const AprJsonString *string, guint32 *place, GError **error)
{
  char *names = reserve (self->names, self->n_names, string->length + 1, &self->max_names, 1, error);

  if (names == NULL)
    return FALSE;
  self->names = names;
  names += self->n_names;
  memcpy (names, string->text, string->length);
  names[string->length] = '\0';
  *place = (guint32) self->n_names;
  self->n_names += string->length + 1;
  return TRUE;
}

/* Adds a name to the pool, and to the table unless it is there. */
static gboolean
add_name (AprSafetensorsHeader *self,
          AprSafetensorsTable *table,
          const AprJsonString *name,
          guint32 *place,
          gboolean *is_new,
          GError **error)
{
  AprSafetensorsSlot *slot;
  guint32 hash;

  if (!add_string (self, name, place, error) ||
      (2 * table->n_names >= table->n_slots && !grow_slots (table, error)))
    return FALSE;
  hash = apr_safetensors_header_hash (self->names + *place, name->length);
  slot = apr_safetensors_table_find (table, self->names, self->names + *place, hash);
  *is_new = slot->index_and_one == 0;
  if (*is_new)
    *slot = (AprSafetensorsSlot){ hash, *place, (guint32) ++table->n_names };
  return TRUE;
}

static gboolean
add_dim (AprSafetensorsHeader *self, gsize dim, GError **error)
{
  gsize *dims = reserve (self->dims, self->n_dims, 1, &self->max_dims, sizeof *dims, error);

  if (dims == NULL)
    return FALSE;
  self->dims = dims;
  dims[self->n_dims++] = dim;
  return TRUE;
}

static AprSafetensorsEntry *
add_entry (AprSafetensorsHeader *self, GError **error)
{
  AprSafetensorsEntry *entries =
    reserve (self->entries, self->n_entries, 1, &self->max_entries, sizeof *entries, error);

  if (entries == NULL)
    return NULL;
  self->entries = entries;
  return &entries[self->n_entries];
}

static AprSafetensorsPair *
add_pair (AprSafetensorsHeader *self, GError **error)
{
  AprSafetensorsPair *pairs = reserve (self->pairs, self->n_pairs, 1, &self->max_pairs, sizeof *pairs, error);

  if (pairs == NULL)
    return NULL;
  self->pairs = pairs;
  return &pairs[self->n_pairs++];
}

static gboolean
has_nul (const AprJsonString *string)
{
  return string->escaped && memchr (string->text, '\0', string->length) != NULL;
}

/* Begins the next entry. The caller counts it when it is complete. */
static gboolean
begin_entry (Parser *parser, const AprJsonString *name, GError **error)
{
  AprSafetensorsHeader *header = parser->header;
  AprSafetensorsEntry *entry = add_entry (header, error);
  gboolean is_new;

  if (entry == NULL)
    return FALSE;
  if (has_nul (name))
    {
      g_autofree char *display = apr_json_display (name->text, name->length);

      return apr_json_cursor_fail (&parser->cursor, APR_SAFETENSORS_ERROR_NAME, error,
                                   "a tensor's name with a NUL: “%s”", display);
    }
  if (!add_name (header, &header->table, name, &entry->name, &is_new, error))
    return FALSE;
  if (!is_new)
    return refuse (header, entry, APR_SAFETENSORS_ERROR_DUPLICATE, error,
                   "there are two of this name, the second before byte %" G_GSIZE_FORMAT " of the header",
                   (gsize) (parser->cursor.position - parser->cursor.start));
  return TRUE;
}

/* Refuses the value at the cursor, which has the wrong type. If it is not even valid JSON, that is the error. */
static gboolean
refuse_type (
  Parser *parser, const AprSafetensorsEntry *entry, const char *subject, const char *wanted, GError **error)
{
  g_autofree char *token = NULL;
  const char *start, *kind;

  start = parser->cursor.position;
  kind = apr_json_cursor_describe (&parser->cursor);
  if (!apr_json_cursor_skip_value (&parser->cursor, FIELD_DEPTH, error))
    return FALSE;
  if (g_str_equal (kind, "a number"))
    kind = token = apr_json_display (start, (gsize) (parser->cursor.position - start));
  return refuse (parser->header, entry, APR_SAFETENSORS_ERROR_FIELD, error, "%s %s, not %s", subject, kind,
                 wanted);
}

/* Says why there is no 64-bit number at the cursor. */
static gboolean
refuse_number (Parser *parser, const AprSafetensorsEntry *entry, const char *field, GError **error)
{
  g_autofree char *subject = NULL;
  const char *start, *p;

  start = parser->cursor.position;
  for (p = start; p < parser->cursor.end && g_ascii_isdigit (*p); p++)
    ;
  if (p > start && *start != '0' && (p == parser->cursor.end || strchr (".eE", *p) == NULL))
    {
      g_autofree char *token = apr_json_display (start, (gsize) (p - start));

      return refuse (parser->header, entry, APR_SAFETENSORS_ERROR_OVERFLOW, error,
                     "%s holds %s, which takes more than 64 bits", field, token);
    }
  subject = g_strdup_printf ("%s holds", field);
  return refuse_type (parser, entry, subject, "a whole number from 0 to 18446744073709551615", error);
}

static gboolean
is_dtype (AprDType dtype, const AprJsonString *string)
{
  const char *name = apr_dtype_to_string (dtype);

  return strlen (name) == string->length && memcmp (name, string->text, string->length) == 0;
}

static gboolean
parse_dtype (Parser *parser, AprSafetensorsEntry *entry, GError **error)
{
  g_autofree char *display = NULL;
  AprJsonString string;
  guint i;

  if (!apr_json_cursor_take (&parser->cursor, '"'))
    return refuse_type (parser, entry, "dtype is", "a string", error);
  parser->cursor.position--;
  if (!apr_json_cursor_scan_string (&parser->cursor, &string, error))
    return FALSE;
  /* Most tensors have the same dtype as the one before. */
  entry->dtype = parser->last_dtype;
  if (is_dtype (entry->dtype, &string))
    return TRUE;
  for (i = APR_DTYPE_BOOL; i <= APR_DTYPE_U64; i++)
    if (is_dtype ((AprDType) i, &string))
      {
        entry->dtype = parser->last_dtype = (AprDType) i;
        return TRUE;
      }
  display = apr_json_display (string.text, string.length);
  return refuse (parser->header, entry, APR_SAFETENSORS_ERROR_DTYPE, error, "unknown dtype “%s”", display);
}

/* Parses an array of numbers: a shape if @offsets is NULL, otherwise offsets, of which only the first two are kept. */
static gboolean
parse_numbers (Parser *parser,
               const AprSafetensorsEntry *entry,
               const char *field,
               guint64 *offsets,
               gsize *n_numbers,
               GError **error)
{
  *n_numbers = 0;
  if (!apr_json_cursor_take (&parser->cursor, '['))
    return refuse_type (parser, entry, offsets == NULL ? "shape is" : "data_offsets is", "an array", error);
  if (apr_json_cursor_take (&parser->cursor, ']'))
    return TRUE;
  do
    {
      guint64 number;

      if (!apr_json_cursor_scan_u64 (&parser->cursor, &number))
        return refuse_number (parser, entry, field, error);
      if (offsets == NULL && (gsize) number != number)
        return refuse (parser->header, entry, APR_SAFETENSORS_ERROR_OVERFLOW, error,
                       "%s holds %" G_GUINT64_FORMAT ", which is too much for this machine", field, number);
      if (offsets == NULL && !add_dim (parser->header, (gsize) number, error))
        return FALSE;
      if (offsets != NULL && *n_numbers < 2)
        offsets[*n_numbers] = number;
      ++*n_numbers;
    }
  while (apr_json_cursor_take (&parser->cursor, ','));
  if (!apr_json_cursor_take (&parser->cursor, ']'))
    return apr_json_cursor_expected (&parser->cursor, "“,” or “]”", error);
  return TRUE;
}

static gboolean
parse_shape (Parser *parser, AprSafetensorsEntry *entry, GError **error)
{
  gsize n_dims;

  entry->shape = (guint32) parser->header->n_dims;
  if (!parse_numbers (parser, entry, "shape", NULL, &n_dims, error))
    return FALSE;
  entry->n_dims = (guint32) n_dims;
  return TRUE;
}

static gboolean
parse_offsets (Parser *parser, AprSafetensorsEntry *entry, GError **error)
{
  guint64 offsets[2];
  gsize n_offsets;

  if (!parse_numbers (parser, entry, "data_offsets", offsets, &n_offsets, error))
    return FALSE;
  if (n_offsets != 2)
    return refuse (parser->header, entry, APR_SAFETENSORS_ERROR_FIELD, error,
                   "data_offsets holds %" G_GSIZE_FORMAT " numbers, not 2", n_offsets);
  entry->begin = offsets[0];
  entry->end = offsets[1];
  return TRUE;
}

static const struct
{
  const char *name;
  gsize length;
  gboolean (*parse) (Parser *parser, AprSafetensorsEntry *entry, GError **error);
} fields[] = {
  { "dtype", 5, parse_dtype },
  { "shape", 5, parse_shape },
  { "data_offsets", 12, parse_offsets },
};

static gboolean
parse_field (Parser *parser, AprSafetensorsEntry *entry, guint *seen, GError **error)
{
  AprJsonString key;
  guint i;

  if (!apr_json_cursor_scan_string (&parser->cursor, &key, error))
    return FALSE;
  for (i = 0; i < G_N_ELEMENTS (fields); i++)
    if (key.length == fields[i].length && memcmp (key.text, fields[i].name, key.length) == 0)
      break;
  if (!apr_json_cursor_take (&parser->cursor, ':'))
    return apr_json_cursor_expected (&parser->cursor, "“:”", error);
  if (i == G_N_ELEMENTS (fields))
    return apr_json_cursor_skip_value (&parser->cursor, FIELD_DEPTH, error);
  if ((*seen & 1u << i) != 0)
    return refuse (parser->header, entry, APR_SAFETENSORS_ERROR_DUPLICATE, error,
                   "two fields are called “%s”", fields[i].name);
  *seen |= 1u << i;
  return fields[i].parse (parser, entry, error);
}

static gboolean
parse_entry (Parser *parser, const AprJsonString *name, GError **error)
{
  AprSafetensorsEntry *entry;
  guint seen = 0;
  guint i;

  if (!begin_entry (parser, name, error))
    return FALSE;
  entry = &parser->header->entries[parser->header->n_entries];
  if (!apr_json_cursor_take (&parser->cursor, ':'))
    return apr_json_cursor_expected (&parser->cursor, "“:”", error);
  if (!apr_json_cursor_take (&parser->cursor, '{'))
    return refuse_type (parser, entry, "the entry is", "an object", error);
  if (!apr_json_cursor_take (&parser->cursor, '}'))
    {
      do
        if (!parse_field (parser, entry, &seen, error))
          return FALSE;
      while (apr_json_cursor_take (&parser->cursor, ','));
      if (!apr_json_cursor_take (&parser->cursor, '}'))
        return apr_json_cursor_expected (&parser->cursor, "“,” or “}”", error);
    }
  for (i = 0; i < G_N_ELEMENTS (fields); i++)
    if ((seen & 1u << i) == 0)
      return refuse (parser->header, entry, APR_SAFETENSORS_ERROR_FIELD, error, "no field “%s”",
                     fields[i].name);
  parser->header->n_entries++;
  return TRUE;
}

static char *
display_string (const AprSafetensorsHeader *self, guint32 place)
{
  return apr_json_display (self->names + place, strlen (self->names + place));
}

static gboolean
parse_metadata_pair (Parser *parser, GError **error)
{
  AprJsonCursor *cursor = &parser->cursor;
  AprSafetensorsPair *pair = add_pair (parser->header, error);
  g_autofree char *display = NULL;
  AprJsonString string;
  gboolean is_new;
  const char *kind;

  if (pair == NULL || !apr_json_cursor_scan_string (cursor, &string, error))
    return FALSE;
  if (has_nul (&string))
    {
      display = apr_json_display (string.text, string.length);
      return apr_json_cursor_fail (cursor, APR_SAFETENSORS_ERROR_NAME, error,
                                   "a metadata key with a NUL: “%s”", display);
    }
  if (!add_name (parser->header, &parser->keys, &string, &pair->key, &is_new, error))
    return FALSE;
  if (!is_new)
    {
      display = display_string (parser->header, pair->key);
      return apr_json_cursor_fail (cursor, APR_SAFETENSORS_ERROR_DUPLICATE, error,
                                   "two metadata keys are “%s”", display);
    }
  if (!apr_json_cursor_take (cursor, ':'))
    return apr_json_cursor_expected (cursor, "“:”", error);
  apr_json_cursor_skip_space (cursor);
  kind = apr_json_cursor_describe (cursor);
  if (!g_str_equal (kind, "a string"))
    {
      if (!apr_json_cursor_skip_value (cursor, FIELD_DEPTH, error))
        return FALSE;
      display = display_string (parser->header, pair->key);
      return apr_json_cursor_fail (cursor, APR_SAFETENSORS_ERROR_METADATA, error,
                                   "metadata “%s” is %s, not a string", display, kind);
    }
  if (!apr_json_cursor_scan_string (cursor, &string, error))
    return FALSE;
  if (has_nul (&string))
    {
      display = display_string (parser->header, pair->key);
      return apr_json_cursor_fail (cursor, APR_SAFETENSORS_ERROR_METADATA, error, "metadata “%s” holds a NUL",
                                   display);
    }
  return add_string (parser->header, &string, &pair->value, error);
}

static gboolean
parse_metadata (Parser *parser, GError **error)
{
  AprJsonCursor *cursor = &parser->cursor;
  const char *kind;

  if (parser->has_metadata)
    return apr_json_cursor_fail (cursor, APR_SAFETENSORS_ERROR_DUPLICATE, error,
                                 "“__metadata__” is there twice");
  parser->has_metadata = TRUE;
  if (!apr_json_cursor_take (cursor, ':'))
    return apr_json_cursor_expected (cursor, "“:”", error);
  if (!apr_json_cursor_take (cursor, '{'))
    {
      kind = apr_json_cursor_describe (cursor);
      if (!apr_json_cursor_skip_value (cursor, 1, error))
        return FALSE;
      if (!g_str_equal (kind, "null"))
        return apr_json_cursor_fail (cursor, APR_SAFETENSORS_ERROR_METADATA, error,
                                     "“__metadata__” is %s, not an object of strings", kind);
      return TRUE;
    }
  if (apr_json_cursor_take (cursor, '}'))
    return TRUE;
  do
    if (!parse_metadata_pair (parser, error))
      return FALSE;
  while (apr_json_cursor_take (cursor, ','));
  if (!apr_json_cursor_take (cursor, '}'))
    return apr_json_cursor_expected (cursor, "“,” or “}”", error);
  return TRUE;
}

static gboolean
parse_members (Parser *parser, GError **error)
{
  AprJsonCursor *cursor = &parser->cursor;

  if (!apr_json_cursor_take (cursor, '{'))
    return apr_json_cursor_expected (cursor, "an object", error);
  if (!apr_json_cursor_take (cursor, '}'))
    {
      do
        {
          AprJsonString name;

          if (!apr_json_cursor_scan_string (cursor, &name, error))
            return FALSE;
          if (name.length == strlen (APR_SAFETENSORS_METADATA_NAME) &&
              memcmp (name.text, APR_SAFETENSORS_METADATA_NAME, name.length) == 0)
            {
              if (!parse_metadata (parser, error))
                return FALSE;
            }
          else if (!parse_entry (parser, &name, error))
            return FALSE;
        }
      while (apr_json_cursor_take (cursor, ','));
      if (!apr_json_cursor_take (cursor, '}'))
        return apr_json_cursor_expected (cursor, "“,” or “}”", error);
    }
  apr_json_cursor_skip_space (cursor);
  if (cursor->position != cursor->end)
    return apr_json_cursor_expected (cursor, "only spaces after the header", error);
  return TRUE;
}

AprSafetensorsHeader *
apr_safetensors_header_parse_text (const char *text, guint32 length, GError **error)
{
  g_autoptr (AprSafetensorsHeader) header = apr_safetensors_header_new ();
  Parser parser = { .header = header, .last_dtype = APR_DTYPE_F32 };
  gsize bad_byte;
  gboolean is_good;

  header->data_start = (guint64) APR_SAFETENSORS_PREFIX_SIZE + length;
  apr_json_cursor_init (&parser.cursor, "header", text, length);
  if (!apr_json_is_utf8 (text, length, &bad_byte))
    {
      parser.cursor.position += bad_byte;
      apr_json_cursor_fail (&parser.cursor, APR_SAFETENSORS_ERROR_ENCODING, error, "0x%02x is not UTF-8 here",
                            (guint) (guchar) text[bad_byte]);
      is_good = FALSE;
    }
  else
    is_good = parse_members (&parser, error);
  if (!is_good)
    apr_safetensors_error_set_offset (error, APR_SAFETENSORS_PREFIX_SIZE +
                                               (guint64) (parser.cursor.position - parser.cursor.start));
  apr_json_cursor_clear (&parser.cursor);
  g_free (parser.keys.slots);
  return is_good ? g_steal_pointer (&header) : NULL;
}
