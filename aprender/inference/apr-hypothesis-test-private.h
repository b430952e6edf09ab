/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/inference/apr-hypothesis-test.h"

G_BEGIN_DECLS

struct _AprHypothesisTest
{
  GObject parent_instance;

  double f_statistic;
  double f_p_value;
  guint64 df_hypothesis;
  guint64 df_residual;

  /* By hypothesis: what makes the test fills these in. */
  double *estimates;       /* (unowned) the memory of the tensor */
  double *standard_errors; /* (unowned) */
  double *t_values;        /* (unowned) */
  double *p_values;        /* (unowned) */
  AprTensor *vectors[4];   /* (owned) */
};

/* With NaN for all numbers but the degrees of freedom. */
AprHypothesisTest *apr_hypothesis_test_new (gsize n_hypotheses, guint64 df_residual);

G_END_DECLS
