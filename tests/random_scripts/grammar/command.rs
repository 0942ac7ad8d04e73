//! Simple commands: builtins and tools.

use super::{ARRAYS, Grammar, MAPS, NUMBERS, SCALARS};

impl Grammar {
    /// A command on one line, perhaps with redirections.
    pub(super) fn simple(&mut self) -> String {
        let command = self.bare();
        if self.chance.one_in(8) && !command.contains("<<") {
            let file = self.file();
            return match self.chance.below(10) {
                0..3 => format!("{command} >{file}"),
                3 => format!("{command} >>{file}"),
                4 => format!("{command} 2>&1"),
                5 => format!("{command} 2>/dev/null"),
                6 => format!("{command} &>{file}"),
                7 => format!("{command} <{file}"),
                8 => format!("{command} >&2"),
                _ => format!(
                    "{command} {}",
                    self.chance.pick(&["3>&1 1>&2 2>&3", "2>&1 >/dev/null", ">&-", "3>out", "<<<x", ">|out"])
                ),
            };
        }
        command
    }

    fn bare(&mut self) -> String {
        match self.chance.below(40) {
            0..6 => format!("echo {}", self.words(3)),
            6..9 => self.printf(),
            9..13 => self.assignment(),
            13 => format!("declare -p {}", self.name()),
            14 => self.declaration(),
            15 | 16 => self.test(),
            17 => format!("(( {} ))", self.expression_of(2)),
            18 => format!("let {}", self.let_words()),
            19 | 20 => self.read(),
            21 => self.mapfile(),
            22 => self.positional(),
            23 => format!("unset {}", self.unset_operand()),
            24 => self.chance.pick(&["true", "false", ":", "! true", "! false", "(exit 3)"]).to_owned(),
            25 => format!("{}={} {}", self.chance.pick(SCALARS), self.word(), self.command_with_environment()),
            26 => self.here_document(),
            27 | 28 => self.tool(),
            29 => self.call(),
            30 => self.eval(),
            31 => self.leave(),
            32 => self.option(),
            33 => self.trap(),
            34 => self.lookup(),
            35 => self.directory(),
            36 => self.descriptor(),
            37 => self.odd(),
            38 => format!("{} && {}", self.test(), self.simple()),
            _ => format!("{} || {}", self.test(), self.simple()),
        }
    }

    pub(super) fn expression_of(&mut self, levels: usize) -> String {
        let levels = self.chance.below(levels + 1);
        self.expression(levels)
    }

    fn printf(&mut self) -> String {
        let format = match self.chance.below(8) {
            0..4 => self
                .chance
                .pick(&[
                    "'%s\\n'",
                    "'[%s]\\n'",
                    "'%s-%s\\n'",
                    "'%d\\n'",
                    "'%5d|\\n'",
                    "'%-6s|\\n'",
                    "'%06.2f\\n'",
                    "'%x %o\\n'",
                    "'%q\\n'",
                    "'%b\\n'",
                    "'%c%c\\n'",
                    "'%5.2s|\\n'",
                    "'%*s\\n'",
                    "'%%\\n'",
                    "'%i,%u\\n'",
                    "'%+d\\n'",
                    "'% d\\n'",
                    "'%#x\\n'",
                    "'%e\\n'",
                    "'%g\\n'",
                    "'%X\\n'",
                    "'%.3d\\n'",
                    "'%s'",
                    "'a\\tb\\n'",
                    "'\\101\\n'",
                    "'\\x41\\u00e9\\n'",
                    "'%s %s %s\\n'",
                    "'%-*d|\\n'",
                    "'%.*s|\\n'",
                    "'%08d\\n'",
                    "'%z\\n'",
                    "'%'",
                    "x",
                    "'%Q\\n'",
                    "'%.2Q\\n'",
                    "'%ld\\n'",
                    "'\\c%s\\n'",
                    "'%(%Y)T\\n' 0",
                ])
                .to_owned(),
            4 => format!("-v {} '%s'", self.name()),
            5 => format!("-v \"{}[{}]\" '%s,'", self.chance.pick(ARRAYS), self.chance.below(4)),
            6 => "'<%s>\\n'".to_owned(),
            _ => "'%s|'".to_owned(),
        };
        format!("printf {format} {}", self.words(4))
    }

    fn assignment(&mut self) -> String {
        match self.chance.below(14) {
            0..4 => format!("{}={}", self.chance.pick(SCALARS), self.word()),
            4 => format!("{}+={}", self.name(), self.word()),
            5 => format!("{}={}", self.chance.pick(NUMBERS), self.number()),
            6 => format!("{}=({})", self.chance.pick(ARRAYS), self.words(4)),
            7 => format!("{}+=({})", self.chance.pick(ARRAYS), self.words(3)),
            8 => format!("{}[{}]={}", self.chance.pick(ARRAYS), self.subscript(), self.word()),
            9 => format!(
                "{}[{}]={}",
                self.chance.pick(MAPS),
                self.chance.pick(&["a", "k", "$a", "\"$b\"", "'x y'", "n+1"]),
                self.word()
            ),
            10 => format!("{}[{}]+={}", self.chance.pick(ARRAYS), self.subscript(), self.word()),
            11 => format!("{}=([{}]={} {})", self.chance.pick(ARRAYS), self.chance.below(6), self.word(), self.word()),
            12 => format!("{}=$(({}))", self.chance.pick(NUMBERS), self.expression_of(3)),
            _ => format!("{}={} {}={}", self.chance.pick(SCALARS), self.word(), self.chance.pick(SCALARS), self.word()),
        }
    }

    fn subscript(&mut self) -> String {
        if !self.wild {
            return self.chance.below(8).to_string();
        }
        match self.chance.below(6) {
            0 => "-1".to_owned(),
            1 => self.chance.pick(NUMBERS).to_owned(),
            2 => self.expression_of(1),
            _ => self.chance.below(8).to_string(),
        }
    }

    fn declaration(&mut self) -> String {
        let keyword = if self.in_function && self.chance.one_in(2) {
            "local"
        } else {
            self.chance.pick(&["declare", "export", "readonly", "typeset", "declare", "declare"])
        };
        let option = match keyword {
            "export" => self.chance.pick(&["", "", "-n "]),
            "readonly" => self.chance.pick(&["", "", "-a "]),
            _ => self.chance.pick(&[
                "", "-i ", "-u ", "-l ", "-x ", "-a ", "-r ", "+x ", "+i ", "-g ", "-ai ", "-n ", "-A ", "-I ",
            ]),
        };
        // A readonly variable ends everything that follows early; let it be a rare one.
        let name = match (keyword, option) {
            ("readonly", _) | (_, "-r ") => "str",
            (_, "-n ") => {
                return format!("{keyword} -n ref={}; ref={}; echo \"$ref ${{!ref}}\"", self.name(), self.word());
            }
            (_, "-A ") => "dict",
            _ => self.name(),
        };
        if self.chance.one_in(3) {
            format!("{keyword} {option}{name}")
        } else {
            format!("{keyword} {option}{name}={}", self.word())
        }
    }

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

    /// A test that is one, whatever the variables hold.
    fn plain_test(&mut self) -> String {
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

    fn unary(&mut self) -> &'static str {
        self.chance.pick(&["-n", "-z", "-e", "-f", "-d", "-r", "-s", "-L", "-v", "-o", "!", "-t", "-x", "-p"])
    }

    fn regex(&mut self) -> String {
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

    fn let_words(&mut self) -> String {
        match self.chance.below(3) {
            0 => format!("{}+=1", self.chance.pick(NUMBERS)),
            1 => format!("'{}'", self.expression_of(2).replace('\'', "")),
            _ => format!(
                "{}={} {}",
                self.chance.pick(NUMBERS),
                self.chance.below(9),
                self.chance.pick(&["n++", "i--", "j*=2", "m=n,i=j"])
            ),
        }
    }

    fn read(&mut self) -> String {
        let option =
            self.chance.pick(&["", "-r ", "-r ", "-a list ", "-d : ", "-n 3 ", "-N 2 ", "-r -d '' ", "-ra arr "]);
        let names = self.chance.pick(&["a", "a b", "a b c", "", "x y", "arr", "s", "n"]);
        let names = if option.contains("-a list") || option.contains("-ra") { "" } else { names };
        let prefix = self.chance.pick(&["", "", "IFS= ", "IFS=: ", "IFS=, ", "IFS=' ,' "]);
        match self.chance.below(3) {
            0 => format!("{prefix}read {option}{names} <<<{}", self.word()),
            1 => format!("{prefix}read {option}{names} < <(printf '%s' {})", self.quoted_text()),
            _ => format!("{prefix}read {option}{names} <<'E'\n  one  two\\ three\\\n four:five\nsix\nE"),
        }
    }

    fn mapfile(&mut self) -> String {
        let option = self.chance.pick(&["", "-t ", "-n 1 ", "-s 1 -t ", "-O 2 -t ", "-d , ", "-d '' "]);
        let source = match self.chance.below(3) {
            0 => format!("<<<{}", self.word()),
            1 => format!("< <(printf '%s\\n' {})", self.words(4)),
            _ => format!("<{}", self.file()),
        };
        format!("mapfile {option}{} {source}", self.chance.pick(ARRAYS))
    }

    fn positional(&mut self) -> String {
        match self.chance.below(5) {
            0 => "shift".to_owned(),
            1 => format!("shift {}", self.chance.below(4)),
            2 => format!("set -- {}", self.words(4)),
            3 => format!("set -- \"$@\" {}", self.word()),
            _ => format!(
                "while getopts {} opt -a -b val x; do echo \"$opt ${{OPTARG-none}} $OPTIND\"; done; OPTIND=1",
                self.chance.pick(&["ab:", ":ab:", "a", ":xb"])
            ),
        }
    }

    fn unset_operand(&mut self) -> String {
        match self.chance.below(5) {
            0 => format!("'{}[{}]'", self.chance.pick(ARRAYS), self.chance.pick(&["0", "1", "-1", "@", "*", "9"])),
            1 => format!("'{}[{}]'", self.chance.pick(MAPS), self.chance.pick(&["a", "k", "@"])),
            2 => format!("-v {}", self.name()),
            3 => format!("-f {}", self.chance.pick(&["f0", "f1", "nope"])),
            _ => self.name().to_owned(),
        }
    }

    fn command_with_environment(&mut self) -> String {
        match self.chance.below(5) {
            0 => "eval 'echo \"$a $b\"'".to_owned(),
            1 => "sh -c 'echo \"$a|$x\"'".to_owned(),
            2 => "env | grep -E '^(a|b|s|x)='".to_owned(),
            3 => self.call(),
            _ => format!("printf '%s\\n' {}", self.word()),
        }
    }

    pub(super) fn here_document(&mut self) -> String {
        let command = self.chance.pick(&[
            "cat",
            "tr a-z A-Z",
            "wc -l",
            "read -r a",
            "while read -r x; do echo \"<$x>\"; done",
            "cat -n",
        ]);
        let body = format!("x {} y\n\t{}\n\\$a `echo q` \\\\ end", self.in_quotes(), self.expansion());
        match self.chance.below(3) {
            0 => format!("{command} <<EOF\n{body}\nEOF"),
            1 => format!("{command} <<'EOF'\n{body}\nEOF"),
            _ => format!("{command} <<-EOF\n\t{body}\n\tEOF"),
        }
    }

    /// Real tools, most often in a pipeline.
    fn tool(&mut self) -> String {
        let source = match self.chance.below(6) {
            0 => format!("printf '%s\\n' {}", self.words(5)),
            1 => format!("echo {}", self.words(3)),
            2 => format!("seq {}", 1 + self.chance.below(12)),
            3 => format!("cat {}", self.file()),
            4 => "printf 'b 2\\na 1\\nc 3\\na 1\\n'".to_owned(),
            _ => format!("echo \"{}\"", self.in_quotes()),
        };
        let mut line = source;
        for _ in 0..1 + self.chance.below(3) {
            line.push_str(" | ");
            line.push_str(self.chance.pick(&[
                "cat",
                "sort",
                "sort -r",
                "sort -n",
                "uniq",
                "uniq -c",
                "wc -l",
                "tr a-z A-Z",
                "tr -d a",
                "head -n 2",
                "tail -n 1",
                "grep a",
                "grep -v b",
                "grep -c .",
                "sed 's/a/X/g'",
                "sed -n 2p",
                "cut -d' ' -f1",
                "cut -c1-3",
                "tee out",
                "tac",
                "cat -A",
                "nl",
                "grep -o '[a-z]*'",
                "sed 's/\\(.\\)\\(.\\)/\\2\\1/'",
                "while read -r a b; do echo \"[$b|$a]\"; done",
                "{ read -r x; echo \"$x\"; cat; }",
                "(cat; echo z)",
                "xargs echo",
                "xargs -n1",
                "paste -sd,",
                "sort -u",
                "rev_none",
            ]));
        }
        line.replace("rev_none", "cat")
    }

    pub(super) fn call(&mut self) -> String {
        if self.functions == 0 {
            return format!("echo {}", self.word());
        }
        let number = self.chance.below(self.functions);
        format!("f{number} {}", self.words(3))
    }

    fn eval(&mut self) -> String {
        match self.chance.below(5) {
            0 => format!("eval \"{}=\\${}\"", self.chance.pick(SCALARS), self.name()),
            1 => format!("eval 'echo \"{}\"'", self.expansion().replace('\'', "")),
            2 => format!("eval \"echo {}\"", self.expansion()),
            3 => format!("eval '{}'", self.simple().replace('\'', "\"")),
            _ => format!("eval {}", self.words(2)),
        }
    }

    fn leave(&mut self) -> String {
        if self.loops > 0 && self.chance.one_in(2) {
            return self.chance.pick(&["break", "continue", "break 2", "continue 2", "break"]).to_owned();
        }
        if self.in_function && self.chance.one_in(2) {
            return format!("return {}", self.chance.pick(&["", "0", "3", "$?", "256", "-1"]));
        }
        if self.chance.one_in(6) {
            return format!("exit {}", self.chance.pick(&["", "0", "3", "$?", "$n", "257"]));
        }
        format!("(exit {})", self.chance.below(5))
    }

    fn trap(&mut self) -> String {
        let action = self.chance.pick(&["echo t$?", "echo \"trap $? $a\"", "a=trapped", "echo $LINENO", "false", ""]);
        let signal = self.chance.pick(&["EXIT", "ERR", "RETURN", "EXIT", "ERR", "USR1", "DEBUG"]);
        match self.chance.below(6) {
            0 => format!("trap - {signal}"),
            1 => "trap -p".to_owned(),
            2 => "trap 'echo got' USR1; kill -USR1 $BASHPID".to_owned(),
            _ => format!("trap '{action}' {signal}"),
        }
    }

    fn lookup(&mut self) -> String {
        let name = self.chance.pick(&["echo", "f0", "ls", "if", "nope", "cd", "[", "test", "cat", "true"]);
        match self.chance.below(6) {
            0 => format!("type -t {name}"),
            1 => format!("command -v {name} >/dev/null"),
            2 => format!("command {}", self.chance.pick(&["echo hi", "nope", "-v nope", "-V if", "cd sub", "true"])),
            3 => format!("builtin {}", self.chance.pick(&["echo b", "nope", "cd .", "printf '%s\\n' x"])),
            4 => format!("type {}", self.chance.pick(&["nope", "if", "cd", "f0"])),
            _ => format!("{} {}", self.chance.pick(&["nope", "./nope", "sub", "./sub", "''", "no/such"]), self.word()),
        }
    }

    fn directory(&mut self) -> String {
        match self.chance.below(7) {
            0 => "cd sub && pwd".to_owned(),
            1 => "cd - >/dev/null".to_owned(),
            2 => "cd nope".to_owned(),
            3 => "(cd sub; echo \"${PWD##*/}\")".to_owned(),
            4 => "pushd sub >/dev/null && popd >/dev/null".to_owned(),
            5 => "echo *; echo sub/*".to_owned(),
            _ => format!("rm -f {}; ls", self.file()),
        }
    }

    fn descriptor(&mut self) -> String {
        match self.chance.below(7) {
            0 => "exec 3>out; echo three >&3; exec 3>&-; cat out".to_owned(),
            1 => "exec 4<f1.txt; read -r a <&4; exec 4<&-; echo \"$a\"".to_owned(),
            2 => "exec {fd}>out; echo x >&$fd; exec {fd}>&-; cat out".to_owned(),
            3 => format!(
                "{{ echo o; echo e >&2; }} {}",
                self.chance.pick(&["2>&1", ">/dev/null", "2>/dev/null", "3>&2 2>&1 1>&3", "&>out", ">>out 2>&1"])
            ),
            4 => format!("cat < <(echo {})", self.word()),
            5 => format!("echo {} > >(cat)", self.word()) + "; wait",
            _ => format!("echo x >&{}", self.chance.pick(&["9", "$a", "1", "2", "out"])),
        }
    }

    fn odd(&mut self) -> String {
        match self.chance.below(10) {
            0 => format!("alias al='echo aliased'; al {}", self.word()),
            1 => "echo $LINENO ${FUNCNAME[0]-none} ${#BASH_SOURCE[@]}".to_owned(),
            2 => "echo \"${PIPESTATUS[@]}\"".to_owned(),
            3 => "false | true | (exit 3); echo \"${PIPESTATUS[@]} $?\"".to_owned(),
            4 => format!("echo {} & wait $!; echo $?", self.word()),
            5 => "echo \"$BASH_SUBSHELL\"; (echo \"$BASH_SUBSHELL\")".to_owned(),
            6 => format!("time_none=1 set -- {}", self.words(2)),
            7 => "hash -r; umask; ulimit -n >/dev/null".to_owned(),
            8 => format!("{} ; echo \"$_\"", self.bare_echo()),
            _ => "echo \"$SHLVL $OPTIND ${#FUNCNAME[@]} ${GROUPS+g}\"".to_owned(),
        }
    }

    fn bare_echo(&mut self) -> String {
        format!("echo {}", self.words(2))
    }
}
