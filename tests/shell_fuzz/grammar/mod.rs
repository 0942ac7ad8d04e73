//! Random scripts: statements composed of commands, composed of words.

mod arithmetic;
mod command;
mod compound;
mod condition;
mod input;
mod template;
mod variable;
mod word;

use crate::rng::Chance;
use crate::script::Statement;

/// Texts of one word, not split or special in single quotes.
const TEXTS: &[&str] = &[
    "",
    "a",
    "b",
    "foo",
    "bar",
    "hello world",
    " lead",
    "trail ",
    "a  b   c",
    "*",
    "x*y",
    "?",
    "[ab]",
    "foo.tar.gz",
    "/usr/local/lib/x.so",
    "./rel/path/",
    "äöü",
    "日本",
    "1",
    "0",
    "-5",
    "42",
    "007",
    "3+4",
    "a:b:c",
    ":x::y:",
    "k=v",
    "it is",
    "\"q\"",
    "\\",
    "a\\b",
    "\\n",
    "$a",
    "`x`",
    "~",
    "!",
    "#c",
    "a;b",
    "x&y",
    "-n",
    "-e",
    "--",
    "%s",
    "%",
    "A",
    "ABC",
    "Hello",
    "tRuE",
    "one,two,,three",
    "a\nb",
    "\n",
    "x\n\ny\n",
    "\t",
    "a\tb",
    "(",
    ")",
    "{a,b}",
    "<",
    ">",
    "|",
];

/// Variables that hold text.
const SCALARS: &[&str] = &["a", "b", "c", "s", "str", "x", "y", "unset_one"];
/// Variables that usually hold numbers.
const NUMBERS: &[&str] = &["i", "j", "n", "m"];
/// Indexed arrays.
const ARRAYS: &[&str] = &["arr", "list", "sparse"];
/// Associative arrays.
const MAPS: &[&str] = &["map", "dict"];
/// Files in the working directory.
const FILES: &[&str] = &["f1.txt", "f2.txt", "data.csv", "out", "sub/g.txt", "no_such_file", "'with space'"];

/// State of the script generator.
#[derive(Debug)]
pub(crate) struct Grammar {
    chance: Chance,
    /// True if scripts may contain errors that are unusual in real scripts: invalid expressions, subscripts before the first
    /// element, missing files.
    wild: bool,
    /// Number of statements around the next one.
    depth: usize,
    /// Number of loops around it in the same function.
    loops: usize,
    /// Functions that it may call; a function calls only earlier ones, so that every script ends.
    functions: usize,
    in_function: bool,
    /// Number of words around the next word.
    nesting: usize,
    /// True if extended patterns are enabled, which the parser must know when it reads a line.
    extended: bool,
    /// Counter for unique names of loop counters and functions.
    fresh: usize,
}

impl Grammar {
    pub(crate) fn new(seed: u64, wild: bool) -> Self {
        let mut chance = Chance::new(seed);
        let extended = chance.one_in(3);
        Self { wild, chance, extended, depth: 0, loops: 0, functions: 0, in_function: false, nesting: 0, fresh: 0 }
    }

    /// A whole script: the initial lines, then statements.
    pub(crate) fn script(&mut self) -> Vec<Statement> {
        let mut statements = self.beginning();
        for _ in 0..2 + self.chance.below(8) {
            statements.push(self.statement());
        }
        if self.chance.one_in(3) {
            let names = [SCALARS, NUMBERS, ARRAYS, MAPS].map(|names| self.chance.pick(names)).join(" ");
            statements.push(Statement::Line(format!("declare -p {names}")));
        }
        statements.push(Statement::Line("echo \"end $?\"".to_owned()));
        statements
    }

    /// Options, variables and files.
    fn beginning(&mut self) -> Vec<Statement> {
        let mut lines = Vec::new();
        if self.extended {
            lines.push("shopt -s extglob".to_owned());
        }
        if self.chance.one_in(3) {
            lines.push(self.option());
        }
        for name in SCALARS {
            if *name != "unset_one" && self.chance.one_in(2) {
                lines.push(format!("{name}={}", self.quoted_text()));
            }
        }
        for name in NUMBERS {
            if !self.wild || self.chance.one_in(2) {
                lines.push(format!("{name}={}", self.number()));
            }
        }
        for name in ARRAYS {
            if self.chance.one_in(2) {
                lines.push(format!("{name}={}", self.array_value()));
            }
        }
        for name in MAPS {
            // If the array is not declared, its keys are expressions, and most of them are invalid.
            if !self.wild || !self.chance.one_in(8) {
                lines.push(format!("declare -A {name}={}", self.map_value()));
            }
        }
        if self.chance.one_in(3) {
            let words: Vec<String> = (0..1 + self.chance.below(4)).map(|_| self.quoted_text()).collect();
            lines.push(format!("set -- {}", words.join(" ")));
        }
        if !self.wild || self.chance.one_in(2) {
            lines.push("mkdir sub".to_owned());
            for file in &FILES[..5] {
                if !self.wild || self.chance.one_in(2) {
                    lines.push(format!("printf '%s\\n' {} {} >{file}", self.quoted_text(), self.quoted_text()));
                }
            }
        }
        lines.into_iter().map(Statement::Line).collect()
    }

    /// `set` and `shopt` as used in scripts.
    fn option(&mut self) -> String {
        self.chance
            .pick(&[
                "set -e",
                "set -u",
                "set -o pipefail",
                "set -eu",
                "set -euo pipefail",
                "set -f",
                "set -x",
                "set -C",
                "set -a",
                "set -T",
                "set -E",
                "set -eE",
                "set +B",
                "shopt -s nullglob",
                "shopt -s nocasematch",
                "shopt -s dotglob",
                "shopt -s failglob",
                "shopt -s lastpipe",
                "shopt -s inherit_errexit",
                "shopt -s expand_aliases",
                "shopt -s globstar",
                "shopt -s nocaseglob",
                "shopt -u patsub_replacement",
                "IFS=:",
                "IFS=,",
                "IFS=",
                "unset IFS",
                "IFS=$'\\n'",
                "IFS=' :'",
                "LC_ALL=C",
                "shopt -s nullglob",
                "shopt -s xpg_echo",
                "set -h",
            ])
            .to_owned()
    }

    /// A text of the list, quoted in one of several ways.
    fn quoted_text(&mut self) -> String {
        let text = self.chance.pick(TEXTS);
        match self.chance.below(4) {
            0 if !text.contains(['"', '\\', '$', '`', '!']) => format!("\"{text}\""),
            1 => format!("$'{}'", text.escape_default().to_string().replace("\\u{", "{")),
            2 if !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "./-+=:,".contains(c)) => {
                text.to_owned()
            }
            _ => format!("'{text}'"),
        }
    }

    fn number(&mut self) -> String {
        match self.chance.below(12) {
            0 if self.wild => self
                .chance
                .pick(&["010", "0x1F", "2#101", "-0", "08", "9223372036854775807", "36#z", "64#_"])
                .to_owned(),
            1 => format!("-{}", self.chance.below(20)),
            2 => self.chance.below(100_000).to_string(),
            _ => self.chance.below(12).to_string(),
        }
    }

    /// A file in the working directory, which usually exists.
    fn file(&mut self) -> &'static str {
        let most = if self.wild { FILES.len() } else { FILES.len() - 2 };
        FILES[self.chance.below(most)]
    }

    /// The name of any variable.
    fn name(&mut self) -> &'static str {
        match self.chance.below(8) {
            0..4 => self.chance.pick(SCALARS),
            4 | 5 => self.chance.pick(NUMBERS),
            6 => self.chance.pick(ARRAYS),
            _ => self.chance.pick(MAPS),
        }
    }

    fn array_value(&mut self) -> String {
        let count = self.chance.below(5);
        let mut elements = Vec::new();
        for at in 0..count {
            let value = self.quoted_text();
            elements.push(if self.chance.one_in(4) { format!("[{}]={value}", at * 3) } else { value });
        }
        format!("({})", elements.join(" "))
    }

    fn map_value(&mut self) -> String {
        let mut elements = Vec::new();
        for _ in 0..self.chance.below(4) {
            let key = self.chance.pick(&["a", "b", "k", "x y", "1", "foo", "@", "*", "a]b", "ä"]);
            let key = if key.contains([' ', '@', '*', ']']) { format!("'{key}'") } else { key.to_owned() };
            let value = self.quoted_text();
            elements.push(format!("[{key}]={value}"));
        }
        format!("({})", elements.join(" "))
    }
}
