/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/trendline-fit-session-private.h"

/*
 * What a window works on: a table, what is chosen of it, how to fit, and what the last fit found.
 *
 * The user interface sets the choices and binds to the properties; it holds no state of its own. One thing is under way
 * at a time: opening a file, a fit, or predictions. It can be cancelled, and a failure leaves everything as it was, so
 * that the old
 * results can be used while a fit runs. A session belongs to the thread that made it; nothing blocks but for short.
 *
 * The options are a model that is never fitted: its hyper-parameters are for the next fit, which works on a clone. The
 * model and its statistics are replaced together by the fit, and never change.
 */
enum
{
  PROP_0,
  PROP_STATE,
  PROP_BUSY,
  PROP_FRACTION,
  PROP_TABLE,
  PROP_TARGET,
  PROP_WEIGHT,
  PROP_DROP_MISSING,
  PROP_OPTIONS,
  PROP_MODEL,
  PROP_STATISTICS,
  PROP_MODEL_TARGET,
  PROP_SCORE,
  PROP_OUTDATED,
  PROP_CAN_UNDO,
  N_PROPS,
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (TrendlineFitSession, trendline_fit_session, G_TYPE_OBJECT)

G_DEFINE_ENUM_TYPE (TrendlineFitState,
                    trendline_fit_state,
                    G_DEFINE_ENUM_VALUE (TRENDLINE_FIT_STATE_IDLE, "idle"),
                    G_DEFINE_ENUM_VALUE (TRENDLINE_FIT_STATE_OPENING, "opening"),
                    G_DEFINE_ENUM_VALUE (TRENDLINE_FIT_STATE_READING, "reading"),
                    G_DEFINE_ENUM_VALUE (TRENDLINE_FIT_STATE_SOLVING, "solving"),
                    G_DEFINE_ENUM_VALUE (TRENDLINE_FIT_STATE_PREDICTING, "predicting"))

static void
trendline_fit_session_finalize (GObject *object)
{
  TrendlineFitSession *self = TRENDLINE_FIT_SESSION (object);

  g_clear_object (&self->cancellable);
  g_clear_object (&self->scoring);
  g_clear_object (&self->table);
  g_free (self->target);
  g_free (self->weight);
  g_clear_object (&self->options);
  g_clear_object (&self->model);
  g_clear_object (&self->statistics);
  g_free (self->model_target);
  g_free (self->model_weight);
  g_clear_pointer (&self->score, trendline_score_free);
  g_clear_pointer (&self->choice, g_variant_unref);
  g_clear_pointer (&self->fitted, g_variant_unref);
  g_ptr_array_unref (self->undo);

  G_OBJECT_CLASS (trendline_fit_session_parent_class)->finalize (object);
}

static void
trendline_fit_session_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  TrendlineFitSession *self = TRENDLINE_FIT_SESSION (object);

  switch (id)
    {
    case PROP_STATE:
      g_value_set_enum (value, (int) self->state);
      break;
    case PROP_BUSY:
      g_value_set_boolean (value, self->state != TRENDLINE_FIT_STATE_IDLE);
      break;
    case PROP_FRACTION:
      g_value_set_double (value, self->fraction);
      break;
    case PROP_TABLE:
      g_value_set_object (value, self->table);
      break;
    case PROP_TARGET:
      g_value_set_string (value, self->target);
      break;
    case PROP_WEIGHT:
      g_value_set_string (value, self->weight);
      break;
    case PROP_DROP_MISSING:
      g_value_set_boolean (value, self->drop_missing);
      break;
    case PROP_OPTIONS:
      g_value_set_object (value, self->options);
      break;
    case PROP_MODEL:
      g_value_set_object (value, self->model);
      break;
    case PROP_STATISTICS:
      g_value_set_object (value, self->statistics);
      break;
    case PROP_MODEL_TARGET:
      g_value_set_string (value, self->model_target);
      break;
    case PROP_SCORE:
      g_value_set_pointer (value, self->score);
      break;
    case PROP_OUTDATED:
      g_value_set_boolean (value, trendline_fit_session_get_outdated (self));
      break;
    case PROP_CAN_UNDO:
      g_value_set_boolean (value, trendline_fit_session_get_can_undo (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
trendline_fit_session_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  TrendlineFitSession *self = TRENDLINE_FIT_SESSION (object);

  switch (id)
    {
    case PROP_TARGET:
      trendline_fit_session_set_target (self, g_value_get_string (value));
      break;
    case PROP_WEIGHT:
      trendline_fit_session_set_weight (self, g_value_get_string (value));
      break;
    case PROP_DROP_MISSING:
      trendline_fit_session_set_drop_missing (self, g_value_get_boolean (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
trendline_fit_session_class_init (TrendlineFitSessionClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags readable = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;
  const GParamFlags writable = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY;

  object_class->finalize = trendline_fit_session_finalize;
  object_class->get_property = trendline_fit_session_get_property;
  object_class->set_property = trendline_fit_session_set_property;

  /* What is under way. */
  properties[PROP_STATE] =
    g_param_spec_enum ("state", NULL, NULL, TRENDLINE_TYPE_FIT_STATE, TRENDLINE_FIT_STATE_IDLE, readable);

  /* Whether anything is under way. */
  properties[PROP_BUSY] = g_param_spec_boolean ("busy", NULL, NULL, FALSE, readable);

  /* How much of it is done, from 0 to 1; it never falls while the session is busy. */
  properties[PROP_FRACTION] = g_param_spec_double ("fraction", NULL, NULL, 0, 1, 0, readable);

  /* The table that is open, or NULL. */
  properties[PROP_TABLE] = g_param_spec_object ("table", NULL, NULL, TRENDLINE_TYPE_TABLE, readable);

  /* The column that the next fit explains. It is no feature, even where it is chosen as one. */
  properties[PROP_TARGET] = g_param_spec_string ("target", NULL, NULL, NULL, writable);

  /* The column of the rows' weights in the next fit, or NULL. */
  properties[PROP_WEIGHT] = g_param_spec_string ("weight", NULL, NULL, NULL, writable);

  /* Whether rows that miss a number are passed over, instead of being an error. */
  properties[PROP_DROP_MISSING] = g_param_spec_boolean ("drop-missing", NULL, NULL, FALSE, writable);

  /* The hyper-parameters of the next fit. */
  properties[PROP_OPTIONS] =
    g_param_spec_object ("options", NULL, NULL, APR_TYPE_LINEAR_REGRESSION, readable);

  /* What the last fit found, or NULL. */
  properties[PROP_MODEL] = g_param_spec_object ("model", NULL, NULL, APR_TYPE_LINEAR_REGRESSION, readable);

  /* Its statistics, or NULL where there are none, as of a fit with a ridge penalty. */
  properties[PROP_STATISTICS] =
    g_param_spec_object ("statistics", NULL, NULL, APR_TYPE_REGRESSION_STATISTICS, readable);

  /* The column that the model explains; NULL if it comes from a file that does not name one. */
  properties[PROP_MODEL_TARGET] = g_param_spec_string ("model-target", NULL, NULL, NULL, readable);

  /* How well the model predicts rows that it has not seen, a TrendlineScore: it follows the model. NULL for a model
   * that was not fitted to a table here, and for one to which rows were added. */
  properties[PROP_SCORE] = g_param_spec_pointer ("score", NULL, NULL, readable);

  /* Whether the choices have changed since the model was fitted. */
  properties[PROP_OUTDATED] = g_param_spec_boolean ("outdated", NULL, NULL, FALSE, readable);

  /* Whether there is a choice before the present one. */
  properties[PROP_CAN_UNDO] = g_param_spec_boolean ("can-undo", NULL, NULL, FALSE, readable);

  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
trendline_fit_session_init (TrendlineFitSession *self)
{
  const char *const names[] = { "notify::fit-intercept", "notify::positive", "notify::dtype",
                                "notify::alpha" };
  gsize i;

  self->options = apr_linear_regression_new ();
  /* So that a file can be added to, and has statistics. */
  apr_linear_regression_set_keep_state (self->options, TRUE);
  self->undo = g_ptr_array_new_with_free_func ((GDestroyNotify) g_variant_unref);
  for (i = 0; i < G_N_ELEMENTS (names); i++)
    g_signal_connect_object (self->options, names[i], G_CALLBACK (trendline_fit_session_remember_choice),
                             self, G_CONNECT_SWAPPED);
}

TrendlineFitSession *
trendline_fit_session_new (void)
{
  return g_object_new (TRENDLINE_TYPE_FIT_SESSION, NULL);
}

TrendlineFitState
trendline_fit_session_get_state (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), TRENDLINE_FIT_STATE_IDLE);

  return self->state;
}

double
trendline_fit_session_get_fraction (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), 0);

  return self->fraction;
}

TrendlineTable *
trendline_fit_session_get_table (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), NULL);

  return self->table;
}

const char *
trendline_fit_session_get_target (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), NULL);

  return self->target;
}

void
trendline_fit_session_set_target (TrendlineFitSession *self, const char *target)
{
  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));

  if (g_strcmp0 (self->target, target) == 0)
    return;
  g_free (self->target);
  self->target = g_strdup (target);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_TARGET]);
  trendline_fit_session_remember_choice (self);
}

const char *
trendline_fit_session_get_weight (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), NULL);

  return self->weight;
}

void
trendline_fit_session_set_weight (TrendlineFitSession *self, const char *weight)
{
  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));

  if (g_strcmp0 (self->weight, weight) == 0)
    return;
  g_free (self->weight);
  self->weight = g_strdup (weight);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_WEIGHT]);
  trendline_fit_session_remember_choice (self);
}

gboolean
trendline_fit_session_get_drop_missing (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), FALSE);

  return self->drop_missing;
}

void
trendline_fit_session_set_drop_missing (TrendlineFitSession *self, gboolean drop_missing)
{
  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));

  if (self->drop_missing == drop_missing)
    return;
  self->drop_missing = drop_missing;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_DROP_MISSING]);
  trendline_fit_session_remember_choice (self);
}

AprLinearRegression *
trendline_fit_session_get_options (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), NULL);

  return self->options;
}

AprLinearRegression *
trendline_fit_session_get_model (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), NULL);

  return self->model;
}

AprRegressionStatistics *
trendline_fit_session_get_statistics (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), NULL);

  return self->statistics;
}

const char *
trendline_fit_session_get_model_target (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), NULL);

  return self->model_target;
}

/* Returns: (nullable): what changes with the property */
const TrendlineScore *
trendline_fit_session_get_score (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), NULL);

  return self->score;
}

/* How many rows the last fit, search or predictions passed over. */
guint64
trendline_fit_session_get_n_dropped (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), 0);

  return self->n_dropped;
}

/* How many numbers the table misses, if that is why the last fit failed; otherwise 0. */
guint64
trendline_fit_session_get_n_missing (TrendlineFitSession *self)
{
  g_return_val_if_fail (TRENDLINE_IS_FIT_SESSION (self), 0);

  return self->n_missing;
}

/* Cancels what is under way, which fails with %G_IO_ERROR_CANCELLED. The score of a fit that is done comes all the
 * same: see trendline_fit_session_clear_score(). */
void
trendline_fit_session_cancel (TrendlineFitSession *self)
{
  g_return_if_fail (TRENDLINE_IS_FIT_SESSION (self));

  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
}

void
trendline_rows_clear (TrendlineRows *self)
{
  g_clear_object (&self->file);
  g_clear_pointer (&self->target, g_free);
  g_clear_pointer (&self->weight, g_free);
  g_clear_pointer (&self->features, g_strfreev);
}

AprTableReader *
trendline_rows_create_reader (const TrendlineRows *self, GFileInputStream *stream)
{
  const char *const targets[] = { self->target, NULL };
  g_autofree char *name = g_file_get_basename (self->file);
  g_autofree char *display_name = g_filename_display_name (name);
  AprTableReader *reader = apr_table_reader_new (G_INPUT_STREAM (stream), display_name);

  apr_table_reader_set_decimal_comma (reader, self->decimal_comma);
  apr_table_reader_set_drop_missing (reader, self->drop_missing);
  apr_table_reader_set_n_threads (reader, trendline_fit_session_count_threads ());
  apr_table_reader_set_targets (reader, targets);
  apr_table_reader_set_weight (reader, self->weight);
  apr_table_reader_set_features (reader, (const char *const *) self->features);

  return reader;
}

void
trendline_fit_session_set_state (TrendlineFitSession *self, TrendlineFitState state)
{
  const gboolean was_busy = self->state != TRENDLINE_FIT_STATE_IDLE;
  const gboolean busy = state != TRENDLINE_FIT_STATE_IDLE;

  if (self->state == state)
    return;
  self->state = state;
  if (was_busy == busy)
    {
      g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATE]);
      return;
    }

  self->fraction = 0;
  g_clear_object (&self->cancellable);
  if (busy)
    self->cancellable = g_cancellable_new ();
  g_object_freeze_notify (G_OBJECT (self));
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATE]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_BUSY]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FRACTION]);
  g_object_thaw_notify (G_OBJECT (self));
}

void
trendline_fit_session_set_fraction (TrendlineFitSession *self, double fraction)
{
  if (fraction <= self->fraction)
    return;
  self->fraction = MIN (fraction, 1);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FRACTION]);
}

typedef struct
{
  GTask *task;
  double fraction;
} Progress;

static gboolean
report_progress (gpointer data)
{
  Progress *progress = data;
  TrendlineFitSession *self = g_task_get_source_object (progress->task);

  /* Something else may be under way by now. */
  if (self->cancellable != NULL && g_task_get_cancellable (progress->task) == self->cancellable)
    trendline_fit_session_set_fraction (self, progress->fraction);

  return G_SOURCE_REMOVE;
}

static void
progress_free (Progress *progress)
{
  g_object_unref (progress->task);
  g_free (progress);
}

/* Tells from a thread of the task, which has the session's cancellable, how much is done. */
void
trendline_fit_session_send_fraction (GTask *task, double fraction)
{
  g_autoptr (GSource) source = g_idle_source_new ();
  Progress *progress = g_new (Progress, 1);

  progress->task = g_object_ref (task);
  progress->fraction = fraction;
  /* So that it is told of before the end of the task. */
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, report_progress, progress, (GDestroyNotify) progress_free);
  g_source_attach (source, g_task_get_context (task));
}

/* Replaces the results as a whole; all arguments may be NULL. */
void
trendline_fit_session_set_results (TrendlineFitSession *self,
                                   AprLinearRegression *model,
                                   AprRegressionStatistics *statistics,
                                   const char *target,
                                   const char *weight)
{
  g_free (self->model_target);
  self->model_target = g_strdup (target);
  g_free (self->model_weight);
  self->model_weight = g_strdup (weight);
  g_set_object (&self->model, model);
  g_set_object (&self->statistics, statistics);
  g_object_freeze_notify (G_OBJECT (self));
  trendline_fit_session_clear_score (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_MODEL]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATISTICS]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_MODEL_TARGET]);
  g_object_thaw_notify (G_OBJECT (self));
}

void
trendline_fit_session_set_fitted (TrendlineFitSession *self, GVariant *choice)
{
  g_clear_pointer (&self->fitted, g_variant_unref);
  self->fitted = choice != NULL ? g_variant_ref (choice) : NULL;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_OUTDATED]);
}

/* Chooses what is likely meant: the column y, or else the last one that has numbers, and all other numbers as
 * features. */
static void
choose_columns (TrendlineFitSession *self)
{
  GListModel *columns = trendline_table_get_columns (self->table);
  const char *target = NULL;
  guint i;

  for (i = 0; i < g_list_model_get_n_items (columns); i++)
    {
      g_autoptr (TrendlineColumn) column = g_list_model_get_item (columns, i);

      trendline_column_set_is_feature (column, !trendline_column_get_is_text (column));
      if (!trendline_column_get_is_text (column) && g_strcmp0 (target, "y") != 0)
        target = trendline_column_get_name (column);
    }
  trendline_fit_session_set_weight (self, NULL);
  trendline_fit_session_set_target (self, target);
}

/* What suits one table need not suit another. */
static void
reset_options (TrendlineFitSession *self)
{
  trendline_fit_session_set_drop_missing (self, FALSE);
  apr_linear_regression_set_fit_intercept (self->options, TRUE);
  apr_linear_regression_set_positive (self->options, FALSE);
  apr_linear_regression_set_dtype (self->options, APR_DTYPE_F64);
  apr_linear_regression_set_alpha (self->options, 0);
}

void
trendline_fit_session_set_table (TrendlineFitSession *self, TrendlineTable *table)
{
  g_object_freeze_notify (G_OBJECT (self));
  trendline_fit_session_set_results (self, NULL, NULL, NULL, NULL);
  trendline_fit_session_set_fitted (self, NULL);
  self->is_undoing = TRUE;
  g_set_object (&self->table, table);
  reset_options (self);
  if (table != NULL)
    choose_columns (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_TABLE]);
  g_object_thaw_notify (G_OBJECT (self));
  trendline_fit_session_start_undo (self);
}
