/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/apr-test.h"
#include "tests/folder.h"
#include "tests/waiting.h"

/* What is cancelled when its work is done, but its callback has not been called: whoever calls finish learns what has
 * happened to the file, the model or the state. */

/* The linker sends the library's calls of these functions here. */
void __real_g_task_return_boolean (GTask *task, gboolean result);
void __wrap_g_task_return_boolean (GTask *task, gboolean result);
int __real_renameat (int folder, const char *path, int new_folder, const char *new_path);
int __wrap_renameat (int folder, const char *path, int new_folder, const char *new_path);

static GCancellable *cancelled_by_rename; /* (unowned) (nullable) */
static const char *renamed_file;
static GCancellable *cancelled_by_return; /* (unowned) (nullable) */

void
__wrap_g_task_return_boolean (GTask *task, gboolean result)
{
  if (g_task_get_cancellable (task) != NULL && g_task_get_cancellable (task) == cancelled_by_return)
    g_cancellable_cancel (cancelled_by_return);
  __real_g_task_return_boolean (task, result);
}

int
__wrap_renameat (int folder, const char *path, int new_folder, const char *new_path)
{
  int result = __real_renameat (folder, path, new_folder, new_path);

  if (cancelled_by_rename != NULL && g_str_has_suffix (new_path, renamed_file))
    g_cancellable_cancel (cancelled_by_rename);
  return result;
}

typedef struct
{
  char *folder;
  GFile *file; /* of the old contents, but for a shard */
  AprTensor *x;
  AprTensor *y;
  AprEstimator *model; /* fitted to one target of x */
  AprCrossProducts *state;
  AprCrossProducts *other;
  AprSafetensorsWriter *writer;
  GCancellable *cancellable;
  GAsyncResult *result;
} Fixture;

typedef struct
{
  const char *name;
  void (*begin) (Fixture *fixture);
  gboolean (*finish) (Fixture *fixture, GError **error);
  gboolean (*is_done) (Fixture *fixture); /* whether anything has changed */
  const char *file;                       /* (nullable): what is written last */
} Case;

#define N_SAMPLES 8
#define OLD_FILE "old.safetensors"
#define INDEX_FILE "m.safetensors.index.json"

static void
set_up (Fixture *fixture, gconstpointer data)
{
  const double x[N_SAMPLES] = { 1, 2, 3, 4, 5, 6, 7, 8 };
  const double y[N_SAMPLES] = { 2, 3, 5, 7, 11, 13, 17, 19 };
  g_autofree char *path = NULL;
  GError *error = NULL;

  fixture->folder = make_folder ();
  path = g_build_filename (fixture->folder, OLD_FILE, NULL);
  g_assert_true (g_file_set_contents (path, "old", -1, &error));
  fixture->file = g_file_new_for_path (path);
  fixture->x = matrix_new (N_SAMPLES, 1, x);
  fixture->y = vector_new (N_SAMPLES, y);
  fixture->model = APR_ESTIMATOR (fitted_new (fixture->x, fixture->y, NULL, TRUE));
  fixture->state = apr_linear_regression_get_cross_products (APR_LINEAR_REGRESSION (fixture->model));
  fixture->other = apr_cross_products_copy (fixture->state);
  fixture->writer = apr_safetensors_writer_new ();
  g_assert_true (apr_safetensors_writer_add_tensor (fixture->writer, "x", fixture->x, NULL));
  g_assert_true (apr_safetensors_writer_add_tensor (fixture->writer, "y", fixture->y, NULL));
  fixture->cancellable = g_cancellable_new ();
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_clear_object (&fixture->result);
  remove_tree (fixture->folder);
  g_free (fixture->folder);
  g_object_unref (fixture->file);
  apr_tensor_unref (fixture->x);
  apr_tensor_unref (fixture->y);
  assert_finalizes (fixture->model);
  assert_finalizes (fixture->state);
  assert_finalizes (fixture->other);
  assert_finalizes (fixture->writer);
  g_object_unref (fixture->cancellable);
}

static gboolean
is_file_new (Fixture *fixture)
{
  g_autofree char *contents = NULL;

  g_assert_true (g_file_load_contents (fixture->file, NULL, &contents, NULL, NULL, NULL));
  return !g_str_equal (contents, "old");
}

static void
begin_save (Fixture *fixture)
{
  apr_estimator_save_to_file_async (fixture->model, fixture->file, G_PRIORITY_DEFAULT, fixture->cancellable,
                                    on_ready, &fixture->result);
}

static gboolean
finish_save (Fixture *fixture, GError **error)
{
  return apr_estimator_save_to_file_finish (fixture->model, fixture->result, error);
}

static void
begin_save_state (Fixture *fixture)
{
  apr_cross_products_save_to_file_async (fixture->state, fixture->file, G_PRIORITY_DEFAULT,
                                         fixture->cancellable, on_ready, &fixture->result);
}

static gboolean
finish_save_state (Fixture *fixture, GError **error)
{
  return apr_cross_products_save_to_file_finish (fixture->state, fixture->result, error);
}

static void
begin_write (Fixture *fixture)
{
  apr_safetensors_writer_write_to_file_async (fixture->writer, fixture->file, G_PRIORITY_DEFAULT,
                                              fixture->cancellable, on_ready, &fixture->result);
}

static gboolean
finish_write (Fixture *fixture, GError **error)
{
  return apr_safetensors_writer_write_to_file_finish (fixture->writer, fixture->result, error);
}

static void
begin_shards (Fixture *fixture)
{
  g_autoptr (GFile) folder = g_file_get_parent (fixture->file);

  apr_safetensors_writer_write_shards_async (fixture->writer, folder, "m", N_SAMPLES * sizeof (double),
                                             G_PRIORITY_DEFAULT, fixture->cancellable, on_ready,
                                             &fixture->result);
}

static gboolean
finish_shards (Fixture *fixture, GError **error)
{
  return apr_safetensors_writer_write_shards_finish (fixture->writer, fixture->result, error);
}

static gboolean
are_shards_there (Fixture *fixture)
{
  g_autofree char *path = g_build_filename (fixture->folder, INDEX_FILE, NULL);

  return g_file_test (path, G_FILE_TEST_EXISTS);
}

static void
begin_partial_fit (Fixture *fixture)
{
  apr_linear_regression_partial_fit_async (APR_LINEAR_REGRESSION (fixture->model), fixture->x, fixture->y,
                                           NULL, G_PRIORITY_DEFAULT, fixture->cancellable, on_ready,
                                           &fixture->result);
}

static gboolean
finish_partial_fit (Fixture *fixture, GError **error)
{
  return apr_linear_regression_partial_fit_finish (APR_LINEAR_REGRESSION (fixture->model), fixture->result,
                                                   error);
}

static gboolean
is_model_other (Fixture *fixture)
{
  g_autoptr (AprCrossProducts) sums =
    apr_linear_regression_get_cross_products (APR_LINEAR_REGRESSION (fixture->model));

  g_assert_false (apr_estimator_get_busy (fixture->model));
  return apr_cross_products_get_n_samples (sums) != N_SAMPLES;
}

static void
begin_merge (Fixture *fixture)
{
  apr_cross_products_merge_async (fixture->state, fixture->other, G_PRIORITY_DEFAULT, fixture->cancellable,
                                  on_ready, &fixture->result);
}

static gboolean
finish_merge (Fixture *fixture, GError **error)
{
  return apr_cross_products_merge_finish (fixture->state, fixture->result, error);
}

static void
begin_subtract (Fixture *fixture)
{
  apr_cross_products_subtract_async (fixture->state, fixture->other, G_PRIORITY_DEFAULT, fixture->cancellable,
                                     on_ready, &fixture->result);
}

static gboolean
finish_subtract (Fixture *fixture, GError **error)
{
  return apr_cross_products_subtract_finish (fixture->state, fixture->result, error);
}

static void
begin_update (Fixture *fixture)
{
  apr_cross_products_update_async (fixture->state, fixture->x, fixture->y, NULL, G_PRIORITY_DEFAULT,
                                   fixture->cancellable, on_ready, &fixture->result);
}

static gboolean
finish_update (Fixture *fixture, GError **error)
{
  return apr_cross_products_update_finish (fixture->state, fixture->result, error);
}

static gboolean
is_state_other (Fixture *fixture)
{
  g_assert_false (apr_cross_products_get_busy (fixture->state));
  return apr_cross_products_get_n_samples (fixture->state) != N_SAMPLES;
}

static void
finish (Fixture *fixture, const Case *test)
{
  g_autoptr (GError) error = NULL;
  gboolean succeeded;

  test->begin (fixture);
  wait_for (&fixture->result);
  cancelled_by_return = NULL;
  cancelled_by_rename = NULL;

  succeeded = test->finish (fixture, &error);
  g_assert_true (g_cancellable_is_cancelled (fixture->cancellable));
  g_assert_cmpint (succeeded, ==, test->is_done (fixture));
  if (test->file != NULL)
    g_assert_no_error (error);
  else if (!succeeded)
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static void
test_done (Fixture *fixture, gconstpointer data)
{
  g_test_summary ("A call that is cancelled between its work and its callback says what has happened.");

  cancelled_by_return = fixture->cancellable;
  finish (fixture, data);
}

static void
test_renamed (Fixture *fixture, gconstpointer data)
{
  g_test_summary ("A file that is there when its write is cancelled has been written.");

  cancelled_by_rename = fixture->cancellable;
  renamed_file = ((const Case *) data)->file;
  finish (fixture, data);
}

static const Case cases[] = {
  { "save", begin_save, finish_save, is_file_new, OLD_FILE },
  { "save-cross-products", begin_save_state, finish_save_state, is_file_new, OLD_FILE },
  { "write", begin_write, finish_write, is_file_new, OLD_FILE },
  { "shards", begin_shards, finish_shards, are_shards_there, INDEX_FILE },
  { "partial-fit", begin_partial_fit, finish_partial_fit, is_model_other, NULL },
  { "merge", begin_merge, finish_merge, is_state_other, NULL },
  { "subtract", begin_subtract, finish_subtract, is_state_other, NULL },
  { "update", begin_update, finish_update, is_state_other, NULL },
};

int
main (int argc, char **argv)
{
  gsize i;

  g_test_init (&argc, &argv, NULL);
  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *done = g_strconcat ("/late-cancel/done/", cases[i].name, NULL);
      g_autofree char *renamed = g_strconcat ("/late-cancel/renamed/", cases[i].name, NULL);

      g_test_add (done, Fixture, &cases[i], set_up, test_done, tear_down);
      if (cases[i].file != NULL)
        g_test_add (renamed, Fixture, &cases[i], set_up, test_renamed, tear_down);
    }

  return g_test_run ();
}
