//! Tools that scripts use besides those for files and text: options, variables, locks, terminals.

use tidebox_compressors as compressors;
use tidebox_gnu::tool::ToolMain;
use tidebox_util_linux as util_linux;

/// Every tool, ordered by name.
const TOOLS: &[(&str, ToolMain)] = &[
    ("bzcmp", |arguments| compressors::compare("bzcmp", arguments)),
    ("bzdiff", |arguments| compressors::compare("bzdiff", arguments)),
    ("bzegrep", |arguments| compressors::grep("bzegrep", arguments)),
    ("bzfgrep", |arguments| compressors::grep("bzfgrep", arguments)),
    ("bzgrep", |arguments| compressors::grep("bzgrep", arguments)),
    ("bzless", |arguments| compressors::page("bzless", arguments)),
    ("bzmore", |arguments| compressors::page("bzmore", arguments)),
    ("clear", tidebox_ncurses::clear),
    ("dos2unix", tidebox_dos2unix::dos2unix),
    ("envsubst", tidebox_gettext::envsubst),
    ("flock", util_linux::flock),
    ("getconf", tidebox_glibc::getconf),
    ("getent", tidebox_glibc::getent),
    ("getopt", util_linux::getopt),
    ("ionice", util_linux::ionice),
    ("locale", tidebox_glibc::locale),
    ("lsof", tidebox_net_tools::lsof),
    ("mountpoint", util_linux::mountpoint),
    ("nc", tidebox_netcat::nc),
    ("netcat", tidebox_netcat::nc),
    ("netstat", tidebox_net_tools::netstat),
    ("reset", tidebox_ncurses::reset),
    ("script", util_linux::script),
    ("setsid", util_linux::setsid),
    ("sponge", tidebox_moreutils::sponge),
    ("ss", tidebox_net_tools::ss),
    ("stdbuf", tidebox_coreutils::stdbuf),
    ("taskset", util_linux::taskset),
    ("time", tidebox_time::time),
    ("tput", tidebox_ncurses::tput),
    ("ts", tidebox_moreutils::ts),
    ("unix2dos", tidebox_dos2unix::unix2dos),
    ("uuidgen", util_linux::uuidgen),
    ("whereis", util_linux::whereis),
    ("xzcmp", |arguments| compressors::compare("xzcmp", arguments)),
    ("xzdiff", |arguments| compressors::compare("xzdiff", arguments)),
    ("xzegrep", |arguments| compressors::grep("xzegrep", arguments)),
    ("xzfgrep", |arguments| compressors::grep("xzfgrep", arguments)),
    ("xzgrep", |arguments| compressors::grep("xzgrep", arguments)),
    ("xzless", |arguments| compressors::page("xzless", arguments)),
    ("xzmore", |arguments| compressors::page("xzmore", arguments)),
    ("zcmp", |arguments| compressors::compare("zcmp", arguments)),
    ("zdiff", |arguments| compressors::compare("zdiff", arguments)),
    ("zegrep", |arguments| compressors::grep("zegrep", arguments)),
    ("zfgrep", |arguments| compressors::grep("zfgrep", arguments)),
    ("zgrep", |arguments| compressors::grep("zgrep", arguments)),
    ("zless", |arguments| compressors::page("zless", arguments)),
    ("zmore", |arguments| compressors::page("zmore", arguments)),
];

tidebox_gnu::multicall!("scripting", TOOLS);
