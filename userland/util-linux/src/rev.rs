//! `rev`: reverses the characters of each line.

use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Input, Output};

const USAGE: &str = "\
Usage: rev [OPTION] [FILE]...
Prints the characters of each line from the last to the first.

";

tidebox_gnu::options! {
    /// Options of `rev`.
    enum Flag {
        Help = "-h, --help", "show this";
        Version = "-V, --version", "show the version";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax { version: "rev from util-linux 2.38.1\n", ..Syntax::new("rev", USAGE, 17) };

/// Runs `rev`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut files = match SYNTAX.parse(arguments, |_, _| Ok(())) {
        Ok(files) => files,
        Err(code) => return code,
    };
    let mut out = Output::standard();
    let end = b'\n';
    if files.is_empty() {
        files.push(b"-".to_vec());
    }
    let mut code = 0;
    for name in &files {
        let result = Input::open(name).and_then(|mut input| {
            let mut line = Vec::new();
            while input.line(end, &mut line)? {
                let body = line.strip_suffix(&[end]);
                push_reversed(body.unwrap_or(&line), &mut out);
                if body.is_some() {
                    out.push(&[end]);
                }
            }
            Ok(())
        });
        if let Err(errno) = result {
            out.flush_now();
            tidebox_gnu::message::print_error(
                "rev",
                &format!("cannot open {}: {}", String::from_utf8_lossy(name), errno.text()),
            );
            code = 1;
        }
    }
    out.finish("rev", code)
}

/// Writes characters from the last to the first. An invalid byte counts as a character.
fn push_reversed(text: &[u8], out: &mut Output) {
    let mut rest = text;
    while !rest.is_empty() {
        let begin = (1..=rest.len().min(4))
            .map(|count| rest.len() - count)
            .find(|at| rest.get(*at..).is_some_and(|tail| std::str::from_utf8(tail).is_ok()))
            .unwrap_or(rest.len() - 1);
        let (before, character) = rest.split_at_checked(begin).unwrap_or((b"", rest));
        out.push(character);
        rest = before;
    }
}
