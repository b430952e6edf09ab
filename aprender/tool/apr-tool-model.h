/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/tool/apr-tool.h"

G_BEGIN_DECLS

/* Whether a model, which messages call @name, has the sums of its data. */
gboolean apr_tool_check_sums (AprLinearRegression *model, const char *name, GError **error);

/* Whether a model can be written to what --output names, %NULL where it is missing; otherwise @status says how the
 * program ends. */
gboolean apr_tool_check_output (const char *command, const char *output, AprToolStatus *status);

/* Saves a model. Who interrupts that finds no temporary file. */
gboolean apr_tool_save_model (AprEstimator *model, const char *path, GError **error);

/* What a fit has found, for people or as JSON. @targets is %NULL where their names are not known; @scores has R² for
 * each target, and is %NULL where only the model is known, not what it was fitted to. */
char *apr_tool_describe_model (AprLinearRegression *model,
                               const char *const *targets,
                               guint64 n_samples,
                               AprTensor *scores,
                               gboolean json);

/* What people are told where rounding spoils the predictions of a model in @dtype: lines without the last line end.
 * Returns: (nullable): %NULL where it does not, or where that is not known. */
char *apr_tool_describe_rounding (double prediction_rounding, AprDType dtype);

G_END_DECLS
