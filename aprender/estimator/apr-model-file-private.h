/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib-object.h>

/* What the metadata of a model's file are called. The subclass's tensors stand there by the names that it gives
 * them; the rest is metadata, each key with this prefix, because some readers take the bare keys “dtype”, “shape”
 * and “data_offsets” for a tensor's. */
#define APR_MODEL_PREFIX "aprender."
#define APR_MODEL_KEY APR_MODEL_PREFIX "model"
#define APR_MODEL_KEY_FORMAT APR_MODEL_PREFIX "format"
#define APR_MODEL_FORMAT "1"

/* What follows the key of a hyper-parameter, a string that is NULL. No property has a point in its name. */
#define APR_MODEL_SUFFIX_UNSET ".unset"

/* Of the models whose results the base class keeps: others tell these numbers from their tensors. */
#define APR_MODEL_KEY_N_FEATURES APR_MODEL_PREFIX "n_features"
#define APR_MODEL_KEY_N_TARGETS APR_MODEL_PREFIX "n_targets"

/* The key of a part of the file, whose keys and tensors begin with @prefix. Returns: (transfer full) */
char *apr_model_key_new (const char *prefix, const char *key);

/* What files call a type. Returns: (transfer full) */
char *apr_model_name_new (GType type);
