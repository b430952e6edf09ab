/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <aprender/aprender.h>

/*
 * corpus_contents:
 * @reader: a file that was accepted
 *
 * Reads every byte of every tensor, and tells what the file holds in the words of make-corpus: one line for each
 * metadata key and each tensor, sorted.
 */
char *corpus_contents (AprSafetensorsReader *reader, GError **error);
