/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/cross-products/apr-rows-private.h"

G_BEGIN_DECLS

/* Weights are whole numbers times a power of two. Where they share one, so that none has too many bits, their rows are
 * summed fast; weights whose exponents are far apart are therefore told apart by windows: ranges of exponents that the
 * bits of a weight are in. */

/* The bits of a window. */
#define APR_WEIGHT_WINDOW_BITS 72

typedef struct
{
  gint main_first; /* the lowest exponent at which a weight of the window that has the most may end, */
  gint main_last;  /* and the highest one */
  gsize n_main;    /* its rows */
  gsize *rows;     /* (owned) all others whose weight is not 0, window by window, in order in each */
  GArray *windows; /* (owned) (nullable) (element-type AprRange) of @rows; %NULL where there are none */
} AprWeightWindows;

/* A weight as an odd number times a power of two; 0 for 0. */
guint64 apr_weight_split (double weight, gint *exponent);

/* Finds the exponents of the lowest and above the highest bit of all weights; false where all weights are 0. */
gboolean apr_weight_windows_find_exponents (const AprRows *weights, gint *min, gint *max);

/* Fails where there is no memory. */
gboolean apr_weight_windows_init (AprWeightWindows *self, const AprRows *weights, GError **error);

void apr_weight_windows_clear (AprWeightWindows *self);

/* The weights of the main window, with zeros in place of all others. Fails where there is no memory. */
AprTensor *apr_weight_windows_get_main (const AprWeightWindows *self, const AprRows *weights, GError **error);

G_END_DECLS
