//! Variables that the shell computes.

use tidebox_rt as rt;

use crate::ir::Bytes;
use crate::state::{Current, Shell};

/// The version of bash whose behaviour this shell follows.
pub(crate) const BASH_VERSION: &str = "5.2.15(1)-release";

impl Shell {
    /// Variables that the shell computes when they are asked for. Several values make an array.
    pub(crate) fn dynamic(&mut self, name: &[u8]) -> Option<Vec<Bytes>> {
        let one = |text: String| Some(vec![text.into_bytes()]);
        match name {
            b"_" => Some(vec![self.last_arg.clone()]),
            b"RANDOM" => one(self.next_random().to_string()),
            b"SECONDS" => one(self.seconds().to_string()),
            b"LINENO" => one(self.line.to_string()),
            b"BASHPID" => one(rt::getids().map_or(0, |ids| ids.pid).to_string()),
            b"PPID" => one(rt::getids().map_or(0, |ids| ids.ppid).to_string()),
            b"UID" | b"EUID" => one(rt::getids().map_or(0, |ids| ids.uid).to_string()),
            b"GROUPS" => one(rt::getids().map_or(0, |ids| ids.gid).to_string()),
            b"EPOCHSECONDS" => one((rt::realtime_ns() / 1_000_000_000).to_string()),
            b"EPOCHREALTIME" => {
                let now = rt::realtime_ns() / 1000;
                one(format!("{}.{:06}", now / 1_000_000, now % 1_000_000))
            }
            b"SRANDOM" => {
                let mut bytes = [0; 4];
                rt::random(&mut bytes).ok()?;
                one(u32::from_le_bytes(bytes).to_string())
            }
            b"BASH_VERSION" => one(BASH_VERSION.to_owned()),
            b"BASH_VERSINFO" => {
                Some(["5", "2", "15", "1", "release", "wasm32-tidebox-wasip1"].map(|s| s.as_bytes().to_vec()).to_vec())
            }
            b"BASH" => one("/bin/bash".to_owned()),
            b"OSTYPE" => one("linux-gnu".to_owned()),
            b"HOSTTYPE" => one("wasm32".to_owned()),
            b"MACHTYPE" => one("wasm32-tidebox-wasip1".to_owned()),
            b"HOSTNAME" => {
                let fd = rt::open(b"/proc/sys/kernel/hostname", rt::Open { read: true, ..rt::Open::default() });
                let mut text = fd.map(|fd| self.read_all(fd)).unwrap_or_default();
                text.truncate(text.trim_ascii_end().len());
                Some(vec![if text.is_empty() { b"tidebox".to_vec() } else { text }])
            }
            b"BASH_COMMAND" => self.current.as_ref().map(|current| match current {
                Current::Simple(simple) => vec![crate::print::simple(simple)],
                Current::Text(text) => vec![text.clone()],
            }),
            b"BASH_SUBSHELL" => one(self.subshell.to_string()),
            b"SHELLOPTS" => {
                let on = crate::options::SET.iter().filter(|s| (s.get)(&self.options)).map(|s| s.name);
                one(on.collect::<Vec<_>>().join(":"))
            }
            b"BASHOPTS" => {
                let on = crate::options::SHOPT.iter().filter(|s| (s.get)(&self.options)).map(|s| s.name);
                one(on.collect::<Vec<_>>().join(":"))
            }
            b"PIPESTATUS" => Some(self.pipe_status.iter().map(|s| s.to_string().into_bytes()).collect()),
            b"DIRSTACK" => {
                let mut stack = vec![self.cwd.clone()];
                stack.extend(self.dir_stack.iter().cloned());
                Some(stack)
            }
            b"FUNCNAME" if !self.frames.is_empty() => {
                let mut names: Vec<Bytes> = self.frames.iter().rev().map(|frame| frame.name.to_vec()).collect();
                if !self.script.is_empty() {
                    names.push(b"main".to_vec());
                }
                Some(names)
            }
            b"BASH_SOURCE" if !self.frames.is_empty() || !self.script.is_empty() => {
                let mut files: Vec<Bytes> = self.frames.iter().rev().map(|frame| frame.source.to_vec()).collect();
                if !self.script.is_empty() {
                    files.push(self.script.to_vec());
                }
                Some(files)
            }
            b"BASH_LINENO" if !self.frames.is_empty() => {
                let mut lines: Vec<Bytes> =
                    self.frames.iter().rev().map(|frame| frame.line.to_string().into_bytes()).collect();
                if !self.script.is_empty() {
                    lines.push(b"0".to_vec());
                }
                Some(lines)
            }
            _ => None,
        }
    }

    fn seconds(&self) -> i64 {
        let passed = rt::monotonic_ns().saturating_sub(self.started_ns) / 1_000_000_000;
        i64::try_from(passed).unwrap_or(i64::MAX).saturating_add(self.seconds_offset)
    }

    /// The next number of bash's generator, which is that of Park and Miller.
    fn next_random(&mut self) -> u32 {
        if self.random == 0 {
            let mut seed = [0; 4];
            // Without entropy the sequence starts where a seed of 0 would start it.
            let _ = rt::random(&mut seed);
            self.random = u32::from_le_bytes(seed) % 0x7fff_ffff;
        }
        let seed = if self.random == 0 { 123_459_876 } else { i64::from(self.random) };
        let next = (16_807 * (seed % 127_773) - 2_836 * (seed / 127_773)).rem_euclid(0x7fff_ffff);
        self.random = u32::try_from(next).unwrap_or(1);
        ((self.random >> 16) ^ (self.random & 0xffff)) & 0x7fff
    }
}
