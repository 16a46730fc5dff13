"""DQN of Stable-Baselines3 on CartPole, with the settings of `workbench.algorithms.dqn`.

Run by a Python that has it: `sb3_dqn.py --steps 20000`; prints a JSON line.
"""

import argparse
import json
import time

import gymnasium
import stable_baselines3
import torch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--starts", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    torch.set_num_threads(1)
    model = stable_baselines3.DQN(
        "MlpPolicy",
        gymnasium.make("CartPole-v1"),
        learning_rate=2.5e-4,
        buffer_size=10_000,
        learning_starts=given.starts,
        batch_size=128,
        gamma=0.99,
        tau=1.0,
        train_freq=10,
        gradient_steps=1,
        target_update_interval=500,
        exploration_fraction=0.5,
        exploration_final_eps=0.05,
        policy_kwargs={"net_arch": [120, 84]},
        seed=given.seed,
    )
    start = time.perf_counter()
    model.learn(given.steps)
    seconds = time.perf_counter() - start
    print(
        json.dumps(
            {
                "what": "stable-baselines3",
                "steps_per_second": given.steps / seconds,
                "versions": {
                    "stable_baselines3": stable_baselines3.__version__,
                    "torch": torch.__version__,
                    "gymnasium": gymnasium.__version__,
                },
            }
        )
    )


if __name__ == "__main__":
    main()
