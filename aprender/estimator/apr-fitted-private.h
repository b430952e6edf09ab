/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/estimator/apr-estimator.h"
#include "aprender/estimator/apr-names-private.h"

G_BEGIN_DECLS

/* How a subclass keeps what it found in a fit: an immutable value, whose reference count is atomic. */
typedef struct
{
  gpointer (*ref) (gpointer results);
  void (*unref) (gpointer results);

  /* The class's virtual function, and the same for given results. */
  gboolean (*save_tensors) (AprEstimator *self, AprSafetensorsWriter *writer, GError **error);
  gboolean (*save) (AprEstimator *self, gconstpointer results, AprSafetensorsWriter *writer, GError **error);

  /* The rest is %NULL where the base class keeps the results. */

  /* Keeps the hyper-parameters as they are: those of the update that begins. */
  void (*begin) (AprEstimator *self);

  /* Notifies of the subclass's properties that differ; either result may be %NULL. */
  void (*notify) (AprEstimator *self, gconstpointer before, gconstpointer after);

  /* Notifies of those that hold names of features, when only these change. */
  void (*notify_names) (AprEstimator *self, gconstpointer results);
} AprResultsType;

/* All that an estimator knows from its fit: an immutable value, which a fit replaces as a whole. Readers take a
 * reference. */
typedef struct
{
  int ref_count;

  gsize n_features;          /* 0 before the first fit */
  gsize n_targets;           /* 0 before the first fit */
  char **names[APR_N_NAMES]; /* (owned) (nullable): before the first fit too */

  const AprResultsType *type; /* (nullable) */
  gpointer results;           /* (owned) (nullable): NULL where the subclass keeps its results elsewhere */
} AprFitted;

/* Takes @results. */
AprFitted *apr_fitted_new (gsize n_features, gsize n_targets, const AprResultsType *type, gpointer results)
  G_GNUC_WARN_UNUSED_RESULT;

/* For whoever changes the numbers or names before others see it. */
AprFitted *apr_fitted_copy (const AprFitted *self) G_GNUC_WARN_UNUSED_RESULT;

/* How many names of a kind there have to be. */
gsize apr_fitted_get_n (const AprFitted *self, AprNames kind);

AprFitted *apr_fitted_ref (AprFitted *self);

void apr_fitted_unref (AprFitted *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprFitted, apr_fitted_unref)

G_END_DECLS
