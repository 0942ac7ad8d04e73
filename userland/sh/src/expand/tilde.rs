//! Home directories: `~`, `~name`, `~+`, `~-` and entries of the directory stack.

use tidebox_rt as rt;

use crate::ir::Bytes;
use crate::state::Shell;

impl Shell {
    /// The home directory that `~` or `~name` denotes; the text itself if the user is unknown.
    pub(crate) fn tilde(&mut self, name: &[u8]) -> Bytes {
        let found = match name {
            b"" => Some(self.lookup(b"HOME").unwrap_or_else(|| b"/workspace".to_vec())),
            b"+" => Some(self.dirs.cwd.clone()),
            b"-" => self.lookup(b"OLDPWD"),
            b"root" => Some(b"/root".to_vec()),
            [b'+' | b'-', digits @ ..] | digits if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
                // An entry of the directory stack, counted from its start or its end.
                let count = self.dirs.stack.len() + 1;
                let number = crate::parse::plain_number(digits).and_then(|n| usize::try_from(n).ok());
                let at = match name.first() {
                    Some(b'-') => number.and_then(|n| count.checked_sub(n + 1)),
                    _ => number,
                };
                match at {
                    Some(0) => Some(self.dirs.cwd.clone()),
                    Some(at) => self.dirs.stack.get(at - 1).cloned(),
                    None => None,
                }
            }
            b"tidebox" => Some(b"/workspace".to_vec()),
            _ => self.home_of(name),
        };
        found.unwrap_or_else(|| [b"~", name].concat())
    }

    /// The home directory of a user of `/etc/passwd`.
    fn home_of(&mut self, user: &[u8]) -> Option<Bytes> {
        let fd = rt::open(b"/etc/passwd", rt::Open { read: true, ..rt::Open::default() }).ok()?;
        let text = self.read_all(fd);
        // The text has been read; an error of close does not matter.
        let _ = rt::close(fd);
        let mut users = text.split(|&byte| byte == b'\n').map(|line| line.split(|&byte| byte == b':'));
        users.find_map(|mut fields| (fields.next()? == user).then(|| fields.nth(4).map(<[u8]>::to_vec))?)
    }
}
