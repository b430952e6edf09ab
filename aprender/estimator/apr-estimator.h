/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(APR_INSIDE) && !defined(APR_COMPILATION)
# error "Only <aprender/aprender.h> can be included directly."
#endif

#include <aprender/safetensors/apr-safetensors-reader.h>
#include <aprender/safetensors/apr-safetensors-writer.h>

G_BEGIN_DECLS

#define APR_TYPE_ESTIMATOR (apr_estimator_get_type ())

/**
 * APR_PARAM_TRANSIENT:
 *
 * The flag of an estimator's property that is no hyper-parameter although it can be read and written, such as
 * one that says how many threads to use: it is cloned and copied, but no file has it. JavaScript and Vala cannot
 * give a property such a flag: there use a plain field, which no file has either, but which is not cloned.
 *
 * Since: 0.1
 */
#define APR_PARAM_TRANSIENT (1 << 8)

APR_AVAILABLE_IN_ALL
G_DECLARE_DERIVABLE_TYPE (AprEstimator, apr_estimator, APR, ESTIMATOR, GObject)

/**
 * AprEstimatorClass:
 * @parent_class: the parent class
 * @fit: learns from @x [n_samples, n_features] and @y [n_samples] or [n_samples, n_targets]; the arguments
 * have been checked against each other; must leave the model as it was where it fails
 * @predict: computes [n_samples] or [n_samples, n_targets] from @x, whose width has been checked
 * @save_tensors: adds the fitted tensors to a file; the results that @fit has set, unless a subclass overrides it
 * @load_tensors: takes the fitted tensors from a file, and says how many features and targets they are for; to be
 * overridden where @save_tensors is
 *
 * What a subclass supplies: its mathematics and its tensors.
 *
 * Hyper-parameters are the properties of the subclass that can be read and written: they are cloned and stored
 * without further code, as booleans, numbers, strings and enumerations. So what a fit finds out is not one of
 * them, but a property that can only be read, or a field. A property with the flag %G_PARAM_DEPRECATED or
 * %APR_PARAM_TRANSIENT is no hyper-parameter either. One that is called “model” or “format”, or as a result of
 * AprEstimator or AprLinearRegression where it derives from these, cannot be stored: the library uses these names.
 *
 * Since: 0.1
 */
struct _AprEstimatorClass
{
  GObjectClass parent_class;

  gboolean (*fit) (AprEstimator *self,
                   AprTensor *x,
                   AprTensor *y,
                   AprTensor *sample_weight,
                   GCancellable *cancellable,
                   GError **error);
  AprTensor *(*predict) (AprEstimator *self, AprTensor *x, GError **error);
  gboolean (*save_tensors) (AprEstimator *self, AprSafetensorsWriter *writer, GError **error);
  gboolean (*load_tensors) (
    AprEstimator *self, AprSafetensorsReader *reader, gsize *n_features, gsize *n_targets, GError **error);

  /*< private >*/
  gconstpointer thread_safe;
  gconstpointer results_type;
  gpointer padding[8];
};

APR_AVAILABLE_IN_ALL
void apr_estimator_class_set_thread_safe (AprEstimatorClass *klass);

APR_AVAILABLE_IN_ALL
AprEstimator *apr_estimator_load (GType type, const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprEstimator *
apr_estimator_load_from_file (GType type, GFile *file, GCancellable *cancellable, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_estimator_load_from_file_async (GType type,
                                         GFile *file,
                                         int io_priority,
                                         GCancellable *cancellable,
                                         GAsyncReadyCallback callback,
                                         gpointer user_data);

APR_AVAILABLE_IN_ALL
AprEstimator *
apr_estimator_load_from_file_finish (GAsyncResult *result, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprEstimator *apr_estimator_from_bytes (GType type, GBytes *bytes, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_estimator_from_bytes_async (GType type,
                                     GBytes *bytes,
                                     int io_priority,
                                     GCancellable *cancellable,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data);

APR_AVAILABLE_IN_ALL
AprEstimator *
apr_estimator_from_bytes_finish (GAsyncResult *result, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gboolean apr_estimator_get_fitted (AprEstimator *self);

APR_AVAILABLE_IN_ALL
gsize apr_estimator_get_n_features (AprEstimator *self);

APR_AVAILABLE_IN_ALL
gsize apr_estimator_get_n_targets (AprEstimator *self);

APR_AVAILABLE_IN_ALL
char **apr_estimator_get_feature_names (AprEstimator *self) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gboolean
apr_estimator_set_feature_names (AprEstimator *self, const char *const *feature_names, GError **error);

APR_AVAILABLE_IN_ALL
gboolean
apr_estimator_check_feature_names (AprEstimator *self, const char *const *feature_names, GError **error);

APR_AVAILABLE_IN_ALL
char **apr_estimator_get_target_names (AprEstimator *self) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gboolean apr_estimator_set_target_names (AprEstimator *self, const char *const *target_names, GError **error);

APR_AVAILABLE_IN_ALL
gboolean
apr_estimator_check_target_names (AprEstimator *self, const char *const *target_names, GError **error);

APR_AVAILABLE_IN_ALL
double apr_estimator_get_progress (AprEstimator *self);

APR_AVAILABLE_IN_ALL
gboolean apr_estimator_get_busy (AprEstimator *self);

APR_AVAILABLE_IN_ALL
gboolean apr_estimator_reserve (AprEstimator *self, GError **error);

APR_AVAILABLE_IN_ALL
void apr_estimator_release (AprEstimator *self);

APR_AVAILABLE_IN_ALL
gboolean apr_estimator_set_result (AprEstimator *self, const char *name, AprTensor *tensor, GError **error);

APR_AVAILABLE_IN_ALL
AprTensor *
apr_estimator_get_result (AprEstimator *self, const char *name, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_estimator_report_progress (AprEstimator *self, double fraction);

APR_AVAILABLE_IN_ALL
gboolean apr_estimator_fit (AprEstimator *self,
                            AprTensor *x,
                            AprTensor *y,
                            AprTensor *sample_weight,
                            GCancellable *cancellable,
                            GError **error);

APR_AVAILABLE_IN_ALL
void apr_estimator_fit_async (AprEstimator *self,
                              AprTensor *x,
                              AprTensor *y,
                              AprTensor *sample_weight,
                              int io_priority,
                              GCancellable *cancellable,
                              GAsyncReadyCallback callback,
                              gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean apr_estimator_fit_finish (AprEstimator *self, GAsyncResult *result, GError **error);

APR_AVAILABLE_IN_ALL
AprTensor *apr_estimator_predict (AprEstimator *self, AprTensor *x, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_estimator_predict_async (AprEstimator *self,
                                  AprTensor *x,
                                  int io_priority,
                                  GCancellable *cancellable,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data);

APR_AVAILABLE_IN_ALL
AprTensor *apr_estimator_predict_finish (AprEstimator *self, GAsyncResult *result, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
double apr_estimator_score (
  AprEstimator *self, AprTensor *x, AprTensor *y, AprTensor *sample_weight, GError **error);

APR_AVAILABLE_IN_ALL
void apr_estimator_score_async (AprEstimator *self,
                                AprTensor *x,
                                AprTensor *y,
                                AprTensor *sample_weight,
                                int io_priority,
                                GCancellable *cancellable,
                                GAsyncReadyCallback callback,
                                gpointer user_data);

APR_AVAILABLE_IN_ALL
double apr_estimator_score_finish (AprEstimator *self, GAsyncResult *result, GError **error);

APR_AVAILABLE_IN_ALL
AprEstimator *apr_estimator_clone (AprEstimator *self) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
AprEstimator *apr_estimator_copy (AprEstimator *self, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
gboolean apr_estimator_save (AprEstimator *self, const char *path, GError **error);

APR_AVAILABLE_IN_ALL
gboolean
apr_estimator_save_to_file (AprEstimator *self, GFile *file, GCancellable *cancellable, GError **error);

APR_AVAILABLE_IN_ALL
void apr_estimator_save_to_file_async (AprEstimator *self,
                                       GFile *file,
                                       int io_priority,
                                       GCancellable *cancellable,
                                       GAsyncReadyCallback callback,
                                       gpointer user_data);

APR_AVAILABLE_IN_ALL
gboolean apr_estimator_save_to_file_finish (AprEstimator *self, GAsyncResult *result, GError **error);

APR_AVAILABLE_IN_ALL
GBytes *apr_estimator_to_bytes (AprEstimator *self, GError **error) G_GNUC_WARN_UNUSED_RESULT;

APR_AVAILABLE_IN_ALL
void apr_estimator_to_bytes_async (AprEstimator *self,
                                   int io_priority,
                                   GCancellable *cancellable,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data);

APR_AVAILABLE_IN_ALL
GBytes *apr_estimator_to_bytes_finish (AprEstimator *self, GAsyncResult *result, GError **error)
  G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
