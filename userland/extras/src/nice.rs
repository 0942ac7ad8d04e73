//! `nice`: commands that let others go first. All processes here have one priority, so that they only run.

use tidebox_gnu::answer::Answer;
use tidebox_gnu::command::Command;
use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::message::cited;

use crate::run;

const HELP: &str = "\
Usage: nice [OPTION] [COMMAND [ARGUMENT]...]
Runs COMMAND; without one prints the niceness, which is always 0 here.

  -n, --adjustment=N  is read, but all processes have one priority here
";

const HELP_KEY: char = '\u{e001}';

const LONG: &[Long] = &[long("adjustment", Takes::Value, 'n'), long("help", Takes::Nothing, HELP_KEY)];

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Answer {
    let mut arguments = arguments;
    let mut adjusted = false;
    // `-5` and `--5` are the adjustments of old.
    while let Some(first) = arguments.first() {
        let digits = first.strip_prefix(b"-").map(|rest| rest.strip_prefix(b"-").unwrap_or(rest));
        if !digits.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)) {
            break;
        }
        adjusted = true;
        arguments.remove(0);
    }
    let mut words = Vec::new();
    let mut parser = Parser::new(Spec { short: "n:", long: LONG, permute: false }, arguments);
    loop {
        match parser.next_item() {
            Err(message) => return Answer::Usage(message, 125),
            Ok(None) => break,
            Ok(Some(Item::Operand(word))) => words.push(word),
            Ok(Some(Item::Option(HELP_KEY, _))) => return HELP.into(),
            Ok(Some(Item::Option(_, value))) => {
                let value = value.unwrap_or_default();
                let number = std::str::from_utf8(&value).ok().and_then(|text| text.trim().parse::<i64>().ok());
                if number.is_none() {
                    return Answer::Failure(format!("invalid adjustment {}", cited(&value)), 125);
                }
                adjusted = true;
            }
        }
    }
    if words.is_empty() {
        return match adjusted {
            true => Answer::Usage("a command must be given with an adjustment".to_owned(), 125),
            false => "0\n".into(),
        };
    }
    let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    run::run(&Command::new(&arguments))
}
