//! Tools about processes, memory and users.

use tidebox_gnu::tool::ToolMain;
use tidebox_procps as procps;

/// Every tool, ordered by name.
const TOOLS: &[(&str, ToolMain)] = &[
    ("free", procps::free),
    ("lscpu", tidebox_util_linux::lscpu),
    ("pgrep", procps::pgrep),
    ("pidof", procps::pidof),
    ("pkill", procps::pkill),
    ("ps", procps::ps),
    ("top", procps::top),
    ("uptime", procps::uptime),
    ("users", tidebox_coreutils::users),
    ("w", procps::w),
    ("who", tidebox_coreutils::who),
];

tidebox_gnu::multicall!("processes", TOOLS);
