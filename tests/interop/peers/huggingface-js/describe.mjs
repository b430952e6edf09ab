// SPDX-License-Identifier: LGPL-2.1-or-later
// node describe.mjs FOLDER FILE: what huggingface.js, which is installed in FOLDER, finds in a file, as JSON. It asks
// for a part of the file at a time, as if the file were on a server, which is played here.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {argv} from 'node:process';

const [, , folder, path] = argv;
const {parseSafetensorsMetadata} = createRequire(`${folder}/`)('@huggingface/hub');
const bytes = readFileSync(path);

async function fetchRange(_url, {headers} = {}) {
  const range = /^bytes=(\d+)-(\d+)$/.exec(new Headers(headers).get('Range') ?? '');
  if (range === null)
    return new Response(bytes, {headers: {ETag: '"model"'}});
  const [begin, end] = [Number(range[1]), Math.min(Number(range[2]) + 1, bytes.length)];
  return new Response(bytes.subarray(begin, end), {
    status: 206, headers: {'ETag': '"model"', 'Content-Range': `bytes ${begin}-${end - 1}/${bytes.length}`},
  });
}

const repo = 'aprender/model';
console.log(JSON.stringify(await parseSafetensorsMetadata(
  {repo, path: 'model.safetensors', fetch: fetchRange, computeParametersCount: true})));
