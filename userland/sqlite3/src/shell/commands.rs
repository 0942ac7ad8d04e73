//! Dot commands.

use std::fs::File;
use std::io::{BufWriter, Write};

use super::print::Mode;
use super::{Next, Shell, quote};
use crate::engine::{Refusal, Value};
use tidebox_gnu::escape::control;
use tidebox_gnu::message::bytes_path;

/// Splits at spaces, with quotes; double quotes support escapes.
fn words(line: &[u8]) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let mut rest = line.trim_ascii();
    while let Some(first) = rest.first() {
        if matches!(first, b'"' | b'\'') {
            let quote = *first;
            let mut word = Vec::new();
            let mut at = 1;
            while let Some(byte) = rest.get(at).filter(|byte| **byte != quote) {
                if *byte == b'\\' && quote == b'"' && rest.get(at + 1).is_some() {
                    word.push(b'\\');
                    at += 1;
                    word.extend(rest.get(at));
                } else {
                    word.push(*byte);
                }
                at += 1;
            }
            words.push(if quote == b'"' { unescaped(&word) } else { word });
            rest = rest.get(at + 1..).unwrap_or_default();
        } else {
            let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            words.push(unescaped(word));
            rest = after;
        }
        rest = rest.trim_ascii_start();
    }
    words
}

/// `\t`, `
/// ` and other C escapes.
pub(super) fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        match bytes.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut code = u32::from(digit - b'0');
                for digit in bytes.clone().take(2).take_while(|digit| (b'0'..=b'7').contains(digit)) {
                    code = code * 8 + u32::from(digit - b'0');
                    bytes.next();
                }
                out.push(u8::try_from(code & 0xff).unwrap_or(0));
            }
            // `\b` and `\v` are not supported.
            Some(b'b') => out.push(b'b'),
            Some(b'v') => out.push(b'v'),
            Some(letter) => out.push(control(*letter).unwrap_or(*letter)),
            None => out.push(b'\\'),
        }
    }
    out
}

/// As in C: escapes for unprintable characters.
fn escaped(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for char in String::from_utf8_lossy(text).chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            char if char.is_ascii_control() => out.push_str(&format!("\\{:03o}", u32::from(char))),
            char => out.push(char),
        }
    }
    out.push('"');
    out
}

fn fail(message: &str) -> Result<Next, ()> {
    tidebox_gnu::eprint_line!("{message}");
    Err(())
}

impl Shell {
    /// Runs a command. Errors are already reported.
    pub(super) fn command(&mut self, line: &[u8]) -> Result<Next, ()> {
        let words = words(line.get(1..).unwrap_or_default());
        let texts: Vec<String> = words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.flush();
        if let Some(result) = self.setting(&texts, &words) {
            return result;
        }
        if let Some(result) = self.look(&texts, &words) {
            return result;
        }
        match texts.as_slice() {
            [] => Ok(Next::On),
            ["quit"] => Ok(Next::Exit(0)),
            ["exit"] => Ok(Next::Exit(0)),
            ["exit", code] => Ok(Next::Exit(code.parse().unwrap_or(0))),
            ["print", ..] => {
                let text = words.get(1..).unwrap_or_default().join(&b' ');
                self.put(&text);
                self.put(b"\n");
                Ok(Next::On)
            }
            ["read", _] => self.read_command(words.get(1).map(Vec::as_slice).unwrap_or_default()),
            ["open", ..] => self.open_other(&words),
            ["cd", folder] => match std::env::set_current_dir(folder) {
                Ok(()) => Ok(Next::On),
                Err(_) => fail(&format!("Cannot change to directory \"{folder}\"")),
            },
            ["output" | "once", ..] => self.output(&texts, &words),
            ["dump", ..] => self.dump(texts.get(1..).unwrap_or_default()).map(|()| Next::On),
            ["import", ..] => self.import(&texts, &words).map(|()| Next::On),
            ["help", ..] => {
                self.put(HELP.as_bytes());
                Ok(Next::On)
            }
            [name, ..] => {
                fail(&format!("Error: unknown command or invalid arguments:  \"{name}\". Enter \".help\" for help"))
            }
        }
    }

    /// Commands that change the output format.
    fn setting(&mut self, texts: &[&str], words: &[Vec<u8>]) -> Option<Result<Next, ()>> {
        match *texts {
            ["mode"] => {
                let name = self.style.mode().name();
                self.put(format!("current output mode: {name}\n").as_bytes());
            }
            ["mode", name, ..] => match Mode::from_name(name) {
                Some(mode) => {
                    self.style.set_mode(mode);
                    self.style.wraps = true;
                    self.style.table = words.get(2).cloned().filter(|_| mode == Mode::Insert);
                }
                None => {
                    return Some(fail(
                        "Error: mode should be one of: ascii box column csv html insert json line list markdown quote table tabs",
                    ));
                }
            },
            ["headers" | "header", value] => self.style.headers = Some(truth(value)),
            ["echo", value] => self.echo = truth(value),
            ["bail", value] => self.bail = truth(value),
            ["changes", value] => self.changes = truth(value),
            ["timer", value] => self.timer = truth(value),
            ["nullvalue", _] => self.style.null = words.get(1).cloned(),
            ["separator", _] => self.style.columns = words.get(1).cloned(),
            ["separator", _, _] => {
                self.style.columns = words.get(1).cloned();
                self.style.rows = words.get(2).cloned();
            }
            ["width", ref widths @ ..] => {
                self.style.widths = widths.iter().map(|width| width.parse().unwrap_or(0)).collect();
            }
            ["show"] => self.show(),
            _ => return None,
        }
        Some(Ok(Next::On))
    }

    fn show(&mut self) {
        let on = |value: bool| if value { "on" } else { "off" };
        let widths: String = self.style.widths.iter().map(|width| format!("{width} ")).collect();
        let text = format!(
            "        echo: {}\n         eqp: off\n     explain: auto\n     headers: {}\n        mode: {}\n   nullvalue: {}\n\
             \x20     output: {}\ncolseparator: {}\nrowseparator: {}\n       stats: off\n       width: {widths}\n    filename: {}\n",
            on(self.echo),
            on(self.style.headers()),
            self.style.mode().name(),
            escaped(self.style.null()),
            self.out_name,
            escaped(self.style.columns()),
            escaped(self.style.rows()),
            String::from_utf8_lossy(&self.name),
        );
        self.put(text.as_bytes());
    }

    /// Commands that inspect the database.
    fn look(&mut self, texts: &[&str], words: &[Vec<u8>]) -> Option<Result<Next, ()>> {
        let pattern: &[u8] = words.get(1).map_or(b"%", Vec::as_slice);
        let result = match *texts {
            ["tables"] | ["tables", _] => self.names(
                "SELECT name FROM sqlite_schema WHERE type IN ('table','view') AND name NOT LIKE 'sqlite_%' AND name LIKE ?1 \
                 ORDER BY 1",
                pattern,
            ),
            ["indexes" | "indices"] => {
                self.names("SELECT name FROM sqlite_schema WHERE type='index' AND ?1 != '' ORDER BY 1", b"%")
            }
            ["indexes" | "indices", _] => self.names(
                "SELECT name FROM sqlite_schema WHERE type='index' AND tbl_name LIKE ?1 ORDER BY 1",
                pattern,
            ),
            ["schema"] | ["schema", _] => self.schema(pattern),
            ["databases"] => self.databases(),
            _ => return None,
        };
        Some(match result {
            Ok(()) => Ok(Next::On),
            Err(refusal) => fail(&format!("Error: {}", refusal.message)),
        })
    }

    /// Rows of an internal query.
    pub(super) fn query(&mut self, sql: &str, texts: &[&[u8]]) -> Result<Vec<Vec<Value>>, Refusal> {
        self.open()?;
        match &self.database {
            Some(database) => database.rows(sql, texts),
            None => Ok(Vec::new()),
        }
    }

    /// Names in columns, sorted downwards.
    fn names(&mut self, sql: &str, pattern: &[u8]) -> Result<(), Refusal> {
        let rows = self.query(sql, &[pattern])?;
        let names: Vec<String> = rows.iter().filter_map(|row| row.first()).map(text_of).collect();
        let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let across = (80 / (widest + 2)).max(1);
        let down = names.len().div_ceil(across);
        for first in 0..down {
            let cells: Vec<String> =
                names.iter().skip(first).step_by(down).map(|name| format!("{name:<widest$}")).collect();
            self.put(format!("{}\n", cells.join("  ")).as_bytes());
        }
        Ok(())
    }

    fn schema(&mut self, pattern: &[u8]) -> Result<(), Refusal> {
        let rows = self.query(
            "SELECT sql, type, name FROM sqlite_schema WHERE sql IS NOT NULL AND (lower(tbl_name) LIKE lower(?1) OR \
             ('sqlite_schema' LIKE ?1 AND 0)) ORDER BY rowid",
            &[pattern],
        )?;
        for row in rows {
            let [sql, kind, name] = row.as_slice() else {
                continue;
            };
            let mut text = super::dump::schema_text(&text_of(sql));
            if text_of(kind) == "view" {
                let columns = self.query("SELECT name FROM pragma_table_info(?1)", &[text_of(name).as_bytes()]);
                let columns: Vec<String> = columns
                    .unwrap_or_default()
                    .iter()
                    .filter_map(|row| row.first())
                    .map(|column| String::from_utf8_lossy(&quote::name(text_of(column).as_bytes())).into_owned())
                    .collect();
                if !columns.is_empty() {
                    text.push_str(&format!("\n/* {}({}) */", text_of(name), columns.join(",")));
                }
            }
            self.put(text.as_bytes());
            self.put(b";\n");
        }
        Ok(())
    }

    fn databases(&mut self) -> Result<(), Refusal> {
        let rows = self.query("SELECT name, file FROM pragma_database_list", &[])?;
        let access = if self.readonly { "r/o" } else { "r/w" };
        for row in rows {
            if let [name, file] = row.as_slice() {
                let file = text_of(file);
                let file = if file.is_empty() { "\"\"".to_owned() } else { file };
                self.put(format!("{}: {file} {access}\n", text_of(name)).as_bytes());
            }
        }
        Ok(())
    }

    fn read_command(&mut self, name: &[u8]) -> Result<Next, ()> {
        match File::open(bytes_path(name)) {
            Ok(file) => Ok(self.lines(&mut std::io::BufReader::new(file))),
            Err(_) => fail(&format!("Error: cannot open \"{}\"", String::from_utf8_lossy(name))),
        }
    }

    fn open_other(&mut self, words: &[Vec<u8>]) -> Result<Next, ()> {
        let mut readonly = false;
        let mut name = b":memory:".to_vec();
        for word in words.get(1..).unwrap_or_default() {
            match word.as_slice() {
                b"--readonly" | b"-readonly" => readonly = true,
                b"--new" | b"-new" => {}
                option if option.starts_with(b"-") => {
                    return fail(&format!("unknown option: {}", String::from_utf8_lossy(option)));
                }
                _ => name.clone_from(word),
            }
        }
        if words.iter().any(|word| word == b"--new" || word == b"-new") {
            // A file that does not exist counts as new.
            let _ = std::fs::remove_file(bytes_path(&name));
        }
        self.database = None;
        self.name = name;
        self.readonly = readonly;
        Ok(Next::On)
    }

    fn output(&mut self, texts: &[&str], words: &[Vec<u8>]) -> Result<Next, ()> {
        self.flush();
        let once = texts.first() == Some(&"once");
        match words.get(1) {
            None if once => return fail("Usage: .once FILE"),
            None => self.out_to_standard(),
            Some(name) if name == b"stdout" || name == b"off" => self.out_to_standard(),
            Some(name) if name.starts_with(b"-") || name.starts_with(b"|") => {
                let name = String::from_utf8_lossy(name).into_owned();
                return fail(&format!("Error: output to \"{name}\" is not supported"));
            }
            Some(name) => match File::create(bytes_path(name)) {
                Ok(file) => {
                    self.out = BufWriter::new(Box::new(file) as Box<dyn Write>);
                    self.out_name = String::from_utf8_lossy(name).into_owned();
                    self.once = once;
                }
                Err(_) => {
                    let name = String::from_utf8_lossy(name);
                    tidebox_gnu::eprint_line!("Error: cannot open \"{name}\"");
                    return fail(&format!("Error: cannot write to \"{name}\""));
                }
            },
        }
        Ok(Next::On)
    }
}

/// `on`, `yes`, or a number other than 0.
fn truth(value: &str) -> bool {
    match value.to_ascii_lowercase().as_str() {
        "on" | "yes" => true,
        "off" | "no" => false,
        number => match number.parse::<i64>() {
            Ok(number) => number != 0,
            Err(_) => {
                tidebox_gnu::eprint_line!("ERROR: Not a boolean value: \"{value}\". Assuming \"no\".");
                false
            }
        },
    }
}

/// A value of an internal query as a text.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(bytes) | Value::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

const HELP: &str = ".bail on|off             Stop after hitting an error
.cd DIRECTORY            Change the working directory
.changes on|off          Show number of rows changed by SQL
.databases               List names and files of attached databases
.dump ?TABLE? ...        Render database content as SQL
.echo on|off             Turn command echo on or off
.exit ?CODE?             Exit this program with return-code CODE
.headers on|off          Turn display of headers on or off
.import FILE TABLE       Import data from FILE into TABLE
.indexes ?TABLE?         Show names of indexes
.mode MODE ?TABLE?       Set output mode
.nullvalue STRING        Use STRING in place of NULL values
.once FILE               Output for the next SQL command only to FILE
.open ?OPTIONS? ?FILE?   Close existing database and reopen FILE
.output ?FILE?           Send output to FILE or stdout if FILE is omitted
.print STRING...         Print literal STRING
.quit                    Exit this program
.read FILE               Read input from FILE
.schema ?PATTERN?        Show the CREATE statements matching PATTERN
.separator COL ?ROW?     Change the column and row separators
.show                    Show the current values for various settings
.tables ?TABLE?          List names of tables matching LIKE pattern TABLE
.timer on|off            Turn SQL timer on or off
.width NUM1 NUM2 ...     Set minimum column widths for columnar output
";
