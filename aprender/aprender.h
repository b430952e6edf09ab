/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#define APR_INSIDE

#include <aprender/base/apr-version-macros.h>
#include <aprender/base/apr-cpu.h>
#include <aprender/base/apr-error.h>
#include <aprender/tensor/apr-dtype.h>
#include <aprender/tensor/apr-tensor.h>
#include <aprender/safetensors/apr-safetensors-error.h>
#include <aprender/safetensors/apr-safetensors-reader.h>
#include <aprender/safetensors/apr-safetensors-writer.h>
#include <aprender/estimator/apr-estimator.h>
#include <aprender/estimator/apr-metrics.h>
#include <aprender/table/apr-table-reader.h>
#include <aprender/cross-products/apr-cross-products.h>
#include <aprender/exact-sums/apr-precision.h>
#include <aprender/inference/apr-hypothesis-test.h>
#include <aprender/inference/apr-regression-diagnostics.h>
#include <aprender/inference/apr-regression-statistics.h>
#include <aprender/inference/apr-term.h>
#include <aprender/linear-model/apr-group-fits.h>
#include <aprender/linear-model/apr-linear-regression.h>
#include <aprender/model-selection/apr-cross-validation.h>
#include <aprender/model-selection/apr-folds.h>

#undef APR_INSIDE
