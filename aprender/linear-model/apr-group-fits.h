/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <aprender/tensor/apr-tensor.h>

G_BEGIN_DECLS

#define APR_TYPE_GROUP_FITS (apr_group_fits_get_type ())

APR_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (AprGroupFits, apr_group_fits, APR, GROUP_FITS, GObject)

APR_AVAILABLE_IN_ALL
gsize apr_group_fits_get_n_groups (AprGroupFits *self);

APR_AVAILABLE_IN_ALL
gsize apr_group_fits_get_n_failed (AprGroupFits *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_group_fits_get_labels (AprGroupFits *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_group_fits_get_coefficients (AprGroupFits *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_group_fits_get_intercepts (AprGroupFits *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_group_fits_get_n_samples (AprGroupFits *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_group_fits_get_ranks (AprGroupFits *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_group_fits_get_correctly_rounded (AprGroupFits *self);

APR_AVAILABLE_IN_ALL
gboolean apr_group_fits_check (AprGroupFits *self, gsize group, GError **error);

G_END_DECLS
