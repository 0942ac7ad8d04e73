//! Tools about owners, kinds and times of files.

use tidebox_coreutils as coreutils;
use tidebox_gnu::tool::ToolMain;

/// Every tool, ordered by name.
const TOOLS: &[(&str, ToolMain)] = &[
    ("chgrp", coreutils::chgrp),
    ("chown", coreutils::chown),
    ("df", coreutils::df),
    ("install", coreutils::install),
    ("mkfifo", coreutils::mkfifo),
    ("mknod", coreutils::mknod),
    ("stty", coreutils::stty),
    ("touch", coreutils::touch),
];

tidebox_gnu::multicall!("files", TOOLS);
