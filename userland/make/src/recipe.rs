//! Recipe execution.

mod line;

use std::rc::Rc;

use tidebox_gnu::command::STANDARD;
use tidebox_rt::ExitStatus;

use crate::Make;
use crate::command::signal_name;
use crate::failure::{Stop, TROUBLE};
use crate::file::{Age, FileId, Location, Recipe};
use crate::update::Outcome;
use crate::words::trim;
use line::{Flags, calls_make, continued, unescaped_lines};

/// Result of a line.
enum Ended {
    Well,
    /// `-q` is set, and the line would have run.
    Asked,
    /// The exit code or signal, as printed in the message.
    Badly(String),
}

impl Make {
    /// Returns whether every recipe line calls make, so that it also runs with `-n`.
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

    /// Expands all lines before running the first one.
    fn expand_recipe(&mut self, file: FileId, recipe: &Recipe) -> Result<Vec<(usize, Flags, Vec<u8>)>, Stop> {
        let outside = self.location.take();
        let mut commands = Vec::with_capacity(recipe.lines.len());
        let mut stopped = None;
        let first = recipe.lines.first().map_or(0, |(line, _)| *line);
        for (at, (_, text)) in recipe.lines.iter().enumerate() {
            // GNU make does not count continuation lines.
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

    /// Runs one line, which may be several after expansion. Returns `None` on success.
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
        self.files.get_mut(file).ran = true;
        let silent = flags.silent || self.options.silent || self.files.get(file).silent;
        if self.options.just_print || !silent {
            self.print(&[command, b"\n"].concat());
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
            Ok(ExitStatus::Exited(0)) => Ended::Well,
            Ok(ExitStatus::Exited(code)) => Ended::Badly(format!("Error {code}")),
            Ok(ExitStatus::Killed(signal)) => Ended::Badly(signal_name(signal)),
            Err(code) => Ended::Badly(format!("Error {code}")),
        }
    }

    /// `.DELETE_ON_ERROR`: the target of a failed recipe is incomplete.
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
