//! Pages of `docs` whose code blocks are compiled and run as doc tests.

#[doc = include_str!("../docs/record-and-replay.md")]
mod record_and_replay {}

#[doc = include_str!("../docs/mounts.md")]
mod mounts {}

#[doc = include_str!("../docs/providers.md")]
mod providers {}

#[doc = include_str!("../docs/host-tools.md")]
mod host_tools {}

#[doc = include_str!("../docs/snapshots.md")]
mod snapshots {}

#[doc = include_str!("../docs/determinism.md")]
mod determinism {}

#[doc = include_str!("../docs/network.md")]
mod network {}

#[doc = include_str!("../docs/git.md")]
mod git {}

#[doc = include_str!("../docs/start/rust.md")]
mod start {}

#[doc = include_str!("../docs/guides/move-to-a-provider.md")]
mod move_to_a_provider {}

#[doc = include_str!("../docs/guides/run-a-fleet.md")]
mod run_a_fleet {}

#[doc = include_str!("../docs/guides/write-a-tool.md")]
mod write_a_tool {}

#[cfg(all(target_os = "linux", feature = "confine"))]
#[doc = include_str!("../docs/security.md")]
mod security {}
