/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-fitted-private.h"

AprFitted *
apr_fitted_new (gsize n_features,
                gsize n_targets,
                const char *const *feature_names,
                const AprResultsType *type,
                gpointer results)
{
  AprFitted *self = g_new (AprFitted, 1);

  *self = (AprFitted){
    .ref_count = 1,
    .n_features = n_features,
    .n_targets = n_targets,
    .feature_names = g_strdupv ((char **) feature_names),
    .type = type,
    .results = results,
  };

  return self;
}

AprFitted *
apr_fitted_new_with (const AprFitted *self,
                     gsize n_features,
                     gsize n_targets,
                     const char *const *feature_names)
{
  AprFitted *fitted = apr_fitted_new (n_features, n_targets, feature_names, self->type,
                                      self->results != NULL ? self->type->ref (self->results) : NULL);

  fitted->target_names = g_strdupv (self->target_names);

  return fitted;
}

AprFitted *
apr_fitted_ref (AprFitted *self)
{
  g_atomic_int_inc (&self->ref_count);

  return self;
}

void
apr_fitted_unref (AprFitted *self)
{
  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;

  if (self->results != NULL)
    self->type->unref (self->results);
  g_strfreev (self->feature_names);
  g_strfreev (self->target_names);
  g_free (self);
}
