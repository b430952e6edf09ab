/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/least-squares/apr-limbs-private.h"

G_BEGIN_DECLS

/* A vector of fixed-point numbers, long enough for residuals without rounding: in two's complement, the least
 * significant limb first, in units of 2^-@fraction. Arithmetic is modulo the length of a number, so that only the
 * final sum has to fit. */
typedef struct
{
  gsize n;
  gsize n_limbs;    /* of each number */
  gint64 fraction;  /* fraction bits; negative where the unit is above 1 */
  mp_limb_t *limbs; /* (owned) */
} AprFixed;

/* Makes @n zeros with room for magnitudes below 2^@whole. */
void apr_fixed_init (AprFixed *self, gsize n, gint64 fraction, gint64 whole);

void apr_fixed_clear (AprFixed *self);

static inline const mp_limb_t *
apr_fixed_get (const AprFixed *self, gsize i)
{
  return self->limbs + i * self->n_limbs;
}

/* Returns b such that number @i is at most 2^b, or %G_MININT64 where it is 0. */
gint64 apr_fixed_get_exponent (const AprFixed *self, gsize i);

/* Returns number @i times 2^-@exponent, converted from more bits than a double has. */
double apr_fixed_get_double (const AprFixed *self, gsize i, gint64 exponent);

/* Adds @value 2^@exponent to number @i, rounded down to the unit; @value has @n limbs in two's complement. */
void apr_fixed_add (AprFixed *self, gsize i, const mp_limb_t *value, gsize n, gint64 exponent);

/* A short vector that is added to a long one: whole numbers below 2^62 in units of 2^-@place. */
typedef struct
{
  gsize n;
  gint64 *values; /* (owned) */
  gint64 place;
} AprCorrection;

void apr_correction_init (AprCorrection *self, gsize n);

void apr_correction_clear (AprCorrection *self);

/* Rounds @values 2^@exponent to multiples of one unit: that of 55 bits of the largest, but none finer than
 * 2^-@max_place. Returns: whether the largest is below 2^@whole, and is not rounded to 0 */
gboolean apr_correction_set (
  AprCorrection *self, const double *values, gint64 exponent, gint64 max_place, gint64 whole);

/* Adds @sign times the correction times 2^@exponent. */
void apr_fixed_add_correction (AprFixed *self, const AprCorrection *correction, gint64 exponent, gint sign);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprFixed, apr_fixed_clear)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AprCorrection, apr_correction_clear)

G_END_DECLS
