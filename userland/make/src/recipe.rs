//! Running recipes.

use std::rc::Rc;

use tidebox_gnu::command::{Command, STANDARD, wait};
use tidebox_rt::{Errno, Fd, Status};

use crate::Make;
use crate::command::{arguments_without_shell, signal_name};
use crate::failure::{Stop, TROUBLE};
use crate::file::{Age, FileId, Location, Recipe};
use crate::update::Outcome;
use crate::variable::{Export, Origin, Variable};
use crate::words::{is_blank, reference_length, trim, words};

/// How a line is run.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    /// `@`
    silent: bool,
    /// `-`
    ignore: bool,
    /// `+`, or the line calls make.
    recursive: bool,
}

impl Flags {
    /// Reads the characters before a command, and answers what follows them.
    fn read<'l>(&mut self, line: &'l [u8]) -> &'l [u8] {
        let mut rest = line;
        while let Some((first, behind)) = rest.split_first() {
            match first {
                b'@' => self.silent = true,
                b'-' => self.ignore = true,
                b'+' => self.recursive = true,
                byte if is_blank(*byte) || *byte == b'\n' => {}
                _ => break,
            }
            rest = behind;
        }
        rest
    }
}

/// How a line ended.
enum Ended {
    Well,
    /// `-q` would have run it.
    Asked,
    /// The exit code or the signal, as a message says it.
    Badly(String),
}

impl Make {
    /// Whether every line of a target's recipe runs make itself, so that even `-n` runs it.
    pub(crate) fn only_recursive(&self, file: FileId) -> bool {
        let recipe = self.files.get(file).recipe.as_ref();
        recipe.is_some_and(|recipe| recipe.lines.iter().all(|(_, line)| calls_make(line)))
    }

    /// Runs the recipe of a target.
    pub(crate) fn run_recipe(&mut self, file: FileId, recipe: &Rc<Recipe>) -> Result<Outcome, Stop> {
        let empty = |line: &[u8]| Flags::default().read(line).is_empty();
        if recipe.lines.iter().all(|(_, line)| empty(line)) {
            return Ok(Outcome::Fine);
        }
        self.set_automatic_variables(file);
        let recursive = recipe.lines.iter().any(|(_, line)| calls_make(line));
        if self.options.touch && !recursive {
            return Ok(self.touch(file));
        }
        let before = self.age(file);
        let commands = self.expand_recipe(file, recipe)?;
        for (line, flags, command) in commands {
            let outcome = self.run_lines(file, recipe, line, flags, &command)?;
            match outcome {
                None => {}
                Some(Outcome::Failed) => {
                    self.delete_on_error(file, before);
                    return Ok(Outcome::Failed);
                }
                Some(outcome) => return Ok(outcome),
            }
        }
        Ok(Outcome::Fine)
    }

    /// Expands all lines before the first of them runs.
    fn expand_recipe(&mut self, file: FileId, recipe: &Recipe) -> Result<Vec<(usize, Flags, Vec<u8>)>, Stop> {
        let outside = self.location.take();
        let mut commands = Vec::with_capacity(recipe.lines.len());
        let mut stopped = None;
        let first = recipe.lines.first().map_or(0, |(line, _)| *line);
        for (at, (_, text)) in recipe.lines.iter().enumerate() {
            // GNU counts the lines of a recipe without those that continue others.
            let line = first + at;
            self.location = recipe.location.as_ref().map(|known| Location { file: Rc::clone(&known.file), line });
            let mut flags = Flags { recursive: calls_make(text), ..Flags::default() };
            let rest = flags.read(text);
            let prepared = continued(rest, self.recipe_prefix);
            match self.expand_for(file, &prepared) {
                Ok(command) => commands.push((line, flags, command)),
                Err(stop) => {
                    stopped = Some(stop);
                    break;
                }
            }
        }
        self.location = outside;
        if let Some(stop) = stopped {
            return Err(stop);
        }
        if self.one_shell && commands.len() > 1 {
            let (line, flags) = commands.first().map(|(line, flags, _)| (*line, *flags)).unwrap_or_default();
            let texts: Vec<Vec<u8>> = commands.into_iter().map(|(_, _, text)| text).collect();
            return Ok(vec![(line, flags, texts.join(&b'\n'))]);
        }
        Ok(commands)
    }

    /// Runs one line, which may have become several by expansion. `None` when all went well.
    fn run_lines(
        &mut self,
        file: FileId,
        recipe: &Recipe,
        line: usize,
        flags: Flags,
        text: &[u8],
    ) -> Result<Option<Outcome>, Stop> {
        let pieces = if self.one_shell { vec![text] } else { unescaped_lines(text) };
        for piece in pieces {
            let mut flags = flags;
            let command = flags.read(piece);
            if trim(command).is_empty() {
                continue;
            }
            match self.run_line(file, flags, command) {
                Ended::Well => {}
                Ended::Asked => return Ok(Some(Outcome::Question)),
                Ended::Badly(how) => {
                    let ignored = flags.ignore || self.options.ignore_errors || self.files.get(file).ignore_errors;
                    if ignored && self.options.silent {
                        continue;
                    }
                    let (stars, end) = if ignored { ("", " (ignored)") } else { ("*** ", "") };
                    let place = recipe.place(line);
                    let name = String::from_utf8_lossy(&self.files.get(file).name).into_owned();
                    self.error(&format!("{stars}[{place}: {name}] {how}{end}"));
                    if !ignored {
                        return Ok(Some(Outcome::Failed));
                    }
                }
            }
        }
        Ok(None)
    }

    fn run_line(&mut self, file: FileId, flags: Flags, command: &[u8]) -> Ended {
        if self.options.question && !flags.recursive {
            return Ended::Asked;
        }
        if self.options.touch && !flags.recursive {
            return Ended::Well;
        }
        self.files.get_mut(file).ran = true;
        let silent = flags.silent || self.options.silent || self.files.get(file).silent;
        if self.options.just_print || self.options.trace || !silent {
            self.say(&[command, b"\n"].concat());
        }
        self.commands_started += 1;
        if command == b":" || (self.options.just_print && !flags.recursive) {
            return Ended::Well;
        }
        self.announce();
        let outside = self.target.replace(file);
        let environment = self.environment();
        let argv = self.argv(command);
        self.target = outside;
        let (environment, argv) = match (environment, argv) {
            (Ok(environment), Ok(argv)) => (environment, argv),
            _ => return Ended::Badly(format!("Error {TROUBLE}")),
        };
        match self.run_program(&argv, &environment, STANDARD) {
            Ok(Status::Exited(0)) => Ended::Well,
            Ok(Status::Exited(code)) => Ended::Badly(format!("Error {code}")),
            Ok(Status::Killed(signal)) => Ended::Badly(signal_name(signal)),
            Err(code) => Ended::Badly(format!("Error {code}")),
        }
    }

    /// Runs a program to its end. One that cannot be started is told of, and answered by its exit code.
    fn run_program(&mut self, argv: &[Vec<u8>], environment: &[Vec<u8>], fds: &[(Fd, Fd)]) -> Result<Status, u8> {
        let arguments: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        let command = Command { environment: Some(environment), descriptors: fds, ..Command::new(&arguments) };
        match command.run() {
            Ok(status) => Ok(status),
            Err(error) => Err(self.cannot_start(&arguments, error)),
        }
    }

    fn cannot_start(&mut self, arguments: &[&[u8]], error: Errno) -> u8 {
        let name = String::from_utf8_lossy(arguments.first().copied().unwrap_or_default()).into_owned();
        self.error(&format!("{name}: {}", error.text()));
        127
    }

    /// The arguments of the program that runs a line: its own, or those of the shell.
    fn argv(&mut self, command: &[u8]) -> Result<Vec<Vec<u8>>, Stop> {
        let shell = self.value(b"SHELL")?;
        let flags = self.value(b".SHELLFLAGS")?;
        let shell = if trim(&shell).is_empty() { b"/bin/sh".to_vec() } else { shell };
        let plain = trim(&shell) == b"/bin/sh" && matches!(trim(&flags), b"-c" | b"-ec") && !self.one_shell;
        if plain && let Some(argv) = arguments_without_shell(command) {
            return Ok(argv);
        }
        let mut argv: Vec<Vec<u8>> = words(&shell).map(<[u8]>::to_vec).collect();
        argv.extend(words(&flags).map(<[u8]>::to_vec));
        argv.push(command.to_vec());
        Ok(argv)
    }

    /// The expanded value of a variable.
    pub(crate) fn value(&mut self, name: &[u8]) -> Result<Vec<u8>, Stop> {
        let mut value = Vec::new();
        self.value_into(name, &mut value)?;
        Ok(value)
    }

    /// What a command writes on standard output. `.SHELLSTATUS` has its exit code then.
    pub(crate) fn output_of(&mut self, command: &[u8]) -> Result<Vec<u8>, Stop> {
        let command = command.strip_prefix(b"\n").unwrap_or(command);
        if trim(command).is_empty() {
            return Ok(Vec::new());
        }
        self.announce();
        let argv = self.argv(trim(command))?;
        let environment = self.shell_environment.clone();
        let arguments: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
        let Ok((read, write)) = tidebox_rt::pipe() else {
            return Err(self.fatal("pipe: Too many open files".to_owned()));
        };
        let fds: &[(Fd, Fd)] = &[(0, 0), (1, write), (2, 2)];
        let command = Command { environment: Some(&environment), descriptors: fds, ..Command::new(&arguments) };
        let started = command.spawn();
        // The end of the output shows only once nobody else can write.
        let _ = tidebox_rt::close(write);
        let output = tidebox_gnu::stream::Input::of(read).rest().unwrap_or_default();
        let status = match started {
            Ok(pid) => wait(pid).map_or(1, Status::code),
            Err(error) => self.cannot_start(&arguments, error),
        };
        let status = Variable::new(status.to_string(), false, Origin::Override);
        self.globals.insert(b".SHELLSTATUS".to_vec(), status);
        Ok(output)
    }

    /// The environment of a line of the target that is being made.
    fn environment(&mut self) -> Result<Vec<Vec<u8>>, Stop> {
        let mut names: std::collections::BTreeMap<Vec<u8>, bool> = std::collections::BTreeMap::new();
        for (place, inherited) in self.places() {
            let Some(scope) = self.scope(place) else { continue };
            for (name, variable) in scope {
                if (inherited && variable.private) || names.contains_key(name) {
                    continue;
                }
                names.insert(name.clone(), self.is_exported(name, variable));
            }
        }
        let mut environment = Vec::new();
        for (name, _) in names.into_iter().filter(|(_, exported)| *exported) {
            let value = match name.as_slice() {
                b"MAKELEVEL" => (self.level + 1).to_string().into_bytes(),
                b"SHELL" if self.globals.get(&name).is_some_and(|shell| shell.export != Export::Yes) => continue,
                _ => self.value(&name)?,
            };
            environment.push([name.as_slice(), b"=", &value].concat());
        }
        if let Some(shell) = &self.outer_shell {
            environment.push([b"SHELL=", shell.as_slice()].concat());
        }
        Ok(environment)
    }

    /// Whether programs get a variable.
    fn is_exported(&self, name: &[u8], variable: &Variable) -> bool {
        if matches!(name, b"MAKELEVEL" | b"MAKEFLAGS") {
            return variable.export != Export::No;
        }
        let legal = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let target = name.iter().all(legal) && !name.first().is_some_and(u8::is_ascii_digit);
        // A target's own variable goes where the global one of the name goes.
        let global = self.globals.get(name);
        match variable.export {
            Export::Yes => true,
            Export::No => false,
            Export::Default => match global.map(|global| (global.export, global.origin)) {
                Some((Export::Yes, _)) => true,
                Some((Export::No, _)) => false,
                Some((_, Origin::Environment | Origin::EnvironmentOverride)) => true,
                _ => match variable.origin {
                    Origin::Default | Origin::Automatic => false,
                    Origin::Environment | Origin::EnvironmentOverride => true,
                    Origin::CommandLine => target,
                    Origin::File | Origin::Override => {
                        (self.export_all && target) || self.inherited_environment.contains(name)
                    }
                },
            },
        }
    }

    /// `-t`: gives a target the present time.
    fn touch(&mut self, file: FileId) -> Outcome {
        let target = self.files.get(file);
        if target.phony {
            return Outcome::Fine;
        }
        let name = target.name.clone();
        self.commands_started += 1;
        self.files.get_mut(file).ran = true;
        if !self.options.silent {
            self.say(&[b"touch ", name.as_slice(), b"\n"].concat());
        }
        if self.options.just_print {
            return Outcome::Fine;
        }
        let how = tidebox_rt::Open { write: true, create: true, ..tidebox_rt::Open::default() };
        let now = tidebox_rt::Time::At(tidebox_rt::realtime_ns());
        let touched = tidebox_rt::open(&name, how)
            .and_then(tidebox_rt::close)
            .and_then(|()| tidebox_rt::set_times(&name, true, now, now));
        match touched {
            Ok(()) => Outcome::Fine,
            Err(error) => {
                let name = String::from_utf8_lossy(&name).into_owned();
                self.error(&format!("touch: {name}: {}", error.text()));
                Outcome::Failed
            }
        }
    }

    /// `.DELETE_ON_ERROR`: what a recipe that failed has left of its target is no good.
    fn delete_on_error(&mut self, file: FileId, before: Age) {
        let target = self.files.get(file);
        if !self.delete_on_error || target.phony || target.precious {
            return;
        }
        let name = target.name.clone();
        self.files.get_mut(file).age = None;
        let now = self.age(file);
        if now != Age::Missing && now != before && tidebox_rt::unlink(&name).is_ok() {
            let name = String::from_utf8_lossy(&name).into_owned();
            self.error(&format!("*** Deleting file '{name}'"));
        }
    }
}

/// Whether a line of a recipe calls make.
fn calls_make(line: &[u8]) -> bool {
    let mut flags = Flags::default();
    flags.read(line);
    flags.recursive
        || memchr::memmem::find(line, b"$(MAKE)").is_some()
        || memchr::memmem::find(line, b"${MAKE}").is_some()
}

/// A line as it is expanded: the tab that begins a continued line is no part of it, and inside of references a line goes on
/// with a space.
fn continued(line: &[u8], prefix: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut at = 0;
    while let Some(byte) = line.get(at).copied() {
        if byte == b'$' && matches!(line.get(at + 1), Some(b'(' | b'{')) {
            let length = reference_length(line.get(at..).unwrap_or_default());
            out.extend(crate::source::collapsed(line.get(at..at + length).unwrap_or_default()));
            at += length;
            continue;
        }
        out.push(byte);
        at += 1;
        if byte == b'\n' && line.get(at) == Some(&prefix) {
            at += 1;
        }
    }
    out
}

/// The lines of a text; a line end behind a backslash does not end one.
fn unescaped_lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut from = 0;
    let mut slashes = 0;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'\\' => slashes += 1,
            b'\n' if slashes % 2 == 0 => {
                lines.push(text.get(from..at).unwrap_or_default());
                from = at + 1;
                slashes = 0;
            }
            _ => slashes = 0,
        }
    }
    lines.push(text.get(from..).unwrap_or_default());
    lines
}
