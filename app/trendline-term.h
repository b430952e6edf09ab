/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* A term of a model as a list shows it, with the properties of AprTerm. Of a model that has no statistics, all but the
 * name and the estimate are NaN. */
#define TRENDLINE_TYPE_TERM (trendline_term_get_type ())

G_DECLARE_FINAL_TYPE (TrendlineTerm, trendline_term, TRENDLINE, TERM, GObject)

/* The terms of the first target, in a list of TrendlineTerm; @statistics are those of @model, or NULL. */
GListModel *trendline_term_list_new (AprLinearRegression *model, AprRegressionStatistics *statistics)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
