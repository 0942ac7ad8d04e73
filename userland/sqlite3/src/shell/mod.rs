//! The shell: command line, state, and statement execution.

mod commands;
mod dump;
mod import;
mod options;
mod print;
mod quote;
mod tables;

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};

use crate::engine::{self, Database, Refusal};
use print::Style;

/// Output destination.
type Out = BufWriter<Box<dyn Write>>;

fn standard_output() -> Out {
    BufWriter::new(Box::new(io::stdout()))
}

/// Action after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    On,
    /// Exit with this code.
    Exit(i32),
}

/// State of the shell.
struct Shell {
    database: Option<Database>,
    name: Vec<u8>,
    readonly: bool,
    out: Out,
    /// `.once`: redirects the next output only.
    once: bool,
    out_name: String,
    style: Style,
    echo: bool,
    bail: bool,
    changes: bool,
    timer: bool,
    /// Number of errors reported.
    errors: usize,
}

/// Runs the shell and returns its exit code.
pub(crate) fn run(arguments: Vec<Vec<u8>>) -> i32 {
    let options = match options::parse(arguments) {
        Ok(options) => options,
        Err(options::Other::Print(text)) => {
            let mut out = io::stdout();
            return i32::from(out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err());
        }
        Err(options::Other::Fail(message)) => {
            tidebox_gnu::eprint_line!("{message}");
            return 1;
        }
    };
    let mut shell = Shell {
        database: None,
        name: options.name.clone(),
        readonly: options.readonly,
        out: standard_output(),
        once: false,
        out_name: "stdout".to_owned(),
        style: options.style.clone(),
        echo: options.echo,
        bail: options.bail,
        changes: false,
        timer: false,
        errors: 0,
    };
    let code = shell.work(&options);
    // If the reader closes the pipe, the shell continues and its exit code reports the error.
    let _ = shell.out.flush();
    code
}

impl Shell {
    fn work(&mut self, options: &options::Options) -> i32 {
        let init = options.init.clone().or_else(|| {
            let home = std::env::var_os("HOME")?;
            let file = std::path::Path::new(&home).join(".sqliterc");
            file.is_file().then(|| file.into_os_string().into_encoded_bytes())
        });
        if let Some(file) = init
            && let Next::Exit(code) = self.read_file(&file, options.init.is_some())
        {
            return code;
        }
        // Command line options take precedence over the settings file.
        self.style.overlay(&options.given);
        for text in options.before.iter().chain(&options.statements) {
            match self.argument(text) {
                Ok(Next::On) => {}
                Ok(Next::Exit(code)) => return code,
                Err(code) if self.bail || options.statements.contains(text) => return code,
                Err(_) => {}
            }
        }
        if !options.statements.is_empty() {
            return 0;
        }
        match self.lines(&mut BufReader::new(io::stdin())) {
            Next::Exit(code) => code,
            Next::On => i32::from(self.errors > 0),
        }
    }

    /// A statement or dot command of the command line.
    fn argument(&mut self, text: &[u8]) -> Result<Next, i32> {
        if text.first() == Some(&b'.') {
            return match self.command(text) {
                Ok(next) => Ok(next),
                Err(()) => Err(1),
            };
        }
        match self.statements(text) {
            Ok(()) => Ok(Next::On),
            Err(problem) => {
                self.flush();
                let at = if problem.in_step { "stepping" } else { "in prepare" };
                tidebox_gnu::eprint_line!("Error: {at}, {}", problem.message());
                self.errors += 1;
                Err(problem.refusal.code)
            }
        }
    }

    /// Statements and commands of a file or standard input.
    fn lines(&mut self, input: &mut dyn BufRead) -> Next {
        let mut pending: Vec<u8> = Vec::new();
        let (mut number, mut start) = (0, 0);
        let mut line = Vec::new();
        loop {
            line.clear();
            // A read error ends the input here.
            let count = input.read_until(b'\n', &mut line).unwrap_or(0);
            if count == 0 {
                break;
            }
            number += 1;
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            let nothing_pending = is_blank(&pending);
            if nothing_pending && (text.first() == Some(&b'.') || text.first() == Some(&b'#')) {
                if text.first() == Some(&b'#') {
                    continue;
                }
                if self.echo {
                    self.put(text);
                    self.put(b"\n");
                }
                let is_once = text.starts_with(b".once");
                let result = self.command(text);
                if self.once && !is_once {
                    self.out_to_standard();
                }
                match result {
                    Ok(Next::On) => {}
                    Ok(exit) => return exit,
                    Err(()) => {
                        self.errors += 1;
                        if self.bail {
                            return Next::Exit(1);
                        }
                    }
                }
                continue;
            }
            if nothing_pending {
                if is_blank(text) {
                    continue;
                }
                pending.clear();
                start = number;
            }
            pending.extend_from_slice(text);
            // A slash or `go` on a separate line ends a statement, as in other shells.
            pending.push(b'\n');
            if engine::is_complete(&pending) && self.run_lines(&std::mem::take(&mut pending), start) {
                return Next::Exit(1);
            }
        }
        if !is_blank(&pending) && self.run_lines(&pending, start) {
            return Next::Exit(1);
        }
        Next::On
    }

    /// Runs the input read since some line; true if the shell must exit.
    fn run_lines(&mut self, sql: &[u8], line: usize) -> bool {
        if self.echo {
            let text = sql.strip_suffix(b"\n").unwrap_or(sql).to_vec();
            self.put(&text);
            self.put(b"\n");
        }
        let began = std::time::Instant::now();
        let result = self.statements(sql);
        if self.once {
            self.out_to_standard();
        }
        let Err(problem) = result else {
            self.figures(began);
            return false;
        };
        self.flush();
        let what = if problem.in_step { "Runtime" } else { "Parse" };
        tidebox_gnu::eprint_line!("{what} error near line {line}: {}", problem.message());
        self.errors += 1;
        self.bail
    }

    /// Output of `.changes` and `.timer` after a statement.
    fn figures(&mut self, began: std::time::Instant) {
        if let Some((changes, total)) = self.database.as_ref().filter(|_| self.changes).map(Database::changes) {
            self.put(format!("changes: {changes}   total_changes: {total}\n").as_bytes());
        }
        if self.timer {
            let real = began.elapsed().as_secs_f64();
            self.put(format!("Run Time: real {real:.3} user 0.000000 sys 0.000000\n").as_bytes());
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        if let Err(error) = self.out.write_all(bytes)
            && error.kind() == io::ErrorKind::BrokenPipe
        {
            std::process::exit(141);
        }
    }

    fn flush(&mut self) {
        // A write error occurs again on the next write.
        let _ = self.out.flush();
    }

    /// The database, opened on first use.
    fn open(&mut self) -> Result<(), Refusal> {
        if self.database.is_some() {
            return Ok(());
        }
        match Database::open(&self.name, self.readonly) {
            Ok(database) => {
                // The page size of new databases is that of the usual build.
                if !self.readonly {
                    // A file that is not a database is reported by the first statement.
                    let _ = database.rows("PRAGMA page_size=4096", &[]);
                }
                self.database = Some(database);
                Ok(())
            }
            Err(refusal) => {
                self.flush();
                let name = String::from_utf8_lossy(&self.name);
                tidebox_gnu::eprint_line!("Error: unable to open database \"{name}\": {}", refusal.message);
                std::process::exit(1);
            }
        }
    }

    /// Runs all statements of a text.
    fn statements(&mut self, sql: &[u8]) -> Result<(), Problem> {
        let problem = |refusal, in_step, sql: &[u8]| Problem { refusal, in_step, sql: sql.to_vec() };
        self.open().map_err(|refusal| problem(refusal, false, sql))?;
        let Some(database) = self.database.take() else {
            return Ok(());
        };
        let result = self.statements_of(&database, sql);
        self.database = Some(database);
        result.map_err(|(refusal, in_step, at)| problem(refusal, in_step, sql.get(at..).unwrap_or_default()))
    }

    fn statements_of(&mut self, database: &Database, sql: &[u8]) -> Result<(), (Refusal, bool, usize)> {
        let mut at = 0;
        while at < sql.len() {
            let rest = sql.get(at..).unwrap_or_default();
            let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let (statement, used) = database.prepare(rest).map_err(|refusal| (refusal, false, at + blank))?;
            if let Some(mut statement) = statement {
                let result = print::rows(&mut self.out, &self.style, &mut statement);
                result.map_err(|refusal| (refusal, true, at))?;
            }
            at += used.max(1);
        }
        Ok(())
    }

    fn out_to_standard(&mut self) {
        self.flush();
        self.out = standard_output();
        self.out_name = "stdout".to_owned();
        self.once = false;
    }

    /// Runs the lines of a file.
    fn read_file(&mut self, name: &[u8], must_exist: bool) -> Next {
        match File::open(tidebox_gnu::message::bytes_path(name)) {
            Ok(file) => self.lines(&mut BufReader::new(file)),
            Err(_) => {
                if must_exist {
                    self.flush();
                    tidebox_gnu::eprint_line!("cannot open: \"{}\"", String::from_utf8_lossy(name));
                }
                Next::On
            }
        }
    }
}

/// Returns whether a text contains only space and comments.
fn is_blank(sql: &[u8]) -> bool {
    let mut rest = sql.trim_ascii_start();
    while rest.starts_with(b"--") {
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        rest = rest.get(end..).unwrap_or_default().trim_ascii_start();
    }
    rest.is_empty() || rest == b";"
}

/// Reports a failed statement.
#[derive(Debug)]
struct Problem {
    refusal: Refusal,
    in_step: bool,
    /// The text from the statement to the end.
    sql: Vec<u8>,
}

impl Problem {
    /// The message, the error code unless it is the usual one, and the position in the statement.
    fn message(&self) -> String {
        let mut text = self.refusal.message.clone();
        if self.refusal.code > 1 {
            text.push_str(&format!(" ({})", self.refusal.code));
        }
        if let Some(offset) = self.refusal.offset.filter(|_| !self.in_step) {
            text.push_str(&place(&self.sql, offset));
        }
        text
    }
}

/// The line around a position, with a marker below.
fn place(sql: &[u8], offset: usize) -> String {
    /// Number of characters of the statement to show, and how many of them before the position.
    const WIDTH: usize = 78;
    const BEFORE: usize = 50;
    let blank = sql.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let (sql, offset) = (sql.get(blank..).unwrap_or_default(), offset.saturating_sub(blank));
    let text = String::from_utf8_lossy(sql.trim_ascii_end());
    let chars: Vec<char> = text.chars().collect();
    let skipped = offset.saturating_sub(BEFORE);
    let line = chars.iter().skip(skipped).take(WIDTH).map(|char| if char.is_ascii_whitespace() { ' ' } else { *char });
    let line: String = line.collect();
    let offset = offset - skipped;
    if offset < 25 {
        format!("\n  {line}\n  {}^--- error here", " ".repeat(offset))
    } else {
        format!("\n  {line}\n  {}error here ---^", " ".repeat(offset - 14))
    }
}
