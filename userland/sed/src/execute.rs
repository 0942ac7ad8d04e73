//! Runs a script.

mod listed;
mod queue;
mod select;
mod substitute;

use std::collections::HashMap;

use tidebox_gnu::message::print_error;
use tidebox_gnu::regex::Regex;

use listed::listed;
use queue::Queued;

use crate::input::{Input, Line, Lines as FileLines, Step};
use crate::options::Options;
use crate::output::Outputs;
use crate::script::{Action, Address, Command, Lines, Script, Target, When};

/// Control flow after a command.
enum Flow {
    Next,
    /// Continue at that command.
    To(usize),
    /// The cycle ends, and the pattern space is printed.
    End,
    /// The cycle ends without printing.
    Delete,
    /// The cycle ends without printing, and the next one keeps the pattern space.
    Restart,
    Quit {
        code: i32,
        prints: bool,
    },
}

/// State of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    Closed,
    /// Open until a line number or a match.
    Open(Option<u64>),
}

/// The initial ranges: those from line 0 are open, even if their command runs later.
fn ranges_of(script: &Script) -> Vec<Range> {
    let mut ranges = vec![Range::Closed; script.ranges];
    for command in &script.commands {
        if let Lines::Range { from: Address::Zero, number, .. } = command.lines
            && let Some(range) = ranges.get_mut(number)
        {
            *range = Range::Open(None);
        }
    }
    ranges
}

pub(crate) struct Machine<'a> {
    options: &'a Options,
    script: &'a Script,
    input: Input,
    out: Outputs,
    /// The pattern space, and whether its line had a newline.
    space: Vec<u8>,
    ended: bool,
    hold: Vec<u8>,
    /// The line in the hold space had a newline.
    hold_ended: bool,
    /// A replacement was made since the last line was read or `t` jumped.
    replaced: bool,
    ranges: Vec<Range>,
    /// The last regular expression used.
    last: Option<&'a Regex>,
    queue: Vec<Queued>,
    read_files: HashMap<usize, Option<FileLines>>,
    quiet: bool,
    code: i32,
    /// The pattern space already contains the line for the next cycle.
    kept: bool,
    failure: Option<String>,
    /// The error is a failed write.
    unwritten: bool,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(options: &'a Options, script: &'a Script) -> Result<Self, String> {
        let mut written = vec![false; script.files.len()];
        for command in &script.commands {
            let target = match &command.action {
                Action::Write(target) | Action::WriteFirst(target) => Some(*target),
                Action::Substitute(substitute) => substitute.write,
                _ => None,
            };
            if let Some(Target::File(number)) = target
                && let Some(written) = written.get_mut(number)
            {
                *written = true;
            }
        }
        Ok(Self {
            options,
            script,
            input: Input::new(options),
            out: Outputs::new(&script.files, &written, options.delimiter, options.unbuffered)?,
            space: Vec::new(),
            ended: true,
            hold: Vec::new(),
            hold_ended: true,
            replaced: false,
            ranges: ranges_of(script),
            last: None,
            queue: Vec::new(),
            read_files: HashMap::new(),
            quiet: options.quiet || script.quiet,
            code: 0,
            kept: false,
            failure: None,
            unwritten: false,
        })
    }

    /// Runs the script over all lines and returns the exit code.
    pub(crate) fn run(mut self) -> i32 {
        while self.begin_cycle() {
            let flow = self.cycle();
            let (prints, quits) = match flow {
                Flow::Quit { code, prints } => {
                    self.code = code;
                    (prints, true)
                }
                Flow::Delete | Flow::Restart => (false, false),
                _ => (true, false),
            };
            if prints && !self.quiet {
                self.out.line(&self.space, self.ended);
            }
            self.kept = matches!(flow, Flow::Restart);
            self.flush_queue();
            if quits {
                self.input.give_back();
                // A file that `-i` edits ends here.
                let suffix = self.options.in_place.as_deref().unwrap_or_default();
                if let Err(message) = self.out.end_change(suffix) {
                    (self.failure, self.unwritten) = (Some(message), true);
                }
                break;
            }
            if self.failure.is_some() || self.out.error().is_some() {
                break;
            }
        }
        self.out.end();
        if let Some(message) = self.failure.as_deref().or(self.out.error()) {
            print_error("sed", message);
            return if self.failure.is_some() && !self.unwritten { 1 } else { 4 };
        }
        match (self.input.broken, self.code) {
            (true, _) => 4,
            (false, 0) if self.input.failed => 2,
            (false, code) => code,
        }
    }

    /// Reads the first line of a cycle. Returns `false` at the end.
    fn begin_cycle(&mut self) -> bool {
        if self.kept {
            return true;
        }
        match self.read_line() {
            Some(line) => {
                (self.space, self.ended) = (line.text, line.ended);
                self.replaced = false;
                if self.input.number == 1 {
                    self.before_first();
                }
                true
            }
            None => false,
        }
    }

    fn read_line(&mut self) -> Option<Line> {
        loop {
            let result = match self.input.step() {
                Step::Line(line) => {
                    if std::mem::take(&mut self.input.anew) {
                        self.begin_anew();
                    }
                    return Some(line);
                }
                Step::Done => return None,
                Step::Begin(change) => self.out.begin_change(&change),
                Step::End => self.out.end_change(self.options.in_place.as_deref().unwrap_or_default()),
            };
            if let Err(message) = result {
                (self.failure, self.unwritten) = (Some(message), true);
                return None;
            }
        }
    }

    /// A separate file starts with an empty hold space and initial ranges.
    fn begin_anew(&mut self) {
        self.hold.clear();
        self.hold_ended = true;
        self.ranges = ranges_of(self.script);
        self.read_files.clear();
    }

    fn cycle(&mut self) -> Flow {
        let script = self.script;
        let mut at = 0;
        while let Some(command) = script.commands.get(at) {
            let selected = self.selects(command) != command.negated;
            let flow = match &command.action {
                Action::Block { end } if !selected => Flow::To(*end),
                _ if !selected => Flow::Next,
                action => self.act(action, command),
            };
            match flow {
                Flow::Next => at += 1,
                Flow::To(target) => at = target,
                other => return other,
            }
            if self.failure.is_some() {
                return Flow::Delete;
            }
        }
        Flow::End
    }

    fn act(&mut self, action: &'a Action, command: &Command) -> Flow {
        match action {
            Action::Block { .. } | Action::Nothing => {}
            Action::Append(text) => self.queue.push(Queued::Text(text.clone())),
            Action::Insert(text) => self.out.text(text),
            Action::Change(text) => return self.change(text, command),
            Action::Branch { to, when } => {
                let takes = match when {
                    When::Always => true,
                    When::Replaced => std::mem::take(&mut self.replaced),
                    When::NotReplaced => !std::mem::take(&mut self.replaced),
                };
                if takes {
                    return Flow::To(*to);
                }
            }
            Action::Delete => return Flow::Delete,
            Action::DeleteFirst => return self.delete_first(),
            Action::Execute(line) => self.execute(line),
            Action::FileName => {
                let name = self.input.name.clone();
                self.out.text(&[name.as_slice(), &[self.options.delimiter]].concat());
            }
            Action::Get => {
                self.space.clone_from(&self.hold);
                self.ended = self.hold_ended;
            }
            Action::GetAppend => {
                self.ended = self.hold_ended;
                self.space.push(self.options.delimiter);
                self.space.extend_from_slice(&self.hold);
            }
            Action::Hold => {
                self.hold.clone_from(&self.space);
                self.hold_ended = self.ended;
            }
            Action::HoldAppend => {
                self.hold_ended = self.ended;
                self.hold.push(self.options.delimiter);
                self.hold.extend_from_slice(&self.space);
            }
            Action::List(columns) => {
                let text = listed(&self.space, columns.unwrap_or(self.options.columns), self.options.delimiter);
                self.out.text(&text);
            }
            Action::Next => return self.next(),
            Action::NextAppend => return self.next_append(),
            Action::Number => {
                let line = format!("{}{}", self.input.number, char::from(self.options.delimiter));
                self.out.text(line.as_bytes());
            }
            Action::Print => self.out.line(&self.space, self.ended),
            Action::PrintFirst => {
                let line = self.first_line().to_vec();
                self.out.line(&line, true);
            }
            Action::Quit { code, prints } => return Flow::Quit { code: *code, prints: *prints },
            Action::Read(name) => self.queue.push(Queued::File(name.clone())),
            Action::ReadLine(number) => self.read_file_line(*number),
            Action::Substitute(substitute) => self.substitute(substitute),
            Action::Translate(translate) => self.translate(translate),
            Action::Write(target) => self.out.write(*target, &self.space, self.ended),
            Action::WriteFirst(target) => {
                let line = self.first_line().to_vec();
                self.out.write(*target, &line, true);
            }
            Action::Exchange => {
                std::mem::swap(&mut self.space, &mut self.hold);
                std::mem::swap(&mut self.ended, &mut self.hold_ended);
            }
            Action::Empty => self.space.clear(),
        }
        Flow::Next
    }

    fn first_line(&self) -> &[u8] {
        self.space.split(|byte| *byte == self.options.delimiter).next().unwrap_or_default()
    }

    fn change(&mut self, text: &[u8], command: &Command) -> Flow {
        // For a range the text is printed once, at its end.
        let inside = match &command.lines {
            Lines::Range { number, .. } if !command.negated => {
                self.ranges.get(*number).is_some_and(|range| *range != Range::Closed)
            }
            _ => false,
        };
        if !inside {
            self.out.text(text);
        }
        Flow::Delete
    }

    fn delete_first(&mut self) -> Flow {
        match self.space.iter().position(|byte| *byte == self.options.delimiter) {
            None => Flow::Delete,
            Some(end) => {
                self.space.drain(..=end);
                Flow::Restart
            }
        }
    }

    fn next(&mut self) -> Flow {
        if self.input.is_exhausted() {
            // Without a next line, GNU sed prints the pattern space and exits.
            return Flow::Quit { code: self.code, prints: true };
        }
        if self.input.is_last() {
            // The following files are checked separately.
            return Flow::End;
        }
        if !self.quiet {
            self.out.line(&self.space, self.ended);
        }
        self.flush_queue();
        match self.read_line() {
            Some(line) => {
                (self.space, self.ended) = (line.text, line.ended);
                Flow::Next
            }
            None => Flow::Quit { code: self.code, prints: false },
        }
    }

    fn next_append(&mut self) -> Flow {
        if self.input.is_exhausted() {
            return Flow::Quit { code: self.code, prints: !self.options.strict_next };
        }
        if self.input.is_last() {
            return if self.options.strict_next { Flow::Delete } else { Flow::End };
        }
        self.flush_queue();
        match self.read_line() {
            Some(line) => {
                self.space.push(self.options.delimiter);
                self.space.extend_from_slice(&line.text);
                self.ended = line.ended;
                Flow::Next
            }
            None => Flow::Quit { code: self.code, prints: true },
        }
    }
}
