/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-error.h"
#include "aprender/tensor/apr-dtype.h"

#include <string.h>

G_BEGIN_DECLS

/* The header's own length, a little-endian number at the file's start. */
#define APR_SAFETENSORS_PREFIX_SIZE 8

/* The longest header that the reference reads or writes. */
#define APR_SAFETENSORS_MAX_HEADER_SIZE 100000000

#define APR_SAFETENSORS_METADATA_NAME "__metadata__"

/*
 * AprSafetensorsEntry:
 * @begin: where the tensor's bytes begin, from the start of the data
 * @end: where they end
 * @name: where the name is in the header's pool of names
 * @shape: where the shape is in the header's pool of dimensions
 * @n_dims: how many dimensions there are
 * @dtype: the type of the elements
 *
 * A tensor, as a valid header tells of it.
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
 * @key: where the key is in the header's pool of names
 * @value: where its value is
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
 * @slots: places by the names' hashes, with open addressing and at most half full
 * @n_slots: how many places there are, a power of two, or 0 while there are none
 * @n_names: how many of them are taken
 *
 * Finds the number of a name in the header's pool, counted in the order in which names were added.
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
 * @names: the names of both and the values of the latter one after the other, each with a NUL at its end
 * @dims: the shapes one after the other
 * @table: finds a name's entry
 * @data_start: where the data begin in the file
 *
 * A header that has been read and found valid. It keeps nothing of the bytes that it was read from.
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
 * @bytes: the first bytes of a file, eight of them unless it has less
 * @file_size: the file's size, or %G_MAXUINT64 where nobody knows
 * @max_header_size: the longest header to accept; more than 2^32 - 1 counts as that
 * @length: (out): how long the header is
 * @error: return location for an error
 *
 * Reads the length of the header, and checks it against the limit and then against the size of the file.
 */
gboolean apr_safetensors_header_scan_prefix (
  const char *bytes, guint64 file_size, guint64 max_header_size, guint32 *length, GError **error);

/*
 * apr_safetensors_header_parse_text:
 * @text: the header without its length
 * @length: how long it is
 * @error: return location for an error
 *
 * Reads a header; apr_safetensors_header_check() must find it good before anybody relies on it.
 */
AprSafetensorsHeader *apr_safetensors_header_parse_text (const char *text, guint32 length, GError **error);

/* Checks that the tensors fill just the @data_size bytes that follow the header, and each its own. */
gboolean apr_safetensors_header_check (const AprSafetensorsHeader *self, guint64 data_size, GError **error);

/* Where the last tensor ends, by a header that may not have been checked. */
guint64 apr_safetensors_header_get_data_size (const AprSafetensorsHeader *self);

/* (transfer full) (nullable): The entries' order in the data, or %NULL where they are in it already. */
guint32 *apr_safetensors_header_sort_places (const AprSafetensorsHeader *self);

/* All of the above, for a whole file's bytes. */
AprSafetensorsHeader *
apr_safetensors_header_parse (gconstpointer bytes, gsize size, guint64 max_header_size, GError **error);

void apr_safetensors_header_free (AprSafetensorsHeader *self);

const AprSafetensorsEntry *apr_safetensors_header_find (const AprSafetensorsHeader *self, const char *name);

/* What begins with a tensor's name; always returns FALSE. */
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

/* Never NULL, not even for a scalar. */
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
apr_safetensors_table_find (const AprSafetensorsTable *self, const char *names, const char *name, guint32 hash)
{
  gsize i;

  for (i = hash & (self->n_slots - 1); self->slots[i].index_and_one != 0; i = (i + 1) & (self->n_slots - 1))
    if (self->slots[i].hash == hash && strcmp (names + self->slots[i].name, name) == 0)
      break;
  return &self->slots[i];
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprSafetensorsHeader, apr_safetensors_header_free)

G_END_DECLS
