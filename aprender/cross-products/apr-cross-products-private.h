/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/cross-products/apr-cross-products.h"
#include "aprender/estimator/apr-names-private.h"
#include "aprender/exact-sums/apr-exact-sums-private.h"
#include "aprender/exact-sums/apr-rows-private.h"
#include "aprender/exact-sums/apr-sample-rows-private.h"
#include "aprender/exact-sums/apr-weight-logs-private.h"
#include "aprender/safetensors/apr-safetensors-reader.h"
#include "aprender/safetensors/apr-safetensors-writer.h"

G_BEGIN_DECLS

struct _AprCrossProducts
{
  GObject parent_instance;

  /* What properties asked for; the sums are of 0 features where that cannot be. */
  guint64 n_features;
  guint64 n_targets;

  AprExactSums *sums;  /* (owned) copies may share them; of nothing where there are rows */
  AprSampleRows *rows; /* (owned) (nullable) the samples instead, while they are few beside the features */
  guint64 n_samples;
  AprWeightLogs weight_logs;
  AprDType dtype; /* NONE, F32 or F64, of which the largest of those that are added counts */
  AprPrecision precision;
  guint n_threads;
  char **names[APR_N_NAMES]; /* (owned) (nullable) */
  char **identities;         /* (owned) (nullable) sorted, none empty */

  gint busy;     /* atomic: being written to, or reserved */
  gint reserved; /* atomic: the data of a write are being prepared */
  double progress;
};

/* Takes @sums. */
AprCrossProducts *apr_cross_products_new_with_sums (AprExactSums *sums, AprPrecision precision);

/* Fails where the state was made with properties that cannot be. */
gboolean apr_cross_products_check (AprCrossProducts *self, GError **error);

/* Before a write, and after it: fails where another one is under way. */
gboolean apr_cross_products_begin (AprCrossProducts *self, GError **error);
void apr_cross_products_end (AprCrossProducts *self);

/* For a write that goes on while the caller does something else. */
void apr_cross_products_notify_busy (AprCrossProducts *self);

/* Makes the state what @updated is: a copy of it that has been written to. */
void apr_cross_products_become (AprCrossProducts *self, AprCrossProducts *updated);

/* Writes to @updated; a write that is cancelled fails. */
typedef gboolean (*AprCrossProductsWriteFunc) (AprCrossProducts *updated,
                                               gpointer data,
                                               const AprRun *run,
                                               GError **error);

/* Has @run write to a copy of the state in a thread. The state becomes the copy, and notifies, in the caller's main
 * context. Takes @data. */
#define apr_cross_products_write_async(self, ...) \
 apr_cross_products_write_async_named (self, G_STRFUNC, __VA_ARGS__)
void apr_cross_products_write_async_named (AprCrossProducts *self,
                                           const char *name,
                                           AprCrossProductsWriteFunc run,
                                           gpointer data,
                                           GDestroyNotify free_data,
                                           gpointer source_tag,
                                           int io_priority,
                                           GCancellable *cancellable,
                                           GAsyncReadyCallback callback,
                                           gpointer user_data);

/* Has @run work in a thread on @data, which it takes, and return its result: for what changes no state. @self is %NULL
 * for a function. */
#define apr_cross_products_read_async(self, ...) \
 apr_cross_products_read_async_named (self, G_STRFUNC, __VA_ARGS__)
void apr_cross_products_read_async_named (gpointer self,
                                          const char *name,
                                          GTaskThreadFunc run,
                                          gpointer data,
                                          GDestroyNotify free_data,
                                          gpointer source_tag,
                                          int io_priority,
                                          GCancellable *cancellable,
                                          GAsyncReadyCallback callback,
                                          gpointer user_data);

/* Adds the samples of @other, or takes them away where @sign is -1. Only a copy of a state can be cancelled. */
gboolean apr_cross_products_combine (
  AprCrossProducts *self, AprCrossProducts *other, gint sign, GCancellable *cancellable, GError **error);

/* Tells the handlers of the state how far an update is. */
void apr_cross_products_report (AprCrossProducts *self, double fraction);

/* For those who write. */
void apr_cross_products_lower_precision (AprCrossProducts *self, AprPrecision precision);
void apr_cross_products_take_names (AprCrossProducts *self, AprNames kind, const char *const *names);

gboolean apr_cross_products_set_names (AprCrossProducts *self,
                                       AprNames kind,
                                       const char *const *names,
                                       GError **error);

/* Fails with the first name that differs where both the state and @names, which may be %NULL, have any. */
gboolean apr_cross_products_check_names (AprCrossProducts *self,
                                         AprNames kind,
                                         const char *const *names,
                                         GError **error);

/* Takes the names of @other where there are none. */
void apr_cross_products_inherit_names (AprCrossProducts *self, AprCrossProducts *other);

/* How many samples there are with @n_added more; fails where that is more than a file can hold. */
gboolean
apr_cross_products_add_samples (AprCrossProducts *self, guint64 n_added, guint64 *n_samples, GError **error);

/* Fails with @what where the state is of other widths. */
gboolean apr_cross_products_check_widths (
  AprCrossProducts *self, gsize n_features, gsize n_targets, const char *what, GError **error);

/* The sums, which are made of the rows where there are any. Returns: (transfer full) (nullable): %NULL where there
 * is no memory */
AprExactSums *apr_cross_products_ref_sums (AprCrossProducts *self, GError **error);

/* (nullable): %NULL where the state has sums. */
const AprSampleRows *apr_cross_products_get_rows (AprCrossProducts *self);

/* Whether the sum of the weights is above 0. */
gboolean apr_cross_products_has_weight (AprCrossProducts *self);

/* Fails where the sums are not those of a model: of no samples, or without a weight. */
gboolean apr_cross_products_check_weight (AprCrossProducts *self, GError **error);

/* The same, and where no samples can have such sums, as far as apr_exact_sums_check() tells; sums that were rounded
 * need only have a weight. */
gboolean apr_cross_products_check_possible (AprCrossProducts *self, const AprRun *run, GError **error);

/* Finds the rows of the state and of @added, where the state can have them; %NULL where it needs sums. Fails where
 * there is no memory. */
gboolean apr_cross_products_add_rows (AprCrossProducts *self,
                                      AprSampleRows *added,
                                      AprSampleRows **rows,
                                      GError **error);

/* Whether the state can have rows, and @n_added more. */
gboolean apr_cross_products_can_have_rows (AprCrossProducts *self, guint64 n_added);

/* Whether there are rows of so many features that sums are not to be made of them, neither for a file. */
gboolean apr_cross_products_stays_rows (AprCrossProducts *self);

/* The sums as tensors of a file, whose names begin with @prefix, trimmed or as words of which @first_word is the
 * first. */
gboolean apr_cross_products_add_sums_to_writer (AprCrossProducts *self,
                                                AprSafetensorsWriter *writer,
                                                const char *prefix,
                                                gboolean *trimmed,
                                                gint *first_word,
                                                GError **error);

/* The same back. */
gboolean apr_cross_products_load_sums (AprCrossProducts *self,
                                       AprSafetensorsReader *reader,
                                       const char *prefix,
                                       gboolean trimmed,
                                       gint first_word,
                                       GError **error);

/* The rows as tensors of a file, whose names begin with @prefix. */
gboolean apr_cross_products_add_rows_to_writer (AprCrossProducts *self,
                                                AprSafetensorsWriter *writer,
                                                const char *prefix,
                                                GError **error);

/* The same back: what the file says of an empty state but its samples, whose number is @n_samples, is known. */
gboolean apr_cross_products_load_rows (AprCrossProducts *self,
                                       AprSafetensorsReader *reader,
                                       const char *prefix,
                                       guint64 n_samples,
                                       GError **error);

/* The identities of both, or those of @self without those of @other where @sign is -1: %NULL for none. Fails where one
 * is there twice, or is not there. @identities may be %NULL. */
gboolean apr_cross_products_combine_identities (
  AprCrossProducts *self, AprCrossProducts *other, gint sign, char ***identities, GError **error);

gboolean apr_cross_products_have_equal_identities (AprCrossProducts *self, AprCrossProducts *other);

/* Takes @identities of a file. */
gboolean apr_cross_products_take_identities (AprCrossProducts *self, char **identities, GError **error);

/* Whether @other could be merged into @self, as far as can be told without its sums. */
gboolean apr_cross_products_check_other (AprCrossProducts *self, AprCrossProducts *other, GError **error);

/* Whether a file has the state of cross products whose names begin with @prefix. */
gboolean apr_cross_products_is_in (AprSafetensorsReader *reader, const char *prefix);

/* What the state has from now on: takes @rows, or @sums. */
void apr_cross_products_take (AprCrossProducts *self, AprExactSums *sums, AprSampleRows *rows);

/* The sum of the natural logarithms of the weights. */
double apr_cross_products_get_weight_logs (AprCrossProducts *self);

/* Whether states of the same widths have the same sums, and so, where both are exact, the same samples in any order.
 * FALSE with an error where there is no memory to find that out. */
gboolean
apr_cross_products_have_same_samples (AprCrossProducts *self, AprCrossProducts *other, GError **error);

/* What models are computed in: F32 where all X were F32, F16 or BF16, else F64; NONE without any. */
AprDType apr_cross_products_get_dtype (AprCrossProducts *self);

/* As apr_cross_products_update (), of samples that apr_estimator_check_samples () has found good, in another precision
 * than that of the state, which becomes DOUBLE where @precision is, and as @run says: it hears of the progress, and not
 * the state's signal. */
gboolean apr_cross_products_update_with (AprCrossProducts *self,
                                         AprTensor *x,
                                         AprTensor *y,
                                         AprTensor *sample_weight,
                                         AprPrecision precision,
                                         const AprRun *run,
                                         GError **error);

/* As apr_cross_products_update (), without progress, of columns, as many as the state has, of at least one row. */
gboolean apr_cross_products_update_columns (AprCrossProducts *self,
                                            const AprRows *x,
                                            const AprRows *y,
                                            AprTensor *sample_weight,
                                            GCancellable *cancellable,
                                            GError **error);

/* Whether columns are summed as they are, and samples are never kept. */
gboolean apr_cross_products_can_have_columns (AprCrossProducts *self);

/* The state as a part of another file, in which the names of its tensor and of its metadata begin with @prefix; the
 * file of a state alone has an empty one. */
gboolean apr_cross_products_add_to_writer (AprCrossProducts *self,
                                           AprSafetensorsWriter *writer,
                                           const char *prefix,
                                           GError **error);

AprCrossProducts *
apr_cross_products_new_from_reader (AprSafetensorsReader *reader, const char *prefix, GError **error);

/* For a state that is to be merged into @into, which may be %NULL: fails before the sums are read where it cannot
 * be. */
AprCrossProducts *apr_cross_products_from_bytes_for (GBytes *bytes, AprCrossProducts *into, GError **error);

G_END_DECLS
