/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

#include "app/trendline-table.h"

G_BEGIN_DECLS

typedef enum
{
  TRENDLINE_FIT_STATE_IDLE,
  TRENDLINE_FIT_STATE_OPENING,
  TRENDLINE_FIT_STATE_READING,
  TRENDLINE_FIT_STATE_SOLVING,
  TRENDLINE_FIT_STATE_PREDICTING,
} TrendlineFitState;

#define TRENDLINE_TYPE_FIT_STATE (trendline_fit_state_get_type ())

GType trendline_fit_state_get_type (void);

/* How far the predictions of a model are off for rows that are not in its fit: the root of the mean squared error, in
 * the units of the target. */
typedef struct
{
  double error;  /* NaN until it is known, or if it cannot be told */
  char *problem; /* (nullable): why it cannot be told */
} TrendlineScore;

/* Of those that are tried in a search, and that the entry can show. */
#define TRENDLINE_GREATEST_PENALTY 1e9

#define TRENDLINE_TYPE_FIT_SESSION (trendline_fit_session_get_type ())

G_DECLARE_FINAL_TYPE (TrendlineFitSession, trendline_fit_session, TRENDLINE, FIT_SESSION, GObject)

TrendlineFitSession *trendline_fit_session_new (void) G_GNUC_WARN_UNUSED_RESULT;

TrendlineFitState trendline_fit_session_get_state (TrendlineFitSession *self);

double trendline_fit_session_get_fraction (TrendlineFitSession *self);

TrendlineTable *trendline_fit_session_get_table (TrendlineFitSession *self);

const char *trendline_fit_session_get_target (TrendlineFitSession *self);

void trendline_fit_session_set_target (TrendlineFitSession *self, const char *target);

const char *trendline_fit_session_get_weight (TrendlineFitSession *self);

void trendline_fit_session_set_weight (TrendlineFitSession *self, const char *weight);

gboolean trendline_fit_session_get_drop_missing (TrendlineFitSession *self);

void trendline_fit_session_set_drop_missing (TrendlineFitSession *self, gboolean drop_missing);

AprLinearRegression *trendline_fit_session_get_options (TrendlineFitSession *self);

AprLinearRegression *trendline_fit_session_get_model (TrendlineFitSession *self);

AprRegressionStatistics *trendline_fit_session_get_statistics (TrendlineFitSession *self);

const char *trendline_fit_session_get_model_target (TrendlineFitSession *self);

const TrendlineScore *trendline_fit_session_get_score (TrendlineFitSession *self);

guint64 trendline_fit_session_get_n_dropped (TrendlineFitSession *self);

guint64 trendline_fit_session_get_n_missing (TrendlineFitSession *self);

gboolean trendline_fit_session_get_outdated (TrendlineFitSession *self);

gboolean trendline_fit_session_is_model_file (GFile *file);

void trendline_fit_session_open_async (TrendlineFitSession *self,
                                       GFile *file,
                                       GAsyncReadyCallback callback,
                                       gpointer user_data);

gboolean trendline_fit_session_open_finish (TrendlineFitSession *self, GAsyncResult *result, GError **error);

void
trendline_fit_session_fit_async (TrendlineFitSession *self, GAsyncReadyCallback callback, gpointer user_data);

gboolean trendline_fit_session_fit_finish (TrendlineFitSession *self, GAsyncResult *result, GError **error);

void trendline_fit_session_find_ridge_async (TrendlineFitSession *self,
                                             GAsyncReadyCallback callback,
                                             gpointer user_data);

gboolean
trendline_fit_session_find_ridge_finish (TrendlineFitSession *self, GAsyncResult *result, GError **error);

void trendline_fit_session_diagnose_async (TrendlineFitSession *self,
                                           GCancellable *cancellable,
                                           GAsyncReadyCallback callback,
                                           gpointer user_data);

AprRegressionDiagnostics *trendline_fit_session_diagnose_finish (TrendlineFitSession *self,
                                                                 GAsyncResult *result,
                                                                 AprTensor **rows,
                                                                 GError **error);

void trendline_fit_session_add_async (TrendlineFitSession *self,
                                      GFile *file,
                                      gboolean drop_missing,
                                      GAsyncReadyCallback callback,
                                      gpointer user_data);

gboolean trendline_fit_session_add_finish (TrendlineFitSession *self, GAsyncResult *result, GError **error);

void trendline_fit_session_predict_async (
  TrendlineFitSession *self, GFile *table, GFile *output, GAsyncReadyCallback callback, gpointer user_data);

gboolean
trendline_fit_session_predict_finish (TrendlineFitSession *self, GAsyncResult *result, GError **error);

gboolean trendline_fit_session_get_can_undo (TrendlineFitSession *self);

void trendline_fit_session_undo (TrendlineFitSession *self);

void trendline_fit_session_choose_all (TrendlineFitSession *self, const char *text, gboolean is_feature);

void trendline_fit_session_cancel (TrendlineFitSession *self);

void trendline_fit_session_clear_score (TrendlineFitSession *self);

G_END_DECLS
