/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-rows.h"

#include <math.h>
#include <string.h>

/* The most names of features that a message has. */
#define MAX_LISTED 20

/* Where a message is about, for the row that is being read. */
static gboolean fail (const AprServeRows *self, GError **error, const char *field, const char *format, ...)
  G_GNUC_PRINTF (4, 5);

static gboolean
fail (const AprServeRows *self, GError **error, const char *field, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (self->single)
    g_set_error (error, APR_ERROR, APR_ERROR_SHAPE, "%s%s", field, message);
  else
    g_set_error (error, APR_ERROR, APR_ERROR_SHAPE, "%s[%" G_GSIZE_FORMAT "]%s", field, self->n_rows,
                 message);

  return FALSE;
}

static gboolean
fail_memory (GError **error, gsize size)
{
  g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY,
               "There is no memory for names of features: %" G_GSIZE_FORMAT " bytes", size);
  return FALSE;
}

/* For a message, as a name may be long. */
static char *
show_name (const AprServeModel *model, gsize column)
{
  return apr_json_display (model->feature_names[column], strlen (model->feature_names[column]));
}

/* @named is whether the row has names. */
static gboolean
scan_value (AprServeRows *self,
            AprJsonCursor *cursor,
            const AprServeModel *model,
            const char *field,
            gboolean named,
            gsize column,
            GError **error)
{
  double *value = &self->values[self->n_values + column];
  g_autofree char *name = NULL;
  g_autofree char *place = NULL;
  g_autofree char *found = NULL;
  gboolean is_number = apr_serve_json_scan_number (cursor, value);

  if (G_LIKELY (is_number && isfinite (*value)))
    return TRUE;

  if (named)
    name = show_name (model, column);
  place = named ? g_strdup_printf (".%s", name) : g_strdup_printf ("[%" G_GSIZE_FORMAT "]", column);
  if (is_number)
    return fail (self, error, field,
                 "%s: a number beyond a double's range, which ends at byte %" G_GSIZE_FORMAT, place,
                 (gsize) (cursor->position - cursor->start));

  found = apr_serve_json_describe (cursor);
  return fail (self, error, field, "%s: expected a number, found %s at byte %" G_GSIZE_FORMAT, place, found,
               (gsize) (cursor->position - cursor->start));
}

static gboolean
fail_at_separator (
  const AprServeRows *self, AprJsonCursor *cursor, const char *field, const char *expected, GError **error)
{
  g_autofree char *found = NULL;

  apr_json_cursor_skip_space (cursor);
  found = apr_serve_json_describe (cursor);
  return fail (self, error, field, ": expected %s, found %s at byte %" G_GSIZE_FORMAT, expected, found,
               (gsize) (cursor->position - cursor->start));
}

/* The opening bracket has been read. */
static gboolean
scan_list (
  AprServeRows *self, AprJsonCursor *cursor, const AprServeModel *model, const char *field, GError **error)
{
  gsize n = 0;

  if (!apr_json_cursor_take (cursor, ']'))
    {
      do
        {
          if (n < model->n_features)
            {
              if (!scan_value (self, cursor, model, field, FALSE, n, error))
                return FALSE;
            }
          else if (!apr_json_cursor_skip_value (cursor, 3, error))
            return FALSE;
          n++;
        }
      while (apr_json_cursor_take (cursor, ','));
      if (!apr_json_cursor_take (cursor, ']'))
        return fail_at_separator (self, cursor, field, "“,” or “]”", error);
    }
  if (n != model->n_features)
    return fail (self, error, field, ": expected %" G_GSIZE_FORMAT " %s, got %" G_GSIZE_FORMAT,
                 model->n_features, model->n_features == 1 ? "number" : "numbers", n);

  return TRUE;
}

/* The names that there are, for messages: not all of thousands. */
static char *
list_names (const AprServeModel *model)
{
  GString *list = g_string_new (NULL);
  gsize i;

  for (i = 0; i < MIN (model->n_features, MAX_LISTED); i++)
    {
      g_autofree char *name = show_name (model, i);

      g_string_append_printf (list, "%s%s", i > 0 ? ", " : "", name);
    }
  if (model->n_features > MAX_LISTED)
    g_string_append_printf (list, " and %" G_GSIZE_FORMAT " more", model->n_features - MAX_LISTED);

  return g_string_free (list, FALSE);
}

static gboolean
find_column (AprServeRows *self,
             const AprServeModel *model,
             const AprJsonString *key,
             const char *field,
             gsize *column,
             GError **error)
{
  g_autofree char *name = NULL;
  g_autofree char *shown = NULL;

  /* Most often the names come in the model's order. */
  if (*column < model->n_features && apr_serve_json_equal (key, model->feature_names[*column]))
    return TRUE;

  name = g_try_malloc (key->length + 1);
  if (name == NULL)
    return fail_memory (error, key->length + 1);
  memcpy (name, key->text, key->length);
  name[key->length] = '\0';
  shown = apr_json_display (key->text, key->length);
  if (strlen (name) != key->length || !apr_serve_model_find_column (model, name, column))
    {
      g_autofree char *names = list_names (model);

      return fail (self, error, field, ": the model has no feature “%s”; its features are: %s", shown, names);
    }

  return TRUE;
}

static gboolean
check_complete (AprServeRows *self, const AprServeModel *model, gsize n, const char *field, GError **error)
{
  gsize i;

  for (i = 0; n < model->n_features && i < model->n_features; i++)
    if (self->last_row[i] != self->n_rows + 1)
      {
        g_autofree char *name = show_name (model, i);

        return fail (self, error, field, ": the feature “%s” is missing", name);
      }

  return TRUE;
}

/* The opening brace has been read. */
static gboolean
scan_object (
  AprServeRows *self, AprJsonCursor *cursor, const AprServeModel *model, const char *field, GError **error)
{
  gsize column = 0;
  gsize n = 0;

  if (model->feature_names == NULL)
    return fail (self, error, field,
                 ": the model “%s” has no names of features: write a list of %" G_GSIZE_FORMAT " numbers",
                 model->name, model->n_features);
  if (self->last_row == NULL)
    self->last_row = g_try_new0 (gsize, model->n_features);
  if (self->last_row == NULL)
    return fail_memory (error, model->n_features * sizeof (gsize));

  if (!apr_json_cursor_take (cursor, '}'))
    {
      do
        {
          AprJsonString key;

          if (!apr_json_cursor_scan_string (cursor, &key, error) ||
              !find_column (self, model, &key, field, &column, error))
            return FALSE;
          if (self->last_row[column] == self->n_rows + 1)
            {
              g_autofree char *name = show_name (model, column);

              return fail (self, error, field, ": the feature “%s” is there twice", name);
            }
          if (!apr_json_cursor_take (cursor, ':'))
            return fail_at_separator (self, cursor, field, "“:”", error);
          if (!scan_value (self, cursor, model, field, TRUE, column, error))
            return FALSE;
          self->last_row[column] = self->n_rows + 1;
          column++;
          n++;
        }
      while (apr_json_cursor_take (cursor, ','));
      if (!apr_json_cursor_take (cursor, '}'))
        return fail_at_separator (self, cursor, field, "“,” or “}”", error);
    }

  return check_complete (self, model, n, field, error);
}

/* The row's opening bracket or brace is next. */
static gboolean
scan_row (
  AprServeRows *self, AprJsonCursor *cursor, const AprServeModel *model, const char *field, GError **error)
{
  gboolean succeeded;

  if (!apr_serve_json_reserve_numbers (&self->values, &self->capacity, self->n_values, model->n_features,
                                       error))
    return FALSE;
  if (apr_json_cursor_take (cursor, '['))
    succeeded = scan_list (self, cursor, model, field, error);
  else if (apr_json_cursor_take (cursor, '{'))
    succeeded = scan_object (self, cursor, model, field, error);
  else
    succeeded =
      fail_at_separator (self, cursor, field, "a list of numbers or an object of named ones", error);
  if (!succeeded)
    return FALSE;

  self->n_rows++;
  self->n_values += model->n_features;

  return TRUE;
}

gboolean
apr_serve_rows_scan_row (
  AprServeRows *self, AprJsonCursor *cursor, const AprServeModel *model, const char *field, GError **error)
{
  apr_json_cursor_skip_space (cursor);

  return scan_row (self, cursor, model, field, error);
}

/* Whether a list is one of rows: its first element is a row itself. */
static gboolean
begins_rows (const AprJsonCursor *cursor)
{
  AprJsonCursor copy = *cursor;

  if (!apr_json_cursor_take (&copy, '['))
    return FALSE;
  apr_json_cursor_skip_space (&copy);

  return copy.position < copy.end && (*copy.position == '[' || *copy.position == '{');
}

gboolean
apr_serve_rows_scan (
  AprServeRows *self, AprJsonCursor *cursor, const AprServeModel *model, const char *field, GError **error)
{
  apr_json_cursor_skip_space (cursor);
  self->single = !begins_rows (cursor);
  if (self->single)
    return scan_row (self, cursor, model, field, error);

  apr_json_cursor_take (cursor, '[');
  do
    if (!apr_serve_rows_scan_row (self, cursor, model, field, error))
      return FALSE;
  while (apr_json_cursor_take (cursor, ','));
  if (!apr_json_cursor_take (cursor, ']'))
    return fail_at_separator (self, cursor, field, "“,” or “]”", error);

  return TRUE;
}

AprTensor *
apr_serve_rows_to_tensor (AprServeRows *self, const AprServeModel *model, GError **error)
{
  gsize shape[2] = { self->n_rows, model->n_features };
  AprTensor *tensor =
    apr_tensor_new_from_doubles (self->values, self->n_rows * model->n_features, shape, 2, error);

  g_clear_pointer (&self->values, g_free);

  return tensor;
}

void
apr_serve_rows_clear (AprServeRows *self)
{
  g_clear_pointer (&self->values, g_free);
  g_clear_pointer (&self->last_row, g_free);
}
