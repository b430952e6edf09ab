/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <glib/gstdio.h>

#include "tests/app/window.h"

/*
 * A large table in the window: how long nothing is drawn while it is fitted, cancelled and plotted, how long Cancel
 * takes, and how much memory there is. The window draws as often as it can. On a machine that has other work, the gaps
 * while there is nothing to do tell how much of the others is the machine's.
 *
 * Usage: bench-window [ROWS]
 */

#define N_COLUMNS 10
#define N_CANCELS 5

/* What a task is to be done within, in milliseconds. */
#define MAX_GAP 50
#define MAX_CANCEL 100

typedef struct
{
  gint64 last; /* when the last frame began, in microseconds, or 0 */
  gint64 longest;
  gint64 last_busy; /* what this thread has computed until then */
  gint64 longest_busy;
  guint n;
} Frames;

static Frames frames;

/* How long this thread has computed, in microseconds, whatever else the machine does. */
static gint64
get_busy_time (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);

  return (gint64) time.tv_sec * G_USEC_PER_SEC + time.tv_nsec / 1000;
}

static gboolean
on_tick (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  const gint64 now = g_get_monotonic_time ();
  const gint64 busy = get_busy_time ();

  if (frames.last > 0)
    {
      frames.longest = MAX (frames.longest, now - frames.last);
      frames.longest_busy = MAX (frames.longest_busy, busy - frames.last_busy);
    }
  frames.last = now;
  frames.last_busy = busy;
  frames.n++;
  gtk_widget_queue_draw (widget);

  return G_SOURCE_CONTINUE;
}

/* In MB: what the program has of the machine's memory, of which what is mapped of files is left out. */
static double
get_memory (void)
{
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL))
    return NAN;
  line = strstr (text, "RssAnon:");

  return line != NULL ? g_ascii_strtod (line + strlen ("RssAnon:"), NULL) / 1024 : NAN;
}

static void
write_table (const char *path, gulong n_rows)
{
  FILE *file = g_fopen (path, "w");
  guint64 state = 1;
  gulong i;
  guint j;

  g_assert (file != NULL);
  for (j = 1; j < N_COLUMNS; j++)
    fprintf (file, "x%u,", j);
  fputs ("y\n", file);
  for (i = 0; i < n_rows; i++)
    {
      double sum = 0;

      for (j = 1; j <= N_COLUMNS; j++)
        {
          guint number;

          state = state * G_GUINT64_CONSTANT (6364136223846793005) + G_GUINT64_CONSTANT (1442695040888963407);
          number = (guint) (state >> 44);
          sum += (double) j * number;
          if (j < N_COLUMNS)
            fprintf (file, "%u.%03u,", number / 1000, number % 1000);
          else
            fprintf (file, "%.0f\n", sum);
        }
    }
  g_assert (fclose (file) == 0);
}

static void
begin (void)
{
  frames = (Frames){ 0 };
}

static void
report (const char *what, gint64 since)
{
  printf ("# %-28s %8.2f s  %5u frames  longest gap %6.1f ms, of which the window computes at most %5.1f ms  "
          "memory %6.0f MB\n",
          what, (double) (g_get_monotonic_time () - since) / 1e6, frames.n, (double) frames.longest / 1e3,
          (double) frames.longest_busy / 1e3, get_memory ());
  fflush (stdout);
}

static void
check (guint *number, const char *what, double found, double limit, const char *unit)
{
  printf ("%s %u %s: %.1f %s, at most %.0f\n", found <= limit ? "ok" : "not ok", ++*number, what, found, unit,
          limit);
}

/* Fits, and tells the memory at a tenth of the table and the most after it. */
static void
fit (GtkWidget *window, TrendlineFitSession *session, double *early, double *most)
{
  *early = *most = 0;
  gtk_widget_activate_action (window, "win.fit", NULL);
  while (trendline_fit_session_get_state (session) != TRENDLINE_FIT_STATE_IDLE)
    {
      const double fraction = trendline_fit_session_get_fraction (session);

      g_main_context_iteration (NULL, TRUE);
      if (fraction < 0.1)
        *early = MAX (*early, get_memory ());
      *most = MAX (*most, get_memory ());
    }
}

/* Cancels once a share of the table has been read. Returns: how long it takes until the window can be used, in ms */
static double
cancel (GtkWidget *window, TrendlineFitSession *session, double share)
{
  gint64 start;

  gtk_widget_activate_action (window, "win.fit", NULL);
  while (trendline_fit_session_get_fraction (session) < share)
    g_main_context_iteration (NULL, TRUE);
  start = g_get_monotonic_time ();
  gtk_widget_activate_action (window, "win.cancel", NULL);
  wait_until_idle (session);

  return (double) (g_get_monotonic_time () - start) / 1e3;
}

int
main (int argc, char **argv)
{
  const gulong n_rows = argc > 1 ? strtoul (argv[1], NULL, 10) : 5000000;
  g_autoptr (TrendlineApplication) application = trendline_application_new (G_APPLICATION_NON_UNIQUE);
  g_autofree char *folder = g_dir_make_tmp ("trendline-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "large.csv", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  TrendlineFitSession *session;
  GtkWidget *window;
  double gap = 0;
  double longest_cancel = 0;
  double early;
  double most;
  guint number = 0;
  guint i;
  gint64 start;

  puts ("1..4");
  write_table (path, n_rows);
  start = g_get_monotonic_time ();
  window = open_window (application, file);
  session = trendline_window_get_session (TRENDLINE_WINDOW (window));
  wait_until_idle (session);
  gtk_widget_add_tick_callback (window, on_tick, NULL, NULL);
  while (frames.n < 60)
    g_main_context_iteration (NULL, TRUE);
  report ("the window, from its start", start);

  begin ();
  start = g_get_monotonic_time ();
  while (frames.n < 120)
    g_main_context_iteration (NULL, TRUE);
  report ("nothing", start);

  for (i = 0; i < 2; i++)
    {
      begin ();
      start = g_get_monotonic_time ();
      fit (window, session, &early, &most);
      report (i == 0 ? "a fit" : "another fit", start);
      gap = MAX (gap, (double) frames.longest / 1e3);
    }
  for (i = 0; i < N_CANCELS; i++)
    {
      double duration;

      begin ();
      start = g_get_monotonic_time ();
      duration = cancel (window, session, 0.15 * (i + 1));
      report ("a fit that is cancelled", start);
      gap = MAX (gap, (double) frames.longest / 1e3);
      longest_cancel = MAX (longest_cancel, duration);
    }
  check (&number, "longest gap between frames while fits run", gap, MAX_GAP, "ms");
  check (&number, "longest time that Cancel takes", longest_cancel, MAX_CANCEL, "ms");
  check (&number, "memory that a fit takes after a tenth of the rows", most - early, 16, "MB");

  begin ();
  start = g_get_monotonic_time ();
  gtk_widget_activate_action (window, "win.show-page", "s", "plots");
  wait_for_plot (window);
  report ("a plot of all rows", start);
  check (&number, "longest gap between frames while rows are plotted", (double) frames.longest / 1e3, MAX_GAP,
         "ms");

  gtk_window_destroy (GTK_WINDOW (window));
  g_unlink (path);
  g_rmdir (folder);

  return 0;
}
