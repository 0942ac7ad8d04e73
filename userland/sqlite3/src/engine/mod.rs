//! Safe wrapper of SQLite. The only module of this package that calls it.
#![allow(unsafe_code, reason = "SQLite is a C library; every pointer passed here comes from it or from a live slice")]

mod files;
mod memory;

use core::ffi::{CStr, c_char, c_int};
use std::ffi::CString;

use sqlite_wasm_rs as sys;

/// An SQLite error with its code.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) code: i32,
    pub(crate) message: String,
    /// Byte offset in the statement, if known.
    pub(crate) offset: Option<usize>,
}

/// A value in a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

/// A value, and its text in SQLite's format.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) value: Value,
    /// `None` for NULL.
    pub(crate) text: Vec<u8>,
}

/// An open database.
#[derive(Debug)]
pub(crate) struct Database(*mut sys::sqlite3);

/// A prepared statement.
#[derive(Debug)]
pub(crate) struct Statement<'a> {
    at: *mut sys::sqlite3_stmt,
    database: &'a Database,
}

/// SQLite's version, and the date and checksum of its source.
pub(crate) fn version() -> String {
    // SAFETY: both are constant texts.
    let (version, source) =
        unsafe { (CStr::from_ptr(sys::sqlite3_libversion()), CStr::from_ptr(sys::sqlite3_sourceid())) };
    format!("{} {}", version.to_string_lossy(), source.to_string_lossy())
}

/// Returns whether a text ends with a complete statement.
pub(crate) fn is_complete(sql: &[u8]) -> bool {
    // For SQLite, a text also ends at a NUL.
    CString::new(sql).is_ok_and(|sql| {
        // SAFETY: the text is a C string.
        unsafe { sys::sqlite3_complete(sql.as_ptr()) != 0 }
    })
}

impl Database {
    pub(crate) fn open(name: &[u8], readonly: bool) -> Result<Self, Refusal> {
        let bad = |message: &str| Refusal { code: sys::SQLITE_CANTOPEN, message: message.to_owned(), offset: None };
        let name = CString::new(name).map_err(|_| bad("the name has a NUL in it"))?;
        let flags =
            if readonly { sys::SQLITE_OPEN_READONLY } else { sys::SQLITE_OPEN_READWRITE | sys::SQLITE_OPEN_CREATE };
        let mut at = core::ptr::null_mut();
        // SAFETY: the name is a C string, and the handle pointer is valid.
        let code = unsafe { sys::sqlite3_open_v2(name.as_ptr(), &raw mut at, flags, core::ptr::null()) };
        if at.is_null() {
            return Err(bad("out of memory"));
        }
        let database = Self(at);
        if code == sys::SQLITE_OK { Ok(database) } else { Err(database.refusal()) }
    }

    /// The last error.
    pub(crate) fn refusal(&self) -> Refusal {
        // SAFETY: the handle is open, and the message is copied before SQLite changes it.
        unsafe {
            Refusal {
                code: sys::sqlite3_errcode(self.0),
                message: CStr::from_ptr(sys::sqlite3_errmsg(self.0)).to_string_lossy().into_owned(),
                offset: usize::try_from(sys::sqlite3_error_offset(self.0)).ok(),
            }
        }
    }

    /// Prepares the first statement of a text; `None` for space and comments. Also returns its length.
    pub(crate) fn prepare(&self, sql: &[u8]) -> Result<(Option<Statement<'_>>, usize), Refusal> {
        let len = c_int::try_from(sql.len()).unwrap_or(c_int::MAX);
        let (mut at, mut tail) = (core::ptr::null_mut(), core::ptr::null());
        let start = sql.as_ptr().cast::<c_char>();
        // SAFETY: the text has that length, and the output pointers are valid.
        let code = unsafe { sys::sqlite3_prepare_v2(self.0, start, len, &raw mut at, &raw mut tail) };
        if code != sys::SQLITE_OK {
            return Err(self.refusal());
        }
        let used = (tail.addr().saturating_sub(start.addr())).min(sql.len());
        Ok(((!at.is_null()).then_some(Statement { at, database: self }), used))
    }

    /// Number of rows changed by the last statement, and in total.
    pub(crate) fn changes(&self) -> (i64, i64) {
        // SAFETY: the handle is open.
        unsafe { (sys::sqlite3_changes64(self.0), sys::sqlite3_total_changes64(self.0)) }
    }

    /// All rows of a statement with texts bound to it.
    pub(crate) fn rows(&self, sql: &str, texts: &[&[u8]]) -> Result<Vec<Vec<Value>>, Refusal> {
        let (Some(mut statement), _) = self.prepare(sql.as_bytes())? else {
            return Ok(Vec::new());
        };
        for (at, text) in texts.iter().enumerate() {
            statement.bind(at + 1, Some(text))?;
        }
        let mut rows = Vec::new();
        while statement.step()? {
            rows.push(statement.values());
        }
        Ok(rows)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and all statements borrow it.
        unsafe { sys::sqlite3_close(self.0) };
    }
}

impl Statement<'_> {
    /// Advances to the next row; false at the end.
    pub(crate) fn step(&mut self) -> Result<bool, Refusal> {
        // SAFETY: the statement is not finalized before it is dropped.
        match unsafe { sys::sqlite3_step(self.at) } {
            sys::SQLITE_ROW => Ok(true),
            sys::SQLITE_DONE => Ok(false),
            _ => Err(self.database.refusal()),
        }
    }

    /// Resets the statement so that it can run again.
    pub(crate) fn reset(&mut self) {
        // SAFETY: the statement is not finalized; its error was returned by the step.
        unsafe { sys::sqlite3_reset(self.at) };
    }

    /// Binds a text, or NULL.
    pub(crate) fn bind(&mut self, at: usize, text: Option<&[u8]>) -> Result<(), Refusal> {
        let at = c_int::try_from(at).unwrap_or(0);
        // SAFETY: the text has that length, and SQLite copies it before this returns.
        let code = unsafe {
            match text {
                Some(text) => {
                    let len = c_int::try_from(text.len()).unwrap_or(c_int::MAX);
                    sys::sqlite3_bind_text(self.at, at, text.as_ptr().cast(), len, sys::SQLITE_TRANSIENT())
                }
                None => sys::sqlite3_bind_null(self.at, at),
            }
        };
        if code == sys::SQLITE_OK { Ok(()) } else { Err(self.database.refusal()) }
    }

    fn count(&self) -> c_int {
        // SAFETY: the statement is not finalized.
        unsafe { sys::sqlite3_column_count(self.at) }
    }

    pub(crate) fn names(&self) -> Vec<Vec<u8>> {
        let name = |column| {
            // SAFETY: the column exists; the name is copied before SQLite changes it.
            unsafe {
                let name = sys::sqlite3_column_name(self.at, column);
                if name.is_null() { Vec::new() } else { CStr::from_ptr(name).to_bytes().to_vec() }
            }
        };
        (0..self.count()).map(name).collect()
    }

    /// The row.
    pub(crate) fn values(&self) -> Vec<Value> {
        (0..self.count()).map(|column| self.value(column)).collect()
    }

    /// The row with its values in SQLite's text format.
    pub(crate) fn cells(&self) -> Vec<Cell> {
        self.values().into_iter().enumerate().map(|(at, value)| Cell { text: self.text(at), value }).collect()
    }

    fn value(&self, column: c_int) -> Value {
        // SAFETY: the current row has this column; bytes are copied before SQLite changes them.
        unsafe {
            let bytes = |from: *const u8| {
                let len = usize::try_from(sys::sqlite3_column_bytes(self.at, column)).unwrap_or(0);
                if from.is_null() { Vec::new() } else { core::slice::from_raw_parts(from, len).to_vec() }
            };
            match sys::sqlite3_column_type(self.at, column) {
                sys::SQLITE_INTEGER => Value::Integer(sys::sqlite3_column_int64(self.at, column)),
                sys::SQLITE_FLOAT => Value::Real(sys::sqlite3_column_double(self.at, column)),
                sys::SQLITE_TEXT => Value::Text(bytes(sys::sqlite3_column_text(self.at, column))),
                sys::SQLITE_BLOB => Value::Blob(bytes(sys::sqlite3_column_blob(self.at, column).cast())),
                _ => Value::Null,
            }
        }
    }

    fn text(&self, column: usize) -> Vec<u8> {
        let column = c_int::try_from(column).unwrap_or(c_int::MAX);
        // SAFETY: as in `value`; the row is not used by its types any more.
        unsafe {
            let from = sys::sqlite3_column_text(self.at, column);
            let len = usize::try_from(sys::sqlite3_column_bytes(self.at, column)).unwrap_or(0);
            if from.is_null() { Vec::new() } else { core::slice::from_raw_parts(from, len).to_vec() }
        }
    }
}

impl Drop for Statement<'_> {
    fn drop(&mut self) {
        // SAFETY: the statement is finalized here and nowhere else.
        unsafe { sys::sqlite3_finalize(self.at) };
    }
}
