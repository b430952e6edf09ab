/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-rows-private.h"

G_BEGIN_DECLS

/* Weights are whole numbers times a power of two. Where they share one, so that none has too many bits, their rows are
 * summed fast; weights whose exponents are far apart are therefore told apart by windows: ranges of exponents that the
 * bits of a weight are in. The main window has the most rows; those whose weight is 0 are in none. */

/* The bits of a window. */
#define APR_WEIGHT_WINDOW_BITS 72

typedef struct
{
  gsize *rows;     /* (owned) those outside the main window, window by window, in order in each */
  GArray *windows; /* (owned) (nullable) (element-type AprRange) of @rows; %NULL where there are none */
} AprWeightWindows;

/* Finds the exponents of the lowest and above the highest bit of all weights; false where all weights are 0. */
gboolean apr_weight_windows_find_exponents (const AprRows *weights, gint *min, gint *max);

/* Fails where there is no memory. */
gboolean apr_weight_windows_init (AprWeightWindows *self, const AprRows *weights, GError **error);

void apr_weight_windows_clear (AprWeightWindows *self);

/* The weights of the main window, with zeros in place of all others. Fails where there is no memory. */
AprTensor *apr_weight_windows_get_main (const AprWeightWindows *self, const AprRows *weights, GError **error);

G_END_DECLS
