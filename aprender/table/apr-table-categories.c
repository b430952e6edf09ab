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
      /* Cells are short, but the names that a model has may be of any length. */
      gsize name_length = strnlen (name, length + 1);
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
apr_table_categories_insert (AprTableCategories *self, const char *text, gsize length, guint place)
{
  const guint position = 0;

  g_ptr_array_insert (self->names, (int) place, g_strndup (text, length));
  g_array_insert_val (self->positions, place, position);
}

void
apr_table_categories_append (AprTableCategories *self, const char *text, guint position)
{
  g_ptr_array_add (self->names, g_strdup (text));
  g_array_append_val (self->positions, position);
}

typedef struct
{
  char *name;
  guint position;
} Category;

static int
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  return strcmp (((const Category *) a)->name, ((const Category *) b)->name);
}

gboolean
apr_table_categories_sort (AprTableCategories *self, guint *repeated)
{
  const guint n = self->names->len;
  g_autofree Category *sorted = g_new (Category, n);
  gboolean different = TRUE;
  guint i;

  for (i = 0; i < n; i++)
    sorted[i] = (Category){ g_ptr_array_index (self->names, i), g_array_index (self->positions, guint, i) };
  g_qsort_with_data (sorted, (int) n, sizeof *sorted, compare, NULL);
  for (i = 0; i < n; i++)
    {
      g_ptr_array_index (self->names, i) = sorted[i].name;
      g_array_index (self->positions, guint, i) = sorted[i].position;
      if (i > 0 && different && strcmp (sorted[i - 1].name, sorted[i].name) == 0)
        {
          *repeated = sorted[i].position;
          different = FALSE;
        }
    }

  return different;
}
