/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-products-private.h"

G_BEGIN_DECLS

/* Returns whether it is proven that no samples have such products of the features that are not @excluded, and which
 * feature shows it: some combination of it with others has a negative sum of squares. A factorisation in double tells
 * where to look, so %FALSE says nothing; the proof is in whole numbers, so %TRUE is never wrong. Where @run is
 * cancelled, the answer means nothing. */
gboolean apr_products_prove_indefinite (const AprProducts *self,
                                        const gboolean *excluded,
                                        const AprRun *run,
                                        gsize *feature);

G_END_DECLS
