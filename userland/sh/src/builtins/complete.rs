//! `compgen`, which scripts use to list names. Programmable completion (`complete`, `compopt`) is not supported.

use std::collections::BTreeSet;
use std::rc::Rc;

use tidebox_rt::{self as rt, FileKind};

use crate::builtins::option_letters::Letters;
use crate::expand::{Mode, Out, PartContext};
use crate::ir::Bytes;
use crate::parse::Parser;
use crate::state::{EvalResult, Shell};
use crate::vars::{EXPORT, Value, Var};

/// Actions: the option letter, if any, and the name for `-A`, in the order in which bash lists their words.
const ACTIONS: &[(Option<u8>, &str)] = &[
    (Some(b'a'), "alias"),
    (None, "arrayvar"),
    (Some(b'b'), "builtin"),
    (Some(b'e'), "export"),
    (None, "function"),
    (Some(b'k'), "keyword"),
    (Some(b'v'), "variable"),
    (Some(b'c'), "command"),
    (Some(b'f'), "file"),
    (Some(b'u'), "user"),
    (Some(b'g'), "group"),
    (Some(b'd'), "directory"),
];

/// The options of one call of `compgen`.
#[derive(Debug, Default)]
struct Request {
    actions: BTreeSet<&'static str>,
    glob: Option<Bytes>,
    words: Option<Bytes>,
    /// At least one option was given.
    given: bool,
}

pub(super) fn compgen(shell: &mut Shell, args: &[Bytes]) -> EvalResult<u8> {
    let mut letters = Letters::of(args);
    let mut request = Request::default();
    while let Some(letter) = letters.next() {
        request.given = true;
        if let Some((_, action)) = ACTIONS.iter().find(|(known, _)| *known == Some(letter)) {
            request.actions.insert(action);
            continue;
        }
        if b"CFoPSX".contains(&letter) {
            shell.report_builtin_error(format!("-{}: option not supported", char::from(letter)));
            return Ok(1);
        }
        if !b"AGW".contains(&letter) {
            return Ok(letters.invalid_option(shell));
        }
        let Some(value) = letters.argument() else { return Ok(letters.missing_argument(shell)) };
        if let Err(status) = request.set(shell, letter, value.to_vec()) {
            return Ok(status);
        }
    }
    if !request.given {
        return Ok(0);
    }
    let word = letters.words().first().cloned().unwrap_or_default();
    let found = shell.generate(&request, &word)?;
    if found.is_empty() {
        return Ok(1);
    }
    let text = found.iter().flat_map(|line| [&line[..], b"\n"]).collect::<Vec<_>>().concat();
    Ok(shell.print(text))
}

/// `complete` and `compopt`.
pub(super) fn complete(shell: &mut Shell, _: &[Bytes]) -> EvalResult<u8> {
    shell.report_builtin_error("programmable completion is not supported");
    Ok(1)
}

impl Request {
    /// Sets the value of one option; an error is the status.
    fn set(&mut self, shell: &mut Shell, letter: u8, value: Bytes) -> Result<(), u8> {
        match letter {
            b'A' => {
                let Some((_, name)) = ACTIONS.iter().find(|(_, name)| name.as_bytes() == value) else {
                    shell.report_builtin_error([&value[..], b": invalid action name"].concat());
                    return Err(2);
                };
                self.actions.insert(name);
            }
            b'G' => self.glob = Some(value),
            _ => self.words = Some(value),
        }
        Ok(())
    }
}

impl Shell {
    /// Everything that completes `word`.
    fn generate(&mut self, spec: &Request, word: &[u8]) -> EvalResult<Vec<Bytes>> {
        let mut found = Vec::new();
        for (_, action) in ACTIONS.iter().filter(|(_, action)| spec.actions.contains(action)) {
            let names = self.action(action, word);
            found.extend(names.into_iter().filter(|name| name.starts_with(word)));
        }
        if let Some(pattern) = &spec.glob {
            found.extend(self.glob_words(pattern)?);
        }
        if let Some(text) = &spec.words {
            // Errors of these words do not name the builtin.
            let running = std::mem::take(&mut self.builtin.name);
            let words = self.word_list(text);
            self.builtin.name = running;
            found.extend(words?.into_iter().filter(|name| name.starts_with(word)));
        }
        Ok(found)
    }

    fn action(&mut self, action: &str, word: &[u8]) -> Vec<Bytes> {
        let texts = |names: &mut dyn Iterator<Item = &str>| names.map(|name| name.as_bytes().to_vec()).collect();
        match action {
            "alias" => {
                let mut names: Vec<Bytes> = self.aliases.keys().cloned().collect();
                names.sort();
                names
            }
            "arrayvar" => self.variables(|var| matches!(var.value, Value::Indexed(_) | Value::Assoc(_)), 'a'),
            "variable" => self.variables(|_| true, '-'),
            "export" => self.variables(|var| var.has(EXPORT), 'x'),
            "builtin" => texts(&mut super::BUILTINS.iter().map(|builtin| builtin.name)),
            "function" => {
                let mut names: Vec<Bytes> = self.functions.by_name.keys().map(|name| name.to_vec()).collect();
                names.sort();
                names
            }
            "keyword" => texts(&mut crate::parse::token::RESERVED.iter().copied()),
            "command" => self.commands(word),
            "file" => files(word, false, &self.home()),
            "directory" => files(word, true, &self.home()),
            "user" => self.first_fields(b"/etc/passwd"),
            "group" => self.first_fields(b"/etc/group"),
            _ => Vec::new(),
        }
    }

    fn variables(&self, fits: impl Fn(&Var) -> bool, letter: char) -> Vec<Bytes> {
        let names = self.variable_names().into_iter().filter(|name| match self.vars.get(name) {
            Some(var) => fits(var) && (letter != '-' || self.has_value(name)),
            None => letter == '-' || self.computed_letters(name).contains(letter),
        });
        names.map(|name| name.to_vec()).collect()
    }

    /// All names of commands.
    fn commands(&mut self, word: &[u8]) -> Vec<Bytes> {
        if word.contains(&b'/') {
            return files(word, false, &self.home());
        }
        let mut names = self.action("alias", word);
        names.extend(self.action("keyword", word));
        names.extend(self.action("function", word));
        names.extend(self.action("builtin", word));
        let path = self.lookup(b"PATH").unwrap_or_default();
        for dir in path.split(|&b| b == b':') {
            let dir = if dir.is_empty() { b"." } else { dir };
            for entry in rt::read_dir(dir).unwrap_or_default() {
                let file = [dir, b"/", &entry.name[..]].concat();
                let program = entry.name.starts_with(word)
                    && rt::stat(&file, true).is_ok_and(|stat| stat.kind() == FileKind::File && stat.mode & 0o111 != 0);
                if program {
                    names.push(entry.name);
                }
            }
        }
        names
    }

    fn first_fields(&mut self, path: &[u8]) -> Vec<Bytes> {
        let Ok(fd) = rt::open(path, rt::Open { read: true, ..rt::Open::default() }) else { return Vec::new() };
        let text = self.read_all(fd);
        // The text has been read; an error of close does not matter.
        let _ = rt::close(fd);
        let lines = text.split(|&b| b == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| line.split(|&b| b == b':').next().unwrap_or_default().to_vec()).collect()
    }

    /// The words of `-W`, expanded and split at `IFS` where nothing is quoted.
    fn word_list(&mut self, text: &[u8]) -> EvalResult<Vec<Bytes>> {
        let Ok(word) = Parser::new(text, self.line, Rc::from(&b""[..])).whole_unquoted() else {
            return Ok(vec![text.to_vec()]);
        };
        let mut out = Out::new(Mode::Fields, self);
        self.expand_parts(&word.parts, &mut out, PartContext { quoted: false, operand: true })?;
        out.end_present();
        Ok(out.done.into_iter().map(|field| field.text).collect())
    }

    fn glob_words(&mut self, pattern: &[u8]) -> EvalResult<Vec<Bytes>> {
        let Ok(word) = Parser::new(pattern, self.line, Rc::from(&b""[..])).whole_unquoted() else {
            return Ok(Vec::new());
        };
        let nullglob = std::mem::replace(&mut self.options.nullglob, true);
        let mut words = Vec::new();
        let result = self.expand_fields(&word, &mut words);
        self.options.nullglob = nullglob;
        result.map(|()| words)
    }

    fn home(&mut self) -> Bytes {
        self.lookup(b"HOME").unwrap_or_default()
    }
}

/// Files whose names start with `word`.
fn files(word: &[u8], only_dirs: bool, home: &[u8]) -> Vec<Bytes> {
    let at = word.iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
    let (dir, start) = word.split_at(at);
    let context = match dir.strip_prefix(b"~/") {
        Some(rest) => [home, b"/", rest].concat(),
        None if dir.is_empty() => b".".to_vec(),
        None => dir.to_vec(),
    };
    let entries = rt::read_dir(&context).unwrap_or_default();
    let mut found = Vec::new();
    for entry in entries {
        if !entry.name.starts_with(start) || matches!(&entry.name[..], b"." | b"..") {
            continue;
        }
        let path = [dir, &entry.name[..]].concat();
        if !only_dirs
            || rt::stat(&[&context[..], b"/", &entry.name].concat(), true)
                .is_ok_and(|stat| stat.kind() == FileKind::Dir)
        {
            found.push(path);
        }
    }
    found
}
