//! Tests.

use super::{Grammar, NUMBERS, SCALARS};

impl Grammar {
    /// `[ ]`, `test` and `[[ ]]`.
    pub(super) fn test(&mut self) -> String {
        if !self.wild {
            return self.plain_test();
        }
        match self.chance.below(12) {
            0..3 => {
                let operator = self.chance.pick(&["=", "!=", "<", ">", "==", "-eq", "-lt", "-ge", "-ne", "-gt", "-le"]);
                let escaped = if operator.contains(['<', '>']) { format!("\\{operator}") } else { operator.to_owned() };
                format!("[ {} {escaped} {} ]", self.word(), self.word())
            }
            3 => format!("[ {} {} ]", self.unary(), self.word()),
            4 => format!("test {} {} {}", self.word(), self.chance.pick(&["=", "-a", "-o", "!=", "-ot"]), self.word()),
            5 => format!("[ {} ]", self.words(4)),
            6 => format!("[[ {} == {} ]]", self.word(), self.pattern()),
            7 => format!("[[ {} =~ {} ]]; echo \"${{BASH_REMATCH[@]}}\"", self.word(), self.regex()),
            8 => format!(
                "[[ {} {} {} ]]",
                self.word(),
                self.chance.pick(&["-eq", "-lt", "<", ">", "!=", "-gt", "="]),
                self.word()
            ),
            9 => format!("[[ {} {} ]]", self.unary(), self.word()),
            10 => format!("[[ ! {} && ( {} || {} ) ]]", self.word(), self.word(), self.word()),
            _ => format!(
                "[[ -v {} ]]",
                self.chance.pick(&["a", "arr", "arr[1]", "map[a]", "unset_one", "map", "x", "arr[@]"])
            ),
        }
    }

    /// A test that is valid for all values of the variables.
    pub(super) fn plain_test(&mut self) -> String {
        let (left, right) = (format!("\"{}\"", self.expansion()), format!("\"{}\"", self.expansion()));
        let (n, m) = (self.chance.pick(NUMBERS), self.chance.below(9));
        match self.chance.below(9) {
            0 => format!("[ {left} = {right} ]"),
            1 => format!("[ {left} != {right} ]"),
            2 => format!("[ \"${n}\" {} {m} ]", self.chance.pick(&["-eq", "-lt", "-ge", "-ne", "-gt", "-le"])),
            3 => format!("[ {} {left} ]", self.chance.pick(&["-n", "-z", "-e", "-f", "-d", "!"])),
            4 => format!("[[ {left} == {} ]]", self.pattern()),
            5 => format!("[[ {left} =~ {} ]]; echo \"${{BASH_REMATCH[@]}}\"", self.regex()),
            6 => format!("[[ {n} {} {m} ]]", self.chance.pick(&["-eq", "-lt", "-gt"])),
            7 => format!("[[ {left} {} {right} ]]", self.chance.pick(&["<", ">", "!=", "="])),
            _ => format!("[[ ! {left} && ( {right} || -n {left} ) ]]"),
        }
    }

    pub(super) fn unary(&mut self) -> &'static str {
        self.chance.pick(&["-n", "-z", "-e", "-f", "-d", "-r", "-s", "-L", "-v", "-o", "!", "-t", "-x", "-p"])
    }

    pub(super) fn regex(&mut self) -> String {
        match self.chance.below(4) {
            0 if self.wild => format!("${}", self.chance.pick(SCALARS)),
            1 => format!("\"${}\"", self.chance.pick(SCALARS)),
            _ => self
                .chance
                .pick(&[
                    "^a",
                    "o+",
                    "(l+)(o)",
                    "^([a-z]+)\\.(.*)$",
                    "[[:digit:]]+",
                    "a|b",
                    "^$",
                    ".",
                    "(.)(.)?",
                    "^[^:]*:",
                    "(a|ab)(c|bcd)?",
                    "x{2}",
                    "b{1,2}",
                    "\\.tar",
                    "[0-9]{1,3}",
                    "(^| )w",
                    "'a.'",
                    "a\\ b",
                ])
                .to_owned(),
        }
    }
}
