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

/* Reads all samples of a table that a plot shows: not those of weight 0, which a fit leaves out, and so do R's plots.
 * @samples are theirs to the caller: X, y, the weights (nullable), and which rows of the table they are, counted from
 * 0, or %NULL where each sample is a row. They take as much memory as a number of eight bytes for each cell, and up to
 * twice that while they are read. Fails as apr_table_reader_read() does, with %APR_ERROR_WEIGHTS if no weight is above
 * 0, and with %APR_ERROR_NO_MEMORY. */
gboolean apr_plot_read_samples (AprTableReader *reader,
                                AprTensor *samples[APR_PLOT_N_TENSORS],
                                GCancellable *cancellable,
                                GError **error);

G_END_DECLS
