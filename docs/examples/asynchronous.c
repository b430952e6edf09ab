/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#include <math.h>

#define N_SAMPLES 200000

typedef struct
{
  AprTensor *x;
  AprTensor *y;
  GCancellable *cancellable;
  GMainLoop *loop;
  double seen;
} Program;

static void
on_progress (AprEstimator *model, G_GNUC_UNUSED GParamSpec *pspec, Program *program)
{
  program->seen = apr_estimator_get_progress (model);
}

static void
on_cancelled (GObject *model, GAsyncResult *result, gpointer data)
{
  Program *program = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (AprTensor) coefficients = apr_linear_regression_get_coefficients (APR_LINEAR_REGRESSION (model));
  g_autofree char *text = apr_tensor_to_string (coefficients);

  if (!apr_estimator_fit_finish (APR_ESTIMATOR (model), result, &error))
    g_print ("%s - unchanged %s\n", error->message, text);
  g_main_loop_quit (program->loop);
}

static void
on_fitted (GObject *model, GAsyncResult *result, gpointer data)
{
  Program *program = data;
  g_autoptr (GError) error = NULL;

  if (!apr_estimator_fit_finish (APR_ESTIMATOR (model), result, &error))
    {
      g_printerr ("%s\n", error->message);
      g_main_loop_quit (program->loop);
      return;
    }

  g_print ("fitted %d progress %g\n", apr_estimator_get_fitted (APR_ESTIMATOR (model)), program->seen);
  apr_estimator_fit_async (APR_ESTIMATOR (model), program->x, program->y, NULL, G_PRIORITY_DEFAULT,
                           program->cancellable, on_cancelled, program);
  g_cancellable_cancel (program->cancellable);
}

int
main (void)
{
  static double rows[2 * N_SAMPLES], targets[N_SAMPLES];
  const gsize shape[] = { N_SAMPLES, 2 };
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  Program program = { NULL, NULL, cancellable, loop, 0 };
  gsize i;

  for (i = 0; i < 2 * N_SAMPLES; i++)
    rows[i] = sin ((double) i);
  for (i = 0; i < N_SAMPLES; i++)
    targets[i] = 3 * rows[2 * i] - rows[2 * i + 1];
  program.x = x = apr_tensor_new_from_doubles (rows, 2 * N_SAMPLES, shape, 2, NULL);
  program.y = y = apr_tensor_new_from_doubles (targets, N_SAMPLES, shape, 1, NULL);

  g_signal_connect (model, "notify::progress", G_CALLBACK (on_progress), &program);
  apr_estimator_fit_async (APR_ESTIMATOR (model), x, y, NULL, G_PRIORITY_DEFAULT, NULL, on_fitted, &program);
  g_main_loop_run (loop);
  return 0;
}
