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
  self->slots = g_new0 (AprTableSlot, self->n_columns);
  for (i = 0; i < self->n_columns; i++)
    if (*names[i] != '\0')
      self->sorted[self->n_named++] = i;
  g_qsort_with_data (self->sorted, (int) self->n_named, sizeof (guint), compare, names);
  for (i = 1; i < self->n_named; i++)
    if (strcmp (names[self->sorted[i - 1]], names[self->sorted[i]]) == 0)
      {
        *repeated = names[self->sorted[i]];
        self->names = NULL;
        return NULL;
      }

  return g_steal_pointer (&self);
}

static void
clear_slots (AprTableColumns *self)
{
  guint i;

  for (i = 0; i < self->n_columns; i++)
    {
      g_clear_pointer (&self->slots[i].categories, apr_table_categories_free);
      self->slots[i].role = APR_TABLE_IGNORED;
    }
}

void
apr_table_columns_free (AprTableColumns *self)
{
  clear_slots (self);
  g_strfreev (self->names);
  g_strfreev (self->features);
  g_free (self->sorted);
  g_free (self->slots);
  g_free (self);
}

static gboolean
has_column (const AprTableColumns *self, const char *name, guint *column)
{
  guint first = 0;
  guint last = self->n_named;

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

  return FALSE;
}

static gboolean
find_column (const AprTableColumns *self, const char *name, guint *column, GError **error)
{
  g_autoptr (GString) known = NULL;
  guint n_listed = 0;
  guint i;

  if (has_column (self, name, column))
    return TRUE;

  known = g_string_new (self->n_named == 0   ? "no column has a name"
                        : self->n_named == 1 ? "there is only "
                                             : "there are ");
  for (i = 0; i < self->n_columns && n_listed < MAX_NAMES_IN_MESSAGE; i++)
    if (*self->names[i] != '\0')
      g_string_append_printf (known, "%s“%s”", n_listed++ > 0 ? ", " : "", self->names[i]);
  if (n_listed < self->n_named)
    g_string_append_printf (known, " and %u more", self->n_named - n_listed);
  g_set_error (error, APR_ERROR, APR_ERROR_FEATURE_NAMES, "no column “%s”: %s", name, known->str);
  return FALSE;
}

/* Says that a column, which has a role, cannot have another one, or the same again. */
static void
refuse_role (const char *name, AprTableRole role, AprTableRole other, GError **error)
{
  static const char *const roles[APR_TABLE_N_ROLES] = { "a feature", "a target", "the weight" };

  if (role == other)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "the column “%s” is named twice", name);
  else
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "the column “%s” cannot be both %s and %s",
                 name, roles[role], roles[other]);
}

static gboolean
assign (AprTableColumns *self, const char *name, AprTableRole role, guint position, GError **error)
{
  guint column = 0;

  if (!find_column (self, name, &column, error))
    return FALSE;
  if (self->slots[column].role != APR_TABLE_IGNORED)
    {
      refuse_role (name, self->slots[column].role, role, error);
      return FALSE;
    }
  self->slots[column] = (AprTableSlot){ role, position, NULL };

  return TRUE;
}

/* The first of the columns from @first to @last, by name, whose name does not have a byte before @byte behind its first
 * @length bytes, which are the same in all of them. */
static guint
find_byte (const AprTableColumns *self, guint first, guint last, gsize length, guint byte)
{
  while (first < last)
    {
      guint middle = first + (last - first) / 2;

      if ((guchar) self->names[self->sorted[middle]][length] < byte)
        first = middle + 1;
      else
        last = middle;
    }

  return first;
}

/* Splits COLUMN=CATEGORY where COLUMN is a column. In one pass, in which ever fewer columns are left that begin as the
 * name does: a name from a file can have millions of signs. Returns: (nullable): the category */
static const char *
split_category (const AprTableColumns *self, const char *name, guint *column, GError **error)
{
  const char *category = NULL;
  guint first = 0;
  guint last = self->n_named;
  gsize i;

  for (i = 0; name[i] != '\0' && first < last; i++)
    {
      guchar byte = (guchar) name[i];

      /* What is all of a name stands before all that goes on. */
      if (byte == APR_TABLE_CATEGORY_SIGN && self->names[self->sorted[first]][i] == '\0')
        {
          guint found = self->sorted[first];

          if (category != NULL)
            {
              g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                           "“%s” can be a category of “%s” as well as of “%s”", name, self->names[*column],
                           self->names[found]);
              return NULL;
            }
          category = name + i + 1;
          *column = found;
        }
      first = find_byte (self, first, last, i, byte);
      last = find_byte (self, first, last, i, byte + 1U);
    }

  return category;
}

/* Finds the column of a feature, which is that column, or a category of it; otherwise @category is %NULL. */
static gboolean
find_feature (
  const AprTableColumns *self, const char *name, guint *column, const char **category, GError **error)
{
  g_autoptr (GError) local_error = NULL;

  *category = has_column (self, name, column) ? NULL : split_category (self, name, column, &local_error);
  if (local_error == NULL)
    return *category != NULL || find_column (self, name, column, error);

  g_propagate_error (error, g_steal_pointer (&local_error));
  return FALSE;
}

static gboolean
assign_feature (AprTableColumns *self, const char *name, guint position, GError **error)
{
  const char *category;
  AprTableSlot *slot;
  guint column = 0;

  if (!find_feature (self, name, &column, &category, error))
    return FALSE;
  if (category == NULL)
    return assign (self, name, APR_TABLE_FEATURES, position, error);

  slot = &self->slots[column];
  if (slot->role == APR_TABLE_IGNORED)
    *slot = (AprTableSlot){ APR_TABLE_FEATURES, position, apr_table_categories_new () };
  if (slot->categories == NULL)
    {
      refuse_role (self->names[column], slot->role, APR_TABLE_FEATURES, error);
      return FALSE;
    }
  apr_table_categories_append (slot->categories, category, position);

  return TRUE;
}

/* Sorts the categories once all are there: a file can have a million of them, in the order that is the worst for
 * sorting each in. */
static gboolean
sort_categories (AprTableColumns *self, const char *const *features, GError **error)
{
  guint repeated;
  guint i;

  for (i = 0; i < self->n_columns; i++)
    if (self->slots[i].categories != NULL &&
        !apr_table_categories_sort (self->slots[i].categories, &repeated))
      {
        refuse_role (features[repeated], APR_TABLE_FEATURES, APR_TABLE_FEATURES, error);
        return FALSE;
      }

  return TRUE;
}

gboolean
apr_table_columns_check_category (const AprTableColumns *self,
                                  const char *name,
                                  const char *column,
                                  GError **error)
{
  guint same;

  if (!has_column (self, name, &same))
    return TRUE;

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
               "“%s” can be a category of “%s” as well as the column “%s”", name, column, name);
  return FALSE;
}

/* A feature that is a column must not be a category of another one that has features too. */
static gboolean
check_names (const AprTableColumns *self, const char *const *features, GError **error)
{
  guint column;

  for (; *features != NULL; features++)
    if (split_category (self, *features, &column, NULL) != NULL && self->slots[column].categories != NULL &&
        !apr_table_columns_check_category (self, *features, self->names[column], error))
      return FALSE;

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

  clear_slots (self);
  for (i = 0; targets != NULL && targets[i] != NULL; i++)
    if (!assign (self, targets[i], APR_TABLE_TARGETS, i, error))
      return FALSE;
  if (weight != NULL && !assign (self, weight, APR_TABLE_WEIGHTS, 0, error))
    return FALSE;

  for (i = 0; features != NULL && features[i] != NULL; i++)
    {
      if (!assign_feature (self, features[i], n_features++, error))
        return FALSE;
      g_strv_builder_add (builder, features[i]);
    }
  if (features != NULL && (!check_names (self, features, error) || !sort_categories (self, features, error)))
    return FALSE;
  for (i = 0; features == NULL && i < self->n_columns; i++)
    if (self->slots[i].role == APR_TABLE_IGNORED && *self->names[i] != '\0')
      {
        self->slots[i] = (AprTableSlot){ APR_TABLE_FEATURES, n_features++, NULL };
        g_strv_builder_add (builder, self->names[i]);
      }

  if (n_features == 0)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_EMPTY,
                   "no column is left to be a feature: all %sare targets or weights",
                   self->n_named < self->n_columns ? "that have a name " : "");
      return FALSE;
    }
  g_strfreev (self->features);
  self->features = g_strv_builder_end (builder);

  return TRUE;
}

gboolean
apr_table_columns_collect (AprTableColumns *self, const char *const *columns, GError **error)
{
  guint i;

  clear_slots (self);
  for (i = 0; columns[i] != NULL; i++)
    if (!assign (self, columns[i], APR_TABLE_COLLECTED, i, error))
      return FALSE;

  return TRUE;
}

gboolean
apr_table_columns_need (AprTableColumns *self, const char *const *names, GError **error)
{
  const char *category;
  guint column = 0;

  for (; names != NULL && *names != NULL; names++)
    {
      if (!find_feature (self, *names, &column, &category, error))
        return FALSE;
      if (self->slots[column].role == APR_TABLE_IGNORED)
        self->slots[column].role = APR_TABLE_NEEDED;
    }

  return TRUE;
}
