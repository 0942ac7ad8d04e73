//! Prompts: the escapes of `PS1` and the other prompt variables, then the expansions.

use std::rc::Rc;

use tidebox_rt as rt;

use super::special::BASH_VERSION;
use crate::ir::Bytes;
use crate::state::Shell;

impl Shell {
    /// A prompt as it would be shown: escapes first, then parameters, commands and arithmetic.
    pub(crate) fn expand_prompt(&mut self, text: &[u8]) -> Bytes {
        let decoded = if text.contains(&b'\\') { self.decode_prompt(text) } else { text.to_vec() };
        if !self.options.promptvars || !decoded.iter().any(|b| matches!(b, b'$' | b'`' | b'\\')) {
            return decoded;
        }
        match crate::parse::Parser::new(&decoded, self.line, Rc::from(&b""[..])).whole_text() {
            Ok(word) => self.expand_text(&word).unwrap_or(decoded),
            Err(_) => decoded,
        }
    }

    /// Replaces `\u`, `\w` and the other escapes.
    fn decode_prompt(&mut self, text: &[u8]) -> Bytes {
        let mut out = Bytes::new();
        let mut rest = text;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            if byte != b'\\' {
                out.push(byte);
                continue;
            }
            let Some((&letter, after)) = rest.split_first() else {
                out.push(b'\\');
                break;
            };
            rest = after;
            match letter {
                b'0'..=b'7' => {
                    let digits = text_of_digits(letter, rest);
                    rest = rest.get(digits.len() - 1..).unwrap_or_default();
                    let value = digits.iter().fold(0_u32, |n, d| n * 8 + u32::from(d - b'0'));
                    out.push((value & 0xff) as u8);
                }
                b'D' if rest.first() == Some(&b'{') => {
                    let end = rest.iter().position(|&b| b == b'}').unwrap_or(rest.len());
                    let format = rest.get(1..end).unwrap_or_default();
                    let format = if format.is_empty() { b"%X" } else { format };
                    out.extend(self.prompt_time(format));
                    rest = rest.get(end + 1..).unwrap_or_default();
                }
                _ => self.prompt_escape(letter, &mut out),
            }
        }
        out
    }

    fn prompt_escape(&mut self, letter: u8, out: &mut Bytes) {
        let text: Bytes = match letter {
            b'a' => vec![7],
            b'e' => vec![27],
            b'n' => b"\n".to_vec(),
            b'r' => b"\r".to_vec(),
            b'\\' => b"\\".to_vec(),
            // They enclose characters without a width, which only line editing counts.
            b'[' if self.options.interactive => vec![1],
            b']' if self.options.interactive => vec![2],
            b'[' | b']' => Bytes::new(),
            b'd' => self.prompt_time(b"%a %b %d"),
            b't' => self.prompt_time(b"%H:%M:%S"),
            b'T' => self.prompt_time(b"%I:%M:%S"),
            b'@' => self.prompt_time(b"%I:%M %p"),
            b'A' => self.prompt_time(b"%H:%M"),
            b'h' => {
                let name = self.computed(b"HOSTNAME");
                name.split(|&b| b == b'.').next().unwrap_or_default().to_vec()
            }
            b'H' => self.computed(b"HOSTNAME"),
            b'j' => {
                self.reap();
                self.jobs.list.len().to_string().into_bytes()
            }
            b'l' => b"tty".to_vec(),
            b's' => self.base_name().to_vec(),
            b'u' => self.user_name(),
            b'v' => b"5.2".to_vec(),
            b'V' => BASH_VERSION.split('(').next().unwrap_or_default().as_bytes().to_vec(),
            b'w' | b'W' => {
                let directory = self.prompt_directory(letter == b'W');
                self.unexpanded(directory)
            }
            b'#' => self.computed.commands_read.to_string().into_bytes(),
            b'!' if self.options.history => self.computed(b"HISTCMD"),
            b'!' => b"1".to_vec(),
            b'$' => match rt::getids().is_ok_and(|ids| ids.uid == 0) {
                true => b"#".to_vec(),
                // The following expansion must keep it.
                false if self.options.promptvars => b"\\$".to_vec(),
                false => b"$".to_vec(),
            },
            other => vec![b'\\', other],
        };
        out.extend(text);
    }

    /// Quotes text that the expansion of the prompt must not change.
    fn unexpanded(&self, text: Bytes) -> Bytes {
        if !self.options.promptvars || !text.iter().any(|byte| matches!(byte, b'$' | b'`' | b'\\')) {
            return text;
        }
        let quoted = text.iter().flat_map(|&byte| {
            let mark = matches!(byte, b'$' | b'`' | b'\\').then_some(b'\\');
            mark.into_iter().chain([byte])
        });
        quoted.collect()
    }

    fn prompt_time(&self, format: &[u8]) -> Bytes {
        let now = i64::try_from(rt::realtime_ns() / 1_000_000_000).unwrap_or(0);
        self.format_time(format, now)
    }

    fn computed(&mut self, name: &[u8]) -> Bytes {
        self.lookup(name).unwrap_or_default()
    }

    /// The name of the user from `/etc/passwd`, or bash's replacement if it has no entry.
    pub(crate) fn user_name(&mut self) -> Bytes {
        let id = rt::getids().map_or(0, |ids| ids.uid).to_string().into_bytes();
        let fd = rt::open(b"/etc/passwd", rt::Open { read: true, ..rt::Open::default() });
        let Ok(fd) = fd else { return b"I have no name!".to_vec() };
        let text = self.read_all(fd);
        // The text has been read; an error of close does not matter.
        let _ = rt::close(fd);
        let user = text.split(|&b| b == b'\n').find_map(|line| {
            let fields: Vec<&[u8]> = line.split(|&b| b == b':').collect();
            (fields.get(2) == Some(&&id[..])).then(|| fields.first().map(|name| name.to_vec()).unwrap_or_default())
        });
        user.unwrap_or_else(|| b"I have no name!".to_vec())
    }

    /// The working directory with `~` for `HOME`, cut to `PROMPT_DIRTRIM` components; only its last component when `last`.
    fn prompt_directory(&mut self, last: bool) -> Bytes {
        let home = self.lookup(b"HOME").unwrap_or_default();
        let dir = self.lookup(b"PWD").unwrap_or_else(|| self.dirs.cwd.clone());
        if last {
            if !home.is_empty() && dir == home {
                return b"~".to_vec();
            }
            let name = dir.rsplit(|&b| b == b'/').next().unwrap_or_default();
            return if name.is_empty() { b"/".to_vec() } else { name.to_vec() };
        }
        let shown = match dir.strip_prefix(&home[..]) {
            Some(rest) if home.len() > 1 && matches!(rest.first(), None | Some(b'/')) => [b"~", rest].concat(),
            _ => dir,
        };
        let most = self.lookup(b"PROMPT_DIRTRIM").and_then(|text| crate::parse::plain_number(&text)).unwrap_or(0);
        let most = usize::try_from(most).unwrap_or(0);
        let (start, rest) = match shown.strip_prefix(b"~/") {
            Some(rest) => (&b"~/"[..], rest),
            None => (&b"/"[..], shown.strip_prefix(b"/").unwrap_or(&shown)),
        };
        let parts: Vec<&[u8]> = rest.split(|&b| b == b'/').collect();
        if most == 0 || parts.len() <= most {
            return shown;
        }
        let kept = parts.get(parts.len() - most..).unwrap_or_default().join(&b'/');
        let start: &[u8] = if start == b"~/" { b"~/" } else { b"" };
        [start, b".../", &kept].concat()
    }
}

/// Up to three octal digits.
fn text_of_digits(first: u8, rest: &[u8]) -> Bytes {
    let more = rest.iter().take(2).take_while(|b| matches!(b, b'0'..=b'7'));
    std::iter::once(first).chain(more.copied()).collect()
}
