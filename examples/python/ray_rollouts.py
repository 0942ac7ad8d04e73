"""Rollouts of a scripted policy in sandboxes on three Ray nodes of this computer. One of them is killed in the middle.

    python ray_rollouts.py --rollouts 100000

The policy is a script; replace it by a model. With a cluster of yours, call `ray.init("auto")` instead of `Cluster`.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray
from ray.cluster_utils import Cluster  # type: ignore[import-untyped, unused-ignore]

from tidebox import AsyncSandbox
from tidebox.integrations.ray import SandboxPool, SandboxTask

COMMANDS = ["awk '{s+=$1} END {print s}' data.txt > sum.txt", "head -n 1 data.txt > sum.txt", "wc -l < data.txt > sum.txt"]
"""What the policy may do to sum up the file. Only the first one is right."""


HEALTH_CHECKS = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3}
"""Ray notices the end of a node within about 3 seconds. Its default is 15."""


def choose(seed: int, observation: str) -> str:
    """The policy: it chooses a command from an observation. Three of four rollouts are right."""
    assert observation
    return COMMANDS[0 if seed % 4 else 1 + seed // 4 % 2]


def numbers(seed: int) -> list[int]:
    return [seed % 97 + 1, seed % 89 + 1, seed % 83 + 1]


async def rollout(sandbox: AsyncSandbox, seed: int) -> float:
    """Runs two commands in a new sandbox, and returns the reward."""
    observation = (await sandbox.execute("ls; head -n 2 data.txt")).stdout
    await sandbox.execute(choose(seed, observation))
    answer = (await sandbox.read("sum.txt")).content
    return float(str(answer).strip() == str(sum(numbers(seed))))


def tasks(count: int) -> Iterator[SandboxTask]:
    for seed in range(count):
        text = "".join(f"{number}\n" for number in numbers(seed))
        yield SandboxTask(rollout, (seed,), files={"data.txt": text}, labels={"seed": str(seed)})


def main(count: int, concurrency: int) -> None:
    # The head node has this program; the sandboxes are on the other three.
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": HEALTH_CHECKS})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(3)]
    ray.init(cluster.address, log_to_driver=False)
    names = {node.node_id: f"node {number}" for number, node in enumerate(nodes, 1)}
    by_node: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    seen: set[int] = set()
    attempts, reward, maybe_twice = 0, 0.0, 0
    with SandboxPool(num_cpus=1, concurrency=concurrency) as pool:
        started = time.monotonic()

        def log(text: str) -> None:
            print(f"{time.monotonic() - started:7.1f} s  {len(seen):>{len(str(count))}}  {text}", flush=True)

        log(f"{len(pool.nodes)} nodes with sandboxes, at most {concurrency} at each")
        for result in pool.map(tasks(count), retry="always"):
            seen.add(result.index)
            by_node[names.get(result.node or "", "none")] += 1
            outcomes[result.outcome] += 1
            attempts += result.attempts
            maybe_twice += result.may_have_run
            reward += result.value if result.ok else 0.0
            if len(seen) == count // 2:
                log("SIGKILL to all processes of node 3")
                cluster.remove_node(nodes[2], allow_graceful=False)
            elif len(seen) == count * 3 // 4:
                node = cluster.add_node(num_cpus=1)
                names[node.node_id] = "node 4"
                log("node 4 joins")
            elif len(seen) % max(1, count // 10) == 0:
                log(", ".join(f"{name} {done}" for name, done in sorted(by_node.items())))
        seconds = time.monotonic() - started
    print(f"outcomes:          {dict(outcomes)}, each task once: {seen == set(range(count))}")
    print(f"by node:           {dict(sorted(by_node.items()))}")
    print(f"repeated attempts: {attempts - count}, tasks that may have run before: {maybe_twice}")
    print(f"mean reward:       {reward / count:.4f}")
    print(f"rate:              {count / seconds:.0f} rollouts/s, {seconds:.1f} s")
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rollouts", type=int, default=100_000, help="number of rollouts (default: 100000)")
    parser.add_argument("--concurrency", type=int, default=64, help="sandboxes of each node at the same time (default: 64)")
    arguments = parser.parse_args()
    main(arguments.rollouts, arguments.concurrency)
