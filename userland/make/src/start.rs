//! Startup: from the command line to the goals.

use std::collections::HashSet;

use tidebox_gnu::message::program;
use tidebox_gnu::tool::print_and_exit_code;
use tidebox_rt::environ;

use crate::Make;
use crate::assign::{Modifiers, assignment};
use crate::failure::{Stop, TROUBLE};
use crate::file::{Age, Files};
use crate::options::{LINE, Options};
use crate::update::Outcome;
use crate::variable::{Export, Origin, Scope, Variable};
use crate::words::words;

/// Default makefile names; the first one that exists is read.
const DEFAULT_MAKEFILES: [&[u8]; 3] = [b"GNUmakefile", b"makefile", b"Makefile"];

/// Maximum number of restarts after makefiles were rebuilt.
const MAX_RESTARTS: usize = 20;

/// Runs make. Returns the exit code.
pub(crate) fn run() -> i32 {
    let arguments: Vec<Vec<u8>> = tidebox_gnu::message::arguments();
    let mut options = Options::default();
    let environment = environ();
    let value = |name: &[u8]| {
        let found = environment.iter().find_map(|entry| entry.strip_prefix(name)?.strip_prefix(b"="));
        found.unwrap_or_default().to_vec()
    };
    let level: u32 = std::str::from_utf8(&value(b"MAKELEVEL")).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    options.read_flags(&value(b"MAKEFLAGS"));
    // Directory and makefile options are not inherited; each make gets its own.
    options.print_directory &= level > 0;
    let called = match level {
        0 => program(),
        level => format!("{}[{level}]", program()),
    };
    if let Err(message) = options.read(arguments) {
        tidebox_gnu::eprint_line!("{called}: {message}\n{}", LINE.help().trim_end());
        return TROUBLE;
    }
    if let Some(text) = &options.text {
        return print_and_exit_code("make", text, 1);
    }
    for folder in &options.folders {
        if let Err(error) = tidebox_rt::chdir(folder) {
            tidebox_gnu::eprint_line!("{called}: *** {}: {}.  Stop.", String::from_utf8_lossy(folder), error.text());
            return TROUBLE;
        }
    }
    tidebox_rt::init();
    let implied = !options.silent && (!options.folders.is_empty() || level > 0);
    options.print_directory = (options.print_directory || implied) && !options.no_print_directory;
    for restart in 0..MAX_RESTARTS {
        let mut make = Make::new(&options, level, &environment);
        if restart > 0 {
            make.globals
                .insert(b"MAKE_RESTARTS".to_vec(), Variable::new(restart.to_string(), false, Origin::Environment));
        }
        let code = match make.everything() {
            Err(Stop::ReadAgain) => continue,
            Ok(code) | Err(Stop::Code(code)) => code,
        };
        if make.clock_skew {
            make.error("warning:  Clock skew detected.  Your build may be incomplete.");
        }
        make.leave();
        return make.end_code(code);
    }
    tidebox_gnu::eprint_line!(
        "{called}: *** The makefiles were remade {MAX_RESTARTS} times and are still out of date.  Stop."
    );
    TROUBLE
}

impl Make {
    pub(crate) fn new(options: &Options, level: u32, environment: &[Vec<u8>]) -> Self {
        let command = std::env::args_os().next().map(std::ffi::OsString::into_encoded_bytes).unwrap_or_default();
        let mut make = Self {
            name: program(),
            command,
            level,
            options: options.clone(),
            directory: tidebox_rt::getcwd().unwrap_or_default(),
            globals: Scope::new(),
            locals: Vec::new(),
            call_arguments: 0,
            expanding: Vec::new(),
            depth: 0,
            include_depth: 0,
            target: None,
            files: Files::default(),
            pattern_rules: Vec::new(),
            pattern_variables: Vec::new(),
            vpaths: Vec::new(),
            vpath_all: Vec::new(),
            makefiles: Vec::new(),
            location: None,
            defined_at: None,
            reading_origin: Origin::File,
            recipe_prefix: b'\t',
            one_shell: false,
            posix: false,
            export_all: false,
            delete_on_error: false,
            all_secondary: false,
            suffixes_cleared: false,
            flags_changed: false,
            rebuilding: false,
            announced: false,
            clock_skew: false,
            write_failed: false,
            commands_started: 0,
            shell_environment: environment.to_vec(),
            inherited_environment: HashSet::new(),
            outer_shell: None,
        };
        make.set_builtin_variables();
        make.take_environment(environment);
        make
    }

    /// Imports variables from the environment.
    fn take_environment(&mut self, environment: &[Vec<u8>]) {
        let origin = if self.options.environment_overrides { Origin::EnvironmentOverride } else { Origin::Environment };
        for entry in environment {
            let Some(equals) = memchr::memchr(b'=', entry) else { continue };
            let (name, value) = (entry.get(..equals).unwrap_or_default(), entry.get(equals + 1..).unwrap_or_default());
            if name == b"SHELL" {
                self.outer_shell = Some(value.to_vec());
                continue;
            }
            self.inherited_environment.insert(name.to_vec());
            self.globals.insert(name.to_vec(), Variable::new(value, true, origin));
        }
        self.globals.insert(b"SHELL".to_vec(), Variable::new("/bin/sh", false, Origin::Default));
        let level =
            Variable { export: Export::Yes, ..Variable::new(self.level.to_string(), false, Origin::Environment) };
        self.globals.insert(b"MAKELEVEL".to_vec(), level);
        let directory = self.directory.clone();
        self.globals.insert(b"CURDIR".to_vec(), Variable::new(directory, false, Origin::File));
        let goals = crate::words::joined(self.options.goals.iter().map(Vec::as_slice));
        self.globals.insert(b"MAKECMDGOALS".to_vec(), Variable::new(goals, false, Origin::Default));
        self.set_flags();
    }

    /// Sets `MAKEFLAGS` from the current options.
    fn set_flags(&mut self) {
        let flags = self.options.flags();
        let variable = Variable { export: Export::Yes, ..Variable::new(flags, true, Origin::File) };
        self.globals.insert(b"MAKEFLAGS".to_vec(), variable);
        let letters = self.options.letters();
        let letters = if letters.is_empty() { letters } else { format!("-{letters}") };
        self.globals.insert(b"MFLAGS".to_vec(), Variable::new(letters, false, Origin::Environment));
        let overrides = crate::words::joined(self.options.variables.iter().map(Vec::as_slice));
        self.globals.insert(b"MAKEOVERRIDES".to_vec(), Variable::new(overrides, true, Origin::Environment));
    }

    fn everything(&mut self) -> Result<i32, Stop> {
        for variable in self.options.variables.clone() {
            if let Some((name, operator, value)) = assignment(&variable) {
                self.assign(name, operator, value, Modifiers::default(), Origin::CommandLine)?;
            }
        }
        self.read_everything()?;
        self.convert_suffix_rules();
        self.add_builtin_rules();
        self.know_special_targets();
        self.know_vpath();
        self.rebuild_makefiles()?;
        let goals = self.goals()?;
        self.location = None;
        let code = self.make_goals(&goals);
        self.remove_intermediates();
        code
    }

    fn read_everything(&mut self) -> Result<(), Stop> {
        let first =
            if self.globals.contains_key(b"MAKEFILES".as_slice()) { self.value(b"MAKEFILES")? } else { Vec::new() };
        for name in words(&first) {
            self.read_makefile(name, true, None)?;
        }
        let named = self.options.makefiles.clone();
        for name in &named {
            self.read_makefile(name, false, None)?;
        }
        if named.is_empty() {
            let there = |name: &&&[u8]| tidebox_rt::stat(name, true).is_ok();
            if let Some(name) = DEFAULT_MAKEFILES.iter().find(there) {
                self.read_makefile(name, false, None)?;
            }
        }
        if std::mem::take(&mut self.flags_changed) {
            let flags = self.value(b"MAKEFLAGS")?;
            let (before, goals) = (self.options.print_directory, self.options.goals.clone());
            self.options.variables.clear();
            self.options.read_flags(&flags);
            self.options.print_directory &= !self.options.no_print_directory && (before || !self.options.silent);
            self.options.goals = goals;
            self.set_flags();
        }
        Ok(())
    }

    /// Updates the makefiles. If one was rebuilt, everything is read again.
    fn rebuild_makefiles(&mut self) -> Result<(), Stop> {
        let makefiles = self.makefiles.clone();
        let options = self.options.clone();
        (self.options.just_print, self.options.question, self.options.always_make) = (false, false, false);
        self.rebuilding = true;
        let mut changed = false;
        let mut missing = Vec::new();
        for makefile in makefiles.iter().rev() {
            let file = self.files.enter(&makefile.name);
            let target = self.files.get(file);
            // A rule that always runs would cause an endless loop.
            if makefile.name == b"-"
                || target.phony
                || (target.double_colon.is_some() && target.dependencies.is_empty())
            {
                continue;
            }
            self.files.get_mut(file).dont_care = makefile.optional || makefile.missing.is_some();
            let before = self.age(file);
            let outcome = self.update(file, 1)?;
            let after = self.age(file);
            changed |= outcome == Outcome::Fine && after != before && after != Age::Missing && after != Age::New;
            if makefile.missing.is_some() && !makefile.optional && (outcome != Outcome::Fine || after == before) {
                missing.push((makefile.clone(), self.files.get(file).ran));
            }
        }
        self.rebuilding = false;
        self.options = options;
        if changed {
            return Err(Stop::ReadAgain);
        }
        self.tell_missing(&missing)
    }

    fn tell_missing(&mut self, missing: &[(crate::read::Makefile, bool)]) -> Result<(), Stop> {
        for (makefile, ran) in missing.iter().rev() {
            let name = String::from_utf8_lossy(&makefile.name).into_owned();
            let why = makefile.missing.map(tidebox_rt::Errno::text).unwrap_or_default();
            self.location.clone_from(&makefile.wanted_at);
            if *ran {
                return Err(Stop::Code(TROUBLE));
            }
            match makefile.wanted_at {
                Some(_) => self.warn(&format!("{name}: {why}")),
                None => self.error(&format!("{name}: {why}")),
            }
        }
        self.location = None;
        match missing.last() {
            None => Ok(()),
            Some((makefile, _)) => {
                let name = String::from_utf8_lossy(&makefile.name).into_owned();
                Err(self.fatal_nowhere(&format!("No rule to make target '{name}'")))
            }
        }
    }

    /// The goals.
    fn goals(&mut self) -> Result<Vec<Vec<u8>>, Stop> {
        if !self.options.goals.is_empty() {
            return Ok(self.options.goals.clone());
        }
        let goal = self.value(b".DEFAULT_GOAL")?;
        let goals: Vec<Vec<u8>> = words(&goal).map(<[u8]>::to_vec).collect();
        match goals.len() {
            0 if self.makefiles.is_empty() => Err(self.fatal_nowhere("No targets specified and no makefile found")),
            0 => Err(self.fatal_nowhere("No targets")),
            1 => Ok(goals),
            _ => Err(self.fatal_nowhere(".DEFAULT_GOAL contains more than one target")),
        }
    }
}
