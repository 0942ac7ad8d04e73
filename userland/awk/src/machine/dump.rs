//! `--dump-variables`: all variables with their last values, by name.

use std::io::Write;

use super::Machine;
use crate::number;
use crate::value::{self, Value};

impl Machine {
    /// Writes the list to the file of the option. If that fails, reports the error and writes to standard error.
    pub(super) fn dump_variables(&mut self) {
        let Some(name) = self.options.dump.take() else {
            return;
        };
        let list = self.list_of_variables();
        if name == b"-" {
            let _ = std::io::stdout().write_all(&list);
            return;
        }
        let shown = String::from_utf8_lossy(&name).into_owned();
        if let Err(error) = crate::stream::write_whole(&name, &list) {
            let program = crate::message::program();
            tidebox_gnu::eprint_line!("{program}: warning: could not open `{shown}' for writing: {error}");
            tidebox_gnu::eprint_line!("{program}: warning: sending variable list to standard error");
            let _ = std::io::stderr().write_all(&list);
        }
    }

    fn list_of_variables(&mut self) -> Vec<u8> {
        let symbols = self.symbol_table().map(|table| table.borrow().len()).unwrap_or_default();
        let functions = self.function_table().borrow().len();
        let program = std::rc::Rc::clone(&self.program);
        let mut slots: Vec<usize> = (0..program.globals.len()).collect();
        slots.sort_by(|one, other| program.globals.get(*one).cmp(&program.globals.get(*other)));
        let mut out = Vec::new();
        for slot in slots {
            let Some(name) = program.globals.get(slot) else {
                continue;
            };
            out.extend_from_slice(name);
            out.extend_from_slice(b": ");
            match name.as_slice() {
                b"SYMTAB" => out.extend(format!("array, {symbols} elements").bytes()),
                b"FUNCTAB" => out.extend(format!("array, {functions} elements").bytes()),
                b"NF" => self.special(slot as u32).unwrap_or_default().write(b"%.17g", &mut out),
                _ => self.globals.get(slot).into_iter().for_each(|value| write_value(value, &mut out)),
            }
            out.push(b'\n');
        }
        out
    }
}

fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Untyped => out.extend_from_slice(b"untyped variable"),
        Value::Unset => out.extend_from_slice(b"uninitialized scalar"),
        Value::Number(number) if number::as_integer(*number).is_none() && number.is_finite() => {
            crate::format::number(b"%.17g", *number, out);
        }
        Value::Number(number) => value::write_number(*number, b"%.17g", out),
        Value::Text(text) | Value::Input(text) => write_text(text.bytes(), out),
        Value::Regex(pattern) => {
            out.extend_from_slice(b"@/");
            out.extend_from_slice(pattern.source());
            out.push(b'/');
        }
        Value::Array(handle) if handle.borrow().is_no_array() => {
            let used = matches!(&*handle.borrow(), crate::array::Array::Scalar);
            out.extend_from_slice(if used { b"uninitialized scalar" } else { b"untyped variable" });
        }
        Value::Array(handle) => out.extend(format!("array, {} elements", handle.borrow().len()).bytes()),
    }
}

fn write_text(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text {
        let letter = match byte {
            b'"' | b'\\' => *byte,
            7 => b'a',
            8 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            11 => b'v',
            12 => b'f',
            b'\r' => b'r',
            b' '..=b'~' => {
                out.push(*byte);
                continue;
            }
            _ => {
                out.extend(format!("\\{byte:03o}").bytes());
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', letter]);
    }
    out.push(b'"');
}
