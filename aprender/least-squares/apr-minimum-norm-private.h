/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-normal-equations-private.h"

G_BEGIN_DECLS

/* Normal equations whose features depend on each other: of all coefficients that fit equally well, those with the least
 * sum of squares are the solution. */
typedef struct _AprMinimumNorm AprMinimumNorm;

/* Takes the combinations of @equations over. Where @run is cancelled, nothing may be solved. */
AprMinimumNorm *apr_minimum_norm_new (AprNormalEquations *equations, const AprRun *run);

void apr_minimum_norm_free (AprMinimumNorm *self);

/* As apr_normal_equations_solve(), for a target whose column has been scaled. */
gboolean apr_minimum_norm_solve (AprMinimumNorm *self, const AprTarget *target, const AprRun *run);

/* With G the products of all features with the independent ones, and c those of the independent ones with a target: the
 * equations G'G v = c, of which b = G v is the solution of minimum norm. */
typedef struct _AprSquaredEquations AprSquaredEquations;

AprSquaredEquations *
apr_squared_equations_new (const AprNormalEquations *equations, const gsize *features, const AprRun *run);

void apr_squared_equations_free (AprSquaredEquations *self);

/* As above, for the features that @self was made with. */
gboolean apr_squared_equations_solve (AprSquaredEquations *self, const AprTarget *target, const AprRun *run);

G_END_DECLS
