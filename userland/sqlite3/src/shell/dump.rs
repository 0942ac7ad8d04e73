//! `.dump`: a database as SQL statements.

use super::commands::text_of;
use super::{Shell, quote};
use crate::engine::{Refusal, Value};

/// A statement in the shell's format: for quoted table names, the table may already exist.
pub(super) fn schema_text(sql: &str) -> String {
    match sql.strip_prefix("CREATE TABLE ").filter(|rest| rest.starts_with(['"', '\''])) {
        Some(rest) => format!("CREATE TABLE IF NOT EXISTS {rest}"),
        None => sql.to_owned(),
    }
}

impl Shell {
    /// Writes all tables, or those that match the patterns.
    pub(super) fn dump(&mut self, patterns: &[&str]) -> Result<(), ()> {
        let patterns: Vec<&str> = if patterns.is_empty() { vec!["%"] } else { patterns.to_vec() };
        self.put(b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n");
        let result = self.dump_all(&patterns);
        if let Err(refusal) = &result {
            self.put(format!("/****** ERROR: {} ******/\n", refusal.message).as_bytes());
        }
        self.put(if result.is_ok() { b"COMMIT;\n" } else { b"ROLLBACK; -- due to errors\n" });
        result.map_err(|_| ())
    }

    fn dump_all(&mut self, patterns: &[&str]) -> Result<(), Refusal> {
        for pattern in patterns {
            let tables = self.query(
                "SELECT name, sql FROM sqlite_schema WHERE type='table' AND sql IS NOT NULL AND name LIKE ?1 \
                 ORDER BY tbl_name='sqlite_sequence', rowid",
                &[pattern.as_bytes()],
            )?;
            for table in &tables {
                if let [name, sql] = table.as_slice() {
                    self.dump_table(&text_of(name), &text_of(sql))?;
                }
            }
        }
        for pattern in patterns {
            let others = self.query(
                "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('index','trigger','view') AND name LIKE ?1 \
                 ORDER BY type='view', rowid",
                &[pattern.as_bytes()],
            )?;
            for sql in others.iter().filter_map(|row| row.first()) {
                self.put(format!("{};\n", text_of(sql)).as_bytes());
            }
        }
        Ok(())
    }

    fn dump_table(&mut self, name: &str, sql: &str) -> Result<(), Refusal> {
        match name {
            "sqlite_sequence" => self.put(b"DELETE FROM sqlite_sequence;\n"),
            "sqlite_stat1" => self.put(b"ANALYZE sqlite_schema;\n"),
            name if name.starts_with("sqlite_") => return Ok(()),
            _ => {
                self.put(format!("{};\n", schema_text(sql)).as_bytes());
            }
        }
        let quoted = quote::always(name.as_bytes());
        let select = format!("SELECT * FROM {}", String::from_utf8_lossy(&quoted));
        let Some(database) = self.database.take() else {
            return Ok(());
        };
        let result = self.dump_rows(&database, name, &select);
        self.database = Some(database);
        result
    }

    fn dump_rows(&mut self, database: &crate::engine::Database, name: &str, select: &str) -> Result<(), Refusal> {
        let (Some(mut statement), _) = database.prepare(select.as_bytes())? else {
            return Ok(());
        };
        while statement.step()? {
            let values = statement.cells().into_iter().map(|cell| match &cell.value {
                Value::Text(text) => quote::one_line(text),
                _ => quote::value(&cell),
            });
            let mut line = b"INSERT INTO ".to_vec();
            line.extend_from_slice(&quote::name(name.as_bytes()));
            line.extend_from_slice(b" VALUES(");
            line.extend_from_slice(&values.collect::<Vec<_>>().join(&b','));
            line.extend_from_slice(b");\n");
            self.put(&line);
        }
        Ok(())
    }
}
