/* SPDX-License-Identifier: LGPL-2.1-or-later */
// gjs -m longley.js MODEL.safetensors DATA.csv: predicts, and prints a hash of the predictions.
import Apr from 'gi://Apr?version=1.0';
import GLib from 'gi://GLib';
import {programArgs} from 'system';

const [modelPath, dataPath] = programArgs;
const model = Apr.LinearRegression.load(modelPath);
const lines = new TextDecoder().decode(GLib.file_get_contents(dataPath)[1]).trim().split(/\r?\n/);
const [header, ...rows] = lines.map(line => line.split(','));
const columns = model.feature_names.map(name => header.indexOf(name));
const X = rows.map(row => columns.map(column => Number(row[column])));

const predictions = Apr.Tensor.from(model.predict(X));
print(`sha256  ${GLib.compute_checksum_for_bytes(GLib.ChecksumType.SHA256, predictions.get_bytes())}`);
