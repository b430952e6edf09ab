/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-fitted-private.h"

AprFitted *
apr_fitted_new (gsize n_features, gsize n_targets, const AprResultsType *type, gpointer results)
{
  AprFitted *self = g_new (AprFitted, 1);

  *self = (AprFitted){
    .ref_count = 1,
    .n_features = n_features,
    .n_targets = n_targets,
    .type = type,
    .results = results,
  };

  return self;
}

AprFitted *
apr_fitted_copy (const AprFitted *self)
{
  AprFitted *copy = apr_fitted_new (self->n_features, self->n_targets, self->type,
                                    self->results != NULL ? self->type->ref (self->results) : NULL);
  gsize i;

  for (i = 0; i < APR_N_NAMES; i++)
    copy->names[i] = g_strdupv (self->names[i]);

  return copy;
}

gsize
apr_fitted_get_n (const AprFitted *self, AprNames kind)
{
  return kind == APR_FEATURE_NAMES ? self->n_features : self->n_targets;
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
  gsize i;

  if (!g_atomic_int_dec_and_test (&self->ref_count))
    return;

  if (self->results != NULL)
    self->type->unref (self->results);
  for (i = 0; i < APR_N_NAMES; i++)
    g_strfreev (self->names[i]);
  g_free (self);
}
