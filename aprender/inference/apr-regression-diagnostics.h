/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <aprender/tensor/apr-tensor.h>

G_BEGIN_DECLS

#define APR_TYPE_REGRESSION_DIAGNOSTICS (apr_regression_diagnostics_get_type ())

APR_AVAILABLE_IN_ALL
G_DECLARE_FINAL_TYPE (
  AprRegressionDiagnostics, apr_regression_diagnostics, APR, REGRESSION_DIAGNOSTICS, GObject)

APR_AVAILABLE_IN_ALL
double apr_regression_diagnostics_get_durbin_watson (AprRegressionDiagnostics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_diagnostics_get_fitted_values (AprRegressionDiagnostics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_diagnostics_get_residuals (AprRegressionDiagnostics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_diagnostics_get_leverages (AprRegressionDiagnostics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_diagnostics_get_standardized_residuals (AprRegressionDiagnostics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_diagnostics_get_studentized_residuals (AprRegressionDiagnostics *self);

APR_AVAILABLE_IN_ALL
AprTensor *apr_regression_diagnostics_get_cooks_distances (AprRegressionDiagnostics *self);

G_END_DECLS
