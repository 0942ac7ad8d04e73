//! `w`: the logged-in users. A sandbox has no logins, so the list is empty.

use tidebox_gnu::options::Syntax;

use crate::{print, uptime};

tidebox_gnu::options! {
    /// Options of `w`.
    enum Flag {
        NoHeader = "-h, --no-header", "do not print header";
        NoCurrent = "-u, --no-current", "ignore current process username";
        Short = "-s, --short", "short format";
        From = "-f, --from", "show remote hostname field";
        OldStyle = "-o, --old-style", "old style output";
        IpAddress = "-i, --ip-addr", "display IP address instead of hostname (if possible)\n";
        Help = "--help", "display this help and exit";
        Version = "-V, --version", "output version information and exit";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax {
    indent: 1,
    version: "w from procps-ng 4.0.2\n",
    notes: "\nFor more details see w(1).\n",
    ..Syntax::new("w", "\nUsage:\n w [options] [user]\n\nOptions:\n", 22)
};

/// Runs `w`.
pub fn w(arguments: Vec<Vec<u8>>) -> i32 {
    let mut header = true;
    let users = SYNTAX.parse::<i32>(arguments, |flag, _| {
        header &= flag != Flag::NoHeader;
        Ok(())
    });
    match users {
        Err(code) => code,
        Ok(_) if !header => 0,
        Ok(_) => {
            let head = "USER     TTY      FROM             LOGIN@   IDLE   JCPU   PCPU WHAT";
            print("w", &format!("{}\n{head}\n", uptime::line()), 0)
        }
    }
}
