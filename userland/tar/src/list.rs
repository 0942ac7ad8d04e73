//! Lines of member listings.

use tidebox_gnu::mode::letters;
use tidebox_gnu::zone::Zone;
use tidebox_rt::Errno;

use crate::header::Member;
use crate::message::{Fatal, fatal};
use crate::options::Options;
use crate::quote::escaped;

/// Common width of the columns owner, group and size, which grows as needed.
#[derive(Debug)]
pub(crate) struct Lines {
    owners: usize,
    date: usize,
    held: Vec<u8>,
    fd: u32,
}

impl Lines {
    /// Lines go to standard output, or to standard error if standard output carries data.
    pub(crate) fn new(to_stderr: bool) -> Self {
        Self { owners: 19, date: 16, held: Vec::new(), fd: if to_stderr { 2 } else { 1 } }
    }

    /// Prints a line for a member: its name, and with `long` all attributes.
    pub(crate) fn member(&mut self, member: &Member, long: bool, options: &Options) -> Result<(), Fatal> {
        if long {
            let line = self.long(member, options);
            self.held.extend(line);
        }
        self.held.extend(escaped(&member.name, false));
        if long {
            match member.kind {
                b'2' => self.held.extend([b" -> ".as_slice(), &escaped(&member.link, false)].concat()),
                b'1' => self.held.extend([b" link to ".as_slice(), &escaped(&member.link, false)].concat()),
                b'0'..=b'7' => {}
                b'V' => self.held.extend_from_slice(b"--Volume Header--"),
                kind => self.held.extend([b" unknown file type ".as_slice(), &crate::quote::quoted(&[kind])].concat()),
            }
        }
        self.held.push(b'\n');
        self.flush_if_needed()
    }

    fn long(&mut self, member: &Member, options: &Options) -> Vec<u8> {
        let kind = match member.kind {
            b'5' => 'd',
            b'2' => 'l',
            b'1' => 'h',
            b'3' => 'c',
            b'4' => 'b',
            b'6' => 'p',
            b'7' => 'C',
            b'V' => 'V',
            b'0' => '-',
            _ => '?',
        };
        let modes = letters(member.mode);
        let owner = |name: &[u8], id: u64| {
            if name.is_empty() || options.numeric { id.to_string().into_bytes() } else { name.to_vec() }
        };
        let user = owner(&member.uname, member.uid);
        let group = owner(&member.gname, member.gid);
        let size = match member.kind {
            b'3' | b'4' => format!("{},{}", member.device.0, member.device.1),
            _ => member.size.to_string(),
        };
        let pad = user.len() + group.len() + size.len() + 2;
        self.owners = self.owners.max(pad);
        let width = self.owners - pad + size.len();
        let date = date(member.mtime, options.full_time);
        self.date = self.date.max(date.len());
        let date_width = self.date;
        [
            format!("{kind}{} ", modes.get(1..).unwrap_or_default()).as_bytes(),
            &user,
            b"/",
            &group,
            format!(" {size:>width$} {date:<date_width$} ").as_bytes(),
        ]
        .concat()
    }

    /// Prints a line with other text.
    pub(crate) fn text(&mut self, parts: &[&[u8]]) -> Result<(), Fatal> {
        self.held.extend(parts.concat());
        self.held.push(b'\n');
        self.flush_if_needed()
    }

    /// Output to a terminal or next to messages is unbuffered; output to a pipe is buffered.
    fn flush_if_needed(&mut self) -> Result<(), Fatal> {
        if self.held.len() > 16 * 1024 || self.fd == 2 { self.flush() } else { Ok(()) }
    }

    /// Flushes the buffer.
    pub(crate) fn flush(&mut self) -> Result<(), Fatal> {
        let held = std::mem::take(&mut self.held);
        if held.is_empty() { Ok(()) } else { tidebox_rt::write_all(self.fd, &held).map_err(unwritten) }
    }
}

/// A failed write ends the run.
pub(crate) fn unwritten(errno: Errno) -> Fatal {
    fatal(&[b"-: Cannot write: ", errno.text().as_bytes()])
}

fn date(time: (i64, u32), full: bool) -> String {
    if full {
        return crate::date::format(time);
    }
    let at = Zone::local().moment(time.0, 0);
    format!("{:04}-{:02}-{:02} {:02}:{:02}", at.year, at.month, at.day, at.hour, at.minute)
}
