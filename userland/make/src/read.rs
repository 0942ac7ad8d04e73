//! Makefile reader.

mod rule_line;

use std::rc::Rc;

use tidebox_gnu::stream::read_all;
use tidebox_rt::Errno;

use crate::Make;
use crate::assign::{Definition, Modifiers, Operator, assignment, definition};
use crate::condition::Conditionals;
use crate::failure::Stop;
use crate::file::Location;
use crate::rule::Rule;
use crate::source::{Source, collapsed, without_comment};
use crate::variable::{Origin, Variable};
use crate::words::{first_word, trim, trim_start, words};

/// Maximum nesting of includes.
const MAX_INCLUDE: usize = 100;

/// Search path of includes, after the directories of `-I`.
const INCLUDE_FOLDERS: &[&str] = &["/usr/local/include", "/usr/include"];

/// A makefile that was read or is to be read.
#[derive(Clone, Debug)]
pub(crate) struct Makefile {
    pub(crate) name: Vec<u8>,
    /// It may be absent.
    pub(crate) optional: bool,
    pub(crate) missing: Option<Errno>,
    /// Position of the include.
    pub(crate) wanted_at: Option<Location>,
}

/// The current rule, whose recipe may continue.
#[derive(Debug, Default)]
struct Reading {
    conditionals: Conditionals,
    rule: Option<Rule>,
    /// A rule without targets was read; its recipe is discarded.
    without_targets: bool,
}

impl Make {
    /// Reads a makefile. Records a missing one.
    pub(crate) fn read_makefile(
        &mut self,
        name: &[u8],
        optional: bool,
        wanted_at: Option<Location>,
    ) -> Result<(), Stop> {
        let (mut path, mut text) = (name.to_vec(), read_all(name));
        if matches!(text, Err(Errno::NOENT)) && wanted_at.is_some() && !name.starts_with(b"/") {
            let own = self.options.include_folders.iter().map(Vec::as_slice);
            for folder in own.chain(INCLUDE_FOLDERS.iter().map(|folder| folder.as_bytes())) {
                let candidate = [folder, b"/", name].concat();
                if let Ok(found) = read_all(&candidate) {
                    (path, text) = (candidate, Ok(found));
                    break;
                }
            }
        }
        let mut makefile = Makefile { name: path.clone(), optional, missing: None, wanted_at };
        match text {
            Err(error) => {
                makefile.missing = Some(error);
                self.makefiles.push(makefile);
                Ok(())
            }
            Ok(text) => {
                self.makefiles.push(makefile);
                self.append_to_list(if path == b"-" { b"" } else { &path });
                self.read_source(Source::new(path.into(), text, 1))
            }
        }
    }

    fn append_to_list(&mut self, name: &[u8]) {
        let mut list = self.globals.get(b"MAKEFILE_LIST".as_slice()).map(|list| list.value.clone()).unwrap_or_default();
        list.push(b' ');
        list.extend_from_slice(name);
        self.globals.insert(b"MAKEFILE_LIST".to_vec(), Variable::new(list, false, Origin::File));
    }

    /// `$(eval text)`
    pub(crate) fn evaluate(&mut self, text: &[u8]) -> Result<(), Stop> {
        let (name, line) = match &self.location {
            Some(location) => (Rc::clone(&location.file), location.line),
            None => (b"".as_slice().into(), 1),
        };
        let call_locals = std::mem::take(&mut self.call_arguments);
        let done = self.read_source(Source::new(name, text.to_vec(), line));
        self.call_arguments = call_locals;
        done
    }

    fn read_source(&mut self, mut source: Source) -> Result<(), Stop> {
        if self.include_depth >= MAX_INCLUDE {
            return Err(self.fatal(format!("makefiles nest deeper than {MAX_INCLUDE}")));
        }
        self.include_depth += 1;
        let outside = self.location.take();
        let mut reading = Reading::default();
        let mut done = Ok(());
        while let Some((line, text)) = source.next_line() {
            self.location = Some(Location { file: Rc::clone(&source.name), line });
            done = self.read_line(&mut source, &mut reading, line, text);
            if done.is_err() {
                break;
            }
        }
        if done.is_ok() {
            done = self.finish_rule(&mut reading);
        }
        if done.is_ok() && reading.conditionals.is_open() {
            self.location = Some(Location { file: Rc::clone(&source.name), line: source.line() });
            done = Err(self.fatal("missing 'endif'".to_owned()));
        }
        self.location = outside;
        self.include_depth -= 1;
        done
    }

    fn read_line(
        &mut self,
        source: &mut Source,
        reading: &mut Reading,
        number: usize,
        raw: Vec<u8>,
    ) -> Result<(), Stop> {
        if raw.is_empty() {
            return Ok(());
        }
        if raw.first() == Some(&self.recipe_prefix) {
            if reading.without_targets {
                return Ok(());
            }
            if let Some(rule) = &mut reading.rule {
                if !reading.conditionals.skipping() {
                    let line = raw.get(1..).unwrap_or_default().to_vec();
                    rule.add_line(number, line);
                }
                return Ok(());
            }
        }
        let text = without_comment(collapsed(&raw));
        let line = trim_start(&text);
        if line.is_empty() {
            return Ok(());
        }
        if let Some((modifiers, defined)) = definition(line, false) {
            if reading.conditionals.skipping() {
                if let Definition::Define(head) = defined {
                    self.body_of_define(source, head)?;
                }
                return Ok(());
            }
            self.finish_rule(reading)?;
            reading.without_targets = false;
            return self.define(source, modifiers, &defined);
        }
        if self.conditional(&mut reading.conditionals, line)? || reading.conditionals.skipping() {
            return Ok(());
        }
        if self.directive(reading, line)? {
            return Ok(());
        }
        if raw.first() == Some(&self.recipe_prefix) {
            return Err(self.fatal("recipe commences before first target".to_owned()));
        }
        self.finish_rule(reading)?;
        self.read_rule(reading, number, raw)
    }

    fn finish_rule(&mut self, reading: &mut Reading) -> Result<(), Stop> {
        match reading.rule.take() {
            Some(rule) => self.record(rule),
            None => Ok(()),
        }
    }

    fn define(&mut self, source: &mut Source, modifiers: Modifiers, defined: &Definition<'_>) -> Result<(), Stop> {
        let origin = self.reading_origin;
        match defined {
            Definition::Assign { name, operator, value } => self.assign(name, *operator, value, modifiers, origin),
            Definition::Unsupported(word) => Err(self.unsupported(word)),
            Definition::Define(head) => {
                let (name, operator) = match assignment(head) {
                    Some((name, operator, behind)) => {
                        if !behind.is_empty() {
                            self.warn("extraneous text after 'define' directive");
                        }
                        (name.to_vec(), operator)
                    }
                    None => (trim(head).to_vec(), Operator::Recursive),
                };
                let body = self.body_of_define(source, head)?;
                self.assign(&name, operator, &body, modifiers, origin)
            }
        }
    }

    /// The lines up to `endef`.
    fn body_of_define(&mut self, source: &mut Source, _head: &[u8]) -> Result<Vec<u8>, Stop> {
        let mut body = Vec::new();
        let mut depth = 1usize;
        let mut first = true;
        while let Some((line, raw)) = source.next_line() {
            let text = collapsed(&raw);
            if raw.first() != Some(&self.recipe_prefix) {
                let (word, behind) = first_word(&text);
                let word = word.split(|byte| *byte == b'#').next().unwrap_or_default();
                if word == b"define" {
                    depth += 1;
                } else if word == b"endef" {
                    depth -= 1;
                    if depth == 0 {
                        if !behind.is_empty() && !behind.starts_with(b"#") {
                            let outside = self.location.clone();
                            self.location = Some(Location { file: Rc::clone(&source.name), line });
                            self.warn("extraneous text after 'endef' directive");
                            self.location = outside;
                        }
                        return Ok(body);
                    }
                }
            }
            if !std::mem::take(&mut first) {
                body.push(b'\n');
            }
            body.extend_from_slice(&text);
        }
        Err(self.fatal("missing 'endef', unterminated 'define'".to_owned()))
    }

    /// `export`, `include`, `vpath` and similar directives; false for any other line.
    fn directive(&mut self, reading: &mut Reading, line: &[u8]) -> Result<bool, Stop> {
        let (word, rest) = first_word(line);
        // A target may have any of these names.
        if rest.starts_with(b":") {
            return Ok(false);
        }
        match word {
            b"export" | b"unexport" => {
                self.finish_rule(reading)?;
                self.export_names(rest, word == b"export")?;
            }
            b"vpath" => {
                self.finish_rule(reading)?;
                let text = self.expand(rest)?;
                self.set_vpath(&text);
            }
            b"include" | b"-include" | b"sinclude" => {
                self.finish_rule(reading)?;
                let names = self.expand(rest)?;
                let here = self.location.clone();
                for name in words(&names) {
                    for file in self.files_matching(name, false) {
                        self.read_makefile(&file, word != b"include", here.clone())?;
                        self.location.clone_from(&here);
                    }
                }
            }
            b"load" | b"-load" => {
                return Err(self.fatal("The 'load' operation is not supported on this platform.".to_owned()));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
