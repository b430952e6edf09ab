/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tool/apr-tool-interrupt.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static const char *unfinished;
static int has_line;
static int is_held;
static int waiting; /* the number of the signal; 0 for none */

/* Calls only what a handler may call. The signal's action is the default one again: it ends the program, and the shell
 * learns why. */
static void
on_signal (int number)
{
  const char *path = g_atomic_pointer_get (&unfinished);

  if (g_atomic_int_get (&is_held))
    {
      g_atomic_int_set (&waiting, number);
      return;
    }
  if (path != NULL)
    unlink (path);
  if (g_atomic_int_get (&has_line) && write (STDERR_FILENO, "\r\033[K", 4) < 0)
    errno = 0;
  raise (number);
}

static void
watch_signals (void)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
  static gboolean watched;
  struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int) SA_RESETHAND };
  struct sigaction before;
  guint i;

  if (watched)
    return;
  watched = TRUE;
  sigemptyset (&action.sa_mask);
  /* What is ignored, as nohup does it, stays so. */
  for (i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (sigaction (numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
      sigaction (numbers[i], &action, NULL);
}

void
apr_tool_interrupt_set_file (const char *path)
{
  watch_signals ();
  g_atomic_pointer_set (&unfinished, path);
}

void
apr_tool_interrupt_set_line (gboolean shown)
{
  watch_signals ();
  g_atomic_int_set (&has_line, shown);
}

void
apr_tool_interrupt_hold (void)
{
  watch_signals ();
  g_atomic_int_set (&is_held, TRUE);
}

gboolean
apr_tool_interrupt_is_waiting (void)
{
  return g_atomic_int_get (&waiting) != 0;
}

void
apr_tool_interrupt_release (void)
{
  g_atomic_int_set (&is_held, FALSE);
  if (apr_tool_interrupt_is_waiting ())
    raise (waiting);
}
