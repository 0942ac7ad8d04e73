//! `who` and `users`: lists of logged in users. They are empty, because a sandbox has no logins.

use tidebox_gnu::options::Syntax;
use tidebox_gnu::tool::print;

const WHO_USAGE: &str = "Usage: who [OPTION]...\nPrints the logged in users. A sandbox has none.\n";

const USERS_USAGE: &str = "Usage: users [OPTION]...\nPrints the logged in users. A sandbox has none.\n";

tidebox_gnu::options! {
    /// Options of `who`.
    enum Flag {
        Count = "-q, --count", "";
        Heading = "-H, --heading", "";
        Other = "-a, --all, -b, -d, -l, -m, -p, -r, -s, -t, -T, -u, -w, --no-header", "";
    }
}

/// Runs `users`.
pub fn users(arguments: Vec<Vec<u8>>) -> i32 {
    let without = &[Flag::Count, Flag::Heading, Flag::Other];
    let line = Syntax { without, ..Syntax::core("users", USERS_USAGE, 0) };
    line.split::<i32>(arguments).err().unwrap_or(0)
}

/// Runs `who`.
pub fn who(arguments: Vec<Vec<u8>>) -> i32 {
    let (options, _) = match Syntax::<Flag>::core("who", WHO_USAGE, 0).split(arguments) {
        Ok(line) => line,
        Err(code) => return code,
    };
    let has = |flag| options.iter().any(|option| option.id == flag);
    match () {
        () if has(Flag::Count) => print("who", b"\n# users=0\n"),
        () if has(Flag::Heading) => print("who", b"NAME     LINE         TIME             COMMENT\n"),
        () => 0,
    }
}
