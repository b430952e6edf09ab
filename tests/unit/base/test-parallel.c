/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* pthread_attr_getaffinity_np() */

#include "tests/apr-test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "aprender/base/apr-parallel-private.h"

typedef void *(*StartFunc) (void *data);

/* The library's calls come here, so that threads can be refused. */
int __real_pthread_create (pthread_t *thread, const pthread_attr_t *attributes, StartFunc func, void *data);
int __wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attributes, StartFunc func, void *data);

static guint n_asked;
static guint refused; /* bits */
static int refusal = EAGAIN;
static gint n_processors; /* that the last thread may start on; -1 where it was not asked for any */

int
__wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attributes, StartFunc func, void *data)
{
  guint number = n_asked++;
  cpu_set_t set;

  n_processors = -1;
  if (attributes != NULL && pthread_attr_getaffinity_np (attributes, sizeof set, &set) == 0)
    n_processors = CPU_COUNT (&set);

  return (refused >> number & 1) != 0 ? refusal : __real_pthread_create (thread, attributes, func, data);
}

static void
test_count (void)
{
  g_assert_cmpuint (apr_parallel_count (8, 0), ==, 1);
  g_assert_cmpuint (apr_parallel_count (0, 1.9), ==, 1);
  g_assert_cmpuint (apr_parallel_count (1, 1e300), ==, 1);
  g_assert_cmpuint (apr_parallel_count (8, 2.5), ==, 2);
  g_assert_cmpuint (apr_parallel_count (8, 1e300), ==, 8);
  g_assert_cmpuint (apr_parallel_count (1024, 1e300), ==, 1024);
  g_assert_cmpuint (apr_parallel_count (G_MAXUINT, 1e300), ==, 1024);
  g_assert_cmpuint (apr_parallel_count (0, 1e300), >=, 1);
  g_assert_cmpuint (apr_parallel_count (0, 1e300), <=, g_get_num_processors ());
}

#define MAX_PARTS 40

static void
count_part (gpointer data, gsize part, gsize n_parts)
{
  gint *counts = data;

  g_assert_cmpuint (part, <, n_parts);
  g_atomic_int_inc (&counts[part]);
  g_atomic_int_add (&counts[MAX_PARTS], (gint) n_parts);
}

static void
test_every_part_once (void)
{
  const guint refusals[] = { 0, 0xffffffff, 0x55555555, 1, 4 };
  gsize i;
  guint n_threads;
  gsize n_parts;
  gsize j;

  g_test_summary ("Whatever the number of threads, and which of them cannot be had.");
  for (i = 0; i < G_N_ELEMENTS (refusals); i++)
    for (n_threads = 1; n_threads < 7; n_threads++)
      for (n_parts = 0; n_parts < MAX_PARTS; n_parts += 3)
        {
          gint counts[MAX_PARTS + 1] = { 0 };

          n_asked = 0;
          refused = refusals[i];
          apr_parallel_run_parts (count_part, counts, n_threads, n_parts);
          g_assert_cmpuint (n_asked, <, n_threads);
          for (j = 0; j < n_parts; j++)
            g_assert_cmpint (counts[j], ==, 1);
          g_assert_cmpint (counts[MAX_PARTS], ==, (gint) (n_parts * n_parts));
        }
  refused = 0;
}

static void
test_as_many_as_it_is_worth (void)
{
  gint counts[MAX_PARTS + 1] = { 0 };

  apr_parallel_run (count_part, counts, 8, 3.5 * APR_PARALLEL_OPERATIONS);
  g_assert_cmpint (counts[2], ==, 1);
  g_assert_cmpint (counts[3], ==, 0);
  g_assert_cmpint (counts[MAX_PARTS], ==, 9);

  n_asked = 0;
  apr_parallel_run (count_part, counts, 8, APR_PARALLEL_OPERATIONS);
  g_assert_cmpint (counts[0], ==, 2);
  g_assert_cmpuint (n_asked, ==, 0);
}

static void
check_affinity (gpointer data, gsize part, gsize n_parts)
{
  const cpu_set_t *expected = data;
  cpu_set_t allowed;

  g_assert_cmpint (sched_getaffinity (0, sizeof allowed, &allowed), ==, 0);
  g_assert_true (CPU_EQUAL (&allowed, expected));
}

static void
test_processors (void)
{
  cpu_set_t allowed;
  cpu_set_t one;
  int first = 0;

  g_test_summary ("Threads start on other processors than the calling one, and may run where that may.");
  g_assert_cmpint (sched_getaffinity (0, sizeof allowed, &allowed), ==, 0);
  n_asked = 0;
  apr_parallel_run_parts (check_affinity, &allowed, 3, 100);
  g_assert_cmpuint (n_asked, ==, 2);
  if (CPU_COUNT (&allowed) > 1)
    g_assert_cmpint (n_processors, ==, CPU_COUNT (&allowed) - 1);

  while (!CPU_ISSET (first, &allowed))
    first++;
  CPU_ZERO (&one);
  CPU_SET (first, &one);
  g_assert_cmpint (sched_setaffinity (0, sizeof one, &one), ==, 0);
  n_asked = 0;
  apr_parallel_run_parts (check_affinity, &one, 3, 100);
  g_assert_cmpuint (n_asked, ==, 2);
  g_assert_cmpint (sched_setaffinity (0, sizeof allowed, &allowed), ==, 0);
}

static void
test_processors_refused (void)
{
  gint counts[MAX_PARTS + 1] = { 0 };
  gsize i;

  g_test_summary ("Where no processors may be chosen, threads start on any.");
  n_asked = 0;
  refused = 5;
  refusal = EPERM;
  apr_parallel_run_parts (count_part, counts, 3, MAX_PARTS);
  refused = 0;
  refusal = EAGAIN;
  g_assert_cmpuint (n_asked, ==, 4);
  g_assert_cmpint (n_processors, ==, -1);
  for (i = 0; i < MAX_PARTS; i++)
    g_assert_cmpint (counts[i], ==, 1);
}

#define N_STEPS 300

/* Each part adds up what all parts wrote in the step before: without a barrier some would read too early. */
typedef struct
{
  guint64 values[2][8];
  gint n_parts;
  gint n_calls[8];
} Steps;

static void
take_steps (AprTeam *team, gpointer data, gsize part)
{
  Steps *self = data;
  guint step;
  gint i;

  g_atomic_int_inc (&self->n_calls[part]);
  if (part == 0)
    self->n_parts = team->n_parts;
  self->values[0][part] = part + 1;
  apr_team_barrier (team);
  for (step = 0; step < N_STEPS; step++)
    {
      const guint64 *from = self->values[step % 2];
      guint64 sum = part;

      for (i = 0; i < team->n_parts; i++)
        sum = sum * 31 + from[i];
      self->values[1 - step % 2][part] = sum;
      apr_team_barrier (team);
    }
}

static void
test_barrier (void)
{
  const guint refusals[] = { 0, 2, 5, 0xff };
  const gint n_expected[] = { 6, 5, 4, 1 };
  gsize i;

  for (i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      Steps steps = { 0 };
      guint64 expected[2][8];
      guint step;
      gint part;
      gint j;

      n_asked = 0;
      refused = refusals[i];
      apr_team_run (take_steps, &steps, 6, 1e300);
      refused = 0;

      g_assert_cmpint (steps.n_parts, ==, n_expected[i]);
      for (part = 0; part < 8; part++)
        {
          g_assert_cmpint (steps.n_calls[part], ==, part < n_expected[i] ? 1 : 0);
          expected[0][part] = (guint64) part + 1;
        }
      for (step = 0; step < N_STEPS; step++)
        for (part = 0; part < n_expected[i]; part++)
          {
            guint64 sum = (guint64) part;

            for (j = 0; j < n_expected[i]; j++)
              sum = sum * 31 + expected[step % 2][j];
            expected[1 - step % 2][part] = sum;
          }
      for (part = 0; part < n_expected[i]; part++)
        g_assert_cmpuint (steps.values[N_STEPS % 2][part], ==, expected[N_STEPS % 2][part]);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/parallel/count", test_count);
  g_test_add_func ("/parallel/every-part-once", test_every_part_once);
  g_test_add_func ("/parallel/as-many-as-it-is-worth", test_as_many_as_it_is_worth);
  g_test_add_func ("/parallel/processors", test_processors);
  g_test_add_func ("/parallel/processors-refused", test_processors_refused);
  g_test_add_func ("/parallel/barrier", test_barrier);

  return g_test_run ();
}
