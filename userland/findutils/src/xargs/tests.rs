use crate::batch::Batches;
use crate::input::Items;
use crate::options::{self, Request};

/// Returns the commands for a command line and an input, with dots between arguments.
fn message(wrong: options::CommandLineError) -> String {
    match wrong {
        options::CommandLineError::Usage(message) | options::CommandLineError::Value(message) => message,
    }
}

fn commands(arguments: &str, input: &'static str) -> Result<Vec<String>, String> {
    let arguments = arguments.split(' ').filter(|word| !word.is_empty()).map(|word| word.as_bytes().to_vec()).collect();
    let Request::Run(options) = options::parse(arguments).map_err(message)? else {
        return Err("only text".to_owned());
    };
    let mut batches = Batches::new(&options, Items::new(Box::new(input.as_bytes()), &options));
    let mut commands = Vec::new();
    while let Some(words) = batches.next_command()? {
        let words: Vec<String> = words.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        commands.push(words.join("."));
    }
    Ok(commands)
}

fn command_lines(arguments: &str, input: &'static str) -> Vec<String> {
    commands(arguments, input).expect("the items are in order")
}

#[test]
fn quotes_and_backslashes_keep_blanks_together() {
    assert_eq!(command_lines("", "a 'b c' \"d e\" f\\ g\n\nh''i ''"), ["echo.a.b c.d e.f g.hi."]);
    assert_eq!(command_lines("-0", "a b\0'c\0\0"), ["echo.a b.'c."]);
    assert_eq!(command_lines("-d ,", "a,b c,d\n"), ["echo.a.b c.d\n"]);
    assert_eq!(command_lines("-d \\n", "a b\nc"), ["echo.a b.c"]);
}

#[test]
fn items_are_grouped_by_the_options() {
    assert_eq!(command_lines("-n 2 x", "1 2 3 4 5"), ["x.1.2", "x.3.4", "x.5"]);
    assert_eq!(command_lines("-L 1", "a b\nc \nd\n\ne"), ["echo.a.b", "echo.c.d", "echo.e"]);
    assert_eq!(command_lines("-I {} x {}-{} y", "a b\n  c\n"), ["x.a b-a b.y", "x.c-c.y"]);
    assert_eq!(command_lines("-I % x %", ""), Vec::<String>::new());
    assert_eq!(command_lines("-s 12", "aa bb cc dd"), ["echo.aa.bb", "echo.cc.dd"]);
    assert_eq!(command_lines("-E end", "a b end c"), ["echo.a.b"]);
}

#[test]
fn without_items_the_command_runs_once_unless_disabled() {
    assert_eq!(command_lines("x", " \n"), ["x"]);
    assert_eq!(command_lines("-r x", " \n"), Vec::<String>::new());
    assert_eq!(command_lines("-n 1 x", "a"), ["x.a"]);
}

#[test]
fn errors_are_reported() {
    assert!(commands("", "it's").is_err_and(|message| message.starts_with("unmatched single quote")));
    assert!(commands("-n 0", "").is_err_and(|message| message == "value 0 for -n option should be >= 1"));
    assert!(commands("-n x", "").is_err_and(|message| message == "invalid number \"x\" for -n option"));
    assert!(commands("-s 8", "aaaaaaaa").is_err_and(|message| message == "argument line too long"));
    assert!(commands("-x -n 2 -s 9", "aa bb").is_err_and(|message| message == "argument list too long"));
}
