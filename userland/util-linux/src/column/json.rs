//! JSON output.

use tidebox_gnu::escape::json as string;
use tidebox_gnu::stream::Output;

use super::table::Table;

/// Prints a table. Names of columns become lower case.
pub(super) fn print(table: &Table, name: &[u8], out: &mut Output) {
    out.push(&[b"{\n   ", string(name).as_slice(), b": [\n      "].concat());
    for (number, row) in table.rows.iter().enumerate() {
        out.push(if number > 0 { b",{\n" } else { b"{\n" });
        for (at, column) in table.order.iter().enumerate() {
            let name = table.names.get(*column).map(|name| name.to_ascii_lowercase()).unwrap_or_default();
            let value = match row.get(*column) {
                Some(cell) if !cell.is_empty() => string(cell),
                _ => b"null".to_vec(),
            };
            let end: &[u8] = if at + 1 == table.order.len() { b"\n" } else { b",\n" };
            out.push(&[b"         ", string(&name).as_slice(), b": ", &value, end].concat());
        }
        out.push(b"      }");
    }
    out.push(b"\n   ]\n}\n");
}
