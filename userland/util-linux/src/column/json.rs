//! JSON output.

use tidebox_gnu::stream::Output;

use super::table::Table;
use super::tree::TreeRow;

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

/// Prints a tree. A row contains the rows below it as `children`.
pub(super) fn print_tree(table: &Table, rows: &[TreeRow], name: &[u8], out: &mut Output) {
    out.push(&[b"{\n   ", string(name).as_slice(), b": [\n      {\n"].concat());
    for (at, node) in rows.iter().enumerate() {
        let level = node.levels.len();
        let next = rows.get(at + 1).map_or(0, |next| next.levels.len());
        let indent = "      ".repeat(level);
        let row = table.rows.get(node.row);
        for (number, column) in table.order.iter().enumerate() {
            let name = table.names.get(*column).map(|name| name.to_ascii_lowercase()).unwrap_or_default();
            let value = match row.and_then(|row| row.get(*column)) {
                Some(cell) if !cell.is_empty() => string(cell),
                _ => b"null".to_vec(),
            };
            let end: &[u8] = if number + 1 == table.order.len() && next <= level { b"\n" } else { b",\n" };
            out.push(&[indent.as_bytes(), b"         ", string(&name).as_slice(), b": ", &value, end].concat());
        }
        if next > level {
            out.push(format!("{indent}         \"children\": [\n{indent}            {{\n").as_bytes());
            continue;
        }
        out.push(format!("{indent}      }}").as_bytes());
        // Close the list and the row of each level that ends here.
        for closed in (next..level).rev() {
            let indent = "      ".repeat(closed);
            out.push(format!("\n{indent}         ]\n{indent}      }}").as_bytes());
        }
        if at + 1 < rows.len() {
            out.push(b",{\n");
        }
    }
    out.push(b"\n   ]\n}\n");
}
