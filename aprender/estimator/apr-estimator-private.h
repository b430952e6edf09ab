/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/estimator/apr-estimator.h"
#include "aprender/estimator/apr-fitted-private.h"

G_BEGIN_DECLS

/* The part of an estimator that its source files share. */
typedef struct
{
  GMutex lock; /* of all that follows */

  AprFitted *fitted; /* (owned) what readers see */

  AprFitted *begun; /* (owned) (nullable) what readers saw when the update began */

  gboolean is_updating; /* an update runs, or its data are being prepared */
  gboolean reserved;    /* there is no update yet: its data are being prepared */
  GThread *updater;     /* (unowned) (nullable) the thread that works on the update */
  AprFitted *pending;   /* (owned) (nullable) what it has found so far */

  double reported;       /* how far the update is, from whichever thread that is told */
  double progress;       /* as much of it as has been notified, or is just being */
  GMainContext *context; /* (owned) (nullable) where progress is notified; NULL for the updater's thread */
  int io_priority;       /* of sources there */
  GSource *on_its_way;   /* (owned) (nullable) to that context, to notify progress */
} AprEstimatorPrivate;

AprEstimatorPrivate *apr_estimator_get_private (AprEstimator *self);

void apr_estimator_notify_fitted (AprEstimator *self, const AprFitted *before, const AprFitted *after);
void apr_estimator_notify_busy (AprEstimator *self);
void apr_estimator_notify_progress (AprEstimator *self);

/* What the estimator knows now. The thread that updates it sees what it has found so far. */
AprFitted *apr_estimator_ref_fitted (AprEstimator *self) G_GNUC_WARN_UNUSED_RESULT;

/* What readers saw when the update that runs began: names that are set beside it do not count. */
AprFitted *apr_estimator_ref_begun (AprEstimator *self) G_GNUC_WARN_UNUSED_RESULT;

/* What the update of this thread has found so far. Returns: (transfer full) (nullable): %NULL where none runs here */
AprFitted *apr_estimator_ref_pending (AprEstimator *self) G_GNUC_WARN_UNUSED_RESULT;

/* The subclass's results alone, in half the time: for calls that take some nanoseconds. Returns: (transfer full)
 * (nullable) */
gpointer apr_estimator_ref_results (AprEstimator *self) G_GNUC_WARN_UNUSED_RESULT;

/* Makes an estimator with these properties. Fails where a script's constructor does, with what it throws in the log. */
AprEstimator *
apr_estimator_create (GType type, guint n, const char **names, const GValue *values, GError **error);

/* What clones are made of: it stays as it is, whatever becomes of the estimator. */
typedef struct
{
  GType type;
  guint n;
  const char **names; /* (owned) of the properties, which are the class's */
  GValue *values;     /* (owned) */
} AprCloneSource;

void apr_clone_source_init (AprCloneSource *self, AprEstimator *estimator);
void apr_clone_source_clear (AprCloneSource *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprCloneSource, apr_clone_source_clear)

/* As apr_estimator_clone (), with an error where that warns. */
AprEstimator *apr_clone_source_clone (const AprCloneSource *self, GError **error) G_GNUC_WARN_UNUSED_RESULT;
AprEstimator *apr_estimator_try_clone (AprEstimator *self, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Takes what a file has beside the hyper-parameters. */
gboolean apr_estimator_load_into (AprEstimator *self,
                                  AprSafetensorsReader *reader,
                                  GCancellable *cancellable,
                                  GError **error);

/* An update is a fit, a load or whatever else replaces what the estimator knows. There is one at a time: it begins,
 * finds something, and ends in the caller's main context with a swap and its notifications. */

/* False with %G_IO_ERROR_PENDING where another one runs. Progress is notified in @context, with @io_priority; where
 * that is %NULL, in the thread that works on the update. */
gboolean
apr_estimator_begin_update (AprEstimator *self, GMainContext *context, int io_priority, GError **error);

/* Says that the calling thread is the one that works on the update; or, with %FALSE, that none does. */
void apr_estimator_set_updating (AprEstimator *self, gboolean updating);

/* Takes what was found. Where it has no names, it gets those of before. */
void apr_estimator_take_pending (AprEstimator *self, AprFitted *fitted);

/* Sees to it that what is pending is for X with @n_features, whatever a subclass made of it. */
void apr_estimator_complete_pending (AprEstimator *self, gsize n_features, gsize n_targets);

gboolean
apr_estimator_set_pending_names (AprEstimator *self, AprNames kind, const char *const *names, GError **error);

/* Checks the names that a model had before its first fit, now that this brings X and y of such widths; a width is 0
 * where the samples bring names of their own, which take the place of the model's. */
gboolean
apr_estimator_check_begun_names (AprEstimator *self, gsize n_features, gsize n_targets, GError **error);

/* Replaces the names. Those of a model that has not been fitted are taken as they are, until its first fit begins. */
gboolean
apr_estimator_set_names (AprEstimator *self, AprNames kind, const char *const *names, GError **error);

/* Has the estimator know @fitted, without a notification: for one that nobody else knows yet. */
void apr_estimator_set_fitted (AprEstimator *self, AprFitted *fitted);

/* Commits what is pending, and notifies; or forgets it. */
void apr_estimator_end_update (AprEstimator *self, gboolean commit);

/* A method, its arguments and its results. One on a caller's stack borrows its arguments. */
typedef struct _AprEstimatorCall AprEstimatorCall;

/* Does the work, and fills the results in. */
typedef gboolean (*AprEstimatorRunFunc) (AprEstimator *self,
                                         AprEstimatorCall *call,
                                         GCancellable *cancellable,
                                         GError **error);

/* Begins an update, calls @run in this thread, and ends it. */
gboolean apr_estimator_update (AprEstimator *self,
                               AprEstimatorRunFunc run,
                               AprEstimatorCall *call,
                               GCancellable *cancellable,
                               GError **error);

struct _AprEstimatorCall
{
  /* What only apr_estimator_call_async () looks at. */
  AprEstimatorRunFunc run;
  gboolean is_update;    /* begins an update, and ends it in the caller's main context */
  gboolean needs_caller; /* @run is not for other threads: it runs in the caller's main context */

  AprTensor *x;             /* (owned) (nullable) */
  AprTensor *y;             /* (owned) (nullable) */
  AprTensor *sample_weight; /* (owned) (nullable) */
  AprTensor *groups;        /* (owned) (nullable) */
  gsize target;
  double level;
  guint kind;
  GFile *file;       /* (owned) (nullable) */
  AprFitted *fitted; /* (owned) (nullable) */
  GObject *object;   /* (owned) (nullable): a reader, a writer or a state */

  double number;
  gpointer results[2]; /* (owned) (nullable) */
  GDestroyNotify free_result;
};

/* Takes references of the tensors. */
AprEstimatorCall *apr_estimator_call_new (AprTensor *x, AprTensor *y, AprTensor *sample_weight);

/* Takes @call, and returns it to @callback when it has run. Tasks have the name of the function that calls. */
#define apr_estimator_call_async(self, call, ...) \
 apr_estimator_call_async_named (self, call, G_STRFUNC, __VA_ARGS__)
void apr_estimator_call_async_named (AprEstimator *self,
                                     AprEstimatorCall *call,
                                     const char *name,
                                     gpointer source_tag,
                                     int io_priority,
                                     GCancellable *cancellable,
                                     GAsyncReadyCallback callback,
                                     gpointer user_data);

/* Returns: (transfer none) (nullable): the call that has run; %NULL with its error, or where @result is of another
 *   function */
#define apr_estimator_call_finish(self, result, tag, error) \
 apr_estimator_call_finish_named (self, result, tag, #tag, error)
AprEstimatorCall *apr_estimator_call_finish_named (
  gpointer self, GAsyncResult *result, gpointer tag, const char *name, GError **error);

/* The same of the first result alone: (transfer full). */
#define apr_estimator_call_take_result(self, result, tag, error) \
 apr_estimator_call_take_result_named (self, result, tag, #tag, error)
gpointer apr_estimator_call_take_result_named (
  gpointer self, GAsyncResult *result, gpointer tag, const char *name, GError **error);

/* Takes @error, which was found before anything began, and returns it to @callback. */
#define apr_estimator_return_error(self, ...) apr_estimator_return_error_named (self, G_STRFUNC, __VA_ARGS__)
void apr_estimator_return_error_named (AprEstimator *self,
                                       const char *name,
                                       gpointer source_tag,
                                       GError *error,
                                       GAsyncReadyCallback callback,
                                       gpointer user_data);

/* Whether a virtual function may be called in any thread: that is so where the class that supplies it says so. */
#define APR_ESTIMATOR_IS_THREAD_SAFE(self, function)     \
 (APR_ESTIMATOR_GET_CLASS (self)->thread_safe != NULL && \
  APR_ESTIMATOR_GET_CLASS (self)->function ==            \
    ((const AprEstimatorClass *) APR_ESTIMATOR_GET_CLASS (self)->thread_safe)->function)

/* The checks of the public methods, and calls of virtual functions that fail with a reason. */

gboolean
apr_estimator_check_fitted (AprEstimator *self, const AprFitted *fitted, const char *what, GError **error);

/* @what has @n_features, but the model was fitted with @n_fitted. */
gboolean apr_estimator_check_n_features (const char *what, gsize n_features, gsize n_fitted, GError **error);

void apr_estimator_set_failed (AprEstimator *self, const char *function, GError **error);

/* What runs when the arguments have been checked. */
gboolean
apr_estimator_run_fit (AprEstimator *self, AprEstimatorCall *call, GCancellable *cancellable, GError **error);

G_END_DECLS
