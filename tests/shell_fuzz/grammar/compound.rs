//! Compound commands and functions.

use super::{ARRAYS, Grammar, NUMBERS, SCALARS};
use crate::script::Statement;

/// Maximum nesting of compound statements.
const DEPTH: usize = 3;

impl Grammar {
    /// One statement of any kind.
    pub(super) fn statement(&mut self) -> Statement {
        if self.depth >= DEPTH || self.chance.below(10) < 6 {
            return Statement::Line(self.simple());
        }
        self.depth += 1;
        let statement = match self.chance.below(15) {
            0 | 1 => self.conditional(),
            2 | 3 => self.for_words(),
            4 => self.counted(),
            5 => self.for_arithmetic(),
            6 | 7 => self.case(),
            8 | 9 => self.function(),
            10 => self.group("(", ")"),
            11 => self.group("{", "}"),
            12 => self.piped(),
            13 => self.read_loop(),
            _ => Statement::Line(format!(
                "{} && {} || {}",
                self.simple_alone(),
                self.simple_alone(),
                self.simple_alone()
            )),
        };
        self.depth -= 1;
        statement
    }

    /// A command that can be followed by others on its line.
    pub(super) fn simple_alone(&mut self) -> String {
        let command = self.simple();
        if command.contains('\n') { format!("echo {}", self.chance.below(10)) } else { command }
    }

    fn body(&mut self) -> Vec<Statement> {
        (0..1 + self.chance.below(3)).map(|_| self.statement()).collect()
    }

    fn loop_body(&mut self) -> Vec<Statement> {
        self.loops += 1;
        let body = self.body();
        self.loops -= 1;
        body
    }

    fn condition(&mut self) -> String {
        match self.chance.below(6) {
            0 => format!("(( {} ))", self.expression_of(2)),
            1 => self.simple_alone(),
            2 => format!("! {}", self.test()),
            _ => self.test(),
        }
    }

    /// Redirections after a compound command.
    fn tail(&mut self) -> &'static str {
        if !self.chance.one_in(5) {
            return "";
        }
        self.chance.pick(&[
            " 2>&1",
            " >out",
            " | cat",
            " | sort",
            " 2>/dev/null",
            " || echo failed",
            " && echo fine",
            " >>out",
            " </dev/null",
            " &\nwait",
            " <<<in",
        ])
    }

    fn conditional(&mut self) -> Statement {
        let open = format!("if {}; then", self.condition());
        let mut bodies = vec![(String::new(), self.body())];
        if self.chance.one_in(3) {
            bodies.push((format!("elif {}; then", self.condition()), self.body()));
        }
        if self.chance.one_in(2) {
            bodies.push(("else".to_owned(), self.body()));
        }
        Statement::Block { open, bodies, close: format!("fi{}", self.tail()) }
    }

    fn for_words(&mut self) -> Statement {
        let name = self.chance.pick(&["x", "i", "a", "it"]);
        let words = match self.chance.below(5) {
            0 => format!("\"${{{}[@]}}\"", self.chance.pick(ARRAYS)),
            1 => "\"$@\"".to_owned(),
            2 => format!("${}", self.chance.pick(SCALARS)),
            _ => self.words(4),
        };
        let open =
            if self.chance.one_in(12) { format!("for {name}; do") } else { format!("for {name} in {words}; do") };
        let body = self.loop_body();
        Statement::block(open, body, format!("done{}", self.tail()))
    }

    /// `while` and `until` with separate counters, so that they end.
    fn counted(&mut self) -> Statement {
        self.fresh += 1;
        let (counter, times) = (format!("k{}", self.fresh), 1 + self.chance.below(3));
        let open = match self.chance.below(4) {
            0 => format!("while (({counter}++ < {times})); do"),
            1 => format!("until (({counter}++ >= {times})); do"),
            2 => format!("while [ \"$(({counter}+=1))\" -le {times} ]; do"),
            _ => format!("while (({counter}++ < {times})) && {}; do", self.test()),
        };
        let body = self.loop_body();
        Statement::block(open, body, format!("done{}", self.tail()))
    }

    fn for_arithmetic(&mut self) -> Statement {
        self.fresh += 1;
        let (counter, times) = (format!("k{}", self.fresh), 1 + self.chance.below(3));
        let extra = if self.chance.one_in(3) { format!(", {}++", self.chance.pick(NUMBERS)) } else { String::new() };
        let body = self.loop_body();
        Statement::block(
            format!("for (({counter}=0{extra}; {counter}<{times}; {counter}++)); do"),
            body,
            format!("done{}", self.tail()),
        )
    }

    fn case(&mut self) -> Statement {
        let open = format!("case {} in", self.word());
        let mut bodies = Vec::new();
        let arms = 1 + self.chance.below(3);
        for arm in 0..arms {
            let end = if arm == 0 { "" } else { self.chance.pick(&[";;\n", ";;\n", ";;\n", ";&\n", ";;&\n"]) };
            let second = if self.chance.one_in(3) { format!("|{}", self.arm_pattern()) } else { String::new() };
            let first = if arm + 1 == arms && self.chance.one_in(2) { "*".to_owned() } else { self.arm_pattern() };
            let paren = if self.chance.one_in(4) { "(" } else { "" };
            bodies.push((format!("{end}{paren}{first}{second})"), self.body()));
        }
        Statement::Block { open, bodies, close: format!("esac{}", self.tail()) }
    }

    /// A pattern that is also a shell word.
    pub(super) fn arm_pattern(&mut self) -> String {
        let pattern = self.pattern();
        if pattern == " " { "' '".to_owned() } else { pattern }
    }

    fn function(&mut self) -> Statement {
        let outer = (self.in_function, self.loops, self.functions);
        (self.in_function, self.loops) = (true, 0);
        let mut body = self.body();
        (self.in_function, self.loops, self.functions) = outer;
        let number = self.functions;
        self.functions += 1;
        if self.chance.one_in(3) {
            body.insert(
                0,
                Statement::Line(format!("local {}={} {}", self.name(), self.word(), self.chance.pick(SCALARS))),
            );
        }
        let open = match self.chance.below(4) {
            0 => format!("function f{number} {{"),
            1 => format!("f{number} () ("),
            _ => format!("f{number}() {{"),
        };
        let close = if open.ends_with('(') { ")" } else { "}" };
        let mut bodies = vec![(String::new(), body)];
        let call = format!("f{number} {}", self.words(3));
        bodies.push((close.to_owned(), vec![Statement::Line(call)]));
        Statement::Block { open, bodies, close: "echo \"called $?\"".to_owned() }
    }

    fn group(&mut self, open: &str, close: &str) -> Statement {
        let loops = self.loops;
        if open == "(" {
            self.loops = 0;
        }
        let body = self.body();
        self.loops = loops;
        Statement::block(open, body, format!("{close}{}", self.tail()))
    }

    /// A compound command in the middle of a pipeline.
    fn piped(&mut self) -> Statement {
        let loops = std::mem::take(&mut self.loops);
        let open = format!("{} | {{", self.simple_alone());
        let body = self.body();
        self.loops = loops;
        Statement::block(
            open,
            body,
            format!(
                "}} | {}",
                self.chance.pick(&["cat", "sort", "wc -l", "tr a-z A-Z", "grep -c .", "{ cat; false; }"])
            ),
        )
    }

    fn read_loop(&mut self) -> Statement {
        let open = format!(
            "while {}read {}{}; do",
            self.chance.pick(&["", "IFS= ", "IFS=: "]),
            self.chance.pick(&["", "-r "]),
            self.chance.pick(&["x", "a b", "x y z", "s"])
        );
        // The body reads the loop's own input, so the loop ends.
        let body = self.loop_body();
        let source = match self.chance.below(4) {
            0 => format!("<<<{}", self.word()),
            1 => format!("< <(printf '%s\\n' {})", self.words(4)),
            2 => "<<'E'\na b  c\n x:y \\z\nlast\nE".to_owned(),
            // Its error messages might arrive after the shell has exited.
            _ => "< <(cat f1.txt 2>/dev/null)".to_owned(),
        };
        Statement::block(open, body, format!("done {source}"))
    }
}
