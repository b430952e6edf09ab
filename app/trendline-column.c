/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-column.h"

#include <string.h>

struct _TrendlineColumn
{
  GObject parent_instance;

  char *name;
  gboolean is_text;
  gboolean is_feature;
};

enum
{
  PROP_0,
  PROP_NAME,
  PROP_IS_TEXT,
  PROP_IS_FEATURE,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (TrendlineColumn, trendline_column, G_TYPE_OBJECT)

static void
trendline_column_finalize (GObject *object)
{
  TrendlineColumn *self = TRENDLINE_COLUMN (object);

  g_free (self->name);

  G_OBJECT_CLASS (trendline_column_parent_class)->finalize (object);
}

static void
trendline_column_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  TrendlineColumn *self = TRENDLINE_COLUMN (object);

  switch (id)
    {
    case PROP_NAME:
      g_value_set_string (value, self->name);
      break;
    case PROP_IS_TEXT:
      g_value_set_boolean (value, self->is_text);
      break;
    case PROP_IS_FEATURE:
      g_value_set_boolean (value, self->is_feature);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
trendline_column_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  switch (id)
    {
    case PROP_IS_FEATURE:
      trendline_column_set_is_feature (TRENDLINE_COLUMN (object), g_value_get_boolean (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
trendline_column_class_init (TrendlineColumnClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags readable = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = trendline_column_finalize;
  object_class->get_property = trendline_column_get_property;
  object_class->set_property = trendline_column_set_property;

  properties[PROP_NAME] = g_param_spec_string ("name", NULL, NULL, NULL, readable);

  /* Whether the first rows have texts in it that are no numbers: each of them would be a feature. */
  properties[PROP_IS_TEXT] = g_param_spec_boolean ("is-text", NULL, NULL, FALSE, readable);

  properties[PROP_IS_FEATURE] = g_param_spec_boolean (
    "is-feature", NULL, NULL, FALSE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
trendline_column_init (TrendlineColumn *self)
{
}

TrendlineColumn *
trendline_column_new (const char *name, gboolean is_text)
{
  TrendlineColumn *self = g_object_new (TRENDLINE_TYPE_COLUMN, NULL);

  self->name = g_strdup (name);
  self->is_text = is_text;

  return self;
}

const char *
trendline_column_get_name (TrendlineColumn *self)
{
  g_return_val_if_fail (TRENDLINE_IS_COLUMN (self), NULL);

  return self->name;
}

gboolean
trendline_column_get_is_text (TrendlineColumn *self)
{
  g_return_val_if_fail (TRENDLINE_IS_COLUMN (self), FALSE);

  return self->is_text;
}

gboolean
trendline_column_get_is_feature (TrendlineColumn *self)
{
  g_return_val_if_fail (TRENDLINE_IS_COLUMN (self), FALSE);

  return self->is_feature;
}

void
trendline_column_set_is_feature (TrendlineColumn *self, gboolean is_feature)
{
  g_return_if_fail (TRENDLINE_IS_COLUMN (self));

  if (self->is_feature == is_feature)
    return;
  self->is_feature = is_feature;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_IS_FEATURE]);
}

gboolean
trendline_column_matches (TrendlineColumn *self, const char *text)
{
  g_autofree char *name = NULL;
  g_autofree char *part = NULL;

  g_return_val_if_fail (TRENDLINE_IS_COLUMN (self), FALSE);
  g_return_val_if_fail (text != NULL, FALSE);

  name = g_utf8_casefold (self->name, -1);
  part = g_utf8_casefold (text, -1);

  return strstr (name, part) != NULL;
}
