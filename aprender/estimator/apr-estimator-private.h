/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/estimator/apr-estimator.h"

G_BEGIN_DECLS

/* Records what the model was fitted with, and notifies. */
void apr_estimator_set_fitted (AprEstimator *self, gsize n_features, gsize n_targets);

G_END_DECLS
