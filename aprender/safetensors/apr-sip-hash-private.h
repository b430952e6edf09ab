/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <string.h>

/*
 * SipHash by Jean-Philippe Aumasson and Daniel J. Bernstein ("SipHash: a fast short-input PRF", 2012): a keyed hash, so
 * that nobody can make names that collide. The paper uses 2 and 4 rounds; 1 and 3 are enough against that.
 */

static inline guint64
apr_sip_rotate (guint64 word, guint bits)
{
  return (word << bits) | (word >> (64 - bits));
}

static inline void
apr_sip_rounds (guint64 v[4], guint n_rounds)
{
  for (; n_rounds > 0; n_rounds--)
    {
      v[0] += v[1];
      v[2] += v[3];
      v[1] = apr_sip_rotate (v[1], 13) ^ v[0];
      v[3] = apr_sip_rotate (v[3], 16) ^ v[2];
      v[0] = apr_sip_rotate (v[0], 32);
      v[2] += v[1];
      v[0] += v[3];
      v[1] = apr_sip_rotate (v[1], 17) ^ v[2];
      v[3] = apr_sip_rotate (v[3], 21) ^ v[0];
      v[2] = apr_sip_rotate (v[2], 32);
    }
}

static inline guint64
apr_sip_hash (const guint64 key[2], const char *data, gsize length, guint rounds, guint final_rounds)
{
  guint64 v[4] = { key[0] ^ G_GUINT64_CONSTANT (0x736f6d6570736575),
                   key[1] ^ G_GUINT64_CONSTANT (0x646f72616e646f6d),
                   key[0] ^ G_GUINT64_CONSTANT (0x6c7967656e657261),
                   key[1] ^ G_GUINT64_CONSTANT (0x7465646279746573) };
  guint64 word;
  gsize left;

  for (left = length; left >= 8; left -= 8, data += 8)
    {
      memcpy (&word, data, 8);
      word = GUINT64_FROM_LE (word);
      v[3] ^= word;
      apr_sip_rounds (v, rounds);
      v[0] ^= word;
    }
  word = 0;
  memcpy (&word, data, left);
  word = GUINT64_FROM_LE (word) | (guint64) length << 56;
  v[3] ^= word;
  apr_sip_rounds (v, rounds);
  v[0] ^= word;
  v[2] ^= 0xff;
  apr_sip_rounds (v, final_rounds);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}
