//! `.import`: tables from files of separated values.

use std::io::Read;

use super::commands::text_of;
use super::print::Mode;
use super::{Shell, quote};
use crate::engine::Refusal;
use tidebox_gnu::message::bytes_path;

/// Record reader of a text.
struct Records<'t> {
    rest: &'t [u8],
    columns: &'t [u8],
    rows: &'t [u8],
    /// Fields may be quoted.
    quoted: bool,
    line: usize,
}

impl Records<'_> {
    /// The fields of the next record.
    fn next(&mut self) -> Option<Vec<Vec<u8>>> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        let mut fields = Vec::new();
        loop {
            let (field, ended) = self.field();
            fields.push(field);
            if ended {
                return Some(fields);
            }
        }
    }

    /// A field, and whether it is the last of its record.
    fn field(&mut self) -> (Vec<u8>, bool) {
        let mut field = Vec::new();
        if self.quoted && self.rest.first() == Some(&b'"') {
            self.rest = self.rest.get(1..).unwrap_or_default();
            while let Some((byte, after)) = self.rest.split_first() {
                self.rest = after;
                if *byte != b'"' {
                    self.line += usize::from(*byte == b'\n');
                    field.push(*byte);
                } else if after.first() == Some(&b'"') {
                    field.push(b'"');
                    self.rest = after.get(1..).unwrap_or_default();
                } else {
                    break;
                }
            }
        }
        while !self.rest.is_empty() {
            if let Some(after) = self.rest.strip_prefix(self.columns).filter(|_| !self.columns.is_empty()) {
                self.rest = after;
                return (field, false);
            }
            if let Some(after) = self.rest.strip_prefix(self.rows).filter(|_| !self.rows.is_empty()) {
                self.rest = after;
                if self.quoted && field.last() == Some(&b'\r') {
                    field.pop();
                }
                return (field, true);
            }
            if let Some((byte, after)) = self.rest.split_first() {
                field.push(*byte);
                self.rest = after;
            }
        }
        (field, true)
    }
}

impl Shell {
    /// `.import [--csv|--ascii] [--skip N] [-v] FILE TABLE`
    pub(super) fn import(&mut self, texts: &[&str], words: &[Vec<u8>]) -> Result<(), ()> {
        let (mut skip, mut csv, mut ascii) = (0, self.style.mode() == Mode::Csv, false);
        let mut operands = Vec::new();
        let mut at = 1;
        while let Some(text) = texts.get(at) {
            match *text {
                "--csv" | "-csv" => csv = true,
                "--ascii" | "-ascii" => ascii = true,
                "-v" | "--v" => {}
                "--skip" | "-skip" => {
                    at += 1;
                    skip = texts.get(at).and_then(|count| count.parse().ok()).unwrap_or(0);
                }
                option if option.starts_with('-') => {
                    tidebox_gnu::eprint_line!("ERROR: unknown option: \"{option}\".  Usage:\n.import FILE TABLE");
                    return Err(());
                }
                _ => operands.extend(words.get(at)),
            }
            at += 1;
        }
        let [file, table] = operands.as_slice() else {
            let what = if operands.is_empty() { "FILE" } else { "TABLE" };
            tidebox_gnu::eprint_line!("ERROR: missing {what} argument. Usage:\n.import FILE TABLE");
            return Err(());
        };
        let content = match std::fs::File::open(bytes_path(file)) {
            Ok(mut opened) => {
                let mut content = Vec::new();
                // A read error ends the input here.
                let _ = opened.read_to_end(&mut content);
                content
            }
            Err(_) => {
                tidebox_gnu::eprint_line!("Error: cannot open \"{}\"", String::from_utf8_lossy(file));
                return Err(());
            }
        };
        if self.style.mode() == Mode::Csv && self.style.rows() == b"\r\n" {
            // As in the original, the line end changes for the following output, too.
            self.style.rows = Some(b"\n".to_vec());
        }
        let (columns, rows): (Vec<u8>, Vec<u8>) = match (ascii, csv) {
            (true, _) => (vec![0x1f], vec![0x1e]),
            (false, true) => (b",".to_vec(), b"\n".to_vec()),
            // Input lines end with the file's newline, independent of the output format.
            (false, false) => (self.style.columns().to_vec(), b"\n".to_vec()),
        };
        let mut records = Records { rest: &content, columns: &columns, rows: &rows, quoted: !ascii, line: 0 };
        for _ in 0..skip {
            records.next();
        }
        let name = String::from_utf8_lossy(file).into_owned();
        self.import_records(&name, table, &mut records)
            .map_err(|refusal| tidebox_gnu::eprint_line!("Error: {}", refusal.message))
    }

    fn import_records(&mut self, file: &str, table: &[u8], records: &mut Records<'_>) -> Result<(), Refusal> {
        let quoted = String::from_utf8_lossy(&quote::always(table)).into_owned();
        let known = self.query("SELECT name FROM pragma_table_info(?1) ORDER BY cid", &[table])?;
        let mut count = known.len();
        if known.is_empty() {
            let Some(names) = records.next() else {
                return Ok(());
            };
            count = names.len();
            let columns: Vec<String> =
                names.iter().map(|name| format!("{} TEXT", String::from_utf8_lossy(&quote::always(name)))).collect();
            self.query(&format!("CREATE TABLE IF NOT EXISTS {quoted}(\n{})", columns.join(", ")), &[])?;
        } else {
            debug_assert!(known.iter().all(|row| row.first().is_some_and(|name| !text_of(name).is_empty())));
        }
        let marks = vec!["?"; count].join(",");
        let Some(database) = self.database.take() else {
            return Ok(());
        };
        let result = insert(&database, &format!("INSERT INTO {quoted} VALUES({marks})"), file, count, records);
        self.database = Some(database);
        result
    }
}

/// Inserts all records in one transaction.
fn insert(
    database: &crate::engine::Database,
    sql: &str,
    file: &str,
    count: usize,
    records: &mut Records<'_>,
) -> Result<(), Refusal> {
    let in_transaction = database.rows("BEGIN", &[]).is_ok();
    let (Some(mut statement), _) = database.prepare(sql.as_bytes())? else {
        return Ok(());
    };
    loop {
        let line = records.line + 1;
        let Some(fields) = records.next() else {
            break;
        };
        if fields.len() < count {
            let had = fields.len();
            tidebox_gnu::eprint_line!(
                "{file}:{line}: expected {count} columns but found {had} - filling the rest with NULL"
            );
        }
        if fields.len() > count {
            tidebox_gnu::eprint_line!(
                "{file}:{line}: expected {count} columns but found {} - extras ignored",
                fields.len()
            );
        }
        for at in 0..count {
            statement.bind(at + 1, fields.get(at).map(Vec::as_slice))?;
        }
        if let Err(refusal) = statement.step() {
            tidebox_gnu::eprint_line!("{file}:{line}: INSERT failed: {}", refusal.message);
        }
        statement.reset();
    }
    drop(statement);
    if in_transaction {
        database.rows("COMMIT", &[])?;
    }
    Ok(())
}
