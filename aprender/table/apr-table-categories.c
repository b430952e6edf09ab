/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/table/apr-table-categories-private.h"

#include <string.h>

AprTableCategories *
apr_table_categories_new (void)
{
  AprTableCategories *self = g_new (AprTableCategories, 1);

  self->names = g_ptr_array_new_with_free_func (g_free);
  self->positions = g_array_new (FALSE, FALSE, sizeof (guint));

  return self;
}

void
apr_table_categories_free (AprTableCategories *self)
{
  g_ptr_array_unref (self->names);
  g_array_unref (self->positions);
  g_free (self);
}

gboolean
apr_table_categories_find (const AprTableCategories *self, const char *text, gsize length, guint *place)
{
  guint first = 0;
  guint last = self->names->len;

  while (first < last)
    {
      guint middle = first + (last - first) / 2;
      const char *name = g_ptr_array_index (self->names, middle);
      gsize name_length = strlen (name);
      int order = memcmp (text, name, MIN (length, name_length));

      if (order == 0 && length == name_length)
        {
          *place = middle;
          return TRUE;
        }
      if (order < 0 || (order == 0 && length < name_length))
        last = middle;
      else
        first = middle + 1;
    }

  *place = first;
  return FALSE;
}

void
apr_table_categories_insert (
  AprTableCategories *self, const char *text, gsize length, guint place, guint position)
{
  g_ptr_array_insert (self->names, (int) place, g_strndup (text, length));
  g_array_insert_val (self->positions, place, position);
}
