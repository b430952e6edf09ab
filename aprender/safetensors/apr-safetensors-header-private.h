/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-error.h"
#include "aprender/tensor/apr-dtype.h"

#include <string.h>

G_BEGIN_DECLS

/* The size of the header's length, a little-endian number at the start of the file. */
#define APR_SAFETENSORS_PREFIX_SIZE 8

/* The largest header that the reference reads or writes */
#define APR_SAFETENSORS_MAX_HEADER_SIZE 100000000

#define APR_SAFETENSORS_METADATA_NAME "__metadata__"

/*
 * AprSafetensorsEntry:
 * @begin: the offset of the tensor's data, from the start of the data
 * @end: the offset of their end
 * @name: the index of the name in the header's pool of names
 * @shape: the index of the shape in the header's pool of dimensions
 * @n_dims: the number of dimensions
 * @dtype: the dtype
 *
 * A tensor, as the header describes it.
 */
typedef struct
{
  guint64 begin;
  guint64 end;
  guint32 name;
  guint32 shape;
  guint32 n_dims;
  AprDType dtype;
} AprSafetensorsEntry;

/*
 * AprSafetensorsPair:
 * @key: the index of the key in the header's pool of names
 * @value: the index of its value there
 *
 * A key of `__metadata__` and its value.
 */
typedef struct
{
  guint32 key;
  guint32 value;
} AprSafetensorsPair;

typedef struct
{
  guint32 hash;
  guint32 name;
  guint32 index_and_one;
} AprSafetensorsSlot;

/*
 * AprSafetensorsTable:
 * @slots: an open-addressed hash table, at most half full
 * @n_slots: its size: a power of two, or 0 while it is empty
 * @n_names: the number of names in it
 *
 * Maps names of the header's pool to their numbers, in the order in which they were added.
 */
typedef struct
{
  AprSafetensorsSlot *slots;
  gsize n_slots;
  gsize n_names;
} AprSafetensorsTable;

/*
 * AprSafetensorsHeader:
 * @entries: the tensors, in the order of the JSON text
 * @pairs: the metadata, in the order of the JSON text
 * @names: the pool of names: all names, keys and values, each NUL-terminated
 * @dims: the pool of dimensions: all shapes
 * @table: finds the entry of a name
 * @data_start: the offset of the data in the file
 *
 * A parsed header. It does not refer to the bytes that it was parsed from.
 */
typedef struct
{
  AprSafetensorsEntry *entries;
  AprSafetensorsPair *pairs;
  char *names;
  gsize *dims;
  AprSafetensorsTable table;
  gsize n_entries, max_entries;
  gsize n_pairs, max_pairs;
  gsize n_names, max_names;
  gsize n_dims, max_dims;
  guint64 data_start;
} AprSafetensorsHeader;

AprSafetensorsHeader *apr_safetensors_header_new (void);

/*
 * apr_safetensors_header_scan_prefix:
 * @bytes: the first eight bytes of a file, or fewer if the file is smaller
 * @file_size: the file's size, or %G_MAXUINT64 if it is unknown
 * @max_header_size: the size of the largest header to accept; values above 2^32 - 1 count as that
 * @length: (out): the length of the header
 * @error: return location for an error
 *
 * Reads the length of the header, and checks it first against the limit, then against the size of the file.
 */
gboolean apr_safetensors_header_scan_prefix (
  const char *bytes, guint64 file_size, guint64 max_header_size, guint32 *length, GError **error);

/*
 * apr_safetensors_header_parse_text:
 * @text: the header, without its length
 * @length: the length
 * @error: return location for an error
 *
 * Parses a header. Call apr_safetensors_header_check() before you rely on the offsets and sizes in it.
 */
AprSafetensorsHeader *apr_safetensors_header_parse_text (const char *text, guint32 length, GError **error);

/* Checks that the tensors fill exactly the @data_size bytes after the header, and that each has the right size. */
gboolean apr_safetensors_header_check (const AprSafetensorsHeader *self, guint64 data_size, GError **error);

/* The offset where the last tensor ends; the header need not have been checked. */
guint64 apr_safetensors_header_get_data_size (const AprSafetensorsHeader *self);

/* (transfer full) (nullable): The entries sorted by their offsets, or %NULL if they are sorted already. */
guint32 *apr_safetensors_header_sort_places (const AprSafetensorsHeader *self);

/* Parses and checks the bytes of a whole file. */
AprSafetensorsHeader *
apr_safetensors_header_parse (gconstpointer bytes, gsize size, guint64 max_header_size, GError **error);

void apr_safetensors_header_free (AprSafetensorsHeader *self);

const AprSafetensorsEntry *apr_safetensors_header_find (const AprSafetensorsHeader *self, const char *name);

/* Sets an error that begins with the tensor's name. Always returns FALSE. */
gboolean apr_safetensors_header_refuse (const AprSafetensorsHeader *self,
                                        const AprSafetensorsEntry *entry,
                                        AprSafetensorsError code,
                                        GError **error,
                                        const char *format,
                                        ...) G_GNUC_PRINTF (5, 6);

static inline const char *
apr_safetensors_header_get_name (const AprSafetensorsHeader *self, const AprSafetensorsEntry *entry)
{
  return self->names + entry->name;
}

/* The shape; not NULL even for a scalar */
static inline const gsize *
apr_safetensors_header_get_shape (const AprSafetensorsHeader *self, const AprSafetensorsEntry *entry)
{
  static const gsize no_dims;

  return entry->n_dims > 0 ? self->dims + entry->shape : &no_dims;
}

/* Hashes a string with a secret key of this process, so that nobody can make names that collide. */
guint32 apr_safetensors_header_hash (const char *name, gsize length);

/* The same for a GHashTable whose keys come from a file. */
guint apr_safetensors_name_hash (gconstpointer name);

/* The slot of a name, or the empty one where it belongs; the table must have slots. */
static inline AprSafetensorsSlot *
apr_safetensors_table_find (const AprSafetensorsTable *self,
                            const char *names,
                            const char *name,
                            guint32 hash)
{
  gsize i;

  for (i = hash & (self->n_slots - 1); self->slots[i].index_and_one != 0; i = (i + 1) & (self->n_slots - 1))
    if (self->slots[i].hash == hash && strcmp (names + self->slots[i].name, name) == 0)
      break;
  return &self->slots[i];
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSafetensorsHeader, apr_safetensors_header_free)

G_END_DECLS
