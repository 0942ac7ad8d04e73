//! Evaluation of the expression.

use tidebox_gnu::glob::{self, Flags};
use tidebox_gnu::message::{bytes_path, error_text, print_error, quote_value};
use tidebox_rt::{Errno, FileKind, Stat};

use crate::entry::{Entry, letter};
use crate::expression::{Action, Bits, Compare, Expression, Stamp, Test};
use crate::output::Output;
use crate::parse::{Search, Settings};
use crate::printf::{self, OwnerNames};

const SECOND_NS: u64 = 1_000_000_000;

/// Effect of a file's evaluation on the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    /// Skip the contents of the directory.
    pub(crate) prune: bool,
    /// End the search.
    pub(crate) quit: bool,
}

/// Evaluates the expression for files and records failures.
#[derive(Debug)]
pub(crate) struct Evaluator<'a> {
    expression: &'a Expression,
    settings: &'a Settings,
    outputs: Vec<Output>,
    names: OwnerNames,
    /// Set once an error is reported. The exit code is then 1.
    pub(crate) failed: bool,
    effect: Effect,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(search: &'a Search) -> Result<Self, String> {
        Ok(Self {
            expression: &search.expression,
            settings: &search.settings,
            outputs: Output::open(&search.targets)?,
            names: OwnerNames::default(),
            failed: false,
            effect: Effect::default(),
        })
    }

    /// Applies the expression to a file.
    pub(crate) fn evaluate(&mut self, entry: &Entry) -> Effect {
        self.effect = Effect::default();
        self.holds(self.expression, entry);
        if self.outputs.iter().any(|output| output.error().is_some()) {
            self.effect.quit = true;
        }
        self.effect
    }

    /// Reports an error of a file.
    pub(crate) fn report_error(&mut self, path: &[u8], error: &str) {
        self.failed = true;
        self.flush();
        print_error("find", &format!("{}: {error}", quote_value(path)));
    }

    /// Reports a cycle of links.
    pub(crate) fn report_loop(&mut self, message: &str) {
        self.failed = true;
        self.flush();
        print_error("find", message);
    }

    fn flush(&mut self) {
        self.outputs.iter_mut().for_each(Output::flush);
    }

    /// Runs the pending batches and returns the exit code.
    pub(crate) fn end(mut self) -> i32 {
        self.flush();
        if !finish(self.expression) {
            self.failed = true;
        }
        for error in self.outputs.iter().filter_map(Output::error) {
            print_error("find", &error);
            self.failed = true;
        }
        i32::from(self.failed)
    }

    fn holds(&mut self, expression: &Expression, entry: &Entry) -> bool {
        match expression {
            Expression::And(parts) => parts.iter().all(|part| !self.effect.quit && self.holds(part, entry)),
            Expression::Or(parts) => parts.iter().any(|part| self.effect.quit || self.holds(part, entry)),
            Expression::List(parts) => {
                let mut last = true;
                for part in parts {
                    if self.effect.quit {
                        break;
                    }
                    last = self.holds(part, entry);
                }
                last
            }
            Expression::Not(inner) => !self.holds(inner, entry),
            Expression::Test(test) => self.test(test, entry),
            Expression::Action(action) => self.act(action, entry),
        }
    }

    fn test(&mut self, test: &Test, entry: &Entry) -> bool {
        match test {
            Test::True => true,
            Test::False => false,
            Test::Name { glob, ignore_case } => fits(glob, entry.name(), *ignore_case),
            Test::Path { glob, ignore_case } => fits(glob, &entry.path, *ignore_case),
            Test::LinkName { glob, ignore_case } => {
                entry.kind() == Some(FileKind::Symlink) && fits(glob, &printf::link_target(entry), *ignore_case)
            }
            Test::Regex(regex) => match regex.find_in_line(&entry.path, 0) {
                Ok(found) => found.is_some(),
                Err(error) => {
                    self.report_error(&entry.path, &error.to_string());
                    false
                }
            },
            Test::Type { letters, other_side } => {
                let kind = if *other_side { entry.other_kind() } else { entry.kind() };
                kind.is_some_and(|kind| letters.contains(&letter(kind)))
            }
            Test::Access(bits) => tidebox_rt::access(&entry.path, *bits).is_ok(),
            Test::FileSystem(name) => name == printf::FILE_SYSTEM,
            Test::Empty => self.is_empty(entry),
            _ => match entry.stat_or_report(&mut self.failed) {
                Some(stat) => self.test_state(test, stat),
                None => false,
            },
        }
    }

    fn test_state(&self, test: &Test, stat: &Stat) -> bool {
        match test {
            Test::Size { compare, unit } => compare.holds(stat.size.div_ceil(*unit)),
            Test::Age { stamp, compare, unit } => {
                let age = self.settings.now.saturating_sub(time(stat, *stamp));
                let units = match (unit, compare) {
                    // `-N` compares exactly. Otherwise minutes are rounded up and days are rounded down.
                    (60, Compare::Less(bound)) => return age < bound.saturating_mul(60 * SECOND_NS),
                    (60, _) => age.div_ceil(60 * SECOND_NS),
                    (unit, _) => age / (unit * SECOND_NS),
                };
                compare.holds(units)
            }
            Test::Used(compare) => {
                let day = 24 * 60 * 60 * SECOND_NS;
                stat.atime_ns.checked_sub(stat.ctime_ns).is_some_and(|rest| match compare {
                    Compare::Less(days) => rest < days.saturating_mul(day),
                    Compare::Equal(days) => rest / day + 1 == *days,
                    Compare::More(days) => rest > days.saturating_mul(day),
                })
            }
            Test::NewerThan { stamp, than } => time(stat, *stamp) > *than,
            Test::Permission { change, bits } => {
                let wanted = change.apply(0, stat.kind() == FileKind::Dir, 0);
                let mode = stat.mode & 0o7777;
                match bits {
                    Bits::Exactly => mode == wanted,
                    Bits::All => mode & wanted == wanted,
                    Bits::Any => wanted == 0 || mode & wanted != 0,
                }
            }
            Test::User(compare) => compare.holds(u64::from(stat.uid)),
            Test::Group(compare) => compare.holds(u64::from(stat.gid)),
            Test::NoUser => self.names.users().name(stat.uid).is_none(),
            Test::NoGroup => self.names.groups().name(stat.gid).is_none(),
            Test::Links(compare) => compare.holds(stat.nlink),
            Test::Inode(compare) => compare.holds(stat.ino),
            Test::SameFile { device, inode } => (stat.dev, stat.ino) == (*device, *inode),
            // All other tests need no metadata.
            _ => false,
        }
    }

    fn is_empty(&mut self, entry: &Entry) -> bool {
        match entry.kind() {
            Some(FileKind::File) => entry.stat_or_report(&mut self.failed).is_some_and(|stat| stat.size == 0),
            Some(FileKind::Dir) => match tidebox_rt::read_dir(&entry.path) {
                Ok(entries) => entries.iter().all(|entry| entry.name == b"." || entry.name == b".."),
                Err(error) => {
                    self.report_error(&entry.path, error.text());
                    false
                }
            },
            _ => false,
        }
    }

    fn act(&mut self, action: &Action, entry: &Entry) -> bool {
        match action {
            Action::Print { output, end } => {
                self.write(*output, &entry.path);
                self.write(*output, &[*end]);
            }
            Action::Printf { output, format } => {
                let text = format.text_for(entry, &self.names, &mut self.failed);
                self.write(*output, &text);
            }
            Action::List { output } => {
                if let Some(line) = printf::listing(entry, &self.names, self.settings.now, &mut self.failed) {
                    self.write(*output, &line);
                }
            }
            Action::Execute(execute) => {
                // Flush the output before the command prints.
                self.flush();
                return execute.run(entry);
            }
            Action::Delete => return self.delete(entry),
            Action::Prune => self.effect.prune = true,
            Action::Quit => self.effect.quit = true,
        }
        true
    }

    fn write(&mut self, output: usize, bytes: &[u8]) {
        if let Some(output) = self.outputs.get_mut(output) {
            output.write(bytes);
        }
    }

    fn delete(&mut self, entry: &Entry) -> bool {
        if entry.path == b"." {
            // As in GNU, skip the current directory without an error.
            return true;
        }
        let is_folder = entry.kind() == Some(FileKind::Dir);
        let path = bytes_path(&entry.path);
        let deleted = if is_folder { std::fs::remove_dir(path) } else { std::fs::remove_file(path) };
        match deleted {
            Ok(()) => true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && self.settings.ignore_races => true,
            Err(error) => {
                self.failed = true;
                self.flush();
                print_error("find", &format!("cannot delete {}: {}", quote_value(&entry.path), error_text(&error)));
                false
            }
        }
    }
}

/// Runs pending commands in the whole expression. Returns whether all succeeded.
fn finish(expression: &Expression) -> bool {
    match expression {
        Expression::And(parts) | Expression::Or(parts) | Expression::List(parts) => {
            // Run all commands, even after a failure.
            parts.iter().filter(|part| !finish(part)).count() == 0
        }
        Expression::Not(inner) => finish(inner),
        Expression::Action(Action::Execute(execute)) => execute.finish(),
        Expression::Test(_) | Expression::Action(_) => true,
    }
}

fn fits(glob: &[u8], text: &[u8], ignore_case: bool) -> bool {
    glob::matches(glob, text, Flags { ignore_case, pathname: false })
}

fn time(stat: &Stat, stamp: Stamp) -> u64 {
    match stamp {
        Stamp::Access => stat.atime_ns,
        Stamp::Change => stat.ctime_ns,
        Stamp::Modification => stat.mtime_ns,
    }
}

/// Returns whether an error means that the file no longer exists.
pub(crate) fn is_gone(error: Errno) -> bool {
    matches!(error, Errno::NOENT | Errno::NOTDIR)
}
