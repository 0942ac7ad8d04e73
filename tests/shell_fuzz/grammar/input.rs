//! Commands that read input, and their input.

use super::{ARRAYS, Grammar};

impl Grammar {
    pub(super) fn read(&mut self) -> String {
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

    pub(super) fn mapfile(&mut self) -> String {
        let option = self.chance.pick(&["", "-t ", "-n 1 ", "-s 1 -t ", "-O 2 -t ", "-d , ", "-d '' "]);
        let source = match self.chance.below(3) {
            0 => format!("<<<{}", self.word()),
            1 => format!("< <(printf '%s\\n' {})", self.words(4)),
            _ => format!("<{}", self.file()),
        };
        format!("mapfile {option}{} {source}", self.chance.pick(ARRAYS))
    }

    pub(super) fn positional(&mut self) -> String {
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

    pub(super) fn descriptor(&mut self) -> String {
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
}
