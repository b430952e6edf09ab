# SPDX-License-Identifier: LGPL-2.1-or-later
import aprender
import numpy


def find_covariance(model, X, y, clusters, weights=None):
    """The covariance of the coefficients where errors are correlated within clusters, as Stata has it."""
    statistics = model.get_statistics()
    residuals = model.diagnose(X, y, weights).residuals
    scores = numpy.column_stack([numpy.ones(len(X)), X]) * residuals[:, None]
    if weights is not None:
        scores *= numpy.asarray(weights)[:, None]
    labels, places = numpy.unique(clusters, return_inverse=True)
    sums = numpy.zeros((len(labels), scores.shape[1]))
    numpy.add.at(sums, places, scores)
    inverse = statistics.covariance / statistics.residual_variance
    n, g = statistics.n_samples, len(labels)
    return inverse @ sums.T @ sums @ inverse * g / (g - 1) * (n - 1) / statistics.df_residual


# Rents by square metres and minutes to the station, in eight houses: where one flat is dear, so are its neighbours.
X = numpy.array([[50, 3], [65, 3], [80, 3], [45, 12], [70, 12], [95, 12], [55, 7], [60, 7], [85, 7],
                 [40, 15], [75, 15], [90, 15], [50, 5], [80, 5], [100, 5], [60, 9], [65, 9], [70, 9],
                 [45, 2], [60, 2], [95, 2], [55, 10], [75, 10], [85, 10]])
y = numpy.array([571, 709, 866, 392, 647, 890, 561, 602, 862, 345, 691, 838,
                 512, 823, 1009, 601, 652, 689, 519, 665, 1007, 506, 715, 808])
houses = numpy.repeat(['Alder', 'Birch', 'Cedar', 'Elm', 'Fir', 'Hazel', 'Maple', 'Oak'], 3)

model = aprender.LinearRegression().fit(X, y)
errors = numpy.sqrt(numpy.diag(find_covariance(model, X, y, houses)))
for term, error in zip(model.get_statistics(), errors):
    print(f'{term.name:12} {term.estimate:8.4f}  {term.standard_error:8.4f}  {error:8.4f}')
