/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "aprender/base/apr-cpu.h"

G_BEGIN_DECLS

/* Instruction sets that kernels are written for, each faster than those before it. Every family of kernels has a
 * table of them by instruction set, with %NULL where it has none of its own; all kernels of a family give the same
 * bits. */
typedef enum
{
  APR_CPU_PORTABLE,
  APR_CPU_NEON,        /* arm64's vectors of 128 bits */
  APR_CPU_DOTPROD,     /* with products of bytes */
  APR_CPU_I8MM,        /* with products of matrices of bytes, and those */
  APR_CPU_AVX2,        /* with FMA */
  APR_CPU_AVX_VNNI,    /* with products of bytes */
  APR_CPU_AVX512,      /* F, DQ, BW and VL */
  APR_CPU_AVX512_DOT,  /* with VNNI: products that are added at once */
  APR_CPU_AVX512_VNNI, /* with VBMI and IFMA, too: products of bytes */
  APR_CPU_AMX,         /* tiles of bytes, with AVX-512 VBMI */
  APR_CPU_N_SETS,
} AprCpuSet;

/* Whether this build has kernels for the instruction set, and this processor runs it. */
gboolean apr_cpu_has (AprCpuSet set);

/* The fastest instruction set that kernels may use: what APRENDER_KERNEL says, else what the processor has. */
AprCpuSet apr_cpu_get_limit (void);

/* For tests, the instruction set that a value of APRENDER_KERNEL stands for; with a warning where it is none. */
AprCpuSet apr_cpu_parse_limit (const char *value);

/* Defines two functions of a family of kernels, whose table is @table[APR_CPU_N_SETS]: NAME_choose () returns the one
 * that runs, NAMEs () all that can run on this processor, the fastest first, NULL-terminated. */
#define APR_DEFINE_KERNELS(Type, name, table)                   \
 const Type *name##_choose (void)                               \
 {                                                              \
  AprCpuSet set = apr_cpu_get_limit ();                         \
                                                                \
  while ((table)[set] == NULL || !apr_cpu_has (set))            \
   set--;                                                       \
                                                                \
  return (table)[set];                                          \
 }                                                              \
                                                                \
 const Type *const *name##s (void)                              \
 {                                                              \
  static const Type *kernels[APR_CPU_N_SETS + 1];               \
  static gsize initialized = 0;                                 \
                                                                \
  if (g_once_init_enter (&initialized))                         \
   {                                                            \
    guint n = 0;                                                \
    guint set;                                                  \
                                                                \
    for (set = APR_CPU_N_SETS; set-- > 0;)                      \
     if ((table)[set] != NULL && apr_cpu_has ((AprCpuSet) set)) \
      kernels[n++] = (table)[set];                              \
    g_once_init_leave (&initialized, 1);                        \
   }                                                            \
                                                                \
  return kernels;                                               \
 }

G_END_DECLS
