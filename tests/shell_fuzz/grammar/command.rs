//! Simple commands: builtins and tools.

use super::{ARRAYS, Grammar, SCALARS};

impl Grammar {
    /// A command on one line, sometimes with redirections.
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
        match self.chance.below(52) {
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
            40..43 => self.builtin(),
            43..47 => self.idiom(),
            47 | 48 => self.background_pair(),
            49..51 => self.defined(),
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

    fn command_with_environment(&mut self) -> String {
        match self.chance.below(5) {
            0 => "eval 'echo \"$a $b\"'".to_owned(),
            1 => "sh -c 'echo \"$a|$x\"'".to_owned(),
            2 => "env | grep -E '^(a|b|s|x)='".to_owned(),
            3 => self.call(),
            _ => format!("printf '%s\\n' {}", self.word()),
        }
    }

    /// Real tools, usually in a pipeline.
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
                "tee copy",
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

    fn odd(&mut self) -> String {
        match self.chance.below(10) {
            0 => format!("alias al='echo aliased'; al {}", self.word()),
            1 => "echo $LINENO ${FUNCNAME[0]-none} ${#BASH_SOURCE[@]}".to_owned(),
            2 => "echo \"${PIPESTATUS[@]}\"".to_owned(),
            3 => "false | true | (exit 3); echo \"${PIPESTATUS[@]} $?\"".to_owned(),
            4 => format!("echo {} & wait $!; echo $?", self.word()),
            5 => "echo \"$BASH_SUBSHELL\"; (echo \"$BASH_SUBSHELL\")".to_owned(),
            6 => format!("time_none=1 set -- {}", self.words(2)),
            7 => "hash -r; umask; : \"$(umask -S)\"".to_owned(),
            8 => format!("{} ; echo \"$_\"", self.bare_echo()),
            _ => "echo \"$SHLVL $OPTIND ${#FUNCNAME[@]} ${GROUPS+g}\"".to_owned(),
        }
    }

    fn bare_echo(&mut self) -> String {
        format!("echo {}", self.words(2))
    }
}
