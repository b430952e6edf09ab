/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/linear-model/apr-group-fits.h"

G_BEGIN_DECLS

enum
{
  APR_GROUP_FITS_LABELS,
  APR_GROUP_FITS_COEFFICIENTS,
  APR_GROUP_FITS_INTERCEPTS,
  APR_GROUP_FITS_N_SAMPLES,
  APR_GROUP_FITS_RANKS,
  APR_GROUP_FITS_CORRECTLY_ROUNDED,
  APR_GROUP_FITS_N_TENSORS,
};

/* Takes all: the tensors, and the errors by the numbers of the groups that have one. */
AprGroupFits *
apr_group_fits_new (AprTensor *tensors[APR_GROUP_FITS_N_TENSORS], gsize n_groups, GHashTable *errors);

G_END_DECLS
