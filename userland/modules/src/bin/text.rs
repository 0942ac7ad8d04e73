//! Tools that copy, sort and count text.

use tidebox_coreutils as coreutils;
use tidebox_gnu::tool::ToolMain;

/// Every tool, ordered by name.
const TOOLS: &[(&str, ToolMain<Result<i32, coreutils::Failure>>)] = &[
    ("cat", coreutils::cat),
    ("fmt", coreutils::fmt),
    ("fold", coreutils::fold),
    ("head", coreutils::head),
    ("nl", coreutils::nl),
    ("pr", coreutils::pr),
    ("sort", coreutils::sort),
    ("split", coreutils::split),
    ("tac", coreutils::tac),
    ("tail", coreutils::tail),
    ("wc", coreutils::wc),
];

tidebox_gnu::multicall!("text", TOOLS);
