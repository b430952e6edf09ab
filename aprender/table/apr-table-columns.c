/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-table-columns-private.h"

#include <string.h>

#include "aprender/base/apr-error.h"

#define MAX_NAMES_IN_MESSAGE 20

static int
compare (gconstpointer a, gconstpointer b, gpointer names)
{
  return strcmp (((char **) names)[*(const guint *) a], ((char **) names)[*(const guint *) b]);
}

/* By sorting: the names come from a file, which can choose names that all hash alike. */
AprTableColumns *
apr_table_columns_new (char **names, const char **repeated)
{
  g_autoptr (AprTableColumns) self = g_new0 (AprTableColumns, 1);
  guint i;

  self->n_columns = g_strv_length (names);
  self->names = names;
  self->sorted = g_new (guint, self->n_columns);
  self->slots = g_new (AprTableSlot, self->n_columns);
  for (i = 0; i < self->n_columns; i++)
    self->sorted[i] = i;
  g_qsort_with_data (self->sorted, (int) self->n_columns, sizeof (guint), compare, names);
  for (i = 1; i < self->n_columns; i++)
    if (strcmp (names[self->sorted[i - 1]], names[self->sorted[i]]) == 0)
      {
        *repeated = names[self->sorted[i]];
        self->names = NULL;
        return NULL;
      }

  return g_steal_pointer (&self);
}

void
apr_table_columns_free (AprTableColumns *self)
{
  g_strfreev (self->names);
  g_strfreev (self->features);
  g_free (self->sorted);
  g_free (self->slots);
  g_free (self);
}

static gboolean
find_column (AprTableColumns *self, const char *name, guint *column, GError **error)
{
  g_autoptr (GString) known = NULL;
  guint first = 0;
  guint last = self->n_columns;
  guint i;

  while (first < last)
    {
      guint middle = first + (last - first) / 2;
      int order = strcmp (name, self->names[self->sorted[middle]]);

      if (order == 0)
        {
          *column = self->sorted[middle];
          return TRUE;
        }
      if (order < 0)
        last = middle;
      else
        first = middle + 1;
    }

  known = g_string_new (NULL);
  for (i = 0; i < self->n_columns && i < MAX_NAMES_IN_MESSAGE; i++)
    g_string_append_printf (known, "%s“%s”", i > 0 ? ", " : "", self->names[i]);
  if (i < self->n_columns)
    g_string_append_printf (known, " and %u more", self->n_columns - i);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no column “%s”: %s %s", name,
               self->n_columns == 1 ? "there is only" : "there are", known->str);
  return FALSE;
}

static gboolean
assign (AprTableColumns *self, const char *name, AprTableRole role, guint position, GError **error)
{
  guint column;

  if (!find_column (self, name, &column, error))
    return FALSE;
  if (self->slots[column].role != APR_TABLE_IGNORED)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "the column “%s” is named twice", name);
      return FALSE;
    }
  self->slots[column] = (AprTableSlot){ role, position };

  return TRUE;
}

gboolean
apr_table_columns_assign (AprTableColumns *self,
                          const char *const *features,
                          const char *const *targets,
                          const char *weight,
                          GError **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  guint n_features = 0;
  guint i;

  for (i = 0; i < self->n_columns; i++)
    self->slots[i].role = APR_TABLE_IGNORED;
  for (i = 0; targets != NULL && targets[i] != NULL; i++)
    if (!assign (self, targets[i], APR_TABLE_TARGETS, i, error))
      return FALSE;
  if (weight != NULL && !assign (self, weight, APR_TABLE_WEIGHTS, 0, error))
    return FALSE;

  for (i = 0; features != NULL && features[i] != NULL; i++)
    {
      if (!assign (self, features[i], APR_TABLE_FEATURES, n_features++, error))
        return FALSE;
      g_strv_builder_add (builder, features[i]);
    }
  for (i = 0; features == NULL && i < self->n_columns; i++)
    if (self->slots[i].role == APR_TABLE_IGNORED)
      {
        self->slots[i] = (AprTableSlot){ APR_TABLE_FEATURES, n_features++ };
        g_strv_builder_add (builder, self->names[i]);
      }

  if (n_features == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
                   "no column is left to be a feature: all are targets or weights");
      return FALSE;
    }
  g_strfreev (self->features);
  self->features = g_strv_builder_end (builder);

  return TRUE;
}
