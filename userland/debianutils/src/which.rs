//! `which`: prints the path of a command.

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::options::Syntax;

tidebox_gnu::options! {
    /// Options of `which`.
    enum Flag {
        All = "-a", "";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax { permute: false, ..Syntax::new("which", "", 0) };

/// Runs `which`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let mut all = false;
    let names = SYNTAX.parse(arguments, |_, _| {
        all = true;
        Ok(())
    });
    let names = match names {
        Ok(names) => names,
        Err(ToolResult::Usage(message, _)) => {
            // Messages of Debian's version, which is a shell script.
            let letter = message.chars().rev().nth(1).unwrap_or('-');
            tidebox_gnu::eprint_line!("Illegal option -{letter}");
            return ToolResult::PrintAndCode(b"Usage: /usr/bin/which [-a] args\n".to_vec(), 2);
        }
        Err(result) => return result,
    };
    let path = std::env::var_os("PATH").map(std::ffi::OsString::into_encoded_bytes).unwrap_or_default();
    let mut out = Vec::new();
    let mut missing = names.is_empty();
    for name in &names {
        let found = paths(name, &path, all);
        missing |= found.is_empty();
        out.extend(found.into_iter().flat_map(|path| path.into_iter().chain([b'\n'])));
    }
    ToolResult::PrintAndCode(out, i32::from(missing))
}

fn paths(name: &[u8], path: &[u8], all: bool) -> Vec<Vec<u8>> {
    if name.contains(&b'/') {
        return if is_program(name) { vec![name.to_vec()] } else { Vec::new() };
    }
    let folders =
        path.split(|byte| *byte == b':').map(|folder| if folder.is_empty() { b".".as_slice() } else { folder });
    let paths = folders.map(|folder| [folder, b"/", name].concat()).filter(|path| is_program(path));
    paths.take(if all { usize::MAX } else { 1 }).collect()
}

fn is_program(path: &[u8]) -> bool {
    let is_file = tidebox_rt::stat(path, true).is_ok_and(|stat| stat.kind() == tidebox_rt::FileKind::File);
    is_file && tidebox_rt::access(path, 1).is_ok()
}
