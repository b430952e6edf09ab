/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/atomic-file-test.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "aprender/safetensors/apr-atomic-file-private.h"

static gboolean
is_blocked (int number)
{
  sigset_t mask;

  g_assert_cmpint (pthread_sigmask (SIG_BLOCK, NULL, &mask), ==, 0);
  return sigismember (&mask, number);
}

static gboolean
is_pending (int number)
{
  sigset_t signals;

  g_assert_no_errno (sigpending (&signals));
  return sigismember (&signals, number);
}

/* Writes 100,000 bytes where the kernel allows 8 KiB. */
static void
assert_too_large (Fixture *fixture)
{
  g_autofree char *large = g_malloc0 (2 << 20);
  GOutputVector vectors[] = { { "head", 4 }, { large, 2 << 20 } };
  g_autoptr (AprAtomicFile) file = NULL;
  g_autoptr (GError) error = NULL;
  struct rlimit limit, small;
  gboolean succeeded;

  set_contents (fixture->path, "old");
  g_assert_no_errno (getrlimit (RLIMIT_FSIZE, &limit));
  small = limit;
  small.rlim_cur = 8192;
  file = apr_atomic_file_open (fixture->path, &error);
  g_assert_no_error (error);
  g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &small));
  succeeded = apr_atomic_file_write (file, vectors, 2, NULL, &error);
  g_assert_no_errno (setrlimit (RLIMIT_FSIZE, &limit));
  g_assert_false (succeeded);
  g_assert_error (error, G_IO_ERROR, (int) g_io_error_from_errno (EFBIG));
  g_assert_true (g_str_has_prefix (error->message, fixture->path));
  g_assert_nonnull (strstr (error->message, g_strerror (EFBIG)));
  g_clear_pointer (&file, apr_atomic_file_free);
  assert_contents (fixture->path, "old");
  g_assert_cmpuint (count_litter (fixture, FALSE), ==, 0);
}

static void
test_write_error (Fixture *fixture, gconstpointer data)
{
  struct sigaction before, after;

  g_test_summary (
    "The kernel writes a part and refuses the rest, as on a full disk; also for root. SIGXFSZ, which ends "
    "a program that does not handle it, does not get through, and the program's signals are as before.");

  g_assert_no_errno (sigaction (SIGXFSZ, NULL, &before));
  g_assert_true (before.sa_handler == SIG_DFL);
  assert_too_large (fixture);
  g_assert_no_errno (sigaction (SIGXFSZ, NULL, &after));
  g_assert_true (after.sa_handler == SIG_DFL);
  g_assert_false (is_blocked (SIGXFSZ));
  g_assert_false (is_pending (SIGXFSZ));
}

static void
test_write_error_ignored (Fixture *fixture, gconstpointer data)
{
  g_test_summary ("The program ignores SIGXFSZ, as Python does.");

  signal (SIGXFSZ, SIG_IGN);
  assert_too_large (fixture);
  signal (SIGXFSZ, SIG_DFL);
}

static void
test_write_error_pending (Fixture *fixture, gconstpointer data)
{
  sigset_t signals;
  int number;

  g_test_summary ("A SIGXFSZ that the program blocks, and that waits already, goes on waiting.");

  sigemptyset (&signals);
  sigaddset (&signals, SIGXFSZ);
  g_assert_cmpint (pthread_sigmask (SIG_BLOCK, &signals, NULL), ==, 0);
  raise (SIGXFSZ);
  assert_too_large (fixture);
  g_assert_true (is_blocked (SIGXFSZ));
  g_assert_true (is_pending (SIGXFSZ));
  g_assert_cmpint (sigwait (&signals, &number), ==, 0);
  g_assert_cmpint (pthread_sigmask (SIG_UNBLOCK, &signals, NULL), ==, 0);
}

static void
test_rename_error (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprAtomicFile) file = NULL;
  g_autoptr (GError) error = NULL;

  g_test_summary ("A folder has taken the path in the meantime.");

  file = apr_atomic_file_open (fixture->path, &error);
  g_assert_no_error (error);
  g_assert_no_errno (g_mkdir (fixture->path, 0755));
  g_assert_false (apr_atomic_file_commit (file, TRUE, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_IS_DIRECTORY);
  g_clear_pointer (&file, apr_atomic_file_free);
  g_assert_cmpuint (count_litter (fixture, FALSE), ==, 0);
  g_assert_no_errno (g_rmdir (fixture->path));
}

static void
test_cancelled (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (AprAtomicFile) file = NULL;
  g_autoptr (GError) error = NULL;
  GOutputVector vector = { "new", 3 };

  set_contents (fixture->path, "old");
  file = apr_atomic_file_open (fixture->path, NULL);
  g_cancellable_cancel (cancellable);
  g_assert_false (apr_atomic_file_write (file, &vector, 1, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_true (g_str_has_prefix (error->message, fixture->path));
  g_clear_pointer (&file, apr_atomic_file_free);
  assert_contents (fixture->path, "old");
  g_assert_cmpuint (count_litter (fixture, FALSE), ==, 0);
}

#define NOT_PERMITTED 77

/* Where a child that saves has come to. */
typedef enum
{
  CHILD_KILLED,
  CHILD_SAVED,
  CHILD_NOT_TRACED,
} Outcome;

static AprSafetensorsWriter *
make_writer (const char *value)
{
  AprSafetensorsWriter *writer = apr_safetensors_writer_new ();
  const float floats[] = { 1, 2, 3 };
  const gsize shape[] = { 3 };
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_floats (floats, 3, shape, 1, NULL);

  apr_safetensors_writer_add_tensor (writer, "weights", tensor, NULL);
  apr_safetensors_writer_set_metadata (writer, "value", value, NULL);
  return writer;
}

/* Lets a child save the file, and kills it when it enters or leaves its system call number @n_stops / 2. */
static Outcome
save_and_kill (Fixture *fixture, AprSafetensorsWriter *writer, guint n_stops)
{
  int status;
  pid_t child;
  guint i;

  child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    {
      if (ptrace (PTRACE_TRACEME, 0, NULL, NULL) < 0)
        _exit (NOT_PERMITTED);
      raise (SIGSTOP);
      _exit (apr_safetensors_writer_write_to_path (writer, fixture->path, NULL) ? 0 : 1);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  if (WIFEXITED (status))
    {
      g_assert_cmpint (WEXITSTATUS (status), ==, NOT_PERMITTED);
      return CHILD_NOT_TRACED;
    }
  g_assert_true (WIFSTOPPED (status));
  g_assert_no_errno (
    (int) ptrace (PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
  for (i = 0; i < n_stops; i++)
    {
      g_assert_no_errno ((int) ptrace (PTRACE_SYSCALL, child, NULL, NULL));
      g_assert_cmpint (waitpid (child, &status, 0), ==, child);
      if (WIFEXITED (status))
        {
          g_assert_cmpint (WEXITSTATUS (status), ==, 0);
          return CHILD_SAVED;
        }
      g_assert_true (WIFSTOPPED (status) && WSTOPSIG (status) == (SIGTRAP | 0x80));
    }
  g_assert_no_errno (kill (child, SIGKILL));
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFSIGNALED (status));
  return CHILD_KILLED;
}

static void
test_killed_anywhere (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AprSafetensorsWriter) old_writer = make_writer ("old");
  g_autoptr (AprSafetensorsWriter) new_writer = make_writer ("new");
  g_autoptr (GBytes) old = apr_safetensors_writer_write_to_bytes (old_writer, NULL);
  g_autoptr (GBytes) new = apr_safetensors_writer_write_to_bytes (new_writer, NULL);
  guint n_old = 0, n_new = 0, n_with_temporary = 0;
  Outcome outcome = CHILD_KILLED;
  guint n_stops;

  g_test_summary (
    "Killed before and after each of its system calls, a save leaves the old file whole or the new one.");

  for (n_stops = 0; outcome == CHILD_KILLED; n_stops++)
    {
      g_autofree char *contents = NULL;
      g_autoptr (GBytes) found = NULL;
      g_autoptr (GError) error = NULL;
      gsize length;

      g_assert_true (apr_safetensors_writer_write_to_path (old_writer, fixture->path, &error));
      g_assert_no_error (error);
      outcome = save_and_kill (fixture, new_writer, n_stops);
      if (outcome == CHILD_NOT_TRACED)
        {
          g_test_skip ("tracing a process is not permitted here");
          return;
        }
      g_assert_true (g_file_get_contents (fixture->path, &contents, &length, NULL));
      found = g_bytes_new_take (g_steal_pointer (&contents), length);
      n_old += g_bytes_equal (found, old);
      n_new += g_bytes_equal (found, new);
      g_assert_cmpuint (n_old + n_new, ==, n_stops + 1);
      n_with_temporary += count_litter (fixture, TRUE);
    }
  g_test_message ("%u stops: old %u times, new %u times, a temporary left %u times", n_stops, n_old, n_new,
                  n_with_temporary);
  g_assert_cmpuint (n_old, >, 0);
  /* The last save ran to its end; one that was killed must have come so far, too. */
  g_assert_cmpuint (n_new, >, 1);
  g_assert_cmpuint (n_with_temporary, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

#define ADD(path, test) g_test_add (path, Fixture, NULL, set_up, test, tear_down)
  ADD ("/atomic-file/write-error", test_write_error);
  ADD ("/atomic-file/write-error-ignored", test_write_error_ignored);
  ADD ("/atomic-file/write-error-pending", test_write_error_pending);
  ADD ("/atomic-file/rename-error", test_rename_error);
  ADD ("/atomic-file/cancelled", test_cancelled);

  /* valgrind makes system calls of its own, in place of those of the process. */
  if (!runs_in_valgrind () && !runs_in_emulator ())
    ADD ("/atomic-file/killed-anywhere", test_killed_anywhere);

  return g_test_run ();
}
