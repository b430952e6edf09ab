/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* Which rows belong together: those with the same label. Groups are in the order of their labels. */
typedef struct
{
  gsize n_rows;
  gsize n_groups;
  gsize max_rows;    /* of the largest group */
  gsize *starts;     /* (owned) the place where each group begins, and n_rows */
  gsize *order;      /* (owned) (nullable) the row at each place; %NULL where they are in order as they are */
  AprTensor *labels; /* (owned) of each group, of the dtype that was given */
} AprRowGroups;

/* Whether @labels, which messages call @name, are of a dtype that labels can have, one for each of @n_rows rows. */
gboolean apr_row_groups_check (const char *name, AprTensor *labels, gsize n_rows, GError **error);

/* Of labels that have been checked, in time that is linear in the rows. Fails where there is no memory, or where a
 * float is no whole number; @self is to be cleared then, too. */
gboolean apr_row_groups_init (AprRowGroups *self, const char *name, AprTensor *labels, GError **error);

void apr_row_groups_clear (AprRowGroups *self);

static inline gsize
apr_row_groups_get_row (const AprRowGroups *self, gsize place)
{
  return self->order != NULL ? self->order[place] : place;
}

static inline gsize
apr_row_groups_count (const AprRowGroups *self, gsize group)
{
  return self->starts[group + 1] - self->starts[group];
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprRowGroups, apr_row_groups_clear)

G_END_DECLS
