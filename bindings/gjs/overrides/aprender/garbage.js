/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* exported getFunctions */

// Frees the memory of tensors that nothing refers to any more, and ends GJS's own collections of garbage.
//
// GJS frees what C has allocated when it collects garbage, but does not know how much that is: a tensor of any size
// looks as small to it as a number. Where many typed arrays have been made, it collects by itself, a slice at a time,
// and may be between two slices when the main loop runs. It refuses all callbacks then: what waits for one would wait
// for ever.

const System = imports.system;

// How much may have become garbage, in bytes, before it is collected: less than what makes GJS begin by itself.
const MAX_GARBAGE = 1 << 24;

// What a tensor takes beside its elements, together with the object that JavaScript sees, about.
const TENSOR_SIZE = 512;

function getFunctions() {
  let nBytes = 0;

  // Notes that a tensor with so many bytes was made, which will be garbage some time.
  function countGarbage(size) {
    nBytes += size + TENSOR_SIZE;
  }

  // Notes that the main loop is going to run with large arrays about.
  function wantCollection() {
    nBytes += MAX_GARBAGE;
  }

  // Frees what is garbage, if that may be much.
  function collectGarbage() {
    if (nBytes < MAX_GARBAGE)
      return;
    nBytes = 0;
    System.gc();
  }

  return {collectGarbage, countGarbage, wantCollection};
}
