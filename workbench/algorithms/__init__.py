"""Algorithms, one file each, written as their papers do."""

from workbench.algorithms.a2c import a2c
from workbench.algorithms.ddpg import ddpg
from workbench.algorithms.dqn import dqn
from workbench.algorithms.openai_es import openai_es
from workbench.algorithms.ppo import ppo
from workbench.algorithms.q_learning import q_learning
from workbench.algorithms.reinforce import reinforce
from workbench.algorithms.sac import sac
from workbench.algorithms.sarsa import sarsa
from workbench.algorithms.swiftrl import swiftrl
from workbench.algorithms.td3 import td3
from workbench.algorithms.vtrace import vtrace

ALGORITHMS = {template.name: template for template in (reinforce, a2c, ppo)}
"""Those with networks, which run with every environment."""

TABULAR = {template.name: template for template in (q_learning, sarsa)}
"""Those with tables, which run with environments of numbered places."""

FROM_LOGS = {template.name: template for template in (swiftrl,)}
"""Those that learn from a data set `log`, which they are given."""

OFF_POLICY = {template.name: template for template in (dqn, ddpg, td3, sac)}
"""Those that learn from replay: DQN of discrete actions, the others of continuous ones."""

DISTRIBUTED = {template.name: template for template in (vtrace, openai_es)}
"""Those that their papers spread over machines; they run with every environment."""

__all__ = [
    "ALGORITHMS",
    "DISTRIBUTED",
    "FROM_LOGS",
    "OFF_POLICY",
    "TABULAR",
    "a2c",
    "ddpg",
    "dqn",
    "openai_es",
    "ppo",
    "q_learning",
    "reinforce",
    "sac",
    "sarsa",
    "swiftrl",
    "td3",
    "vtrace",
]
