/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/exact-sums/apr-exact-sums-private.h"

G_BEGIN_DECLS

/* The nanoseconds that threads together take to read memory once. */
double machine_time_reading (const void *memory, gsize n_bytes, guint n_threads);

/* The nanoseconds that a word takes from one thread to another and back, at least: some 50 where processors share a
 * cache, and 300 where they do not. */
double machine_time_round_trip (void);

/* The products of two numbers that threads together take to exact sums, or sums in double, in a second: by the kernel
 * that serves X and y at its best, with panels in a near cache, and as many moduli as it takes for them. */
double machine_measure_products (
  const AprSumsKernel *kernel, AprPrecision precision, AprTensor *x, AprTensor *y, guint n_threads);

/* The values that threads together cut for these products in a second, to residues, bytes or numbers of fixed point, at
 * the best of that kernel, with all of it in a near cache; infinity where they are multiplied as they are. */
double machine_measure_cutting (
  const AprSumsKernel *kernel, AprPrecision precision, AprTensor *x, AprTensor *y, guint n_threads);

G_END_DECLS
