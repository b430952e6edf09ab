/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/header-test.h"

static void
test_duplicate_name (void)
{
  static const Verdict verdicts[] = {
    { "{\"a\":" T ",\"a\":" T "}", 8, APR_SAFETENSORS_ERROR_DUPLICATE, "“a”" },
    { "{\"a\":" T ",\"\\u0061\":" T "}", 8, APR_SAFETENSORS_ERROR_DUPLICATE, "“a”" },
    { "{\"\\u0061\":" T ",\"a\":" T "}", 8, APR_SAFETENSORS_ERROR_DUPLICATE, "“a”" },
    { "{\"\":" T ",\"\":" T "}", 8, APR_SAFETENSORS_ERROR_DUPLICATE, "“”" },
    { "{\"a\":" T ",\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}", 16,
      APR_SAFETENSORS_ERROR_DUPLICATE, "“a”" },
    { "{\"__metadata__\":{},\"__metadata__\":{}}", 0, APR_SAFETENSORS_ERROR_DUPLICATE, "“__metadata__”" },
    { "{\"__metadata__\":null,\"__metadata\\u005f_\":null}", 0, APR_SAFETENSORS_ERROR_DUPLICATE,
      "“__metadata__”" },
    { "{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, APR_SAFETENSORS_ERROR_DUPLICATE, "“k”" },
    { "{\"__metadata__\":{\"k\":\"1\",\"\\u006b\":\"1\"}}", 0, APR_SAFETENSORS_ERROR_DUPLICATE, "“k”" },
    { "{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
      APR_SAFETENSORS_ERROR_DUPLICATE, "“a”: two fields are called “dtype”" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"sh\\u0061pe\":[2],\"data_offsets\":[0,8]}}", 8,
      APR_SAFETENSORS_ERROR_DUPLICATE, "“shape”" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"data_offsets\":[0,8]}}", 8,
      APR_SAFETENSORS_ERROR_DUPLICATE, "“data_offsets”" },
    { "{\"a\":" T ",\"A\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[8,8]}}", 8, GOOD, NULL },
  };

  check_verdicts (verdicts, G_N_ELEMENTS (verdicts));
}

static void
test_fields (void)
{
  static const Verdict verdicts[] = {
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":[1,{\"y\":null}],\"x\":1.5}}", 8,
      GOOD, NULL },
    { "{\"a\":{\"data_offsets\":[0,8],\"extra\":{},\"shape\":[2],\"dtype\":\"F32\"}}", 8, GOOD, NULL },
    { "{\"a\":{\"d\\u0074ype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, GOOD, NULL },
    { "{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_FIELD,
      "“a”: no field “dtype”" },
    { "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_FIELD,
      "“a”: no field “shape”" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, APR_SAFETENSORS_ERROR_FIELD,
      "“a”: no field “data_offsets”" },
    { "{\"a\":{}}", 8, APR_SAFETENSORS_ERROR_FIELD, "“a”: no field “dtype”" },
    { "{\"a\":[\"F32\",[2],[0,8]]}", 8, APR_SAFETENSORS_ERROR_FIELD,
      "“a”: the entry is an array, not an object" },
    { "{\"a\":null}", 8, APR_SAFETENSORS_ERROR_FIELD, "“a”: the entry is null" },
    { "{\"a\":\"x\"}", 8, APR_SAFETENSORS_ERROR_FIELD, "“a”: the entry is a string" },
    { "{\"a\":12}", 8, APR_SAFETENSORS_ERROR_FIELD, "“a”: the entry is 12" },
    { "{\"a\":{\"dtype\":{\"F32\":null},\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
      APR_SAFETENSORS_ERROR_FIELD, "“a”: dtype is an object, not a string" },
    { "{\"a\":{\"dtype\":{\"F32\":[]},\"shape\":[2],\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_FIELD,
      "“a”" },
    { "{\"a\":{\"dtype\":{\"F32\":{}},\"shape\":[2],\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_FIELD,
      "“a”" },
    { "{\"a\":{\"dtype\":7,\"shape\":[2],\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_FIELD,
      "“a”: dtype is 7, not a string" },
    { "{\"a\":{\"dtype\":true,\"shape\":[2],\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_FIELD,
      "“a”: dtype is a truth value" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}}", 8, APR_SAFETENSORS_ERROR_FIELD,
      "“a”: data_offsets holds 1 numbers, not 2" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[]}}", 8, APR_SAFETENSORS_ERROR_FIELD,
      "holds 0" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8,8]}}", 8, APR_SAFETENSORS_ERROR_FIELD,
      "holds 3" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":{\"begin\":0,\"end\":8}}}", 8,
      APR_SAFETENSORS_ERROR_FIELD, "“a”: data_offsets is an object, not an array" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[\"0\",\"8\"]}}", 8,
      APR_SAFETENSORS_ERROR_FIELD, "“a”: data_offsets holds a string" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_FIELD,
      "“a”: shape is 2, not an array" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":{},\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_FIELD,
      "an object" },
  };

  check_verdicts (verdicts, G_N_ELEMENTS (verdicts));
}

static void
test_dtype (void)
{
  static const Verdict verdicts[] = {
    { "{\"a\":{\"dtype\":\"\\u004632\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, GOOD, NULL },
    { "{\"a\":{\"dtype\":\"f32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_DTYPE,
      "“a”: unknown dtype “f32”" },
    { "{\"a\":{\"dtype\":\"F33\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_DTYPE,
      "“F33”" },
    { "{\"a\":{\"dtype\":\"F3\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_DTYPE,
      "“F3”" },
    { "{\"a\":{\"dtype\":\"F32 \",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_DTYPE,
      "“F32 ”" },
    { "{\"a\":{\"dtype\":\"F32\\u0000\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
      APR_SAFETENSORS_ERROR_DTYPE, "“F32\\u0000”" },
    { "{\"a\":{\"dtype\":\"\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_DTYPE, "“”" },
    { "{\"a\":{\"dtype\":\"NONE\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, APR_SAFETENSORS_ERROR_DTYPE,
      "“NONE”" },
  };

  check_verdicts (verdicts, G_N_ELEMENTS (verdicts));
}

static void
test_every_dtype (void)
{
  static const struct
  {
    const char *name;
    guint bytes_of_eight;
  } dtypes[] = {
    { "BOOL", 8 }, { "F4", 4 },      { "F6_E2M3", 6 },     { "F6_E3M2", 6 },     { "U8", 8 },
    { "I8", 8 },   { "F8_E5M2", 8 }, { "F8_E4M3", 8 },     { "F8_E8M0", 8 },     { "I16", 16 },
    { "U16", 16 }, { "F16", 16 },    { "F8_E4M3FNUZ", 8 }, { "F8_E5M2FNUZ", 8 }, { "BF16", 16 },
    { "I32", 32 }, { "U32", 32 },    { "F32", 32 },        { "C64", 64 },        { "F64", 64 },
    { "I64", 64 }, { "U64", 64 },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (dtypes); i++)
    {
      g_autofree char *text =
        g_strdup_printf ("{\"a\":{\"dtype\":\"%s\",\"shape\":[2,4],\"data_offsets\":[0,%u]}}", dtypes[i].name,
                         dtypes[i].bytes_of_eight);
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsHeader) header = parse (text, strlen (text), dtypes[i].bytes_of_eight, &error);

      g_assert_no_error (error);
      g_assert_cmpstr (apr_dtype_to_string (apr_safetensors_header_find (header, "a")->dtype), ==,
                       dtypes[i].name);
    }
}

static void
test_shape_numbers (void)
{
  static const struct
  {
    const char *shape;
    int code;
    const char *message;
  } cases[] = {
    { "[2]", GOOD, NULL },
    { "[ 1 , 2\n]", GOOD, NULL },
    { "[2.0]", APR_SAFETENSORS_ERROR_FIELD, "“w”: shape holds 2.0, not a whole number from 0" },
    { "[2e0]", APR_SAFETENSORS_ERROR_FIELD, "“w”: shape holds 2e0" },
    { "[-0]", APR_SAFETENSORS_ERROR_FIELD, "“w”: shape holds -0" },
    { "[1,-1]", APR_SAFETENSORS_ERROR_FIELD, "“w”: shape holds -1" },
    { "[02]", APR_SAFETENSORS_ERROR_SYNTAX, "leading zero" },
    { "[\"2\"]", APR_SAFETENSORS_ERROR_FIELD, "“w”: shape holds a string" },
    { "[true]", APR_SAFETENSORS_ERROR_FIELD, "“w”: shape holds a truth value" },
    { "[null]", APR_SAFETENSORS_ERROR_FIELD, "“w”: shape holds null" },
    { "[[2]]", APR_SAFETENSORS_ERROR_FIELD, "“w”: shape holds an array" },
    { "[{}]", APR_SAFETENSORS_ERROR_FIELD, "“w”: shape holds an object" },
    { "[18446744073709551616]", APR_SAFETENSORS_ERROR_OVERFLOW, "“w”: shape holds 18446744073709551616" },
    { "[99999999999999999999999999]", APR_SAFETENSORS_ERROR_OVERFLOW, "99999999999999999999999999" },
    { "[18446744073709551616e0]", APR_SAFETENSORS_ERROR_FIELD, "18446744073709551616e0" },
    { "[18446744073709551616.0]", APR_SAFETENSORS_ERROR_FIELD, "18446744073709551616.0" },
    { "[1e999]", APR_SAFETENSORS_ERROR_SYNTAX, "range" },
    { "[2", APR_SAFETENSORS_ERROR_FIELD, "“w”: shape holds a string" },
    { "[2,]", APR_SAFETENSORS_ERROR_SYNTAX, "a value" },
    { "[,2]", APR_SAFETENSORS_ERROR_SYNTAX, "a value" },
    { "[2 1]", APR_SAFETENSORS_ERROR_SYNTAX, "“,” or “]”" },
    { "[0x2]", APR_SAFETENSORS_ERROR_SYNTAX, "“,” or “]”" },
    { "[NaN]", APR_SAFETENSORS_ERROR_SYNTAX, "a value" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *shape =
        g_strdup_printf ("{\"w\":{\"dtype\":\"F32\",\"shape\":%s,\"data_offsets\":[0,8]}}", cases[i].shape);
      Verdict verdict = { shape, 8, cases[i].code, cases[i].message };

      check_verdicts (&verdict, 1);
    }
}

static void
test_offset_numbers (void)
{
  static const Verdict verdicts[] = {
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1.0]}}", 1, APR_SAFETENSORS_ERROR_FIELD,
      "“w”: data_offsets holds 1.0" },
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[-0,1]}}", 1, APR_SAFETENSORS_ERROR_FIELD,
      "“w”: data_offsets holds -0" },
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,18446744073709551616]}}", 1,
      APR_SAFETENSORS_ERROR_OVERFLOW, "“w”: data_offsets holds 18446744073709551616" },
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,18446744073709551615]}}", 1,
      APR_SAFETENSORS_ERROR_SIZE_MISMATCH,
      "18446744073709551615 bytes at [0, 18446744073709551615), but U8 [1] needs 1" },
  };

  check_verdicts (verdicts, G_N_ELEMENTS (verdicts));
}

static void
test_sizes (void)
{
  static const Verdict verdicts[] = {
    { "{\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,16]}}", 16,
      APR_SAFETENSORS_ERROR_SIZE_MISMATCH, "tensor “w”: 16 bytes at [0, 16), but F32 [2, 3] needs 24" },
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[0,18446744073709551615],\"data_offsets\":[0,0]}}", 0, GOOD, NULL },
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[18446744073709551615,0],\"data_offsets\":[0,0]}}", 0, GOOD, NULL },
    { "{\"w\":{\"dtype\":\"U64\",\"shape\":[18446744073709551615,0],\"data_offsets\":[0,0]}}", 0, GOOD,
      NULL },
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[0,9223372036854775808,2],\"data_offsets\":[0,0]}}", 0, GOOD,
      NULL },
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[9223372036854775808,2,0],\"data_offsets\":[0,0]}}", 0,
      APR_SAFETENSORS_ERROR_OVERFLOW,
      "“w”: the size of U8 [9223372036854775808, 2, 0] takes more than 64 bits" },
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[2305843009213693952],\"data_offsets\":[0,2305843009213693952]}}",
      0, APR_SAFETENSORS_ERROR_OVERFLOW, "2305843009213693952" },
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[2305843009213693951],\"data_offsets\":[0,2305843009213693951]}}",
      0, APR_SAFETENSORS_ERROR_TRUNCATED,
      "“w”: it ends at byte 2305843009213693951 of the data, but there are only 0" },
    { "{\"w\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, GOOD, NULL },
    { "{\"w\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,0]}}", 0,
      APR_SAFETENSORS_ERROR_SIZE_MISMATCH, "F32 [] needs 4" },
    { "{\"w\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2, APR_SAFETENSORS_ERROR_MISALIGNED,
      "“w”: F4 [3] takes 12 bits" },
    { "{\"w\":{\"dtype\":\"F4\",\"shape\":[],\"data_offsets\":[0,1]}}", 1, APR_SAFETENSORS_ERROR_MISALIGNED,
      "F4 [] takes 4 bits" },
    { "{\"w\":{\"dtype\":\"F4\",\"shape\":[1,3],\"data_offsets\":[0,2]}}", 2,
      APR_SAFETENSORS_ERROR_MISALIGNED, "12 bits" },
    { "{\"w\":{\"dtype\":\"F4\",\"shape\":[1,2],\"data_offsets\":[0,2]}}", 2,
      APR_SAFETENSORS_ERROR_SIZE_MISMATCH, "F4 [1, 2] needs 1" },
    { "{\"w\":{\"dtype\":\"F4\",\"shape\":[1,2],\"data_offsets\":[0,1]}}", 1, GOOD, NULL },
    { "{\"w\":{\"dtype\":\"F6_E2M3\",\"shape\":[4],\"data_offsets\":[0,3]}}", 3, GOOD, NULL },
    { "{\"w\":{\"dtype\":\"F6_E3M2\",\"shape\":[3],\"data_offsets\":[0,3]}}", 3,
      APR_SAFETENSORS_ERROR_MISALIGNED, "18 bits" },
    { "{\"w\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1,2],\"data_offsets\":[0,1]}}", 1,
      APR_SAFETENSORS_ERROR_SIZE_MISMATCH, "… (10 dimensions)]" },
  };

  check_verdicts (verdicts, G_N_ELEMENTS (verdicts));
}

static void
test_offsets (void)
{
#define E(name, begin, end, n) \
 "\"" name "\":{\"dtype\":\"U8\",\"shape\":[" n "],\"data_offsets\":[" begin "," end "]}"
  static const Verdict verdicts[] = {
    { "{" E ("a", "0", "4", "4") "," E ("b", "4", "8", "4") "}", 8, GOOD, NULL },
    { "{" E ("b", "4", "8", "4") "," E ("a", "0", "4", "4") "}", 8, GOOD, NULL },
    { "{" E ("c", "6", "8", "2") "," E ("b", "3", "6", "3") "," E ("a", "0", "3", "3") "}", 8, GOOD, NULL },
    { "{" E ("a", "0", "8", "8") "," E ("z", "8", "8", "0") "}", 8, GOOD, NULL },
    { "{" E ("z", "8", "8", "0") "," E ("a", "0", "8", "8") "}", 8, GOOD, NULL },
    { "{" E ("a", "0", "8", "8") "," E ("z", "0", "0", "0") "}", 8, GOOD, NULL },
    { "{" E ("y", "0", "0", "0") "," E ("z", "0", "0", "0") "}", 0, GOOD, NULL },
    { "{" E ("a", "0", "8", "8") "," E ("z", "4", "4", "0") "}", 8, APR_SAFETENSORS_ERROR_OVERLAP,
      "tensor “z”: [4, 4) overlaps tensor “a” at [0, 8)" },
    { "{" E ("a", "0", "8", "8") "," E ("z", "9", "9", "0") "}", 8, APR_SAFETENSORS_ERROR_GAP,
      "“z”: it begins at byte 9, but the bytes from 8" },
    { "{" E ("a", "1", "8", "7") "}", 8, APR_SAFETENSORS_ERROR_GAP,
      "“a”: it begins at byte 1, but the bytes from 0" },
    { "{" E ("a", "0", "3", "3") "," E ("b", "4", "8", "4") "}", 8, APR_SAFETENSORS_ERROR_GAP,
      "“b”: it begins at byte 4, but the bytes from 3" },
    { "{" E ("a", "0", "4", "4") "," E ("b", "3", "8", "5") "}", 8, APR_SAFETENSORS_ERROR_OVERLAP,
      "“b”: [3, 8) overlaps tensor “a” at [0, 4)" },
    { "{" E ("a", "0", "8", "8") "," E ("b", "0", "8", "8") "}", 8, APR_SAFETENSORS_ERROR_OVERLAP,
      "“a” at [0, 8)" },
    { "{" E ("a", "8", "0", "8") "}", 8, APR_SAFETENSORS_ERROR_OVERLAP,
      "“a”: it ends at byte 0, before it begins at byte 8" },
    { "{" E ("a", "0", "4", "4") "," E ("b", "4", "3", "0") "}", 4, APR_SAFETENSORS_ERROR_OVERLAP,
      "“b”: it ends at byte 3" },
    { "{" E ("a", "0", "8", "8") "}", 7, APR_SAFETENSORS_ERROR_TRUNCATED,
      "“a”: it ends at byte 8 of the data, but there are only 7" },
    { "{" E ("a", "0", "8", "8") "}", 9, APR_SAFETENSORS_ERROR_TRAILING_DATA,
      "“a”: it is the last and ends at byte 8 of the data, but there are 9" },
    { "{}", 3, APR_SAFETENSORS_ERROR_TRAILING_DATA, "3 bytes follow a header without tensors" },
    { "{}", 0, GOOD, NULL },
  };

  check_verdicts (verdicts, G_N_ELEMENTS (verdicts));
#undef E
}

static void
test_grammar (void)
{
  static const Verdict verdicts[] = {
    { "", 0, APR_SAFETENSORS_ERROR_SYNTAX, "header byte 0: expected an object, but the text ends" },
    { "   ", 0, APR_SAFETENSORS_ERROR_SYNTAX, "header byte 3" },
    { "[]", 0, APR_SAFETENSORS_ERROR_SYNTAX, "“[”" },
    { "null", 0, APR_SAFETENSORS_ERROR_SYNTAX, "an object" },
    { "[{}]", 0, APR_SAFETENSORS_ERROR_SYNTAX, "an object" },
    { "{", 0, APR_SAFETENSORS_ERROR_SYNTAX, "header byte 1" },
    { "{}\r \t\n", 0, GOOD, NULL },
    { "\t\n{}\r ", 0, GOOD, NULL },
    { "{ \"a\" : { \"dtype\" : \"F32\" , \"shape\" : [ 2 ] , \"data_offsets\" : [ 0 , 8 ] } }", 8, GOOD,
      NULL },
    { "\xef\xbb\xbf{}", 0, APR_SAFETENSORS_ERROR_SYNTAX, "“\\ufeff”" },
    { "{}{}", 0, APR_SAFETENSORS_ERROR_SYNTAX, "header byte 2: expected only spaces after the header" },
    { "{} x", 0, APR_SAFETENSORS_ERROR_SYNTAX, "header byte 3" },
    { "{}//", 0, APR_SAFETENSORS_ERROR_SYNTAX, "header byte 2" },
    { "/**/{}", 0, APR_SAFETENSORS_ERROR_SYNTAX, "header byte 0" },
    { "{}\f", 0, APR_SAFETENSORS_ERROR_SYNTAX, "header byte 2" },
    { "\f{}", 0, APR_SAFETENSORS_ERROR_SYNTAX, "header byte 0" },
    { "{,}", 0, APR_SAFETENSORS_ERROR_SYNTAX, "header byte 1" },
    { "{\"a\":" T ",}", 8, APR_SAFETENSORS_ERROR_SYNTAX, "a string" },
    { "{\"a\":" T " \"b\":" T "}", 8, APR_SAFETENSORS_ERROR_SYNTAX, "“,” or “}”" },
    { "{\"a\"" T "}", 8, APR_SAFETENSORS_ERROR_SYNTAX, "“:”" },
    { "{'a':" T "}", 8, APR_SAFETENSORS_ERROR_SYNTAX, "header byte 1" },
    { "{a:" T "}", 8, APR_SAFETENSORS_ERROR_SYNTAX, "header byte 1" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],}}", 8, APR_SAFETENSORS_ERROR_SYNTAX,
      "a string" },
    { "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]", 8, APR_SAFETENSORS_ERROR_SYNTAX,
      "“,” or “}”" },
    { "{\"a\":{\"dtype\" \"F32\"}}", 8, APR_SAFETENSORS_ERROR_SYNTAX, "“:”" },
    { "{\"a\":{\"dtype\":}}", 8, APR_SAFETENSORS_ERROR_SYNTAX, "a value" },
    { "{\"a\":@}", 8, APR_SAFETENSORS_ERROR_SYNTAX, "“@”" },
    { "{\"__metadata__\" {}}", 0, APR_SAFETENSORS_ERROR_SYNTAX, "“:”" },
    { "{\"__metadata__\":{\"a\" \"b\"}}", 0, APR_SAFETENSORS_ERROR_SYNTAX, "“:”" },
    { "{\"__metadata__\":{\"a\":\"b\"", 0, APR_SAFETENSORS_ERROR_SYNTAX, "“,” or “}”" },
    { "{\"__metadata__\":{\"a\":\"b\",}}", 0, APR_SAFETENSORS_ERROR_SYNTAX, "a string" },
    { "{\"__metadata__\":{\"a\":}}", 0, APR_SAFETENSORS_ERROR_SYNTAX, "a value" },
    { "{\"__metadata__\":{\"a\":\"\n\"}}", 0, APR_SAFETENSORS_ERROR_SYNTAX, "0x0a" },
    { "{\"__metadata__\":nul}", 0, APR_SAFETENSORS_ERROR_SYNTAX, "a value" },
  };

  check_verdicts (verdicts, G_N_ELEMENTS (verdicts));
}

static void
test_names (void)
{
  static const Verdict verdicts[] = {
    { "{\"\":" T "}", 8, GOOD, NULL },
    { "{\"a/b\":" T "}", 8, GOOD, NULL },
    { "{\"a\\/b\":" T "}", 8, GOOD, NULL },
    { "{\"\xef\xbf\xbf\":" T "}", 8, GOOD, NULL },
    { "{\"\\uffff\":" T "}", 8, GOOD, NULL },
    { "{\"\x7f\":" T "}", 8, GOOD, NULL },
    { "{\"a\\u0000b\":" T "}", 8, APR_SAFETENSORS_ERROR_NAME, "“a\\u0000b”" },
    { "{\"\\u0000\":" T "}", 8, APR_SAFETENSORS_ERROR_NAME, "“\\u0000”" },
    { "{\"\\ud800\":" T "}", 8, APR_SAFETENSORS_ERROR_SYNTAX, "\\ud800 is half" },
    { "{\"a\nb\":" T "}", 8, APR_SAFETENSORS_ERROR_SYNTAX, "0x0a" },
    { "{\"\\q\":" T "}", 8, APR_SAFETENSORS_ERROR_SYNTAX, "no such escape" },
    { "{\"\\x41\":" T "}", 8, APR_SAFETENSORS_ERROR_SYNTAX, "no such escape" },
    { "{\"line\\nbreak\":{}}", 8, APR_SAFETENSORS_ERROR_FIELD, "“line\\u000abreak”" },
  };

  check_verdicts (verdicts, G_N_ELEMENTS (verdicts));
}

static void
test_metadata_verdicts (void)
{
  static const Verdict verdicts[] = {
    { "{\"__metadata__\":null}", 0, GOOD, NULL },
    { "{\"__metadata__\":{}}", 0, GOOD, NULL },
    { "{\"__metadata__\":{\"\":\"\"}}", 0, GOOD, NULL },
    { "{\"a\":" T ",\"__metadata__\":{\"format\":\"pt\"}}", 8, GOOD, NULL },
    { "{\"__metadata__\":{\"k\":1}}", 0, APR_SAFETENSORS_ERROR_METADATA, "“k” is a number, not a string" },
    { "{\"__metadata__\":{\"k\":null}}", 0, APR_SAFETENSORS_ERROR_METADATA, "“k” is null" },
    { "{\"__metadata__\":{\"k\":{}}}", 0, APR_SAFETENSORS_ERROR_METADATA, "“k” is an object" },
    { "{\"__metadata__\":{\"k\":[]}}", 0, APR_SAFETENSORS_ERROR_METADATA, "“k” is an array" },
    { "{\"__metadata__\":{\"k\":false}}", 0, APR_SAFETENSORS_ERROR_METADATA, "“k” is a truth value" },
    { "{\"__metadata__\":[]}", 0, APR_SAFETENSORS_ERROR_METADATA, "“__metadata__” is an array" },
    { "{\"__metadata__\":\"x\"}", 0, APR_SAFETENSORS_ERROR_METADATA, "“__metadata__” is a string" },
    { "{\"__metadata__\":7}", 0, APR_SAFETENSORS_ERROR_METADATA, "“__metadata__” is a number" },
    { "{\"__metadata__\":" T "}", 8, APR_SAFETENSORS_ERROR_METADATA, "“shape” is an array" },
    { "{\"__metadata__\":{\"a\\u0000\":\"x\"}}", 0, APR_SAFETENSORS_ERROR_NAME, "“a\\u0000”" },
    { "{\"__metadata__\":{\"a\":\"\\u0000\"}}", 0, APR_SAFETENSORS_ERROR_METADATA, "“a” holds a NUL" },
  };

  check_verdicts (verdicts, G_N_ELEMENTS (verdicts));
}

static void
test_ignored_fields (void)
{
  static const struct
  {
    const char *value;
    int code;
  } cases[] = {
    { "-0", GOOD },
    { "0e999", GOOD },
    { "1e-999", GOOD },
    { "18446744073709551616", GOOD },
    { "123456789012345678901234567890", GOOD },
    { "1e999", APR_SAFETENSORS_ERROR_SYNTAX },
    { "[1e999]", APR_SAFETENSORS_ERROR_SYNTAX },
    { "\"\\ud800\"", APR_SAFETENSORS_ERROR_SYNTAX },
    { "\"\\q\"", APR_SAFETENSORS_ERROR_SYNTAX },
    { "\"a\tb\"", APR_SAFETENSORS_ERROR_SYNTAX },
    { "\"a\\u0000b\"", GOOD },
    { "{\"a\\u0000\":1,\"a\\u0000\":2}", GOOD },
    { "[1,]", APR_SAFETENSORS_ERROR_SYNTAX },
    { "NaN", APR_SAFETENSORS_ERROR_SYNTAX },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = g_strdup_printf (
        "{\"a\":{\"x\":%s,\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", cases[i].value);
      Verdict verdict = { text, 8, cases[i].code, "header byte" };

      check_verdicts (&verdict, 1);
    }
}

static void
test_prefix (void)
{
  static const struct
  {
    const char *bytes;
    gsize size;
    int code;
    const char *message;
  } cases[] = {
    { "", 0, APR_SAFETENSORS_ERROR_TRUNCATED, "0 bytes" },
    { "\2\0\0", 3, APR_SAFETENSORS_ERROR_TRUNCATED, "3 bytes" },
    { "\2\0\0\0\0\0\0", 7, APR_SAFETENSORS_ERROR_TRUNCATED, "7 bytes" },
    { "\x3c\0\0\0\0\xff\xff\xff", 8, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE, "18446742974197923900" },
    { "\x3c\0\0\0\0\0\0\0", 8, APR_SAFETENSORS_ERROR_TRUNCATED, "claims 60 bytes, but only 0" },
    { "\1\0\0\0\0\0\0\0\xff", 9, APR_SAFETENSORS_ERROR_ENCODING, "0xff" },
    { "\1\0\0\0\0\0\0\0{", 9, APR_SAFETENSORS_ERROR_SYNTAX, "byte 1" },
    { "\0\0\0\0\0\0\0\0", 8, APR_SAFETENSORS_ERROR_SYNTAX, "byte 0" },
    { "\2\0\0\0\0\0\0\0{}", 10, GOOD, NULL },
    { "\3\0\0\0\0\0\0\0{}", 10, APR_SAFETENSORS_ERROR_TRUNCATED, "claims 3 bytes, but only 2" },
    { "\3\0\0\0\0\0\0\0{}\0", 11, APR_SAFETENSORS_ERROR_SYNTAX, "“\\u0000”" },
    { "\xf8\xff\xff\xff\xff\xff\xff\xff{}", 10, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE,
      "18446744073709551608" },
    { "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE,
      "18446744073709551615" },
    { "\0\xe1\xf5\5\0\0\0\0{}", 10, APR_SAFETENSORS_ERROR_TRUNCATED, "claims 100000000 bytes" },
    { "\1\xe1\xf5\5\0\0\0\0{}", 10, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE,
      "100000001 bytes, more than the limit of 100000000" },
    { "x,y\n1,2\n", 8, APR_SAFETENSORS_ERROR_HEADER_TOO_LARGE,
      "more than the limit of 100000000: this is no SafeTensors file, as it begins with “x,y\\x0a1,2\\x0a”" },
    { "\5\0\0\0\0\0\0\0{\"\xc3\":", 13, APR_SAFETENSORS_ERROR_ENCODING, "header byte 2: 0xc3" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *bytes = g_memdup2 (cases[i].bytes, cases[i].size);
      g_autoptr (GError) error = NULL;
      g_autoptr (AprSafetensorsHeader) header =
        apr_safetensors_header_parse (bytes, cases[i].size, APR_SAFETENSORS_MAX_HEADER_SIZE, &error);

      g_assert_cmpint (header != NULL, ==, cases[i].code == GOOD);
      if (header != NULL)
        continue;
      g_assert_error (error, APR_SAFETENSORS_ERROR, cases[i].code);
      if (strstr (error->message, cases[i].message) == NULL)
        g_error ("“%s” without “%s”", error->message, cases[i].message);
    }
}

static void
test_contents (void)
{
  const char *text = "{\"b\":{\"dtype\":\"I16\",\"shape\":[],\"data_offsets\":[24,26]},"
                     "\"__metadata__\":{\"format\":\"pt\",\"\\u00e9\":\"\\n\"},"
                     "\"\\u0061\":{\"shape\":[2,3],\"dtype\":\"F32\",\"data_offsets\":[0,24]}}";
  g_autoptr (GError) error = NULL;
  g_autoptr (AprSafetensorsHeader) header = parse (text, strlen (text), 26, &error);
  const AprSafetensorsEntry *entry;

  g_assert_no_error (error);
  g_assert_cmpuint (header->n_entries, ==, 2);
  g_assert_cmpuint (header->data_start, ==, 8 + strlen (text));

  entry = &header->entries[0];
  g_assert_cmpstr (apr_safetensors_header_get_name (header, entry), ==, "b");
  g_assert_cmpint (entry->dtype, ==, APR_DTYPE_I16);
  g_assert_cmpuint (entry->n_dims, ==, 0);
  g_assert_cmpuint (entry->begin, ==, 24);
  g_assert_cmpuint (entry->end, ==, 26);

  entry = apr_safetensors_header_find (header, "a");
  g_assert_true (entry == &header->entries[1]);
  g_assert_cmpint (entry->dtype, ==, APR_DTYPE_F32);
  g_assert_cmpuint (entry->n_dims, ==, 2);
  g_assert_cmpuint (apr_safetensors_header_get_shape (header, entry)[0], ==, 2);
  g_assert_cmpuint (apr_safetensors_header_get_shape (header, entry)[1], ==, 3);
  g_assert_null (apr_safetensors_header_find (header, "c"));
  g_assert_null (apr_safetensors_header_find (header, "__metadata__"));

  g_assert_cmpuint (header->n_pairs, ==, 2);
  g_assert_cmpstr (header->names + header->pairs[0].key, ==, "format");
  g_assert_cmpstr (header->names + header->pairs[0].value, ==, "pt");
  g_assert_cmpstr (header->names + header->pairs[1].key, ==, "é");
  g_assert_cmpstr (header->names + header->pairs[1].value, ==, "\n");
}

static void
test_metadata_absent (void)
{
  static const char *const cases[] = { "{}", "{\"__metadata__\":null}", "{\"__metadata__\":{}}" };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AprSafetensorsHeader) header = parse (cases[i], strlen (cases[i]), 0, NULL);

      g_assert_nonnull (header);
      g_assert_cmpuint (header->n_pairs, ==, 0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/safetensors/header/prefix", test_prefix);
  g_test_add_func ("/safetensors/header/contents", test_contents);
  g_test_add_func ("/safetensors/header/grammar", test_grammar);
  g_test_add_func ("/safetensors/header/duplicate-name", test_duplicate_name);
  g_test_add_func ("/safetensors/header/names", test_names);
  g_test_add_func ("/safetensors/header/fields", test_fields);
  g_test_add_func ("/safetensors/header/ignored-fields", test_ignored_fields);
  g_test_add_func ("/safetensors/header/dtype", test_dtype);
  g_test_add_func ("/safetensors/header/every-dtype", test_every_dtype);
  g_test_add_func ("/safetensors/header/shape-numbers", test_shape_numbers);
  g_test_add_func ("/safetensors/header/offset-numbers", test_offset_numbers);
  g_test_add_func ("/safetensors/header/sizes", test_sizes);
  g_test_add_func ("/safetensors/header/offsets", test_offsets);
  g_test_add_func ("/safetensors/header/metadata", test_metadata_verdicts);
  g_test_add_func ("/safetensors/header/metadata-absent", test_metadata_absent);

  return g_test_run ();
}
