//! `which`: path of a command.

use std::io::Write;

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::{Item, Parser, Spec};

/// Runs `which`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let mut all = false;
    let mut names = Vec::new();
    let mut parser = Parser::new(Spec { short: "a", long: &[], permute: false }, arguments);
    loop {
        match parser.next_item() {
            Err(message) => {
                // Messages of Debian's version, which is a shell script.
                let letter = message.chars().rev().nth(1).unwrap_or('-');
                let _ = writeln!(std::io::stderr(), "Illegal option -{letter}");
                return ToolResult::PrintAndCode(b"Usage: /usr/bin/which [-a] args\n".to_vec(), 2);
            }
            Ok(None) => break,
            Ok(Some(Item::Operand(name))) => names.push(name),
            Ok(Some(Item::Option(..))) => all = true,
        }
    }
    let path = std::env::var_os("PATH").map(std::ffi::OsString::into_encoded_bytes).unwrap_or_default();
    let mut out = Vec::new();
    let mut missing = names.is_empty();
    for name in &names {
        let found = places(name, &path, all);
        missing |= found.is_empty();
        out.extend(found.into_iter().flat_map(|place| place.into_iter().chain([b'\n'])));
    }
    ToolResult::PrintAndCode(out, i32::from(missing))
}

fn places(name: &[u8], path: &[u8], all: bool) -> Vec<Vec<u8>> {
    if name.contains(&b'/') {
        return if is_program(name) { vec![name.to_vec()] } else { Vec::new() };
    }
    let folders =
        path.split(|byte| *byte == b':').map(|folder| if folder.is_empty() { b".".as_slice() } else { folder });
    let places = folders.map(|folder| [folder, b"/", name].concat()).filter(|place| is_program(place));
    places.take(if all { usize::MAX } else { 1 }).collect()
}

fn is_program(path: &[u8]) -> bool {
    let is_file = tidebox_rt::stat(path, true).is_ok_and(|stat| stat.kind() == tidebox_rt::FileKind::File);
    is_file && tidebox_rt::access(path, 1).is_ok()
}
