/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/inference/apr-term.h"

G_BEGIN_DECLS

/* The values of a term, in the order of the properties. */
enum
{
  APR_TERM_ESTIMATE,
  APR_TERM_STANDARD_ERROR,
  APR_TERM_T_VALUE,
  APR_TERM_P_VALUE,
  APR_TERM_LOWER,
  APR_TERM_UPPER,
  APR_TERM_N_VALUES,
};

AprTerm *apr_term_new (const char *name, const double values[APR_TERM_N_VALUES]);

G_END_DECLS
