//! The tools that scripts start most, about files, processes and users.

use tidebox_coreutils as coreutils;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::tool::ToolMain;

/// Every tool, ordered by name.
const TOOLS: &[(&str, ToolMain<ToolResult>)] = &[
    ("[", coreutils::bracket),
    ("chmod", coreutils::chmod),
    ("date", coreutils::date),
    ("dd", coreutils::dd),
    ("dir", coreutils::dir),
    ("du", coreutils::du),
    ("env", coreutils::env),
    ("groups", coreutils::groups),
    ("hostname", tidebox_hostname::hostname),
    ("id", coreutils::id),
    ("kill", coreutils::kill),
    ("logname", coreutils::logname),
    ("ls", coreutils::ls),
    ("mkdir", coreutils::mkdir),
    ("nice", coreutils::nice),
    ("nohup", coreutils::nohup),
    ("numfmt", coreutils::numfmt),
    ("sleep", coreutils::sleep),
    ("stat", coreutils::stat),
    ("sync", coreutils::sync),
    ("test", coreutils::test),
    ("timeout", coreutils::timeout),
    ("uname", coreutils::uname),
    ("vdir", coreutils::vdir),
    ("which", tidebox_debianutils::which),
    ("whoami", coreutils::whoami),
];

tidebox_gnu::multicall!("base", TOOLS);
