//! `pstree`: processes as a tree.

use std::collections::BTreeMap;

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::message::{print_error, unicode_locale};
use tidebox_gnu::user::{Kind, Names};

use tidebox_gnu::tool::print;
use tidebox_procps::Process;

const HELP: &str = "\
Usage: pstree [-acglpsStTuZ] [ -h | -H PID ] [ -n | -N type ]
              [ -A | -G | -U ] [ PID | USER ]
   or: pstree -V

Display a tree of processes.

  -a, --arguments     show command line arguments
  -A, --ascii         use ASCII line drawing characters
  -c, --compact-not   don't compact identical subtrees
  -g, --show-pgids    show process group ids; implies -c
  -l, --long          don't truncate long lines
  -n, --numeric-sort  sort output by PID
  -p, --show-pids     show PIDs; implies -c
  -s, --show-parents  show parents of the selected process
  -T, --hide-threads  hide threads, show only processes
  -u, --uid-changes   show uid transitions
  -U, --unicode       use UTF-8 (Unicode) line drawing characters
  -V, --version       display version information

  PID    start at this PID; default is 1 (init)
  USER   show only trees rooted at processes of this user

";

/// Default number of columns.
const COLUMNS: usize = 132;

/// Maximum depth of the tree.
const MAX_DEPTH: usize = 500;

#[derive(Default)]
struct Options {
    arguments: bool,
    separate: bool,
    groups: bool,
    long: bool,
    by_number: bool,
    numbers: bool,
    parents: bool,
    users: bool,
    unicode: bool,
}

/// Line drawing characters: first of several, middle, last, single, and continuation.
struct Signs {
    first: &'static str,
    middle: &'static str,
    last: &'static str,
    only: &'static str,
    passing: &'static str,
}

const ASCII: Signs = Signs { first: "-+-", middle: "|-", last: "`-", only: "---", passing: "| " };
const UNICODE: Signs = Signs {
    first: "\u{2500}\u{252c}\u{2500}",
    middle: "\u{251c}\u{2500}",
    last: "\u{2514}\u{2500}",
    only: "\u{2500}\u{2500}\u{2500}",
    passing: "\u{2502} ",
};

/// A process with its children.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tree {
    text: String,
    children: Vec<(usize, Self)>,
}

/// Runs `pstree`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let long = [
        long("arguments", Takes::Nothing, 'a'),
        long("ascii", Takes::Nothing, 'A'),
        long("compact-not", Takes::Nothing, 'c'),
        long("show-pgids", Takes::Nothing, 'g'),
        long("long", Takes::Nothing, 'l'),
        long("numeric-sort", Takes::Nothing, 'n'),
        long("show-pids", Takes::Nothing, 'p'),
        long("show-parents", Takes::Nothing, 's'),
        long("thread-names", Takes::Nothing, 't'),
        long("hide-threads", Takes::Nothing, 'T'),
        long("uid-changes", Takes::Nothing, 'u'),
        long("unicode", Takes::Nothing, 'U'),
        long("highlight-all", Takes::Nothing, 'h'),
        long("highlight-pid", Takes::Value, 'H'),
        long("version", Takes::Nothing, 'V'),
    ];
    let line = CommandLine::new("pstree", "aAcglnpstTuUhH:V", &long, HELP);
    let mut options = Options { unicode: unicode_locale(), ..Options::default() };
    let read = line.parse::<tidebox_gnu::exit::ToolResult>(arguments, |key, _| {
        match key {
            'a' => options.arguments = true,
            'A' => options.unicode = false,
            'c' => options.separate = true,
            'g' => (options.groups, options.separate) = (true, true),
            'l' => options.long = true,
            'n' => options.by_number = true,
            'p' => (options.numbers, options.separate) = (true, true),
            's' => options.parents = true,
            'u' => options.users = true,
            'U' => options.unicode = true,
            'V' => {
                tidebox_gnu::eprint_line!("pstree (PSmisc) 23.6");
                return Err(tidebox_gnu::exit::ToolResult::Code(0));
            }
            // Processes have no threads, and highlighting needs a terminal.
            _ => {}
        }
        Ok(())
    });
    match read {
        Ok(operands) => options.run(operands.first().map(|word| String::from_utf8_lossy(word).into_owned()).as_deref()),
        Err(tidebox_gnu::exit::ToolResult::Usage(message, _)) => {
            print_error("pstree", &message);
            tidebox_gnu::eprint_part!("{HELP}");
            1
        }
        Err(answer) => tidebox_gnu::exit::IntoExitCode::into_exit_code(answer, "pstree"),
    }
}

impl Options {
    fn run(&self, operand: Option<&str>) -> i32 {
        let all = Process::all();
        let (mut root, mut user) = (all.first().map_or(1, |process| process.pid.min(1)), None);
        match operand.map(|text| (text, text.parse::<u32>())) {
            None => {}
            Some((_, Ok(pid))) => root = pid,
            Some((name, Err(_))) => match Names::load(Kind::User).id(name) {
                Some(id) => user = Some(id),
                None => {
                    tidebox_gnu::eprint_line!("No such user name: {name}");
                    return 1;
                }
            },
        }
        let known = |pid: u32| all.iter().any(|process| process.pid == pid);
        // If the first process is not visible, each process without a visible parent is a root.
        let roots: Vec<&Process> = match user {
            Some(user) => all
                .iter()
                .filter(|process| {
                    process.user == user && !all.iter().any(|other| other.pid == process.parent && other.user == user)
                })
                .collect(),
            None if operand.is_some() || known(root) => all.iter().filter(|process| process.pid == root).collect(),
            None => all.iter().filter(|process| !known(process.parent)).collect(),
        };
        let mut children: BTreeMap<u32, Vec<&Process>> = BTreeMap::new();
        all.iter().for_each(|process| children.entry(process.parent).or_default().push(process));
        let mut out = String::new();
        for root in roots {
            let mut tree = self.tree(root, &children, None, 0);
            if self.parents {
                let mut above = all.iter().find(|process| process.pid == root.parent);
                while let Some(process) = above {
                    tree = Tree { text: self.text(process, None), children: vec![(1, tree)] };
                    above = all.iter().find(|other| other.pid == process.parent && other.pid < process.pid);
                }
            }
            if self.arguments {
                self.draw_down(&tree, "", "", &mut out);
            } else {
                let mut line = String::new();
                self.draw(&tree, 1, &mut line, "", &mut out);
                self.end_line(&line, &mut out);
            }
        }
        print("pstree", out.as_bytes())
    }

    fn text(&self, process: &Process, parent: Option<&Process>) -> String {
        let mut notes = Vec::new();
        if self.numbers {
            notes.push(process.pid.to_string());
        }
        if self.groups {
            notes.push(process.group.to_string());
        }
        if self.users && parent.is_some_and(|parent| parent.user != process.user) {
            notes.push(Names::load(Kind::User).name_or_id(process.user));
        }
        if self.arguments {
            let words: Vec<String> = process.arguments.iter().skip(1).map(|word| shown(word)).collect();
            let notes: String = notes.iter().map(|note| format!(",{note}")).collect();
            let words: String = words.iter().map(|word| format!(" {word}")).collect();
            return format!("{}{notes}{words}", process.name);
        }
        if notes.is_empty() { process.name.clone() } else { format!("{}({})", process.name, notes.join(",")) }
    }

    fn tree(
        &self,
        process: &Process,
        all: &BTreeMap<u32, Vec<&Process>>,
        parent: Option<&Process>,
        depth: usize,
    ) -> Tree {
        let mut children: Vec<(usize, Tree)> = Vec::new();
        let mut below: Vec<&&Process> =
            all.get(&process.pid).into_iter().flatten().filter(|child| child.pid != process.pid).collect();
        if !self.by_number {
            below.sort_by(|left, right| left.name.cmp(&right.name).then(left.pid.cmp(&right.pid)));
        }
        for child in below.into_iter().filter(|_| depth < MAX_DEPTH) {
            let tree = self.tree(child, all, Some(process), depth + 1);
            let same = if self.separate || self.arguments {
                None
            } else {
                children.iter_mut().find(|(_, other)| *other == tree)
            };
            match same {
                Some((count, _)) => *count += 1,
                None => children.push((1, tree)),
            }
        }
        Tree { text: self.text(process, parent), children }
    }

    fn signs(&self) -> &'static Signs {
        if self.unicode { &UNICODE } else { &ASCII }
    }

    /// A tree to the right of the current line. `before` is the prefix of the following lines.
    fn draw(&self, tree: &Tree, count: usize, line: &mut String, before: &str, out: &mut String) {
        let signs = self.signs();
        let text = if count > 1 { format!("{count}*[{}", tree.text) } else { tree.text.clone() };
        line.push_str(&text);
        if count > 1 && tree.children.is_empty() {
            line.push(']');
        }
        let indent = format!("{before}{}", " ".repeat(text.chars().count() + 1));
        let last = tree.children.len().saturating_sub(1);
        for (at, (many, child)) in tree.children.iter().enumerate() {
            let below = match (at, last) {
                (0, 0) => {
                    line.push_str(signs.only);
                    format!("{indent}  ")
                }
                (0, _) => {
                    line.push_str(signs.first);
                    format!("{indent}{}", signs.passing)
                }
                _ => {
                    self.end_line(line, out);
                    *line = format!("{indent}{}", if at == last { signs.last } else { signs.middle });
                    format!("{indent}{}", if at == last { "  " } else { signs.passing })
                }
            };
            self.draw(child, *many, line, &below, out);
            if count > 1 && at == last {
                line.push(']');
            }
        }
    }

    /// A tree with a line for every process.
    fn draw_down(&self, tree: &Tree, lead: &str, before: &str, out: &mut String) {
        self.end_line(&format!("{lead}{}", tree.text), out);
        let signs = self.signs();
        let last = tree.children.len().saturating_sub(1);
        for (at, (_, child)) in tree.children.iter().enumerate() {
            let (sign, passing) = if at == last {
                (signs.last, "   ")
            } else {
                (signs.middle, if self.unicode { "\u{2502}  " } else { "|  " })
            };
            let sign = format!("{before}  {sign}");
            self.draw_down(child, &sign, &format!("{before}  {}", passing.strip_suffix(' ').unwrap_or(passing)), out);
        }
    }

    fn end_line(&self, line: &str, out: &mut String) {
        let count = line.chars().count();
        if self.long || count <= COLUMNS {
            out.push_str(line);
        } else {
            out.extend(line.chars().take(COLUMNS - 1));
            out.push('+');
        }
        out.push('\n');
    }
}

/// A command line argument without characters that would break the layout.
fn shown(word: &[u8]) -> String {
    String::from_utf8_lossy(word).chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}
