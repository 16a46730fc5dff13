"""Distributions over actions: sample, log-probability, entropy, divergence.

Each file has one distribution; `entries` has what those of independent entries share. A sample is
constant to `gradient` unless its distribution is `.reparameterized()`, where it has that.
"""

from workbench.language.distributions.bernoulli import Bernoulli
from workbench.language.distributions.beta import Beta
from workbench.language.distributions.categorical import Categorical
from workbench.language.distributions.gamma import Gamma
from workbench.language.distributions.multi_categorical import MultiCategorical
from workbench.language.distributions.normal import Normal
from workbench.language.distributions.squashed_normal import SquashedNormal

__all__ = [
    "Bernoulli",
    "Beta",
    "Categorical",
    "Gamma",
    "MultiCategorical",
    "Normal",
    "SquashedNormal",
]
