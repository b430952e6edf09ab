/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "aprender/serve/apr-serve-watch.h"

/* The file that is replaced at the last moment of which inotify tells nothing. */
static const char *replaced;

static void
save (const char *path, double intercept)
{
  const gsize one = 1;
  g_autoptr (AprSafetensorsWriter) writer = apr_safetensors_writer_new ();
  g_autoptr (AprTensor) tensor = apr_tensor_new_from_doubles (&intercept, 1, &one, 1, NULL);
  GError *error = NULL;

  apr_safetensors_writer_add_tensor (writer, "coefficients", tensor, &error);
  g_assert_no_error (error);
  apr_safetensors_writer_add_tensor (writer, "intercept", tensor, &error);
  g_assert_no_error (error);
  apr_safetensors_writer_write_to_path (writer, path, &error);
  g_assert_no_error (error);
}

/* The program's calls come here. */
static gboolean has_no_queue;

int
inotify_init1 (int flags)
{
  if (!has_no_queue)
    return (int) syscall (SYS_inotify_init1, flags);

  errno = EMFILE;
  return -1;
}

int
inotify_add_watch (int queue, const char *name, uint32_t mask)
{
  if (replaced != NULL)
    save (replaced, 2);

  return (int) syscall (SYS_inotify_add_watch, queue, name, mask);
}

/* The linker sends the watch's calls of this function here, which may be held up. */
gboolean __real_apr_serve_models_reload (AprServeModels *models, guint index, GError **error);
gboolean __wrap_apr_serve_models_reload (AprServeModels *models, guint index, GError **error);

static GMutex gate;
static gint n_loads; /* (atomic) that have begun */

gboolean
__wrap_apr_serve_models_reload (AprServeModels *models, guint index, GError **error)
{
  gboolean succeeded;

  g_atomic_int_inc (&n_loads);
  g_mutex_lock (&gate);
  succeeded = __real_apr_serve_models_reload (models, index, error);
  g_mutex_unlock (&gate);

  return succeeded;
}

static double
get_intercept (AprServeModels *models)
{
  g_autoptr (AprServeModel) model = apr_serve_models_get (models, 0);
  g_autoptr (AprTensor) intercept = apr_linear_regression_get_intercept (model->regression);

  return apr_tensor_get_double (intercept, 0, NULL);
}

static void
test_replaced_since_read (void)
{
  g_autofree char *folder = g_dir_make_tmp ("aprender-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "model.safetensors", NULL);
  guint i;

  /* A file that nobody touches is not read twice. */
  for (i = 0; i < 2; i++)
    {
      g_autoptr (AprServeModels) models = apr_serve_models_new ();
      g_autoptr (AprServeModel) model = NULL;
      g_autoptr (AprServeWatch) watch = NULL;
      GError *error = NULL;

      save (path, 1);
      apr_serve_models_add (models, "model", path, &error);
      g_assert_no_error (error);
      replaced = i == 0 ? NULL : path;
      watch = apr_serve_watch_new (models);
      replaced = NULL;

      model = apr_serve_models_get (models, 0);
      g_assert_cmpstr (model->version, ==, i == 0 ? "1" : "2");
      g_assert_cmpfloat (get_intercept (models), ==, i == 0 ? 1 : 2);
    }
  g_unlink (path);
  g_rmdir (folder);
}

static gboolean
has_version (AprServeModels *models, const char *version)
{
  g_autoptr (AprServeModel) model = apr_serve_models_get (models, 0);

  return strcmp (model->version, version) == 0;
}

static void
test_main_loop (void)
{
  g_autofree char *folder = g_dir_make_tmp ("aprender-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "model.safetensors", NULL);
  g_autoptr (AprServeModels) models = apr_serve_models_new ();
  g_autoptr (AprServeWatch) watch = NULL;
  GError *error = NULL;
  guint i;

  g_test_summary ("While a model is loaded, the main loop runs; what is written meanwhile is loaded once.");

  save (path, 1);
  apr_serve_models_add (models, "model", path, &error);
  g_assert_no_error (error);
  watch = apr_serve_watch_new (models);

  g_atomic_int_set (&n_loads, 0);
  g_mutex_lock (&gate);
  apr_serve_watch_reload_all (watch);
  while (g_atomic_int_get (&n_loads) == 0)
    g_usleep (1000);
  for (i = 2; i < 5; i++)
    {
      save (path, i);
      g_main_context_iteration (NULL, TRUE);
      apr_serve_watch_reload_all (watch);
    }
  g_assert_cmpfloat (get_intercept (models), ==, 1);
  g_mutex_unlock (&gate);
  while (!has_version (models, "3"))
    g_usleep (1000);
  g_assert_cmpfloat (get_intercept (models), ==, 4);
  g_clear_pointer (&watch, apr_serve_watch_free);
  g_assert_cmpint (n_loads, ==, 2);

  g_unlink (path);
  g_rmdir (folder);
}

static void
test_no_queue (void)
{
  g_autofree char *folder = NULL;
  g_autofree char *path = NULL;
  g_autofree char *expected =
    g_strdup_printf ("*will only be noticed on SIGHUP* error=\"%s\"*", g_strerror (EMFILE));

  g_test_summary (
    "Where the kernel has no queue of events left, the log says so, and SIGHUP asks for one again.");

  if (g_test_subprocess ())
    {
      g_autoptr (AprServeModels) models = apr_serve_models_new ();
      g_autoptr (AprServeWatch) watch = NULL;
      GError *error = NULL;

      folder = g_dir_make_tmp ("aprender-XXXXXX", NULL);
      path = g_build_filename (folder, "model.safetensors", NULL);
      save (path, 1);
      apr_serve_models_add (models, "model", path, &error);
      g_assert_no_error (error);
      has_no_queue = TRUE;
      watch = apr_serve_watch_new (models);
      has_no_queue = FALSE;
      apr_serve_watch_reload_all (watch);
      while (!has_version (models, "2"))
        g_usleep (1000);
      save (path, 2);
      g_main_context_iteration (NULL, TRUE);
      while (!has_version (models, "3"))
        g_usleep (1000);
      g_unlink (path);
      g_rmdir (folder);
      return;
    }
  g_test_trap_subprocess (NULL, 60 * G_USEC_PER_SEC, G_TEST_SUBPROCESS_DEFAULT);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stderr (expected);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/serve-watch/replaced-since-read", test_replaced_since_read);

  g_test_add_func ("/serve-watch/main-loop", test_main_loop);

  g_test_add_func ("/serve-watch/no-queue", test_no_queue);

  return g_test_run ();
}
