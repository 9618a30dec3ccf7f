"""Every tolerance of the tests, each with its reason."""

from __future__ import annotations

ROUNDING = 1e-9  # relative; float64 sums of at most 1e5 terms lose no more, any real mistake is larger
QUANTILE = 1e-6  # relative; scipy inverts the Beta and noncentral chi-square laws to about 1e-8
TINY = 1e-300  # absolute; what is smaller may be lost to underflow
SURE = 1e-6  # chance that a simulation test fails although the code is right, whatever its seed: a red run is a bug
PEARSON_RATE = 1.5  # a nominal 1e-2 of the chi-square tail is at most this many times 1e-2 at >= 50 expected a cell
COVERAGE_LOSS = 0.02  # bootstrap intervals over 10 prompts may cover this much less than they say (Hesterberg 2015)
NUCLEUS_EDGE = 1e-9  # absolute; a top-p edge this near to a running sum may be decided by the order of additions
FLOAT32_LOGITS = 2e-5  # share of the spread of a trained model's float32 logits; other shapes of a sum give about 1e-6
FLOAT32_TINY_LOGITS = 1e-4  # the same for random weights, scaled up so that attention is sharp
NEAR_TIE = 1e-3  # logits; two float32 programs of one model add in other orders: their logits differ by about 1e-5
