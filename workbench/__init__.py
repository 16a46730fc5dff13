"""Reinforcement-learning programs as recurrence equations: write, check, transform, run."""

from workbench import transforms
from workbench.language import nn, optim, rl
from workbench.language.distributions import Categorical, Normal
from workbench.language.functions import (
    absolute,
    cast,
    clip,
    concatenate,
    contract,
    cos,
    cumsum,
    exp,
    floor,
    isfinite,
    log,
    log1p,
    log_softmax,
    maximum,
    minimum,
    one_hot,
    relu,
    reshape,
    sigmoid,
    sign,
    sin,
    softmax,
    sqrt,
    stack,
    stop_gradient,
    tanh,
    transpose,
    unstack,
    where,
)
from workbench.language.gradient import gradient
from workbench.language.indexing import gather
from workbench.language.program import program
from workbench.language.random import normal, permutation, uniform
from workbench.language.recurrent import recurrent
from workbench.language.rl import discounted_sum
from workbench.language.sizes import dim, dims, size
from workbench.language.tensor import index
from workbench.language.trace import scope
from workbench.program.values import Program
from workbench.transforms.refusal import Refusal, Refused
from workbench.variants.variant import Move, Variant, variant
