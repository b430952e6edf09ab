# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes arrays, data frames, lists and paths at home in Apr.

Data go in as anything that numpy.asarray understands, and come out as numpy arrays, both without a copy
where the memory allows it. Without numpy, lists go in and nested lists come out. The parts are in the package aprender
beside this file.
"""

from gi.repository import GObject

from .aprender import metrics
from .aprender.native import CLASSES, Apr
from .aprender.properties import add_attributes, guard_properties
from .aprender.tensor import Tensor
from .aprender import (cross_products, estimator, folds, groups, linear_regression, names, notebook, plot,  # noqa: F401
                       safetensors, scikit_learn, statistics, table_reader)

__all__ = []

# The classes that Python has nothing to say about have attributes for their properties too, and none takes a string
# that C would cut short.
for _class in CLASSES:
    if issubclass(_class, GObject.Object):
        add_attributes(_class, estimator.get_values)
        guard_properties(_class)

# Attributes of this module are found at once: for others the typelib's module would be asked each time.
_others = (_class for _class in CLASSES if _class.__name__ != 'Tensor')
for _class in (Tensor, *_others, Apr.DType, Apr.Precision, Apr.IntervalKind, Apr.CovarianceKind,
               Apr.Metric, Apr.Multioutput):
    globals()[_class.__name__] = _class
    __all__.append(_class.__name__)
for _module, _names in ((metrics, metrics.__all__), (safetensors, ('load_file', 'save_file')), (plot, ('Plot',))):
    for _name in _names:
        globals()[_name] = getattr(_module, _name)
        __all__.append(_name)

# That of the project in meson.build: a test compares them.
__version__ = '0.1.0'
__all__.append('__version__')
