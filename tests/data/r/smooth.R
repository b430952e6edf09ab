# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Writes smooth.txt: the curves that R's panel.smooth draws in plot (lm), lowess (x, y, f = 2/3, iter = 3). Of each set
# there is a line with its name and the number of its points, and a line with x, y and the curve of each point in the
# order of x. Debian's r-base-core is all it takes:
#
#   Rscript smooth.R >smooth.txt
show <- function(name, x, y) {
  # The curve is that of the numbers as they are printed.
  x <- signif(x, 6)
  y <- signif(y, 6)
  places <- order(x)
  curve <- lowess(x, y, f = 2 / 3, iter = 3)
  cat(name, " ", length(x), "\n", sep = "")
  cat(sprintf("%.6g %.6g %.9g\n", x[places], y[places], curve$y), sep = "")
}

describe <- function(name, fit) {
  show(paste0(name, "-residuals"), fitted(fit), residuals(fit))
  kept <- hatvalues(fit) < 1 - 1e-10
  show(paste0(name, "-scale"), fitted(fit)[kept], sqrt(abs(rstandard(fit)[kept])))
  # Where all leverages are the same, the curve is a point.
  leverages <- signif(hatvalues(fit)[kept], 6)
  if (diff(range(leverages)) > 0) show(paste0(name, "-leverage"), leverages, rstandard(fit)[kept])
}

describe("cars", lm(dist ~ speed, cars))
describe("mtcars", lm(mpg ~ wt + hp + factor(cyl), mtcars))
# Three fitted values, each of 50 points.
describe("groups", lm(Sepal.Length ~ Species, iris))
# More places than the curve is worked out at.
describe("faithful", lm(waiting ~ eruptions, faithful))
# A row that is alone in its group, and has the leverage 1.
describe("alone", lm(mpg ~ wt + (1:32 == 8), mtcars))
# One point in three is far above the others.
i <- 1:90
show("outliers", (i * 617) %% 90, sin(i / 15) + cos(i * i) / 10 + ifelse(i %% 3 == 0, 30, 0))
# Nearly all points are on a line, so that the median of the residuals is 0.
show("exact", 1:20, ifelse(1:20 == 7, 9, 1:20 / 2))
show("zero", 1:12, rep(0, 12))
# Neighbourhoods of one place, and one that is narrow beside the whole.
show("places", c(rep(1, 10), 2, 3, 1000), c(1:10, 3, 8, 2))
show("narrow", c(1:10 / 100, 1000), c(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5))
show("two", c(1, 3), c(5, 2))
show("three", c(1, 3, 4), c(5, 2, 7))
