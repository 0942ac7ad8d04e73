//! Tools that copy, move, link and remove files.

use tidebox_coreutils as coreutils;
use tidebox_gnu::tool::ToolMain;

/// Every tool, ordered by name.
const TOOLS: &[(&str, ToolMain)] = &[
    ("cp", coreutils::cp),
    ("ln", coreutils::ln),
    ("mv", coreutils::mv),
    ("rm", coreutils::rm),
    ("rmdir", coreutils::rmdir),
];

tidebox_gnu::multicall!("copy", TOOLS);
