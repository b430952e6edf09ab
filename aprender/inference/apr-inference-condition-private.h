/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/inference/apr-inverse-private.h"

G_BEGIN_DECLS

/* The ratio of the largest and the smallest singular value of the independent columns as they are, [1 | X] with an
 * intercept and X without, their rows times the roots of the weights. Good to three digits at least; of no meaning
 * where cancelled. */
double apr_inference_find_condition (const AprDesign *design, const AprInverse *inverse, const AprRun *run);

G_END_DECLS
