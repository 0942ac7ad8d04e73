//! `find` with the command line of GNU.

mod entry;
mod evaluate;
mod execute;
mod expression;
mod output;
mod parse;
mod primary;
mod printf;
#[cfg(test)]
mod tests;
mod walk;

use std::process::exit;

use evaluate::Evaluator;
use parse::Request;
use tidebox_gnu::message::{arguments, print_error};
use tidebox_gnu::tool::print_and_exit_code;

fn main() {
    tidebox_rt::init();
    exit(run());
}

fn run() -> i32 {
    let search = match parse::parse(&arguments()) {
        Ok(Request::Search(search)) => search,
        Ok(Request::Print(text)) => return print_and_exit_code("find", text, 1),
        Err(message) => {
            print_error("find", &message);
            return 1;
        }
    };
    for warning in &search.warnings {
        print_error("find: warning", warning);
    }
    let mut evaluator = match Evaluator::new(&search) {
        Ok(evaluator) => evaluator,
        Err(message) => {
            print_error("find", &message);
            return 1;
        }
    };
    walk::walk(&search, &mut evaluator);
    evaluator.failed |= search.failed;
    evaluator.end()
}
