# SPDX-License-Identifier: LGPL-2.1-or-later
"""What help() says of properties, and of methods that are the library's own."""

PROPERTIES = {
    'fitted': 'Whether the model has been fitted, or loaded.',
    'n-features': 'The number of features that the model was fitted with; 0 before the first fit.',
    'n-targets': 'The number of targets that are predicted for a sample; 0 before the first fit.',
    'feature-names': 'The names of the features as a list, or None where they have none.',
    'fit-intercept': 'Whether the next fit looks for an intercept, which is the default; else it is 0.',
    'dtype': 'The Apr.DType of what the next fit finds: F32, F64, or NONE, the default, to follow X.',
    'alpha': 'How much large coefficients cost: alpha Σ b² is added to what a fit minimises; 0 is ordinary least '
             'squares.',
    'positive': 'Whether no coefficient may be below 0.',
    'n-threads': 'How many threads a fit uses at the most; 0, the default, for as many as there are processors.',
    'precision': 'How products are summed: Apr.Precision.EXACT, the default, or DOUBLE, which is faster for wide '
                 'data.',
    'keep-state': 'Whether a file holds the sums of the samples too, for partial_fit() and the like after load().',
    'coefficients': 'The fitted weights, [n_features] or [n_targets, n_features], in units of the target '
                    'per unit of\nthe feature: a read-only array, None before the first fit.',
    'intercept': 'The prediction for a sample whose features are all 0, [1] or [n_targets], in units of the '
                 'target:\na read-only array, None before the first fit.',
    'rank': 'The number of independent features; -1 before the first fit, and where a file does not tell.',
    'condition-number': 'How much an error of the data can grow in the coefficients, at the most; NaN where that '
                        'is not known.',
    'correctly-rounded': 'Whether it is proven that coefficients and intercept are the nearest to the exact answer.',
    'dependent-features': 'The names of the features that depend on others before them; None where that is not '
                          'known.',
    'cross-products': 'The Apr.CrossProducts of all samples that the model was fitted to, in a copy; None '
                      'before the\nfirst fit, and where a file holds none.',
    'file': 'The Gio.File that the tensors are in, or the index of the files; None where they are in bytes.',
    'bytes': 'The GLib.Bytes that the tensors are in; None where they are in a file.',
    'load-mode': 'How a file\'s bytes are got at, an Apr.SafetensorsLoadMode.',
    'max-header-size': 'The longest header to accept, in bytes.',
    'alignment': 'The data begin at a multiple of so many bytes: a power of two from 8, the default, to 4096.',
    'durable': 'Whether a file is safe from a power cut when a write returns, which is the default.',
    'portable': 'Whether metadata keys are refused that make other readers refuse the file, which is the default.',
}

METHODS = {}
