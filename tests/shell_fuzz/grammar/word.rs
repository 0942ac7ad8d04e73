//! Words: quoting and expansions.

use super::{ARRAYS, Grammar, MAPS, SCALARS};

/// Maximum nesting of expansions.
const NESTING: usize = 3;

impl Grammar {
    /// One shell word.
    pub(super) fn word(&mut self) -> String {
        match self.chance.below(30) {
            0..3 => self.chance.pick(&["a", "foo", "x.y", "bar_1", "k=v", "-x", "/tmp", "12"]).to_owned(),
            3..6 => self.quoted_text(),
            6..10 => self.expansion(),
            10..15 => format!("\"{}\"", self.expansion()),
            15..18 => format!("\"{}\"", self.in_quotes()),
            18 => format!("{}{}", self.fragment(), self.fragment()),
            19 => format!("{}{}{}", self.fragment(), self.fragment(), self.fragment()),
            20 => self.braces(),
            21 => self.glob(),
            22 => self.chance.pick(&["~", "~/x", "~nobody_here", "a~b", "x=~", "~+", "\\~", "'~'", "a:~"]).to_owned(),
            23 => format!("$(({}))", self.arithmetic()),
            24 => format!("\"$(( {} ))\"", self.arithmetic()),
            25 => self.substitution(),
            26 => format!("\"{}\"", self.substitution()),
            27 => self
                .chance
                .pick(&["$'a\\tb'", "$'\\x41\\102'", "$'\\u00e9'", "$'it\\'s'", "$\"loc\"", "$'\\cA'"])
                .to_owned(),
            28 => self
                .chance
                .pick(&["\\$a", "\\\\", "a\\ b", "\\*", "\\'", "\"\\$a\"", "\"\\a\"", "\"a\\\"b\"", "''"])
                .to_owned(),
            _ => format!("\"{} {}\"", self.expansion(), self.expansion()),
        }
    }

    /// Several shell words.
    pub(super) fn words(&mut self, most: usize) -> String {
        let words: Vec<String> = (0..self.chance.below(most + 1)).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn fragment(&mut self) -> String {
        match self.chance.below(8) {
            0 => self.chance.pick(&["a", "b", "-", ".", "_", "x", ":", "="]).to_owned(),
            1 => self.quoted_text(),
            2 | 3 => self.expansion(),
            4 | 5 => format!("\"{}\"", self.expansion()),
            6 => format!("$(({}))", self.arithmetic()),
            _ => self.chance.pick(&["\\ ", "'x y'", "\"\"", "*", "?", "$'\\n'", "{a,b}", "\\\\"]).to_owned(),
        }
    }

    /// Text and expansions for use within double quotes.
    pub(super) fn in_quotes(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.chance.below(4) {
            match self.chance.below(5) {
                0 => text.push_str(
                    self.chance.pick(&["a", " ", "  b ", "'", "*", "~", "\\\\", "\\\"", "\\$", "é", "{a,b}", "\\x"]),
                ),
                1 => text.push_str(&self.substitution()),
                2 => text.push_str(&format!("$(({}))", self.arithmetic())),
                _ => text.push_str(&self.expansion()),
            }
        }
        text
    }

    fn arithmetic(&mut self) -> String {
        let levels = self.chance.below(3);
        self.expression(levels)
    }

    fn braces(&mut self) -> String {
        match self.chance.below(6) {
            0 => format!("{{{}..{}}}", self.chance.below(5), self.chance.below(12)),
            1 => format!("{{{}..{}..{}}}", self.chance.below(9), self.chance.below(12), self.chance.below(4)),
            2 => self
                .chance
                .pick(&["{a..e}", "{e..a..2}", "{01..03}", "{1..-2}", "{a}", "{}", "{a..3}", "{,x}", "{A..c}"])
                .to_owned(),
            3 => format!("{}{{{},{}}}", self.fragment(), self.fragment(), self.fragment()),
            4 => self
                .chance
                .pick(&["{a,b}{1,2}", "x{a,{b,c}}y", "{a,b", "a,b}", "\\{a,b}", "{a\\,b}", "{'a,b',c}", "{$a,b}"])
                .to_owned(),
            _ => format!("{{{},\"{}\"}}", self.expansion(), self.expansion()),
        }
    }

    fn glob(&mut self) -> String {
        if self.extended && self.chance.one_in(4) {
            return self.chance.pick(&["@(f1|f2)*", "!(*.txt)", "?(x)*", "+(f|d)*", "*(s)ub", "!(f*|d*)"]).to_owned();
        }
        self.chance
            .pick(&[
                "*",
                "*.txt",
                "f?.txt",
                "[a-f]*",
                "[!f]*",
                "sub/*",
                "*/",
                ".*",
                "no*match",
                "\"*\"",
                "*.{txt,csv}",
                "[[:alpha:]]*",
                "*[0-9]*",
                "./*",
                "f\\*",
                "[",
                "[]a]*",
                "**",
            ])
            .to_owned()
    }

    /// `$( )` and the other command substitutions. The command must be short.
    fn substitution(&mut self) -> String {
        if self.nesting >= NESTING {
            return "$(echo deep)".to_owned();
        }
        self.nesting += 1;
        let command = match self.chance.below(10) {
            0..4 => format!("echo {}", self.words(2)),
            4 => format!("printf '%s\\n' {}", self.words(3)),
            5 => format!("echo {} | tr a-z A-Z", self.word()),
            6 => self.simple(),
            7 => format!("{}; {}", self.simple(), self.simple()),
            8 => format!("(echo {}; exit {})", self.word(), self.chance.below(4)),
            _ => format!("<{}", self.file()),
        };
        self.nesting -= 1;
        if self.chance.one_in(8) && !command.contains(['`', '\\', '$', '\'', '"', '\n']) {
            return format!("`{command}`");
        }
        // The end of a here-document would be on the line of the parenthesis.
        if command.contains("<<") { format!("$({command}\n)") } else { format!("$({command})") }
    }

    /// `$x` and `${x..}`.
    pub(super) fn expansion(&mut self) -> String {
        if self.nesting >= NESTING {
            return format!("${}", self.chance.pick(SCALARS));
        }
        self.nesting += 1;
        let text = match self.chance.below(20) {
            0..3 => format!("${}", self.name()),
            3 => format!("${{{}}}", self.name()),
            4 => self
                .chance
                .pick(&["$1", "$2", "${10}", "$@", "$*", "$#", "$?", "$-", "${@:2}", "${*:1:2}", "${#}", "${#@}", "$0"])
                .to_owned(),
            5 | 6 => format!("${{{}[{}]}}", self.chance.pick(ARRAYS), self.index()),
            7 => format!(
                "${{{}[{}]}}",
                self.chance.pick(MAPS),
                self.chance.pick(if self.wild {
                    &["$a", "x y", "'b'", "n+1"]
                } else {
                    &["@", "*", "a", "k", "none", "@"]
                })
            ),
            8 => format!("${{#{}}}", self.parameter()),
            9 => format!(
                "${{!{}}}",
                self.chance.pick(if self.wild {
                    &["a", "s", "arr[@]", "map[@]", "arr[*]", "a*", "s@", "str", "sparse[@]", "1"]
                } else {
                    &["arr[@]", "map[@]", "arr[*]", "a*", "s@"]
                })
            ),
            _ => {
                let parameter = self.parameter();
                format!("${{{parameter}{}}}", self.operator())
            }
        };
        self.nesting -= 1;
        text
    }

    fn parameter(&mut self) -> String {
        match self.chance.below(12) {
            0 => self.chance.pick(&["1", "@", "*", "2", "3"]).to_owned(),
            1 | 2 => format!("{}[@]", self.chance.pick(ARRAYS)),
            3 => format!("{}[*]", self.chance.pick(ARRAYS)),
            4 => format!("{}[{}]", self.chance.pick(ARRAYS), self.chance.below(4)),
            5 => format!("{}[{}]", self.chance.pick(MAPS), self.chance.pick(&["@", "*", "a", "k", "x y"])),
            _ => self.name().to_owned(),
        }
    }

    fn operator(&mut self) -> String {
        match self.chance.below(22) {
            0..4 => {
                let operator = self.chance.pick(&[":-", "-", ":+", "+", ":=", "=", ":?", "?", ":-", ":+"]);
                format!("{operator}{}", self.operand_word())
            }
            4..8 => format!("{}{}", self.chance.pick(&["#", "##", "%", "%%"]), self.pattern()),
            8..12 => {
                let operator = self.chance.pick(&["/", "//", "/#", "/%", "//"]);
                let with = match self.chance.below(6) {
                    0 => String::new(),
                    1 => "/".to_owned(),
                    2 => "/[&]".to_owned(),
                    3 => format!("/\"{}\"", self.expansion()),
                    _ => format!("/{}", self.chance.pick(&["X", "-", "xx", "\\&", "\\/", "'q'", "a b", "$a", "~"])),
                };
                format!("{operator}{}{with}", self.pattern())
            }
            12 => self.chance.pick(&["^", "^^", ",", ",,", "^^[aeiou]", ",,[A-C]", "^[a-f]", "~", "~~"]).to_owned(),
            13 | 14 => format!(":{}", self.offset()),
            15 | 16 => format!(":{}:{}", self.offset(), self.offset()),
            17 | 18 => format!("@{}", self.chance.pick(&["Q", "U", "u", "L", "A", "a", "E", "K", "k", "P"])),
            19 => format!("/{}", self.pattern()),
            _ => format!(":-{}", self.operand_word()),
        }
    }

    /// The shell word after `:-` and similar operators.
    fn operand_word(&mut self) -> String {
        match self.chance.below(8) {
            0 => String::new(),
            1 => self.expansion(),
            2 => format!("\"{}\"", self.expansion()),
            3 => self
                .chance
                .pick(&["x", "d e f", "'q r'", "\"d  e\"", "a\\ b", "*", "~", "\\}", "$'t\\tb'", "'", "\""])
                .to_owned()
                .replace(['\'', '"'], "'q'"),
            4 => self.substitution(),
            5 => format!("$(({}))", self.arithmetic()),
            _ => self.chance.pick(&["none", "0", "a:b", "x y", "-"]).to_owned(),
        }
    }

    pub(super) fn pattern(&mut self) -> String {
        match self.chance.below(10) {
            0..5 => self
                .chance
                .pick(&[
                    "*",
                    "?",
                    "a",
                    "o",
                    "*o",
                    "o*",
                    "*/",
                    "/*",
                    "*.",
                    ".*",
                    "[a-z]",
                    "[!a-z]*",
                    "[^a]",
                    "[[:space:]]",
                    "[[:digit:]]*",
                    "[[:upper:]]",
                    "x*y",
                    "\\*",
                    "\"*\"",
                    "'?'",
                    "b*",
                    "*[bl]",
                    "??",
                    "[]]",
                    ":*",
                    "*:",
                    "\\\\",
                    "[\\]]",
                    "é",
                    "a?",
                ])
                .to_owned(),
            5 if self.extended => {
                self.chance.pick(&["+(a)", "*(o|l)", "@(a|foo)", "!(a*)", "?(x)*", "+([0-9])", "*(a|b)c"]).to_owned()
            }
            6 => self.expansion(),
            7 => format!("\"{}\"", self.expansion()),
            8 => format!("{}*", self.expansion()),
            _ => self.chance.pick(&["foo", "hello", ".tar", "l", " ", "\\ ", "' '"]).to_owned(),
        }
    }

    /// A subscript of an indexed array.
    fn index(&mut self) -> &'static str {
        if self.wild {
            return self.chance.pick(&["@", "*", "0", "1", "-1", "n", "i+1", "9", "$i"]);
        }
        self.chance.pick(&["@", "*", "@", "0", "1", "2", "9", "${#arr[@]}"])
    }

    fn offset(&mut self) -> String {
        if !self.wild {
            return self.chance.below(5).to_string();
        }
        match self.chance.below(6) {
            0 => format!(" -{}", self.chance.below(5)),
            1 => self.chance.pick(&["n", "i+1", "$i", "${#a}-1", "(-2)", "1?2:3", "0"]).to_owned(),
            _ => self.chance.below(5).to_string(),
        }
    }
}
