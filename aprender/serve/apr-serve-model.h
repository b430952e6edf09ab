/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/stat.h>

#include <aprender/aprender.h>

G_BEGIN_DECLS

/* A model as it was loaded once. It is immutable and counted by references, so that a request ends with the model that
 * it began with, whatever becomes of the file. */
typedef struct
{
  char *name;
  struct stat file;   /* as it was before it was read */
  guint64 generation; /* how many times it has been loaded, 1 at first */
  char *version;      /* the same as text */
  AprLinearRegression *regression;
  gsize n_features;
  gsize n_targets;
  gsize n_dims;         /* of the predictions, 2 where targets were a matrix */
  AprDType dtype;       /* of the predictions */
  char **feature_names; /* (nullable) */
  char ***sorted_names; /* (nullable) the places of feature_names, sorted by the names */
  /* Made once, as they may be long, and shared by all answers: whoever asks and does not read takes no memory. */
  GBytes *section;  /* of the page for people */
  GBytes *metadata; /* of the Open Inference Protocol */
} AprServeModel;

void apr_serve_model_unref (AprServeModel *self);

/* Finds the column, from 0, of the feature with this name. The model must have names. */
gboolean apr_serve_model_find_column (const AprServeModel *self, const char *name, gsize *column);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprServeModel, apr_serve_model_unref)

/* The models that are served, by name. Any thread may look one up, while one thread loads files again. */
typedef struct _AprServeModels AprServeModels;

AprServeModels *apr_serve_models_new (void);
void apr_serve_models_free (AprServeModels *self);

/* Adds a model, before the first request. Fails if its file cannot be loaded, or the name is there already. */
gboolean apr_serve_models_add (AprServeModels *self, const char *name, const char *path, GError **error);

/* Loads a model's file again. If that fails, the model stays as it was, and the failure is counted. */
gboolean apr_serve_models_reload (AprServeModels *self, guint index, GError **error);

guint apr_serve_models_get_size (AprServeModels *self);
const char *apr_serve_models_get_path (AprServeModels *self, guint index);
guint64 apr_serve_models_get_n_failures (AprServeModels *self, guint index);
AprServeModel *apr_serve_models_get (AprServeModels *self, guint index);

/* @name is NULL for the only model. Returns NULL with %G_IO_ERROR_NOT_FOUND if there is no
 * such model. */
AprServeModel *apr_serve_models_find (AprServeModels *self, const char *name, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AprServeModels, apr_serve_models_free)

G_END_DECLS
