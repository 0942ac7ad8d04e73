//! Home directories: `~`, `~name`, `~+`, `~-` and entries of the directory stack.

use tidebox_rt as rt;

use crate::ir::{Bytes, Part};
use crate::state::Shell;

impl Shell {
    /// The home directory at the start of a text with a tilde, and the text after it up to the next part.
    pub(super) fn leading_home(&mut self, parts: &[Part]) -> Option<(Bytes, Bytes)> {
        let Part::Lit(text) = parts.first()? else { return None };
        let inside = text.strip_prefix(b"~")?;
        let slash = inside.iter().position(|&byte| byte == b'/');
        if slash.is_none() && parts.len() > 1 {
            return None;
        }
        let (name, rest) = inside.split_at(slash.unwrap_or(inside.len()));
        Some((self.tilde(name), rest.to_vec()))
    }

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
