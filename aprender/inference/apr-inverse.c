/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/inference/apr-inverse-private.h"

#include <math.h>

#include "aprender/base/apr-pages-private.h"
#include "aprender/least-squares/apr-products-private.h"

/* As those of columns of doubles are; sums that contradict each other may have others. */
static gboolean
are_solutions_finite (const AprInverse *self)
{
  gsize target;
  gsize i;

  for (target = 0; target < self->n_targets; target++)
    for (i = 0; i < self->n; i++)
      if (!isfinite (apr_double_doubles_get (self->solutions, target, i).high))
        return FALSE;

  return TRUE;
}

gboolean
apr_inverse_init (AprInverse *self, const AprDesign *design, const AprRun *run)
{
  const AprDoubleDoubleKernel *kernel =
    self->kernel != NULL ? self->kernel : apr_double_double_kernel_choose ();
  gsize target;

  *self = (AprInverse){
    .kernel = kernel, .n = design->n, .n_targets = design->n_targets, .n_right = design->n_columns - design->n
  };
  self->residuals = g_new (mpf_t, self->n_targets);
  self->exact = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_set_size (self->exact, (gint) self->n_targets);
  for (target = 0; target < self->n_targets; target++)
    mpf_init2 (self->residuals[target], 64);

  if (!apr_inverse_factorise (self, design, run) &&
      (apr_run_is_cancelled (run) || !apr_inverse_factorise_long (self, design, run)))
    return FALSE;
  if (!are_solutions_finite (self))
    return FALSE;
  apr_run_report (run, 0.6);

  /* Where little of a target is left, rounding may be most of it. */
  for (target = 0; target < self->n_targets; target++)
    if (mpf_sgn (self->residuals[target]) < 0 && !apr_inverse_refine (self, design, target, run))
      {
        /* Of the ones no more need be known than that little is left of them, and rounding may leave less than that. */
        if ((target != design->ones && !design->rounded) || apr_run_is_cancelled (run))
          return FALSE;
        mpf_set_ui (self->residuals[target], 0);
      }
  g_clear_pointer (&self->factor, apr_ldlt_free);
  apr_run_report (run, 0.7);

  return apr_inverse_square_root (self, run);
}

void
apr_inverse_clear (AprInverse *self)
{
  gsize target;

  apr_double_doubles_free (&self->root);
  apr_double_doubles_free (&self->solutions);
  g_clear_pointer (&self->factor, apr_ldlt_free);
  g_clear_pointer (&self->inverse, apr_pages_free);
  for (target = 0; target < self->n_targets && self->residuals != NULL; target++)
    mpf_clear (self->residuals[target]);
  g_clear_pointer (&self->residuals, g_free);
  g_clear_pointer (&self->exact, g_ptr_array_unref);
}

void
apr_inverse_multiply_root (const AprInverse *self, const AprDoubleDouble *u, AprDoubleDouble *product)
{
  gsize i;
  gsize j;

  for (i = 0; i < self->n; i++)
    {
      product[i] = (AprDoubleDouble){ 0, 0 };
      for (j = 0; j <= i; j++)
        product[i] =
          apr_dd_add (product[i], apr_dd_multiply (apr_double_doubles_get (self->root, i, j), u[j]));
    }
}
