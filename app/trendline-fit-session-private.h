/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "app/trendline-fit-session.h"
#include "app/trendline-fold-sums.h"

G_BEGIN_DECLS

struct _TrendlineFitSession
{
  GObject parent_instance;

  TrendlineFitState state;
  double fraction;
  GCancellable *cancellable; /* (nullable): while the session is busy */

  TrendlineTable *table; /* (nullable) */
  char *target;          /* (nullable) */
  char *weight;          /* (nullable) */
  gboolean drop_missing;
  AprLinearRegression *options;

  AprLinearRegression *model;          /* (nullable) */
  AprRegressionStatistics *statistics; /* (nullable) */
  char *model_target;                  /* (nullable) */
  char *model_weight;                  /* (nullable) */
  guint64 n_dropped;
  guint64 n_missing;
  TrendlineScore *score; /* (nullable) */
  GCancellable *scoring; /* (nullable): while the score is not known yet */

  GVariant *choice;    /* (nullable): what is chosen now */
  GVariant *fitted;    /* (nullable): what was chosen when the model was fitted to the table */
  GPtrArray *undo;     /* (element-type GVariant): what was chosen before each change */
  gboolean is_undoing; /* changes are not to be undone, or one together */
  gboolean is_step;    /* the last change was a step of the ridge penalty, which a further step joins */
};

/* How the rows of a table are read for a fit. */
typedef struct
{
  GFile *file;
  gboolean decimal_comma;
  gboolean drop_missing;
  char *target;    /* (nullable) */
  char *weight;    /* (nullable) */
  char **features; /* (nullable): the columns, and a feature for each text of one, once these are known */
} TrendlineRows;

void trendline_rows_clear (TrendlineRows *self);

/* A reader of the file, which is open. Before the features are known, it is to find the texts of columns. */
AprTableReader *trendline_rows_create_reader (const TrendlineRows *self, GFileInputStream *stream);

void trendline_fit_session_set_state (TrendlineFitSession *self, TrendlineFitState state);

void trendline_fit_session_set_fraction (TrendlineFitSession *self, double fraction);

void trendline_fit_session_send_fraction (GTask *task, double fraction);

void trendline_fit_session_set_table (TrendlineFitSession *self, TrendlineTable *table);

void trendline_fit_session_set_results (TrendlineFitSession *self,
                                        AprLinearRegression *model,
                                        AprRegressionStatistics *statistics,
                                        const char *target,
                                        const char *weight);

/* Takes a reference; NULL for a model that was not fitted here. */
void trendline_fit_session_set_fitted (TrendlineFitSession *self, GVariant *choice);

void trendline_score_free (TrendlineScore *self);

void trendline_fit_session_begin_score (TrendlineFitSession *self, TrendlineFoldSums *sums);

/* How much of the time it takes to read a table, for the progress bar. */
#define TRENDLINE_READING 0.9

void trendline_fit_session_begin_search (GTask *task,
                                         TrendlineFoldSums *sums,
                                         AprLinearRegression *model,
                                         GVariant *choice);

gboolean trendline_fit_session_has_dropped_missing (TrendlineFitSession *self);

void trendline_fit_session_start_undo (TrendlineFitSession *self);

void trendline_fit_session_remember_choice (TrendlineFitSession *self);

void trendline_fit_session_set_ridge (TrendlineFitSession *self, double alpha);

GTask *trendline_fit_session_begin (TrendlineFitSession *self,
                                    TrendlineFitState state,
                                    gpointer source_tag,
                                    GAsyncReadyCallback callback,
                                    gpointer user_data);

void trendline_fit_session_fail (GTask *task, GError *error);

/* How many threads parse a table: one processor is left to the window. */
static inline guint
trendline_fit_session_count_threads (void)
{
  return MAX (g_get_num_processors (), 2) - 1;
}

G_END_DECLS
