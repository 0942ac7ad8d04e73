"""A cluster of Ray on this computer, with two nodes for sandboxes."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

import ray
from ray.cluster_utils import Cluster

from tidebox import SandboxOptions
from tidebox.integrations.ray import SandboxPool

FAST_CHECKS = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
"""Nodes that end are noticed within seconds."""


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": FAST_CHECKS})
    for _ in range(2):
        cluster.add_node(num_cpus=1)
    ray.init(cluster.address, log_to_driver=False)
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="session")
def pool(cluster: Any) -> Iterator[SandboxPool]:
    with SandboxPool(num_cpus=0.1, concurrency=32, sandbox=SandboxOptions(env={"NAME": "pool"})) as pool:
        yield pool
