/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "tests/apr-test.h"

#include <errno.h>
#include <math.h>

#include "aprender/table/apr-arrow-column-private.h"

/* A stream of Arrow as a producer makes one by hand, and as no producer should. bindings/python has those of
 * pyarrow. */

#define MAX_COLUMNS 4

typedef struct _Producer Producer;

struct _Producer
{
  const char *formats[MAX_COLUMNS];
  const char *names[MAX_COLUMNS];
  gconstpointer values[MAX_COLUMNS]; /* of all batches */
  gsize widths[MAX_COLUMNS];         /* bytes of a value; 0 for bits */
  gint64 n_columns;
  gint64 n_rows; /* of a batch */
  guint n_batches;
  void (*spoil_schema) (AprArrowSchema *schema); /* (nullable) */
  void (*spoil) (AprArrowArray *batch);          /* (nullable) the second batch */
  int status;                                    /* of what follows the batches */

  guint n_made;
  gboolean ended; /* what comes then is not said: nobody may ask */
  guint n_alive;  /* structures that are not released yet */
};

static void
release_schema (AprArrowSchema *self)
{
  guint *n_alive = self->private_data;

  --*n_alive;
  self->release = NULL;
}

static void
release_array (AprArrowArray *self)
{
  Producer *producer = self->private_data;

  producer->n_alive--;
  self->release = NULL;
}

static AprArrowSchema schemas[MAX_COLUMNS];
static AprArrowSchema *schema_children[MAX_COLUMNS];
static AprArrowArray arrays[MAX_COLUMNS];
static AprArrowArray *array_children[MAX_COLUMNS];
static const void *buffers[MAX_COLUMNS][2];
static const void *no_buffers[1];

static int
get_schema (AprArrowArrayStream *self, AprArrowSchema *schema)
{
  Producer *producer = self->private_data;
  gint64 i;

  for (i = 0; i < producer->n_columns; i++)
    {
      schemas[i] = (AprArrowSchema){ .format = producer->formats[i],
                                     .name = producer->names[i],
                                     .release = release_schema };
      schema_children[i] = &schemas[i];
    }
  producer->n_alive++;
  *schema = (AprArrowSchema){ .format = "+s",
                              .n_children = producer->n_columns,
                              .children = schema_children,
                              .release = release_schema,
                              .private_data = &producer->n_alive };
  if (producer->spoil_schema != NULL)
    producer->spoil_schema (schema);

  return 0;
}

static int
get_next (AprArrowArrayStream *self, AprArrowArray *batch)
{
  Producer *producer = self->private_data;
  guint n_before = producer->n_made * (guint) producer->n_rows;
  gint64 i;

  g_assert_false (producer->ended);
  if (producer->n_made == producer->n_batches)
    {
      producer->ended = TRUE;
      *batch = (AprArrowArray){ 0 };
      return producer->status;
    }

  for (i = 0; i < producer->n_columns; i++)
    {
      gsize width = producer->widths[i];
      gint64 offset = width == 0 ? n_before : 0;

      buffers[i][0] = NULL;
      buffers[i][1] = (const guint8 *) producer->values[i] + n_before * width;
      arrays[i] = (AprArrowArray){ .length = producer->n_rows,
                                   .offset = offset,
                                   .n_buffers = 2,
                                   .buffers = buffers[i],
                                   .release = release_array };
      array_children[i] = &arrays[i];
    }
  *batch = (AprArrowArray){ .length = producer->n_rows,
                            .n_buffers = 1,
                            .buffers = no_buffers,
                            .n_children = producer->n_columns,
                            .children = array_children,
                            .release = release_array,
                            .private_data = producer };
  producer->n_alive++;
  producer->n_made++;
  if (producer->spoil != NULL && producer->n_made == 2)
    producer->spoil (batch);

  return 0;
}

static const char *
get_last_error (AprArrowArrayStream *self G_GNUC_UNUSED)
{
  return "the disk is gone";
}

static void
release_stream (AprArrowArrayStream *self)
{
  Producer *producer = self->private_data;

  producer->n_alive--;
  self->release = NULL;
}

static AprArrowArrayStream
open_stream (Producer *producer)
{
  producer->n_alive = 1;
  producer->n_made = 0;
  producer->ended = FALSE;

  return (AprArrowArrayStream){ get_schema, get_next, get_last_error, release_stream, producer };
}

static const double a_values[] = { 1, 2, 3, 4, 5, 6 };
static const gint32 b_values[] = { 7, -1, 4, 2, -9, 3 };
static const double y_values[] = { 0.5, 1, -2, 4, 8, 16 };
static const double w_values[] = { 1, 2, 1, 0, 1, 0.5 };
static const char *const targets[] = { "y", NULL };

static Producer
make_producer (void)
{
  return (Producer){ .formats = { "g", "i", "g", "g" },
                     .names = { "a", "y", "b", "w" },
                     .values = { a_values, b_values, y_values, w_values },
                     .widths = { 8, 4, 8, 8 },
                     .n_columns = 3,
                     .n_rows = 3,
                     .n_batches = 2 };
}

/* The state of the same numbers in tensors; y are the integers. */
static AprCrossProducts *
make_expected (const double *weights)
{
  const double x[] = { 1, 0.5, 2, 1, 3, -2, 4, 4, 5, 8, 6, 16 };
  const double y[] = { 7, -1, 4, 2, -9, 3 };
  const char *const names[] = { "a", "b", NULL };
  g_autoptr (AprTensor) x_tensor = matrix_new (6, 2, x);
  g_autoptr (AprTensor) y_tensor = vector_new (6, y);
  g_autoptr (AprTensor) w_tensor = weights != NULL ? vector_new (6, weights) : NULL;
  g_autoptr (GError) error = NULL;
  AprCrossProducts *state = apr_cross_products_new (2, 1, &error);

  g_assert_true (apr_cross_products_update (state, x_tensor, y_tensor, w_tensor, NULL, &error));
  g_assert_true (apr_cross_products_set_feature_names (state, names, &error));
  g_assert_true (apr_cross_products_set_target_names (state, targets, &error));
  g_assert_no_error (error);

  return state;
}
