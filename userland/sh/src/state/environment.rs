//! Initial state of a shell: the environment and the variables that every shell has.

use tidebox_rt as rt;

use super::Shell;
use crate::ir::{Bytes, Name};
use crate::vars::{self, Value, Var};

impl Shell {
    /// Imports the environment and sets the variables of every shell.
    pub(crate) fn import_environment(&mut self, started: &rt::StartupInfo, called: &[u8]) {
        for line in started.environ() {
            self.import_line(line);
        }
        self.start_locale();
        self.dirs.cwd = match self.vars.get(b"PWD").and_then(Var::scalar) {
            Some(path) if *path == started.cwd || path.first() == Some(&b'/') && self.is_cwd(path) => path.clone(),
            _ if started.cwd.is_empty() => b"/".to_vec(),
            _ => started.cwd.clone(),
        };
        let cwd = self.dirs.cwd.clone();
        self.set_exported(b"PWD", cwd);
        if self.vars.get(b"OLDPWD").is_none() {
            self.vars.insert(Name::from(&b"OLDPWD"[..]), Var { value: Value::Unset, flags: vars::EXPORT });
        }
        for (name, buckets) in [(&b"BASH_ALIASES"[..], 64), (b"BASH_CMDS", 256)] {
            let value = Value::Assoc(vars::Assoc::with_buckets(buckets));
            self.vars.insert(name.into(), Var { value, flags: 0 });
        }
        self.set_level(called);
        for (name, value, flags) in
            [(&b"IFS"[..], &b" \t\n"[..], 0), (b"OPTERR", b"1", 0), (b"OPTIND", b"1", vars::INTEGER)]
        {
            // An inherited one is reset and stays exported.
            let var = self.vars.entry(&name.into());
            *var = Var { value: Value::Text(value.to_vec()), flags: flags | var.flags };
        }
        if self.vars.get(b"PS4").is_none() {
            self.vars.insert(Name::from(&b"PS4"[..]), Var { value: Value::Text(b"+ ".to_vec()), flags: 0 });
        }
        // The path by which this shell was started, or its name.
        let started = self.vars.get(b"_").and_then(Var::scalar);
        self.computed.last_arg = started.map_or_else(|| called.to_vec(), Clone::clone);
        self.vars.remove(b"_");
        // Defaults of unset variables are not exported. All users of the sandbox have the same shell.
        let path = b"/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin:.";
        for (name, value) in [(&b"PATH"[..], &path[..]), (b"SHELL", b"/bin/bash"), (b"TERM", b"dumb")] {
            if self.vars.get(name).is_none() {
                self.vars.insert(name.into(), Var { value: Value::Text(value.to_vec()), flags: 0 });
            }
        }
    }

    /// Imports one line of the environment: a function, options, a variable, or a line that is only passed to programs.
    fn import_line(&mut self, line: &[u8]) {
        let Some(at) = line.iter().position(|&b| b == b'=') else { return };
        let (name, value) = (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default());
        if self.import_function(name, value) {
            return;
        }
        if matches!(name, b"SHELLOPTS" | b"BASHOPTS") {
            self.take_options(name, value);
            return;
        }
        if crate::parse::token::name_len(name) != name.len() || name.is_empty() {
            self.vars.pass_on(line.to_vec());
            return;
        }
        if name == b"OLDPWD" && !rt::stat(value, true).is_ok_and(|stat| stat.kind() == rt::FileKind::Dir) {
            return;
        }
        if self.is_ignored_variable(name) {
            return;
        }
        let value = Value::Text(value.to_vec());
        self.vars.insert(name.into(), Var { value, flags: vars::EXPORT });
    }

    /// Returns whether the shell ignores a variable of the environment: its counters, prompts of a shell that is not
    /// interactive, and `PS4`, whose commands would run as root.
    fn is_ignored_variable(&self, name: &[u8]) -> bool {
        match name {
            b"LINENO" | b"BASH_SUBSHELL" => true,
            b"PS1" | b"PS2" => !self.options.interactive,
            b"PS4" => rt::getids().is_ok_and(|ids| ids.uid == 0),
            _ => false,
        }
    }

    /// Sets `SHLVL` to one more than the inherited value.
    fn set_level(&mut self, called: &[u8]) {
        let level =
            self.vars.get(b"SHLVL").and_then(Var::scalar).and_then(|v| crate::parse::plain_number(v.trim_ascii()));
        // Above the limit it is reset.
        let level = match level.unwrap_or(0).saturating_add(1) {
            i64::MIN..0 => 0,
            level @ 0..1000 => level,
            high => {
                let why = format!(": warning: shell level ({high}) too high, resetting to 1\n");
                // A closed standard error is ignored.
                let _ = self.io.write(2, &[called, why.as_bytes()].concat());
                1
            }
        };
        self.set_exported(b"SHLVL", level.to_string().into_bytes());
    }

    /// Returns whether a path names the working directory, as an inherited `PWD` claims.
    fn is_cwd(&self, path: &[u8]) -> bool {
        let here = rt::stat(b".", true);
        here.is_ok() && rt::stat(path, true).map(|s| (s.dev, s.ino)).ok() == here.map(|s| (s.dev, s.ino)).ok()
    }

    pub(crate) fn set_exported(&mut self, name: &[u8], value: Bytes) {
        let var = self.vars.entry(&name.into());
        var.value = Value::Text(value);
        var.flags |= vars::EXPORT;
    }
}
