/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-source-private.h"

G_BEGIN_DECLS

struct _AprSafetensorsReader
{
  GObject parent_instance;

  GFile *file;
  char *path; /* as given, if the file is local */
  GBytes *bytes;
  AprSafetensorsLoadMode load_mode;
  guint64 max_header_size;

  /* One file, or the shards sorted by name; none before the reader is initialised */
  GPtrArray *sources;
  /* From tensor names to sources, if there are shards */
  GHashTable *owners;

  /* Made on first use */
  GHashTable *metadata;
  /* Made on first use; they point into the headers and the metadata */
  const char **names;
  const char **names_in_file_order;
  const char **metadata_keys;
};

static inline gboolean
apr_safetensors_reader_is_initialised (AprSafetensorsReader *self)
{
  return self->sources->len > 0 || self->owners != NULL;
}

/* The number of tensors in all files. */
gsize apr_safetensors_reader_count_tensors (AprSafetensorsReader *self);

/* Implements GInitable: opens the file, unless it is open already. */
gboolean apr_safetensors_reader_open (GInitable *initable, GCancellable *cancellable, GError **error);

G_END_DECLS
