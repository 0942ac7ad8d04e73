//! Variables that the shell computes.

use tidebox_rt as rt;

use crate::ir::Bytes;
use crate::state::{Current, Shell};

/// The platform of this shell, as a GNU triple.
pub(crate) const MACHINE: &str = "wasm32-tidebox-wasip1";

/// The version of bash whose behaviour this shell follows.
pub(crate) const BASH_VERSION: &str = "5.2.15(1)-release";

/// Variables that the shell computes, sorted by name, with the attributes that `declare -p` shows.
const COMPUTED: &[(&str, &str)] = &[
    ("BASH", "-"),
    ("BASHOPTS", "r"),
    ("BASHPID", "i"),
    ("BASH_ARGC", "a"),
    ("BASH_ARGV", "a"),
    ("BASH_ARGV0", "-"),
    ("BASH_COMMAND", "-"),
    ("BASH_LINENO", "a"),
    ("BASH_LOADABLES_PATH", "-"),
    ("BASH_SOURCE", "a"),
    ("BASH_SUBSHELL", "-"),
    ("BASH_VERSINFO", "ar"),
    ("BASH_VERSION", "-"),
    ("COMP_WORDBREAKS", "-"),
    ("DIRSTACK", "a"),
    ("EPOCHREALTIME", "-"),
    ("EPOCHSECONDS", "-"),
    ("EUID", "ir"),
    ("FUNCNAME", "a"),
    ("GROUPS", "a"),
    ("HISTCMD", "i"),
    ("HOSTNAME", "-"),
    ("HOSTTYPE", "-"),
    ("LINENO", "-"),
    ("MACHTYPE", "-"),
    ("OSTYPE", "-"),
    ("PIPESTATUS", "a"),
    ("PPID", "ir"),
    ("RANDOM", "i"),
    ("SECONDS", "i"),
    ("SHELLOPTS", "r"),
    ("SRANDOM", "i"),
    ("UID", "ir"),
    ("_", "-"),
];

/// Of these, the ones that an assignment turns into ordinary variables.
const ASSIGNABLE: &[&[u8]] = &[
    b"BASH",
    b"BASH_LOADABLES_PATH",
    b"BASH_VERSION",
    b"COMP_WORDBREAKS",
    b"HOSTNAME",
    b"HOSTTYPE",
    b"MACHTYPE",
    b"OSTYPE",
];

impl Shell {
    /// Returns whether the shell computes this variable and continues to do so after an assignment.
    pub(crate) fn is_computed(&self, name: &[u8]) -> bool {
        matches!(name.first(), Some(b'B' | b'D' | b'E' | b'F' | b'G' | b'H' | b'L' | b'P' | b'R' | b'S' | b'_'))
            && computed_attributes(name).is_some()
            && !ASSIGNABLE.contains(&name)
            && !self.computed.unset.contains(name)
    }

    /// The letters of a computed variable's attributes.
    pub(crate) fn computed_letters(&self, name: &[u8]) -> &'static str {
        computed_attributes(name).filter(|_| !self.computed.unset.contains(name)).unwrap_or("-")
    }

    /// Unsets a computed variable. Returns false if that is not possible.
    pub(crate) fn unset_computed(&mut self, name: &[u8]) -> bool {
        if computed_attributes(name).is_some() {
            if matches!(name, b"BASH_SOURCE" | b"BASH_LINENO" | b"BASH_ARGV" | b"BASH_ARGC") {
                return false;
            }
            if name == b"_" {
                // The next command gives it a value again.
                return true;
            }
            self.computed.unset.insert(name.to_vec());
        }
        true
    }

    /// Returns whether a computed variable is unset: by `unset`, or because no command has run yet.
    fn hides(&self, name: &[u8]) -> bool {
        self.computed.unset.contains(name) || (name == b"PIPESTATUS" && self.pipe_status.is_empty())
    }

    /// The names of all variables, computed ones among them, sorted.
    pub(crate) fn variable_names(&self) -> Vec<crate::ir::Name> {
        let mut names = self.vars.names();
        let computed = COMPUTED.iter().map(|(name, _)| name.as_bytes());
        names.extend(computed.filter(|name| !self.hides(name)).map(crate::ir::Name::from));
        if self.invocation.command_string.is_some() {
            names.push(b"BASH_EXECUTION_STRING"[..].into());
        }
        names.sort();
        names.dedup();
        names
    }

    /// A computed variable as `declare -p` shows it; `None` when the shell does not compute it.
    pub(crate) fn computed_declaration(&mut self, name: &[u8]) -> Option<Bytes> {
        if self.hides(name) {
            return None;
        }
        let attributes = match computed_attributes(name) {
            Some(attributes) => attributes,
            None if name == b"BASH_EXECUTION_STRING" => "-",
            None => return None,
        };
        let mut line = format!("declare -{attributes} {}", super::lossy(name)).into_bytes();
        let values = self.dynamic(name);
        if !attributes.starts_with('a') {
            let value = values.and_then(|values| values.into_iter().next())?;
            line.push(b'=');
            line.extend(super::declare_quote(&value));
        } else if let Some(values) = values {
            let quoted = values
                .iter()
                .enumerate()
                .map(|(at, value)| [format!("[{at}]=").as_bytes(), &super::declare_quote(value)].concat());
            line.extend([b"=(", &quoted.collect::<Vec<_>>().join(&b' ')[..], b")"].concat());
        }
        Some(line)
    }

    /// Variables that the shell computes when they are read. Several values make an array.
    pub(crate) fn dynamic(&mut self, name: &[u8]) -> Option<Vec<Bytes>> {
        if !self.computed.unset.is_empty() && self.computed.unset.contains(name) {
            return None;
        }
        let one = |text: String| Some(vec![text.into_bytes()]);
        match name {
            b"_" => Some(vec![self.computed.last_arg.clone()]),
            b"RANDOM" => one(self.next_random().to_string()),
            b"SECONDS" => one(self.seconds().to_string()),
            b"LINENO" => one(self.line.to_string()),
            b"HISTCMD" if self.options.history => one((self.history.base + self.history.entries.len()).to_string()),
            b"HISTCMD" => one("0".to_owned()),
            b"BASHPID" => one(rt::getids().map_or(0, |ids| ids.pid).to_string()),
            b"PPID" => one(self.parent_pid().to_string()),
            b"UID" | b"EUID" => one(rt::getids().map_or(0, |ids| ids.uid).to_string()),
            b"GROUPS" => one(rt::getids().map_or(0, |ids| ids.gid).to_string()),
            b"EPOCHSECONDS" => one((rt::realtime_ns() / 1_000_000_000).to_string()),
            b"EPOCHREALTIME" => {
                let now = rt::realtime_ns() / 1000;
                one(format!("{}.{:06}", now / 1_000_000, now % 1_000_000))
            }
            b"SRANDOM" => one(random_of_kernel()?.to_string()),
            b"BASH_VERSION" => one(BASH_VERSION.to_owned()),
            b"BASH_VERSINFO" => Some(["5", "2", "15", "1", "release", MACHINE].map(|s| s.as_bytes().to_vec()).to_vec()),
            b"BASH" => one("/usr/bin/bash".to_owned()),
            b"BASH_ARGV0" => Some(vec![self.invocation.name.clone()]),
            b"BASH_EXECUTION_STRING" => self.invocation.command_string.clone().map(|text| vec![text]),
            b"BASH_LOADABLES_PATH" => {
                one("/usr/local/lib/bash:/usr/lib/bash:/opt/local/lib/bash:/usr/pkg/lib/bash:/opt/pkg/lib/bash:."
                    .to_owned())
            }
            b"COMP_WORDBREAKS" => one(" \t\n\"'@><=;|&(:".to_owned()),
            b"OSTYPE" => one("linux-gnu".to_owned()),
            b"HOSTTYPE" => one("wasm32".to_owned()),
            b"MACHTYPE" => one(MACHINE.to_owned()),
            b"HOSTNAME" => Some(vec![self.hostname()]),
            b"BASH_COMMAND" => self.traps.command.as_ref().map(|current| match current {
                Current::Simple(simple) => vec![crate::print::simple(simple)],
                Current::Text(text) => vec![text.clone()],
            }),
            b"BASH_SUBSHELL" => one(self.process.subshell.to_string()),
            b"SHELLOPTS" => one(self.options.names_on(crate::options::SET)),
            b"BASHOPTS" => one(self.options.names_on(crate::options::SHOPT)),
            b"PIPESTATUS" => Some(self.pipe_status.iter().map(|s| s.to_string().into_bytes()).collect()),
            b"DIRSTACK" => Some(std::iter::once(&self.dirs.cwd).chain(&self.dirs.stack).cloned().collect()),
            b"BASH_ARGC" | b"BASH_ARGV" => {
                if !self.frames.iter().any(|frame| frame.is_function) {
                    self.store_start_args();
                }
                self.calls(name)
            }
            _ => self.calls(name),
        }
    }

    fn hostname(&mut self) -> Bytes {
        let fd = rt::open(b"/proc/sys/kernel/hostname", rt::Open { read: true, ..rt::Open::default() });
        let mut text = fd.map(|fd| self.read_all(fd)).unwrap_or_default();
        if let Ok(fd) = fd {
            // The text has been read; an error of close does not matter.
            let _ = rt::close(fd);
        }
        text.truncate(text.trim_ascii_end().len());
        if text.is_empty() { b"tidebox".to_vec() } else { text }
    }

    /// Keeps the positional parameters for `BASH_ARGV`. That happens once: when it is first looked at, or with `extdebug`.
    pub(crate) fn store_start_args(&mut self) {
        if self.invocation.args.is_none() {
            self.invocation.args = Some(self.positional.clone());
        }
    }

    /// The arrays that describe the calls in progress.
    pub(crate) fn calls(&self, name: &[u8]) -> Option<Vec<Bytes>> {
        let frames = self.frames.iter().rev();
        let main = (!self.invocation.script.is_empty()).then_some(());
        Some(match name {
            b"FUNCNAME" if !self.frames.iter().any(|frame| frame.is_function || main.is_some()) => return None,
            b"FUNCNAME" => frames.map(|f| f.name.to_vec()).chain(main.map(|()| b"main".to_vec())).collect(),
            b"BASH_SOURCE" => {
                frames.map(|f| f.source.to_vec()).chain(main.map(|()| self.invocation.script.to_vec())).collect()
            }
            b"BASH_LINENO" => {
                frames.map(|f| f.line.to_string().into_bytes()).chain(main.map(|()| b"0".to_vec())).collect()
            }
            b"BASH_ARGV" => {
                let called = frames.filter_map(|f| f.args.as_ref()).flat_map(|args| args.iter().rev().cloned());
                called.chain(self.invocation.args.iter().flat_map(|args| args.iter().rev().cloned())).collect()
            }
            b"BASH_ARGC" => {
                let called = frames.filter_map(|f| f.args.as_ref()).map(Vec::len);
                called
                    .chain(self.invocation.args.iter().map(|args| args.len()))
                    .map(|n| n.to_string().into_bytes())
                    .collect()
            }
            _ => return None,
        })
    }

    fn seconds(&self) -> i64 {
        let passed = rt::monotonic_ns().saturating_sub(self.computed.started_ns) / 1_000_000_000;
        i64::try_from(passed).unwrap_or(i64::MAX).saturating_add(self.computed.seconds_offset)
    }

    /// The next number of bash's generator, which is that of Park and Miller.
    fn next_random(&mut self) -> u32 {
        if self.computed.random == 0 {
            let mut seed = [0; 4];
            // Without entropy the sequence starts where a seed of 0 would start it.
            let _ = rt::random(&mut seed);
            self.computed.random = u32::from_le_bytes(seed) % 0x7fff_ffff;
        }
        let seed = if self.computed.random == 0 { 123_459_876 } else { i64::from(self.computed.random) };
        let next = (16_807 * (seed % 127_773) - 2_836 * (seed / 127_773)).rem_euclid(0x7fff_ffff);
        self.computed.random = u32::try_from(next).unwrap_or(1);
        ((self.computed.random >> 16) ^ (self.computed.random & 0xffff)) & 0x7fff
    }
}

fn computed_attributes(name: &[u8]) -> Option<&'static str> {
    let at = COMPUTED.binary_search_by(|(known, _)| known.as_bytes().cmp(name)).ok()?;
    COMPUTED.get(at).map(|(_, attributes)| *attributes)
}

/// `SRANDOM`, which no seed of the script governs.
fn random_of_kernel() -> Option<u32> {
    let mut bytes = [0; 4];
    rt::random(&mut bytes).ok()?;
    Some(u32::from_le_bytes(bytes))
}
