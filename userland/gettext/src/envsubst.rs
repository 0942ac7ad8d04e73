//! `envsubst`: replaces references to environment variables.

use std::collections::HashMap;

use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Input, Output};
use tidebox_gnu::tool::print;

const USAGE: &str = "\
Usage: envsubst [OPTION] [FORMAT]
Copies standard input with $NAME and ${NAME} replaced by variables of the environment; with FORMAT only those
that FORMAT refers to.

";

tidebox_gnu::options! {
    /// Options of `envsubst`.
    enum Flag {
        Variables = "-v, --variables", "print the names that FORMAT refers to";
        Help = "-h, --help", "show this help";
        Version = "-V, --version", "show the version";
    }
}

const SYNTAX: Syntax<'_, Flag> =
    Syntax { version: "envsubst (GNU gettext-runtime) 0.21 (Tidebox)\n", ..Syntax::new("envsubst", USAGE, 19) };

/// Runs `envsubst`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut lists = false;
    let operands = SYNTAX.parse(arguments, |_, _| {
        lists = true;
        Ok(())
    });
    let operands = match operands {
        Ok(operands) => operands,
        Err(code) => return code,
    };
    if operands.len() > 1 {
        print_error("envsubst", "too many arguments");
        return 1;
    }
    let format = operands.first();
    if lists {
        let Some(format) = format else {
            print_error("envsubst", "missing arguments");
            return 1;
        };
        let names: Vec<u8> = names(format).into_iter().flat_map(|name| [name, b"\n".to_vec()].concat()).collect();
        return print("envsubst", &names);
    }
    let only = format.map(|format| names(format));
    let mut values: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    for entry in tidebox_rt::environ() {
        if let Some(at) = entry.iter().position(|byte| *byte == b'=') {
            let (name, value) = entry.split_at(at);
            values.insert(name.to_vec(), value.get(1..).unwrap_or_default().to_vec());
        }
    }
    let mut input = Input::standard();
    let (mut out, mut line) = (Output::standard(), Vec::new());
    loop {
        match input.line(b'\n', &mut line) {
            Ok(true) => substitute(
                &line,
                |name| only.as_ref().is_none_or(|only| only.iter().any(|known| known == name)),
                &values,
                &mut out,
            ),
            Ok(false) => return out.finish("envsubst", 0),
            Err(errno) => {
                print_error("envsubst", &format!("error while reading \"standard input\": {}", errno.text()));
                return 1;
            }
        }
    }
}

/// Returns the variable name of a reference after a dollar sign, and the length of the reference.
fn reference(text: &[u8]) -> Option<(&[u8], usize)> {
    let (open, body) = match text.strip_prefix(b"{") {
        Some(body) => (1, body),
        None => (0, text),
    };
    let starts = body.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let count = body.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let closed = open == 0 || body.get(count) == Some(&b'}');
    (starts && closed).then(|| (body.get(..count).unwrap_or_default(), count + 2 * open))
}

fn names(format: &[u8]) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    for (at, byte) in format.iter().enumerate() {
        if *byte == b'$'
            && let Some((name, _)) = reference(format.get(at + 1..).unwrap_or_default())
        {
            names.push(name.to_vec());
        }
    }
    names
}

fn substitute(line: &[u8], counts: impl Fn(&[u8]) -> bool, values: &HashMap<Vec<u8>, Vec<u8>>, out: &mut Output) {
    let mut rest = line;
    while let Some((first, after)) = rest.split_first() {
        match reference(after).filter(|(name, _)| *first == b'$' && counts(name)) {
            Some((name, length)) => {
                out.push(values.get(name).map_or(b"".as_slice(), Vec::as_slice));
                rest = after.get(length..).unwrap_or_default();
            }
            None => {
                out.push(&[*first]);
                rest = after;
            }
        }
    }
}
