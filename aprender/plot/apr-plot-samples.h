/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* What is read of each sample. */
enum
{
  APR_PLOT_X,
  APR_PLOT_Y,
  APR_PLOT_WEIGHTS,
  APR_PLOT_ROWS,
  APR_PLOT_N_TENSORS,
};

/* Reads the next samples that a plot shows, as apr_table_reader_read does, but without those of weight 0: a fit leaves
 * them out, and so do R's plots. There may be none that are left. @samples are theirs to the caller, each nullable: X,
 * y, the weights, and which rows of the table they are, counted from 0, or NULL where each sample is a row. */
gboolean apr_plot_read_samples (AprTableReader *reader,
                                AprTensor *samples[APR_PLOT_N_TENSORS],
                                GCancellable *cancellable,
                                GError **error);

G_END_DECLS
