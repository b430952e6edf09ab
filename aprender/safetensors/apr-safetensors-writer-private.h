/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/safetensors/apr-safetensors-job-private.h"

G_BEGIN_DECLS

struct _AprSafetensorsWriter
{
  GObject parent_instance;

  GHashTable *items;                    /* (owned) from names to items, which own the names */
  GHashTable *metadata;                 /* (owned) from keys to values */
  AprSafetensorsClosure *data_func;     /* (owned) (nullable) */
  AprSafetensorsClosure *progress_func; /* (owned) (nullable) */
  guint alignment;
  gboolean durable;
  gboolean portable;
};

/* Whether a file can have a tensor of this name. */
gboolean apr_safetensors_check_name (const char *name, GError **error);

/* The tensors, sorted as in the reference's files. */
GPtrArray *apr_safetensors_writer_list_items (AprSafetensorsWriter *self);

/* The layout of a file of these tensors, all or some of the writer's; takes @items. */
AprSafetensorsLayout *
apr_safetensors_writer_lay_out (AprSafetensorsWriter *self, GPtrArray *items, GError **error);

/* A job with the writer's functions and settings as they are now. */
void apr_safetensors_writer_init_job (AprSafetensorsWriter *self, AprSafetensorsJob *job);

G_END_DECLS
