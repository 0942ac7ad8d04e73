//! Output of `l`.

/// The output of `l`: unprintable characters as escapes, wrapped at the given number of columns.
pub(super) fn listed(space: &[u8], columns: usize, delimiter: u8) -> Vec<u8> {
    // The last column is for the backslash.
    let width = if columns > 0 { columns - 1 } else { usize::MAX };
    let mut out = Vec::new();
    let mut column = 0;
    for byte in space {
        let shown = match byte {
            b'\\' => b"\\\\".to_vec(),
            7 => b"\\a".to_vec(),
            8 => b"\\b".to_vec(),
            12 => b"\\f".to_vec(),
            b'\n' => b"\\n".to_vec(),
            b'\r' => b"\\r".to_vec(),
            b'\t' => b"\\t".to_vec(),
            11 => b"\\v".to_vec(),
            b' '..=b'~' => vec![*byte],
            other => format!("\\{other:03o}").into_bytes(),
        };
        if column + shown.len() > width {
            out.extend_from_slice(b"\\\n");
            column = 0;
        }
        column += shown.len();
        out.extend_from_slice(&shown);
    }
    out.extend_from_slice(&[b'$', delimiter]);
    out
}
