/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/tensor/apr-tensor.h"

G_BEGIN_DECLS

/* The sum of the logarithms to base two of weights, in units of 2^-52: a whole number, so that it has no order. Of
 * one weight it is below 1075 2^52 in size, so of 2^63 weights it is below 2^126, where sums are kept. */
typedef __int128 AprWeightLogs;

#define APR_WEIGHT_LOGS_UNIT 0x1p-52

/* Those weights that are above 0, and how many they are. @weights is of finite numbers, none below 0. */
AprWeightLogs apr_weight_logs_of (AprTensor *weights, guint n_threads, guint64 *n_samples);

/* Adds @other, or takes it away where @sign is -1; false with an error where the sum is too large to be one of weights.
 */
gboolean apr_weight_logs_add (AprWeightLogs *self, AprWeightLogs other, gint sign, GError **error);

/* The one way to write it in decimal digits. Returns: (transfer full) */
char *apr_weight_logs_to_text (AprWeightLogs self);

/* False where @text is not what apr_weight_logs_to_text () makes of a sum. */
gboolean apr_weight_logs_from_text (const char *text, AprWeightLogs *self);

/* The sum of the natural logarithms. */
double apr_weight_logs_to_natural (AprWeightLogs self);

G_END_DECLS
