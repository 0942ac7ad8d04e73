//! Table of the tools in this module.

use std::ffi::OsString;

/// Entry point of a tool. It takes the arguments with the name and returns the exit code.
type Main = fn(std::vec::IntoIter<OsString>) -> i32;

/// One tool.
pub(crate) struct Tool {
    /// Command name.
    pub(crate) name: &'static str,
    /// Name of its message file; aliases share one.
    pub(crate) messages: &'static str,
    /// Entry point.
    pub(crate) main: Main,
}

const fn tool(name: &'static str, main: Main) -> Tool {
    Tool { name, messages: name, main }
}

/// Every tool, ordered by name.
pub(crate) const TOOLS: &[Tool] = &[
    tool("arch", uu_arch::uumain),
    tool("basename", uu_basename::uumain),
    tool("comm", uu_comm::uumain),
    tool("csplit", uu_csplit::uumain),
    tool("cut", uu_cut::uumain),
    tool("dircolors", uu_dircolors::uumain),
    tool("dirname", uu_dirname::uumain),
    tool("echo", uu_echo::uumain),
    tool("expand", uu_expand::uumain),
    tool("expr", uu_expr::uumain),
    tool("factor", uu_factor::uumain),
    tool("false", uu_false::uumain),
    tool("hostid", uu_hostid::uumain),
    tool("join", uu_join::uumain),
    tool("link", uu_link::uumain),
    tool("mktemp", uu_mktemp::uumain),
    tool("nproc", uu_nproc::uumain),
    tool("od", uu_od::uumain),
    tool("paste", uu_paste::uumain),
    tool("pathchk", uu_pathchk::uumain),
    tool("printenv", uu_printenv::uumain),
    tool("printf", uu_printf::uumain),
    tool("ptx", uu_ptx::uumain),
    tool("pwd", uu_pwd::uumain),
    tool("readlink", uu_readlink::uumain),
    tool("realpath", uu_realpath::uumain),
    tool("seq", uu_seq::uumain),
    tool("shred", uu_shred::uumain),
    tool("shuf", uu_shuf::uumain),
    tool("tee", uu_tee::uumain),
    tool("tr", uu_tr::uumain),
    tool("true", uu_true::uumain),
    tool("truncate", uu_truncate::uumain),
    tool("tsort", uu_tsort::uumain),
    tool("tty", uu_tty::uumain),
    tool("unexpand", uu_unexpand::uumain),
    tool("uniq", uu_uniq::uumain),
    tool("unlink", uu_unlink::uumain),
    tool("yes", uu_yes::uumain),
];

/// Finds a tool by name.
pub(crate) fn find(name: &str) -> Option<&'static Tool> {
    let at = TOOLS.binary_search_by(|tool| tool.name.cmp(name)).ok()?;
    TOOLS.get(at)
}
