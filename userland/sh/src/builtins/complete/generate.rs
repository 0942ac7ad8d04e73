//! The words that complete a word.

use std::rc::Rc;

use tidebox_rt::{self as rt, FileKind};

use super::spec::Spec;
use crate::ir::{Bytes, Name};
use crate::pattern::{Pattern, Style};
use crate::state::{Run, Shell};
use crate::vars::{EXPORT, Value, Var};

/// What is listed, in the order in which bash lists it.
const ORDER: &[&str] = &[
    "alias",
    "arrayvar",
    "binding",
    "builtin",
    "disabled",
    "enabled",
    "export",
    "function",
    "helptopic",
    "hostname",
    "job",
    "keyword",
    "running",
    "setopt",
    "shopt",
    "signal",
    "stopped",
    "variable",
    "command",
    "file",
    "user",
    "group",
    "service",
    "directory",
];

/// Words of the grammar in bash's order.
const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in",
    "function", "time", "{", "}", "!", "[[", "]]", "coproc",
];

impl Shell {
    /// Everything that completes `word`.
    pub(super) fn generate(&mut self, spec: &Spec, word: &[u8]) -> Run<Vec<Bytes>> {
        let mut found = Vec::new();
        for action in ORDER.iter().filter(|action| spec.actions.contains(*action)) {
            let names = self.action(action, word);
            found.extend(names.into_iter().filter(|name| name.starts_with(word)));
        }
        if let Some(pattern) = &spec.glob {
            found.extend(self.glob_words(pattern)?);
        }
        if let Some(text) = &spec.words {
            // What is wrong with the words is told without the builtin's name.
            let running = std::mem::take(&mut self.running);
            let words = self.word_list(text);
            self.running = running;
            found.extend(words?.into_iter().filter(|name| name.starts_with(word)));
        }
        if let Some(function) = &spec.function {
            found.extend(self.call_completer(function, word)?);
        }
        if let Some(command) = &spec.command {
            found.extend(self.run_completer(command, word)?);
        }
        if let Some(filter) = &spec.filter {
            let negated = filter.strip_prefix(b"!").filter(|rest| !self.options.extglob || !rest.starts_with(b"("));
            let (keeps, pattern) = match negated {
                Some(rest) => (true, rest),
                None => (false, &filter[..]),
            };
            // An ampersand stands for the word.
            let pattern = with_word(pattern, word);
            let pattern = Pattern::new(&pattern, Style { extended: true, fold: self.options.nocasematch });
            found.retain(|name| pattern.matches(name) == keeps);
        }
        let (prefix, suffix) = (spec.prefix.clone().unwrap_or_default(), spec.suffix.clone().unwrap_or_default());
        if !prefix.is_empty() || !suffix.is_empty() {
            found = found.iter().map(|name| [&prefix[..], name, &suffix].concat()).collect();
        }
        if (found.is_empty() && spec.options.contains("dirnames")) || spec.options.contains("plusdirs") {
            found.extend(files(word, true, &self.home()));
        }
        if found.is_empty() && spec.options.contains("default") {
            found.extend(files(word, false, &self.home()));
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
            "builtin" | "helptopic" => texts(&mut super::super::BUILTINS.iter().map(|builtin| builtin.name)),
            "enabled" | "disabled" => {
                let all = super::super::BUILTINS.iter().map(|builtin| builtin.name);
                texts(&mut all.filter(|name| self.disabled.contains(name) == (action == "disabled")))
            }
            "function" => {
                let mut names: Vec<Bytes> = self.functions.keys().map(|name| name.to_vec()).collect();
                names.sort();
                names
            }
            "keyword" => texts(&mut KEYWORDS.iter().copied()),
            "setopt" => texts(&mut crate::options::SET.iter().map(|switch| switch.name)),
            "shopt" => texts(&mut crate::options::SHOPT.iter().map(|switch| switch.name)),
            "signal" => signals(),
            "job" | "running" => {
                self.reap();
                let jobs = self.jobs.list.iter().filter(|job| action == "job" || job.status().is_none());
                jobs.map(|job| job.text.split(|&b| b == b' ').next().unwrap_or_default().to_vec()).collect()
            }
            "command" => self.commands(word),
            "file" => files(word, false, &self.home()),
            "directory" => files(word, true, &self.home()),
            "user" => self.first_fields(b"/etc/passwd"),
            "group" => self.first_fields(b"/etc/group"),
            "service" => self.table(b"/etc/services", 0..1),
            "hostname" => self.table(b"/etc/hosts", 1..usize::MAX),
            // Nothing is bound to keys, and nothing stops.
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

    /// Everything that can be typed as a command.
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

    fn file_lines(&mut self, path: &[u8]) -> Vec<Bytes> {
        let Ok(fd) = rt::open(path, rt::Open { read: true, ..rt::Open::default() }) else { return Vec::new() };
        let text = self.read_all(fd);
        // Reading is over whatever closing says.
        let _ = rt::close(fd);
        text.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect()
    }

    fn first_fields(&mut self, path: &[u8]) -> Vec<Bytes> {
        let lines = self.file_lines(path).into_iter().filter(|line| !line.is_empty());
        lines.map(|line| line.split(|&b| b == b':').next().unwrap_or_default().to_vec()).collect()
    }

    /// Words of a table such as `/etc/hosts`, without comments.
    fn table(&mut self, path: &[u8], fields: std::ops::Range<usize>) -> Vec<Bytes> {
        let mut names = Vec::new();
        for line in self.file_lines(path) {
            let text = line.split(|&b| b == b'#').next().unwrap_or_default();
            let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            names.extend(words.skip(fields.start).take(fields.len()).map(<[u8]>::to_vec));
        }
        names.sort();
        names.dedup();
        names
    }

    /// The words of `-W`: split at `IFS` where nothing is quoted, then expanded.
    fn word_list(&mut self, text: &[u8]) -> Run<Vec<Bytes>> {
        let mut words = Vec::new();
        let noglob = std::mem::replace(&mut self.options.noglob, true);
        for piece in split_quoted(text, &self.ifs()) {
            let parsed = crate::parse::Parser::new(&piece, self.line, Rc::from(&b""[..])).whole_unquoted();
            let result = match parsed {
                Ok(mut word) => {
                    word.braces = piece.contains(&b'{');
                    self.expand_fields(&word, &mut words)
                }
                Err(error) if matches!(error.problem, crate::parse::Problem::Unclosed(b'}')) => {
                    self.discard([&piece[..], b": bad substitution"].concat())
                }
                Err(_) => {
                    words.push(piece);
                    Ok(())
                }
            };
            if result.is_err() {
                self.options.noglob = noglob;
                return result.map(|()| words);
            }
        }
        self.options.noglob = noglob;
        Ok(words)
    }

    fn glob_words(&mut self, pattern: &[u8]) -> Run<Vec<Bytes>> {
        let Ok(word) = crate::parse::Parser::new(pattern, self.line, Rc::from(&b""[..])).whole_unquoted() else {
            return Ok(Vec::new());
        };
        let nullglob = std::mem::replace(&mut self.options.nullglob, true);
        let mut words = Vec::new();
        let result = self.expand_fields(&word, &mut words);
        self.options.nullglob = nullglob;
        result.map(|()| words)
    }

    /// Calls a function that leaves its answers in `COMPREPLY`.
    fn call_completer(&mut self, name: &[u8], word: &[u8]) -> Run<Vec<Bytes>> {
        let Some(function) = self.functions.get(name).map(Rc::clone) else {
            self.complain_builtin([b"warning: function `", name, b"' not found"].concat());
            return Ok(Vec::new());
        };
        let reply = Name::from(&b"COMPREPLY"[..]);
        self.vars.remove(&reply);
        for (name, value) in [(&b"COMP_KEY"[..], "0"), (b"COMP_TYPE", "0"), (b"COMP_POINT", "0"), (b"COMP_CWORD", "-1")]
        {
            self.vars.insert(name.into(), Var { value: Value::Text(value.into()), flags: 0 });
        }
        let running = self.running;
        let caller = running.as_bytes().to_vec();
        self.call_function(&function, vec![name.to_vec(), caller, word.to_vec(), Bytes::new()])?;
        self.running = running;
        let found = self.elements(&reply);
        for name in [&b"COMP_KEY"[..], b"COMP_TYPE", b"COMP_POINT", b"COMP_CWORD", b"COMPREPLY"] {
            self.vars.remove(name);
        }
        Ok(found)
    }

    fn home(&mut self) -> Bytes {
        self.lookup(b"HOME").unwrap_or_default()
    }

    /// Runs a command and takes the lines that it prints.
    fn run_completer(&mut self, command: &[u8], word: &[u8]) -> Run<Vec<Bytes>> {
        let quote = crate::expand::single_quote;
        let text = [b"$(", command, b" ", &quote(self.running.as_bytes()), b" ", &quote(word), b" '')"].concat();
        let text = match crate::parse::Parser::new(&text, self.line, Rc::from(&b""[..])).whole_unquoted() {
            Ok(word) => self.expand_text(&word)?,
            Err(_) => Bytes::new(),
        };
        Ok(text.split(|&b| b == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect())
    }
}

/// A pattern of `-X`, in which an ampersand without a backslash stands for the word.
fn with_word(pattern: &[u8], word: &[u8]) -> Bytes {
    let mut out = Bytes::new();
    let mut quoted = false;
    for &byte in pattern {
        match byte {
            b'&' if quoted => {
                out.pop();
                out.push(b'&');
            }
            b'&' => out.extend_from_slice(word),
            _ => out.push(byte),
        }
        quoted = byte == b'\\' && !quoted;
    }
    out
}

fn signals() -> Vec<Bytes> {
    // Two numbers belong to the system's library and have no names of their own.
    let name = |n| crate::trap::signal_name(n).map_or_else(|| format!("SIGJUNK({n})"), |name| format!("SIG{name}"));
    let real = (1..=64).map(|n| name(n).into_bytes());
    let mut names = vec![b"EXIT".to_vec()];
    names.extend(real);
    names.extend([&b"DEBUG"[..], b"ERR", b"RETURN"].map(<[u8]>::to_vec));
    names
}

/// Files whose names begin as `word` does.
fn files(word: &[u8], only_dirs: bool, home: &[u8]) -> Vec<Bytes> {
    let at = word.iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
    let (dir, start) = word.split_at(at);
    let place = match dir.strip_prefix(b"~/") {
        Some(rest) => [home, b"/", rest].concat(),
        None if dir.is_empty() => b".".to_vec(),
        None => dir.to_vec(),
    };
    let entries = rt::read_dir(&place).unwrap_or_default();
    let mut found = Vec::new();
    for entry in entries {
        if !entry.name.starts_with(start) || matches!(&entry.name[..], b"." | b"..") {
            continue;
        }
        let path = [dir, &entry.name[..]].concat();
        if !only_dirs
            || rt::stat(&[&place[..], b"/", &entry.name].concat(), true).is_ok_and(|stat| stat.kind() == FileKind::Dir)
        {
            found.push(path);
        }
    }
    found
}

/// Splits at separators that are not quoted; the quotes stay.
fn split_quoted(text: &[u8], ifs: &[u8]) -> Vec<Bytes> {
    let mut words = Vec::new();
    let mut word = Bytes::new();
    let (mut quote, mut at) = (0, 0);
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte == b'\\' && quote != b'\'' {
            word.push(byte);
            word.extend(text.get(at));
            at += 1;
        } else if byte == b'$' && matches!(text.get(at), Some(b'(' | b'{')) {
            let end = end_of_expansion(text, at);
            word.push(byte);
            word.extend_from_slice(text.get(at..end).unwrap_or_default());
            at = end;
        } else if quote == 0 && ifs.contains(&byte) {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
        } else {
            if byte == quote {
                quote = 0;
            } else if quote == 0 && matches!(byte, b'\'' | b'"') {
                quote = byte;
            }
            word.push(byte);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Behind the bracket that closes the one at `start`.
fn end_of_expansion(text: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.iter().enumerate().skip(start) {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}
