/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <aprender/aprender.h>

#define N_SAMPLES 1000
#define N_THREADS 4

typedef struct
{
  AprEstimator *model;
  int done; /* atomic */
} Program;

/* A thread of a server, say: it predicts while another one fits the model anew. */
static gpointer
predict (gpointer data)
{
  Program *program = data;
  const double row[] = { 10 };
  guint n_right = 0, n_predictions = 0;

  do
    {
      g_autoptr (GError) error = NULL;
      double rent =
        apr_linear_regression_predict_one (APR_LINEAR_REGRESSION (program->model), row, 1, &error);

      /* Each prediction is that of the model before a fit or after it, never of a mixture. */
      n_right += error == NULL && (rent == 20 || rent == 30);
      n_predictions++;
    }
  while (!g_atomic_int_get (&program->done));

  return GINT_TO_POINTER (n_right == n_predictions);
}

static gboolean
fit (AprEstimator *model, double slope, GError **error)
{
  const gsize shape[] = { N_SAMPLES, 1 };
  double rows[N_SAMPLES], targets[N_SAMPLES];
  g_autoptr (AprTensor) x = NULL;
  g_autoptr (AprTensor) y = NULL;
  int i;

  for (i = 0; i < N_SAMPLES; i++)
    {
      rows[i] = i;
      targets[i] = slope * i;
    }
  x = apr_tensor_new_from_doubles (rows, N_SAMPLES, shape, 2, NULL);
  y = apr_tensor_new_from_doubles (targets, N_SAMPLES, shape, 1, NULL);

  return apr_estimator_fit (model, x, y, NULL, NULL, error);
}

int
main (void)
{
  g_autoptr (AprEstimator) model = APR_ESTIMATOR (apr_linear_regression_new ());
  g_autoptr (GError) error = NULL;
  Program program = { model, FALSE };
  GThread *threads[N_THREADS];
  gboolean all_right = TRUE;
  int i;

  if (!fit (model, 2, &error))
    {
      g_printerr ("%s\n", error->message);
      return 1;
    }

  for (i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new ("predict", predict, &program);
  for (i = 0; i < 100 && error == NULL; i++)
    fit (model, i % 2 == 0 ? 3 : 2, &error);
  g_atomic_int_set (&program.done, TRUE);
  for (i = 0; i < N_THREADS; i++)
    all_right = g_thread_join (threads[i]) != NULL && all_right;

  g_print ("%s\n", all_right && error == NULL ? "every prediction was right" : "a prediction was wrong");
  return 0;
}
