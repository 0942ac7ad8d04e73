//! Dumps of bytes, columns, calendars and pagers.

use tidebox_gnu::tool::ToolMain;
use tidebox_util_linux as util_linux;

/// Every tool, ordered by name.
const TOOLS: &[(&str, ToolMain)] = &[
    ("cal", util_linux::cal),
    ("column", util_linux::column),
    ("hd", util_linux::hd),
    ("hexdump", util_linux::hexdump),
    ("less", tidebox_less::less),
    ("more", tidebox_less::more),
    ("pager", tidebox_less::less),
    ("rev", util_linux::rev),
    ("strings", tidebox_binutils::strings),
    ("xxd", tidebox_xxd::xxd),
];

tidebox_gnu::multicall!("view", TOOLS);
