/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tool-run.h"

#include <string.h>

#include <aprender/aprender.h>

#include "tests/folder.h"

/* The folder where the command runs, so that its messages name files as they are named here. */
static char *folder;

int
tool_main (int argc, char **argv, void (*add_tests) (void))
{
  int status;

  g_test_init (&argc, &argv, NULL);
  folder = make_folder ();
  add_tests ();
  status = g_test_run ();
  remove_tree (folder);
  g_clear_pointer (&folder, g_free);

  return status;
}

char *
tool_get_path (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

void
tool_write (const char *name, const char *contents, gssize length)
{
  g_autofree char *path = tool_get_path (name);
  GError *error = NULL;

  g_file_set_contents (path, contents, length, &error);
  g_assert_no_error (error);
}

char *
tool_read (const char *name)
{
  g_autofree char *path = tool_get_path (name);
  char *contents = NULL;
  GError *error = NULL;

  g_file_get_contents (path, &contents, NULL, &error);
  g_assert_no_error (error);

  return contents;
}

/* Saves the model 1 + 2 a + 3 b, in which nothing has a name, as a fit to arrays leaves it. */
void
tool_save_nameless (const char *name)
{
  static const double x[] = { 0, 0, 1, 0, 0, 1 };
  static const double y[] = { 1, 3, 4 };
  const gsize shape[] = { 3, 2 };
  g_autoptr (AprTensor) features = apr_tensor_new_from_doubles (x, 6, shape, 2, NULL);
  g_autoptr (AprTensor) target = apr_tensor_new_from_doubles (y, 3, shape, 1, NULL);
  g_autoptr (AprLinearRegression) model = apr_linear_regression_new ();
  g_autofree char *path = tool_get_path (name);
  GError *error = NULL;

  apr_estimator_fit (APR_ESTIMATOR (model), features, target, NULL, NULL, &error);
  g_assert_no_error (error);
  apr_estimator_save (APR_ESTIMATOR (model), path, &error);
  g_assert_no_error (error);
}

/* The command under test, and what stands before it, such as valgrind, in APR_TOOL_WRAPPER. */
static char **
split_command_line (const char *arguments)
{
  const char *wrapper = g_getenv ("APR_TOOL_WRAPPER");
  const char *tool = g_getenv ("APR_TOOL");
  g_autofree char *quoted = NULL;
  g_autofree char *line = NULL;
  char **words = NULL;
  GError *error = NULL;

  g_assert_nonnull (tool);
  quoted = g_shell_quote (tool);
  line = g_strdup_printf ("%s %s %s", wrapper != NULL ? wrapper : "", quoted, arguments);
  g_shell_parse_argv (line, NULL, &words, &error);
  g_assert_no_error (error);

  return words;
}

/* The data of empty bytes are NULL. */
static char *
to_string (GBytes *bytes)
{
  gsize size;
  const char *data = g_bytes_get_data (bytes, &size);

  return g_strndup (size > 0 ? data : "", size);
}

/* Runs the command with arguments as a shell would split them, @input on its standard input, and a locale. */
Run *
tool_run_with (const char *arguments, const char *input, gssize input_length, const char *locale)
{
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (
    G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autoptr (GSubprocess) process = NULL;
  g_autoptr (GBytes) stdin_bytes = NULL;
  g_autoptr (GBytes) stdout_bytes = NULL;
  g_autoptr (GBytes) stderr_bytes = NULL;
  g_auto (GStrv) words = split_command_line (arguments);
  Run *run = g_new0 (Run, 1);
  GError *error = NULL;

  if (input == NULL)
    input = "";
  stdin_bytes = g_bytes_new_static (input, input_length < 0 ? strlen (input) : (gsize) input_length);
  g_subprocess_launcher_set_cwd (launcher, folder);
  if (locale != NULL)
    g_subprocess_launcher_setenv (launcher, "LC_ALL", locale, TRUE);

  process = g_subprocess_launcher_spawnv (launcher, (const char *const *) words, &error);
  g_assert_no_error (error);
  g_subprocess_communicate (process, stdin_bytes, NULL, &stdout_bytes, &stderr_bytes, &error);
  /* A command that stops before it has read all of its input is not an error here. */
  if (!g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE))
    g_assert_no_error (error);
  g_clear_error (&error);

  g_assert_true (g_subprocess_get_if_exited (process));
  run->status = g_subprocess_get_exit_status (process);
  run->output = to_string (stdout_bytes);
  run->messages = to_string (stderr_bytes);

  return run;
}

/* Runs the command, which must do what it is told. */
Run *
tool_run (const char *arguments)
{
  Run *run = tool_run_with (arguments, NULL, 0, NULL);

  if (run->status != 0)
    g_test_message ("aprender %s: %s", arguments, run->messages);
  g_assert_cmpint (run->status, ==, 0);

  return run;
}

void
tool_run_free (Run *run)
{
  g_free (run->output);
  g_free (run->messages);
  g_free (run);
}

void
tool_assert_contains (const char *text, const char *part)
{
  if (strstr (text, part) == NULL)
    g_test_message ("“%s” is not in: %s", part, text);
  g_assert_nonnull (strstr (text, part));
}

/* The command must fail with status 1, print nothing, and say why in just this line. */
void
tool_assert_fails (const char *arguments, const char *input, gssize input_length, const char *message)
{
  g_autoptr (Run) run = tool_run_with (arguments, input, input_length, NULL);
  g_autofree char *line = g_strdup_printf ("aprender: %s\n", message);

  g_test_message ("aprender %s", arguments);
  g_assert_cmpstr (run->messages, ==, line);
  g_assert_cmpint (run->status, ==, 1);
  g_assert_cmpstr (run->output, ==, "");
}
