//! JSON output.

use tidebox_gnu::stream::Output;

use super::table::Table;

fn string(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            8 => out.extend_from_slice(b"\\b"),
            9 => out.extend_from_slice(b"\\t"),
            10 => out.extend_from_slice(b"\\n"),
            12 => out.extend_from_slice(b"\\f"),
            13 => out.extend_from_slice(b"\\r"),
            0..=31 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
    out
}

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
