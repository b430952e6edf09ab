/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/linear-model/apr-parallel-private.h"

/* What is worth a thread of its own: some ten times what it takes to start one. */
#define OPERATIONS_PER_THREAD 5e5

typedef struct
{
  AprParallelFunc func;
  gpointer data;
  gsize part;
  gsize n_parts;
} Share;

static gpointer
do_share (gpointer data)
{
  const Share *share = data;

  share->func (share->data, share->part, share->n_parts);

  return NULL;
}

guint
apr_parallel_count (guint n_threads, double n_worth)
{
  /* To ask for the processors, which reads a file, can take longer than the work. */
  if (n_worth < 2 || n_threads == 1)
    return 1;

  return (guint) MIN (n_worth, n_threads != 0 ? n_threads : g_get_num_processors ());
}

void
apr_parallel_run (AprParallelFunc func, gpointer data, guint n_threads, double n_operations)
{
  g_autofree GThread **threads = NULL;
  g_autofree Share *shares = NULL;
  guint n = apr_parallel_count (n_threads, n_operations / OPERATIONS_PER_THREAD);
  guint i;

  if (n == 1)
    {
      func (data, 0, 1);
      return;
    }

  threads = g_new (GThread *, n);
  shares = g_new (Share, n);
  for (i = 0; i < n; i++)
    shares[i] = (Share){ func, data, i, n };
  for (i = 1; i < n; i++)
    threads[i] = g_thread_try_new ("aprender", do_share, &shares[i], NULL);

  func (data, 0, n);
  /* A share whose thread could not be had is the caller's too. */
  for (i = 1; i < n; i++)
    if (threads[i] != NULL)
      g_thread_join (threads[i]);
    else
      func (data, i, n);
}
