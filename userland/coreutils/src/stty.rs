//! `stty`: settings of a terminal, of which there is none.

use tidebox_gnu::getopt::{Item, Parser, Spec, Takes, long};
use tidebox_gnu::message::print_error;
use tidebox_gnu::stream::Output;
use tidebox_gnu::tool::usage;
use tidebox_rt::{Errno, Open};

const HELP: &str = "\
Usage: stty [-F DEVICE | --file=DEVICE] [SETTING]...
  or:  stty [-F DEVICE | --file=DEVICE] [-a|--all]
  or:  stty [-F DEVICE | --file=DEVICE] [-g|--save]
Prints or changes settings of a terminal. There is none in a sandbox.
";

/// Runs `stty`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let long = [
        long("all", Takes::Nothing, 'a'),
        long("save", Takes::Nothing, 'g'),
        long("file", Takes::Value, 'F'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    // Settings may begin with a dash (`-echo`), so that only what looks like an option is read as one.
    let is_option =
        |word: &Vec<u8>| word.starts_with(b"--") || word.starts_with(b"-F") || matches!(word.as_slice(), b"-a" | b"-g");
    let (mut words, mut rest) = (Vec::new(), arguments.into_iter());
    while let Some(word) = rest.next() {
        if is_option(&word) {
            let takes = word == b"-F" || word == b"--file";
            words.push(word);
            words.extend(rest.next().filter(|_| takes));
        }
    }
    let mut device = None;
    let mut parser = Parser::new(Spec { short: "agF:", long: &long, permute: true }, words);
    loop {
        match parser.next_item() {
            Err(message) => return usage("stty", &message, 1),
            Ok(None) => break,
            Ok(Some(Item::Option('h', _))) => {
                let mut out = Output::standard();
                out.push(HELP.as_bytes());
                return out.finish("stty", 0);
            }
            Ok(Some(Item::Option('V', _))) => {
                let mut out = Output::standard();
                out.push(tidebox_gnu::command_line::core_version("stty").as_bytes());
                return out.finish("stty", 0);
            }
            Ok(Some(Item::Option('F', value))) => device = value,
            Ok(Some(_)) => {}
        }
    }
    let why = match &device {
        None => Err(Errno::NOTTY),
        Some(name) => tidebox_rt::open(name, Open { read: true, ..Open::default() }).and_then(|fd| {
            tidebox_rt::close(fd)?;
            Err::<(), Errno>(Errno::NOTTY)
        }),
    };
    let name = device
        .map_or_else(|| "'standard input'".to_owned(), |name| tidebox_gnu::message::display_name(&name).into_owned());
    let errno = why.err().unwrap_or(Errno::NOTTY);
    print_error("stty", &format!("{name}: {}", errno.text()));
    1
}
