/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/estimator/apr-estimator-private.h"

#include "aprender/base/apr-strings-private.h"

/* How what an estimator knows is read and replaced: readers take a reference to one immutable value, and one writer at
 * a time swaps another in. */

/* Under the lock. */
static AprFitted *
get_current (const AprEstimatorPrivate *priv)
{
  return priv->pending != NULL && priv->updater == g_thread_self () ? priv->pending : priv->fitted;
}

AprFitted *
apr_estimator_ref_fitted (AprEstimator *self)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  AprFitted *fitted;

  g_mutex_lock (&priv->lock);
  fitted = apr_fitted_ref (get_current (priv));
  g_mutex_unlock (&priv->lock);

  return fitted;
}

AprFitted *
apr_estimator_ref_pending (AprEstimator *self)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  AprFitted *fitted = NULL;

  g_mutex_lock (&priv->lock);
  if (priv->updater == g_thread_self ())
    fitted = priv->pending != NULL ? apr_fitted_ref (priv->pending) : apr_fitted_new (0, 0, NULL, NULL);
  g_mutex_unlock (&priv->lock);

  return fitted;
}

/* Under the lock. */
static AprFitted *
get_begun (const AprEstimatorPrivate *priv)
{
  return priv->begun != NULL ? priv->begun : priv->fitted;
}

AprFitted *
apr_estimator_ref_begun (AprEstimator *self)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  AprFitted *begun;

  g_mutex_lock (&priv->lock);
  begun = apr_fitted_ref (get_begun (priv));
  g_mutex_unlock (&priv->lock);

  return begun;
}

gpointer
apr_estimator_ref_results (AprEstimator *self)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  const AprFitted *fitted;
  gpointer results;

  g_mutex_lock (&priv->lock);
  fitted = get_current (priv);
  results = fitted->results != NULL ? fitted->type->ref (fitted->results) : NULL;
  g_mutex_unlock (&priv->lock);

  return results;
}

/* @reserves says whether it is a reservation, which a handler that hears of it may release at once. */
static gboolean
begin (AprEstimator *self, gboolean reserves, GMainContext *context, int io_priority, GError **error)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  const AprResultsType *type = APR_ESTIMATOR_GET_CLASS (self)->results_type;
  gboolean is_free;

  g_mutex_lock (&priv->lock);
  is_free = !priv->is_updating;
  if (is_free)
    {
      priv->is_updating = TRUE;
      priv->reserved = reserves;
      priv->begun = apr_fitted_ref (priv->fitted);
      priv->context = context != NULL ? g_main_context_ref (context) : NULL;
      priv->io_priority = io_priority;
      priv->reported = 0;
      priv->progress = 0;
    }
  g_mutex_unlock (&priv->lock);

  if (!is_free)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_PENDING,
                   "This %s is being fitted already: one fit must end before another begins",
                   G_OBJECT_TYPE_NAME (self));
      return FALSE;
    }

  if (type != NULL)
    type->begin (self);
  apr_estimator_notify_busy (self);
  apr_estimator_notify_progress (self);
  return TRUE;
}

gboolean
apr_estimator_begin_update (AprEstimator *self, GMainContext *context, int io_priority, GError **error)
{
  return begin (self, FALSE, context, io_priority, error);
}

void
apr_estimator_set_updating (AprEstimator *self, gboolean updating)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);

  g_mutex_lock (&priv->lock);
  priv->updater = updating ? g_thread_self () : NULL;
  g_mutex_unlock (&priv->lock);
}

/* Names stay where they are as many as the features or targets. */
static void
keep_names (AprFitted *pending, const AprFitted *current)
{
  AprNames kind;

  for (kind = 0; kind < APR_N_NAMES; kind++)
    {
      char ***names = &pending->names[kind];

      if (*names == NULL)
        *names = g_strdupv (current->names[kind]);
      if (*names != NULL && g_strv_length (*names) != apr_fitted_get_n (pending, kind))
        g_clear_pointer (names, g_strfreev);
    }
}

void
apr_estimator_take_pending (AprEstimator *self, AprFitted *fitted)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  AprFitted *before;

  g_mutex_lock (&priv->lock);
  before = priv->pending;
  priv->pending = apr_fitted_copy (fitted);
  keep_names (priv->pending, get_begun (priv));
  g_mutex_unlock (&priv->lock);

  g_clear_pointer (&before, apr_fitted_unref);
  apr_fitted_unref (fitted);
}

void
apr_estimator_complete_pending (AprEstimator *self, gsize n_features, gsize n_targets)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  g_autoptr (AprFitted) nothing = apr_fitted_new (0, 0, NULL, NULL);
  AprFitted *before;

  g_mutex_lock (&priv->lock);
  before = priv->pending;
  priv->pending = apr_fitted_copy (before != NULL ? before : nothing);
  priv->pending->n_features = n_features;
  priv->pending->n_targets = n_targets;
  keep_names (priv->pending, get_begun (priv));
  g_mutex_unlock (&priv->lock);

  g_clear_pointer (&before, apr_fitted_unref);
}

gboolean
apr_estimator_set_pending_names (AprEstimator *self, AprNames kind, const char *const *names, GError **error)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  AprFitted *before;

  if (!apr_names_check (names, kind, error) ||
      !apr_names_check_n (names, kind, apr_fitted_get_n (priv->pending, kind), "the model was fitted with",
                          error))
    return FALSE;

  g_mutex_lock (&priv->lock);
  before = priv->pending;
  priv->pending = apr_fitted_copy (before);
  apr_strings_set (&priv->pending->names[kind], names);
  g_mutex_unlock (&priv->lock);

  apr_fitted_unref (before);
  return TRUE;
}

void
apr_estimator_set_fitted (AprEstimator *self, AprFitted *fitted)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  AprFitted *before;

  g_mutex_lock (&priv->lock);
  before = priv->fitted;
  priv->fitted = apr_fitted_ref (fitted);
  g_mutex_unlock (&priv->lock);

  apr_fitted_unref (before);
}

/* Names that were given while the update ran are later than those that it began with or found: they name what it has
 * found, where they are as many. Takes @found. */
static AprFitted *
take_names_set_beside (AprFitted *found, const AprFitted *begun, const AprFitted *now)
{
  AprFitted *named = apr_fitted_copy (found);
  AprNames kind;

  for (kind = 0; kind < APR_N_NAMES; kind++)
    {
      char **names = now->names[kind];

      if (!apr_names_equal (begun->names[kind], names) &&
          (names == NULL || g_strv_length (names) == apr_fitted_get_n (found, kind)))
        apr_strings_set (&named->names[kind], (const char *const *) names);
    }
  apr_fitted_unref (found);

  return named;
}

void
apr_estimator_end_update (AprEstimator *self, gboolean commit)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  g_autoptr (AprFitted) begun = NULL;
  g_autoptr (AprFitted) before = NULL;
  g_autoptr (AprFitted) after = NULL;
  g_autoptr (GMainContext) context = NULL;
  g_autoptr (GSource) on_its_way = NULL;
  gboolean is_news;

  g_mutex_lock (&priv->lock);
  begun = g_steal_pointer (&priv->begun);
  after = g_steal_pointer (&priv->pending);
  on_its_way = g_steal_pointer (&priv->on_its_way);
  if (commit && after != NULL)
    {
      after = take_names_set_beside (after, begun, priv->fitted);
      before = priv->fitted;
      priv->fitted = apr_fitted_ref (after);
    }
  is_news = commit && priv->progress < 1;
  if (is_news)
    priv->progress = 1;
  priv->reported = priv->progress;
  priv->updater = NULL;
  g_mutex_unlock (&priv->lock);

  /* After the end it would notify of the next update, which may be that of another context. */
  if (on_its_way != NULL)
    g_source_destroy (on_its_way);

  /* The model is still busy: whoever hears of progress, or of a result, cannot begin another fit, which would tell of
   * its own, and so on. */
  g_object_freeze_notify (G_OBJECT (self));
  if (before != NULL)
    apr_estimator_notify_fitted (self, before, after);
  if (is_news)
    apr_estimator_notify_progress (self);
  g_object_thaw_notify (G_OBJECT (self));

  g_mutex_lock (&priv->lock);
  priv->is_updating = FALSE;
  context = g_steal_pointer (&priv->context);
  g_mutex_unlock (&priv->lock);
  apr_estimator_notify_busy (self);
}

gboolean
apr_estimator_update (AprEstimator *self,
                      AprEstimatorRunFunc run,
                      AprEstimatorCall *call,
                      GCancellable *cancellable,
                      GError **error)
{
  gboolean succeeded;

  if (!apr_estimator_begin_update (self, NULL, G_PRIORITY_DEFAULT, error))
    return FALSE;

  apr_estimator_set_updating (self, TRUE);
  succeeded = run (self, call, cancellable, error);
  apr_estimator_end_update (self, succeeded);

  return succeeded;
}

/**
 * apr_estimator_reserve:
 * @self: an estimator
 * @error: return location for an error
 *
 * Makes the model busy while a caller prepares the data of a fit, such as by reading or copying them.
 *
 * [property@Apr.Estimator:busy] is true and other fits fail with %G_IO_ERROR_PENDING until
 * [method@Apr.Estimator.release]. The caller of the fit calls that just before the fit:
 *
 * ```c
 * g_object_freeze_notify (G_OBJECT (model));
 * apr_estimator_release (model);
 * apr_estimator_fit_async (model, x, y, NULL, G_PRIORITY_DEFAULT, cancellable, callback, user_data);
 * g_object_thaw_notify (G_OBJECT (model));
 * ```
 *
 * Between the two no other fit can begin, unless in another thread, and nobody sees a model that is not busy. The
 * asynchronous methods of the override for JavaScript, which copy arrays in slices, do all this themselves.
 *
 * Returns: true, or false with %G_IO_ERROR_PENDING while a fit runs or the model is reserved already
 *
 * Since: 0.1
 */
gboolean
apr_estimator_reserve (AprEstimator *self, GError **error)
{
  g_return_val_if_fail (APR_IS_ESTIMATOR (self), FALSE);

  /* No thread updates a reserved model, so a fit in this thread is refused like one in any other. */
  return begin (self, TRUE, NULL, G_PRIORITY_DEFAULT, error);
}

/**
 * apr_estimator_release:
 * @self: an estimator that is reserved
 *
 * Ends what [method@Apr.Estimator.reserve] began. Nothing happens if the model is not reserved.
 *
 * Since: 0.1
 */
void
apr_estimator_release (AprEstimator *self)
{
  AprEstimatorPrivate *priv;
  gboolean was_reserved;

  g_return_if_fail (APR_IS_ESTIMATOR (self));

  priv = apr_estimator_get_private (self);
  g_mutex_lock (&priv->lock);
  was_reserved = priv->reserved;
  priv->reserved = FALSE;
  g_mutex_unlock (&priv->lock);

  if (was_reserved)
    apr_estimator_end_update (self, FALSE);
}

static gboolean
notify_progress_cb (gpointer user_data)
{
  AprEstimator *self = user_data;
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  g_autoptr (GSource) source = NULL;
  gboolean is_news;

  g_mutex_lock (&priv->lock);
  source = g_steal_pointer (&priv->on_its_way);
  is_news = priv->reported > priv->progress;
  if (is_news)
    priv->progress = priv->reported;
  g_mutex_unlock (&priv->lock);
  if (is_news)
    apr_estimator_notify_progress (self);

  return G_SOURCE_REMOVE;
}

/* To notify progress in the caller's context, in the order of what comes there at the end. */
static GSource *
make_source (AprEstimator *self, int io_priority)
{
  GSource *source = g_idle_source_new ();

  g_source_set_static_name (source, "AprEstimator progress");
  g_source_set_priority (source, io_priority);
  g_source_set_callback (source, notify_progress_cb, g_object_ref (self), g_object_unref);

  return source;
}

/**
 * apr_estimator_report_progress:
 * @self: an estimator that is being fitted
 * @fraction: how much of the fit is done, from 0 to 1
 *
 * Sets [property@Apr.Estimator:progress]. This is for the virtual function `fit` of a subclass, in whatever thread
 * it runs, and for threads that this starts; the property notifies in the main context of the caller of the fit.
 * What other threads report of a synchronous fit, whose caller runs no main context, does not notify. Nothing happens
 * where no fit runs, and a fraction below that of before, or a NaN, is ignored.
 *
 * Since: 0.1
 */
void
apr_estimator_report_progress (AprEstimator *self, double fraction)
{
  AprEstimatorPrivate *priv = apr_estimator_get_private (self);
  gboolean is_news;
  gboolean is_ours;

  g_return_if_fail (APR_IS_ESTIMATOR (self));

  g_mutex_lock (&priv->lock);
  fraction = fraction > 1 ? 1 : fraction; /* a NaN stays one, which is no news */
  is_news = priv->is_updating && fraction > priv->reported;
  is_ours =
    priv->context != NULL ? g_main_context_is_owner (priv->context) : priv->updater == g_thread_self ();
  if (is_news)
    priv->reported = fraction;
  if (is_news && is_ours)
    priv->progress = fraction;
  if (is_news && !is_ours && priv->context != NULL && priv->on_its_way == NULL)
    {
      priv->on_its_way = make_source (self, priv->io_priority);
      g_source_attach (priv->on_its_way, priv->context);
    }
  g_mutex_unlock (&priv->lock);

  if (is_news && is_ours)
    apr_estimator_notify_progress (self);
}
