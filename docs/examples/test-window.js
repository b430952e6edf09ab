/* SPDX-License-Identifier: LGPL-2.1-or-later */
// gjs -m test-window.js FILE.csv, under X. The program runs its main loop as it is imported: what uses it comes first.
import './use-window.js';
import './rents-window.js';
