/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/serve/apr-serve-model.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aprender/serve/apr-serve-json.h"
#include "aprender/serve/apr-serve-page.h"
#include "aprender/serve/apr-serve-v2.h"

typedef struct
{
  char *path;
  AprServeModel *current;
  guint64 n_failures;
} Entry;

struct _AprServeModels
{
  GMutex lock; /* held while a reference is taken or swapped, never longer */
  GArray *entries;
};

static void
clear_model (gpointer data)
{
  AprServeModel *self = data;

  g_free (self->name);
  g_free (self->version);
  g_clear_object (&self->regression);
  g_strfreev (self->feature_names);
  g_free (self->sorted_names);
  g_clear_pointer (&self->section, g_bytes_unref);
  g_clear_pointer (&self->metadata, g_bytes_unref);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (**(char **const *) a, **(char **const *) b);
}

/* Names come from a file, which can choose names that all hash alike: a hash table would take minutes. */
static void
sort_names (AprServeModel *self)
{
  gsize i;

  self->sorted_names = g_new (char **, self->n_features + 1);
  for (i = 0; i < self->n_features; i++)
    self->sorted_names[i] = &self->feature_names[i];
  qsort (self->sorted_names, self->n_features, sizeof *self->sorted_names, compare_names);
}

gboolean
apr_serve_model_find_column (const AprServeModel *self, const char *name, gsize *column)
{
  char *key = (char *) name;
  char **place = &key;
  char ***found =
    bsearch (&place, self->sorted_names, self->n_features, sizeof *self->sorted_names, compare_names);

  if (found == NULL)
    return FALSE;
  *column = (gsize) (*found - self->feature_names);

  return TRUE;
}

static gboolean
fail_errno (GError **error)
{
  g_set_error_literal (error, G_IO_ERROR, g_io_error_from_errno (errno), g_strerror (errno));

  return FALSE;
}

/* Reads all bytes of an open file. */
static gboolean
read_fd (int fd, struct stat *file, GBytes **bytes, GError **error)
{
  g_autofree char *contents = NULL;
  gsize size = 0;
  gssize n;

  if (fstat (fd, file) != 0)
    return fail_errno (error);
  if (S_ISDIR (file->st_mode))
    {
      errno = EISDIR;
      return fail_errno (error);
    }
  if (!S_ISREG (file->st_mode))
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "Not a regular file");
      return FALSE;
    }
  contents = file->st_size < G_MAXSSIZE ? g_try_malloc ((gsize) file->st_size + 1) : NULL;
  if (contents == NULL)
    {
      g_set_error (error, APR_ERROR, APR_ERROR_NO_MEMORY, "There is no memory for %" G_GINT64_FORMAT " bytes",
                   (gint64) file->st_size);
      return FALSE;
    }
  while (size < (gsize) file->st_size && (n = read (fd, contents + size, (gsize) file->st_size - size)) != 0)
    if (n > 0)
      size += (gsize) n;
    else if (errno != EINTR)
      return fail_errno (error);
  *bytes = g_bytes_new_take (g_steal_pointer (&contents), size);

  return TRUE;
}

/* Does not wait for whoever may write into a pipe. Nor is the file mapped: one that is cut short under a mapping would
 * end the program. */
static GBytes *
read_file (const char *path, struct stat *file, GError **error)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  GBytes *bytes = NULL;

  if (fd < 0)
    {
      fail_errno (error);
      return NULL;
    }
  read_fd (fd, file, &bytes, error);
  close (fd);

  return bytes;
}

static AprServeModel *
load_model (const char *name, const char *path, guint64 generation, GError **error)
{
  g_autofree char *display_name = g_filename_display_name (path);
  struct stat file;
  g_autoptr (GBytes) bytes = read_file (path, &file, error);
  g_autoptr (AprTensor) coefficients = NULL;
  AprLinearRegression *regression;
  AprServeModel *self;

  regression = bytes != NULL ? apr_linear_regression_from_bytes (bytes, error) : NULL;
  if (regression == NULL)
    {
      g_prefix_error (error, "%s: ", display_name);
      return NULL;
    }

  /* Requests are what runs in parallel. */
  apr_linear_regression_set_n_threads (regression, 1);
  coefficients = apr_linear_regression_get_coefficients (regression);
  self = g_atomic_rc_box_new0 (AprServeModel);
  self->file = file;
  self->name = g_strdup (name);
  self->generation = generation;
  self->version = g_strdup_printf ("%" G_GUINT64_FORMAT, generation);
  self->regression = regression;
  self->n_features = apr_estimator_get_n_features (APR_ESTIMATOR (regression));
  self->n_targets = apr_estimator_get_n_targets (APR_ESTIMATOR (regression));
  self->n_dims = apr_tensor_get_n_dims (coefficients);
  self->dtype = apr_tensor_get_dtype (coefficients);
  self->feature_names = apr_estimator_get_feature_names (APR_ESTIMATOR (regression));
  if (self->feature_names != NULL)
    sort_names (self);

  /* What intervals are computed from takes long where there are many features, and is kept from then on. */
  if (apr_linear_regression_get_has_statistics (regression))
    {
      g_autoptr (AprRegressionStatistics) statistics =
        apr_linear_regression_get_statistics (regression, 0, NULL);

      (void) statistics;
    }
  self->section = apr_serve_page_describe (self);
  self->metadata = apr_serve_v2_describe (self);

  return self;
}

void
apr_serve_model_unref (AprServeModel *self)
{
  g_atomic_rc_box_release_full (self, clear_model);
}

static void
clear_entry (gpointer data)
{
  Entry *entry = data;

  g_free (entry->path);
  g_clear_pointer (&entry->current, apr_serve_model_unref);
}

AprServeModels *
apr_serve_models_new (void)
{
  AprServeModels *self = g_new0 (AprServeModels, 1);

  g_mutex_init (&self->lock);
  self->entries = g_array_new (FALSE, TRUE, sizeof (Entry));
  g_array_set_clear_func (self->entries, clear_entry);

  return self;
}

void
apr_serve_models_free (AprServeModels *self)
{
  g_array_unref (self->entries);
  g_mutex_clear (&self->lock);
  g_free (self);
}

static Entry *
get_entry (AprServeModels *self, guint index)
{
  return &g_array_index (self->entries, Entry, index);
}

gboolean
apr_serve_models_add (AprServeModels *self, const char *name, const char *path, GError **error)
{
  Entry entry = { NULL };
  guint i;

  for (i = 0; i < self->entries->len; i++)
    if (strcmp (get_entry (self, i)->current->name, name) == 0)
      {
        g_set_error (error, APR_ERROR, APR_ERROR_RANGE,
                     "%s and %s would both be the model “%s”: name one of them, as NAME=FILE",
                     get_entry (self, i)->path, path, name);
        return FALSE;
      }

  entry.current = load_model (name, path, 1, error);
  if (entry.current == NULL)
    return FALSE;
  entry.path = g_strdup (path);
  g_array_append_val (self->entries, entry);

  return TRUE;
}

gboolean
apr_serve_models_reload (AprServeModels *self, guint index, GError **error)
{
  Entry *entry = get_entry (self, index);
  AprServeModel *before = entry->current;
  AprServeModel *after = load_model (before->name, entry->path, before->generation + 1, error);

  g_mutex_lock (&self->lock);
  if (after != NULL)
    entry->current = after;
  else
    entry->n_failures++;
  g_mutex_unlock (&self->lock);
  if (after != NULL)
    apr_serve_model_unref (before);

  return after != NULL;
}

guint
apr_serve_models_get_size (AprServeModels *self)
{
  return self->entries->len;
}

const char *
apr_serve_models_get_path (AprServeModels *self, guint index)
{
  return get_entry (self, index)->path;
}

guint64
apr_serve_models_get_n_failures (AprServeModels *self, guint index)
{
  guint64 n_failures;

  g_mutex_lock (&self->lock);
  n_failures = get_entry (self, index)->n_failures;
  g_mutex_unlock (&self->lock);

  return n_failures;
}

AprServeModel *
apr_serve_models_get (AprServeModels *self, guint index)
{
  AprServeModel *model;

  g_mutex_lock (&self->lock);
  model = g_atomic_rc_box_acquire (get_entry (self, index)->current);
  g_mutex_unlock (&self->lock);

  return model;
}

static char *
list_names (AprServeModels *self)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  guint i;

  for (i = 0; i < self->entries->len; i++)
    {
      g_autoptr (AprServeModel) model = apr_serve_models_get (self, i);

      g_ptr_array_add (names, g_strdup (model->name));
    }
  g_ptr_array_add (names, NULL);

  return g_strjoinv (", ", (char **) names->pdata);
}

AprServeModel *
apr_serve_models_find (AprServeModels *self, const char *name, GError **error)
{
  g_autofree char *names = NULL;
  g_autofree char *shown = NULL;
  guint i;

  if (name == NULL && self->entries->len == 1)
    return apr_serve_models_get (self, 0);

  for (i = 0; name != NULL && i < self->entries->len; i++)
    {
      g_autoptr (AprServeModel) model = apr_serve_models_get (self, i);

      if (strcmp (model->name, name) == 0)
        return g_steal_pointer (&model);
    }

  names = list_names (self);
  if (name == NULL)
    g_set_error (error, APR_ERROR, APR_ERROR_RANGE, "model_id is missing; the models are: %s", names);
  else
    {
      shown = apr_serve_json_display (name);
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "there is no model “%s”; the models are: %s",
                   shown, names);
    }

  return NULL;
}
