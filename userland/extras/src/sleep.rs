//! `sleep`: waits.

use std::time::Duration;

use tidebox_gnu::answer::Answer;
use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::message::complain;

use crate::timeout::duration;

const HELP: &str = "\
Usage: sleep NUMBER[SUFFIX]...
Waits for NUMBER seconds, or with the SUFFIX m minutes, h hours, d days; several add up.
";

const HELP_KEY: char = '\u{e001}';

const LONG: &[Long] = &[long("help", Takes::Nothing, HELP_KEY)];

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Answer {
    let mut times = Vec::new();
    let mut parser = Parser::new(Spec { short: "", long: LONG, permute: true }, arguments);
    loop {
        match parser.next_item() {
            Err(message) => return Answer::Usage(message, 1),
            Ok(None) => break,
            Ok(Some(Item::Operand(time))) => times.push(time),
            Ok(Some(Item::Option(..))) => return HELP.into(),
        }
    }
    if times.is_empty() {
        return Answer::Usage("missing operand".to_owned(), 1);
    }
    let mut sum: u64 = 0;
    let mut wrong = Vec::new();
    for time in &times {
        match duration(time) {
            Ok(time) => sum = sum.saturating_add(time),
            Err(message) => wrong.push(message),
        }
    }
    // Every wrong one is told of before where to read more.
    if let Some(last) = wrong.pop() {
        wrong.iter().for_each(|message| complain("sleep", message));
        return Answer::Usage(last, 1);
    }
    std::thread::sleep(Duration::from_nanos(sum));
    Answer::Code(0)
}
