# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Writes figures.json: what R says of regressions on data sets of its own. Debian's r-base-core, r-cran-sandwich,
# r-cran-lmtest and r-cran-car are all it takes:
#
#   Rscript make.R >figures.json
suppressMessages({
  library(sandwich)
  library(lmtest)
  library(car)
})

json <- function(x) {
  if (is.list(x)) {
    parts <- vapply(x, json, "")
    if (is.null(names(x))) paste0("[", paste(parts, collapse = ", "), "]")
    else paste0("{", paste0('"', names(x), '": ', parts, collapse = ",\n"), "}")
  } else if (is.matrix(x)) json(lapply(seq_len(nrow(x)), function(i) as.list(unname(x[i, ]))))
  else if (is.character(x)) paste0("[", paste0('"', x, '"', collapse = ", "), "]")
  else {
    numbers <- ifelse(is.na(x), "null", sprintf("%.17g", x))
    if (length(x) == 1) numbers else paste0("[", paste(numbers, collapse = ", "), "]")
  }
}

# The hypothesis is that the first two features, or the first alone, have no effect; the smaller model is without them.
describe <- function(data, target, features, new, weights = NULL) {
  data$w <- if (is.null(weights)) 1 else data[[weights]]
  full <- lm(reformulate(features, target), data, weights = w)
  kept <- features[!is.na(coef(full)[-1])]
  fit <- lm(reformulate(kept, target), data, weights = w)
  s <- summary(fit)
  dropped <- head(kept, if (length(kept) > 2) 2 else 1)
  rest <- setdiff(kept, dropped)
  smaller <- lm(reformulate(if (length(rest) > 0) rest else "1", target), data, weights = w)
  nested <- anova(smaller, fit)
  test <- linearHypothesis(fit, paste(dropped, "= 0"))
  robust <- linearHypothesis(fit, paste(dropped, "= 0"), vcov. = vcovHC(fit, "HC3"))
  result <- list(
    X = as.matrix(data[features]), y = data[[target]], names = features,
    dropped = dropped,
    coefficients = unname(coef(full)), standard_errors = unname(s$coefficients[, 2]),
    t_values = unname(s$coefficients[, 3]), p_values = unname(s$coefficients[, 4]),
    r_squared = s$r.squared, adjusted_r_squared = s$adj.r.squared,
    f_statistic = unname(s$fstatistic[1]),
    f_p_value = unname(pf(s$fstatistic[1], s$fstatistic[2], s$fstatistic[3], lower.tail = FALSE)),
    sigma = s$sigma, log_likelihood = as.numeric(logLik(fit)),
    lower = unname(confint(fit)[, 1]), upper = unname(confint(fit)[, 2]),
    fitted = unname(fitted(fit)), residuals = unname(residuals(fit)),
    leverages = unname(hatvalues(fit)), cooks_distances = unname(cooks.distance(fit)),
    standardized = unname(rstandard(fit)), studentized = unname(rstudent(fit)),
    hc0 = unname(sqrt(diag(vcovHC(fit, "HC0")))), hc1 = unname(sqrt(diag(vcovHC(fit, "HC1")))),
    hc2 = unname(sqrt(diag(vcovHC(fit, "HC2")))), hc3 = unname(sqrt(diag(vcovHC(fit, "HC3")))),
    test_f = test[2, "F"], test_p = test[2, "Pr(>F)"],
    robust_f = robust[2, "F"], robust_p = robust[2, "Pr(>F)"],
    nested_f = nested[2, "F"], nested_p = nested[2, "Pr(>F)"])
  if (is.null(weights)) {
    result$durbin_watson <- unname(dwtest(fit)$statistic)
    rows <- as.data.frame(new)
    names(rows) <- features
    result$new <- as.matrix(rows)
    result$confidence <- unname(predict(fit, rows, interval = "confidence", level = 0.9))
    result$prediction <- unname(predict(fit, rows, interval = "prediction", level = 0.9))
  } else result$weights <- data$w
  if (length(kept) > 1) result$variance_inflation <- unname(vif(fit))
  result
}

cars$square <- cars$speed^2
mtcars$both <- mtcars$wt + mtcars$hp
cat(json(list(
  R = paste(R.version.string, "sandwich", packageVersion("sandwich"), "lmtest", packageVersion("lmtest"), "car",
            packageVersion("car")),
  sets = list(
    cars = describe(cars, "dist", "speed", rbind(8, 21)),
    square = describe(cars, "dist", c("speed", "square"), rbind(c(8, 64), c(21, 441))),
    longley = describe(longley, "Employed", names(longley)[1:6], as.matrix(longley[c(2, 9), 1:6]) * 1.01),
    mtcars = describe(mtcars, "mpg", c("wt", "hp", "qsec"), rbind(c(3, 100, 18), c(2.5, 200, 16))),
    dependent = describe(mtcars, "mpg", c("wt", "hp", "both"), rbind(c(3, 100, 103), c(2.5, 200, 202.5))),
    weighted = describe(mtcars, "mpg", c("wt", "hp"), NULL, "cyl")))), "\n")
