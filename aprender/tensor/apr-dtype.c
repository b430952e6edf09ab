/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "aprender/tensor/apr-dtype.h"

#include <string.h>

G_DEFINE_ENUM_TYPE (AprDType,
                    apr_dtype,
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_NONE, "none"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_BOOL, "bool"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_F4, "f4"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_F6_E2M3, "f6-e2m3"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_F6_E3M2, "f6-e3m2"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_U8, "u8"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_I8, "i8"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_F8_E5M2, "f8-e5m2"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_F8_E4M3, "f8-e4m3"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_F8_E8M0, "f8-e8m0"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_F8_E4M3FNUZ, "f8-e4m3fnuz"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_F8_E5M2FNUZ, "f8-e5m2fnuz"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_I16, "i16"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_U16, "u16"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_F16, "f16"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_BF16, "bf16"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_I32, "i32"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_U32, "u32"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_F32, "f32"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_C64, "c64"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_F64, "f64"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_I64, "i64"),
                    G_DEFINE_ENUM_VALUE (APR_DTYPE_U64, "u64"))

static const struct
{
  const char *name;
  guint bits;
} dtypes[] = {
  [APR_DTYPE_NONE] = { "NONE", 0 },
  [APR_DTYPE_BOOL] = { "BOOL", 8 },
  [APR_DTYPE_F4] = { "F4", 4 },
  [APR_DTYPE_F6_E2M3] = { "F6_E2M3", 6 },
  [APR_DTYPE_F6_E3M2] = { "F6_E3M2", 6 },
  [APR_DTYPE_U8] = { "U8", 8 },
  [APR_DTYPE_I8] = { "I8", 8 },
  [APR_DTYPE_F8_E5M2] = { "F8_E5M2", 8 },
  [APR_DTYPE_F8_E4M3] = { "F8_E4M3", 8 },
  [APR_DTYPE_F8_E8M0] = { "F8_E8M0", 8 },
  [APR_DTYPE_F8_E4M3FNUZ] = { "F8_E4M3FNUZ", 8 },
  [APR_DTYPE_F8_E5M2FNUZ] = { "F8_E5M2FNUZ", 8 },
  [APR_DTYPE_I16] = { "I16", 16 },
  [APR_DTYPE_U16] = { "U16", 16 },
  [APR_DTYPE_F16] = { "F16", 16 },
  [APR_DTYPE_BF16] = { "BF16", 16 },
  [APR_DTYPE_I32] = { "I32", 32 },
  [APR_DTYPE_U32] = { "U32", 32 },
  [APR_DTYPE_F32] = { "F32", 32 },
  [APR_DTYPE_C64] = { "C64", 64 },
  [APR_DTYPE_F64] = { "F64", 64 },
  [APR_DTYPE_I64] = { "I64", 64 },
  [APR_DTYPE_U64] = { "U64", 64 },
};

/**
 * apr_dtype_get_bits:
 * @dtype: a dtype
 *
 * Gets the size of one element.
 *
 * This is not always a whole number of bytes: two F4 share a byte, and four F6 share three.
 *
 * Returns: the number of bits; 0 for %APR_DTYPE_NONE
 *
 * Since: 0.1
 */
guint
apr_dtype_get_bits (AprDType dtype)
{
  g_return_val_if_fail ((guint) dtype < G_N_ELEMENTS (dtypes), 0);

  return dtypes[dtype].bits;
}

/**
 * apr_dtype_to_string:
 * @dtype: a dtype
 *
 * Gets the name that the SafeTensors format uses, such as `F32` or `F8_E4M3`.
 *
 * Returns: (transfer none): the name; `NONE` for %APR_DTYPE_NONE, which no file contains
 *
 * Since: 0.1
 */
const char *
apr_dtype_to_string (AprDType dtype)
{
  g_return_val_if_fail ((guint) dtype < G_N_ELEMENTS (dtypes), NULL);

  return dtypes[dtype].name;
}

/**
 * apr_dtype_from_string:
 * @name: a name as the SafeTensors format spells it
 * @dtype: (out): the dtype
 * @error: return location for an error
 *
 * Looks up a dtype by the name that [func@Apr.DType.to_string] returns.
 *
 * Fails with %APR_ERROR_DTYPE if no dtype has this name.
 *
 * Returns: whether there is such a dtype
 *
 * Since: 0.1
 */
gboolean
apr_dtype_from_string (const char *name, AprDType *dtype, GError **error)
{
  guint i;

  g_return_val_if_fail (name != NULL, FALSE);
  g_return_val_if_fail (dtype != NULL, FALSE);

  for (i = APR_DTYPE_BOOL; i < G_N_ELEMENTS (dtypes); i++)
    if (strcmp (name, dtypes[i].name) == 0)
      {
        *dtype = (AprDType) i;
        return TRUE;
      }

  g_set_error (error, APR_ERROR, APR_ERROR_DTYPE, "No dtype is called “%s”", name);
  return FALSE;
}
