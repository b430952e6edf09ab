/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/estimator/apr-estimator.h"
#include "aprender/estimator/apr-fitted-private.h"

G_BEGIN_DECLS

/* Whether the results are those that a subclass has given to the base class. */
gboolean apr_estimator_has_results (const AprFitted *fitted);

/* The virtual functions of the base class. */
gboolean apr_estimator_save_results (AprEstimator *self, AprSafetensorsWriter *writer, GError **error);

gboolean apr_estimator_load_results (
  AprEstimator *self, AprSafetensorsReader *reader, gsize *n_features, gsize *n_targets, GError **error);

G_END_DECLS
