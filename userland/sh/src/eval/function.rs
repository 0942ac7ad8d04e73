//! Calls of functions.

use std::rc::Rc;

use crate::function::Function;
use crate::ir::Bytes;
use crate::options::Options;
use crate::parse::plain_number;
use crate::state::{Frame, Run, Shell, Stop};
use crate::trap;

impl Shell {
    /// How many calls may be in progress: the sandbox's limit, or less when `FUNCNEST` says so.
    #[inline(never)]
    fn nesting_limit(&mut self) -> usize {
        let limit = self.sandbox_nesting();
        let own = self.vars.get(b"FUNCNEST").and_then(|var| var.scalar()).and_then(|text| plain_number(text));
        let limit = limit as usize;
        own.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0).map_or(limit, |n| n.min(limit))
    }

    /// The file that holds the text that runs.
    pub(crate) fn current_source(&self) -> Rc<[u8]> {
        self.frames.last().map_or_else(|| Rc::clone(&self.script), |frame| Rc::clone(&frame.source))
    }

    /// What functions say that they come from when the text that runs defines them.
    pub(crate) fn name_of_source(&self) -> Rc<[u8]> {
        let source = self.current_source();
        match source.is_empty() {
            true if self.options.from_stdin => Rc::from(&b"main"[..]),
            true => Rc::from(&b"environment"[..]),
            false => source,
        }
    }

    #[inline(never)]
    pub(crate) fn define_function(&mut self, function: &Rc<Function>) -> Run {
        self.status = 0;
        if self.readonly_functions.contains(&function.name) {
            self.complain([&function.name[..], b": readonly function"].concat());
            self.status = 1;
            return Ok(());
        }
        let identifier = crate::parse::token::name_len(&function.name) == function.name.len();
        if self.options.posix && (!identifier || crate::builtins::is_special(&function.name)) {
            let why: &[u8] = if identifier { b"': is a special builtin" } else { b"': not a valid identifier" };
            self.complain([b"`", &function.name[..], why].concat());
            self.status = 2;
            return Err(self.fatal());
        }
        self.functions.insert(Rc::clone(&function.name), Rc::clone(function));
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn call_function(&mut self, function: &Rc<Function>, args: Vec<Bytes>) -> Run {
        let limit = self.nesting_limit();
        if self.frames.iter().filter(|frame| frame.is_function).count() >= limit {
            let name = crate::expand::lossy(&function.name).into_owned();
            return self.discard(format!("{name}: maximum function nesting level exceeded ({limit})"));
        }
        let mut words = args;
        words.drain(..1.min(words.len()));
        let caller = self.begin_call(function, &words);
        let result = self.with_positional(words, |shell| shell.run_function_body(function));
        self.jobs.line = caller.job_line;
        self.getopts_at = caller.getopts_at;
        let result = self.run_return_trap(function, result);
        self.traps.put_back(caller.traps);
        self.leave_scope(result == Err(Stop::Exit));
        if crate::character::locale_touched() {
            crate::character::set_bytes(caller.in_bytes);
            self.note_locale();
        }
        if let Some(options) = self.frames.pop().and_then(|frame| frame.options) {
            self.restore_options(*options);
        }
        self.loops = caller.loops;
        self.line = caller.line;
        self.function_start = caller.function_start;
        match result {
            Err(Stop::Return) => Ok(()),
            // A loop of the caller is out of reach of a `break` in the function.
            Err(Stop::Break(_) | Stop::Continue(_)) => Ok(()),
            other => other,
        }
    }

    /// Begins a call: a frame and a scope of its own, without the traps that functions do not inherit.
    fn begin_call(&mut self, function: &Function, words: &[Bytes]) -> Caller {
        let (loops, line) = (std::mem::take(&mut self.loops), self.line);
        self.frames.push(Frame {
            name: Rc::clone(&function.name),
            source: Rc::clone(&function.source),
            line,
            is_function: true,
            args: self.options.extdebug.then(|| words.to_vec()),
            commands: 0,
            options: None,
        });
        self.vars.push_scope();
        let traced = self.options.functrace || self.traced_functions.contains(&function.name);
        let errtrace = self.options.errtrace;
        let debugging = self.traps.is_running(trap::DEBUG);
        let traps = self.traps.set_aside(|signal| match signal {
            trap::DEBUG => !traced,
            trap::RETURN => !traced || debugging,
            trap::ERR => !errtrace,
            _ => false,
        });
        Caller {
            loops,
            line,
            in_bytes: crate::character::in_bytes(),
            getopts_at: self.getopts_at,
            traps,
            function_start: std::mem::replace(&mut self.function_start, function.line),
            job_line: self.jobs.line,
        }
    }

    fn run_function_body(&mut self, function: &Function) -> Run {
        self.turn()?;
        let Some(body) = function.body() else {
            // Only a session that somebody tampered with hands over such a text.
            return self.discard([&function.name[..], b": the function's text cannot be read"].concat());
        };
        if self.traps.get(trap::DEBUG).is_some() {
            self.line = body.line;
            if !self.run_debug_trap()? {
                return Ok(());
            }
        }
        self.line = body.line;
        self.jobs.line = body.line;
        self.deeper(|shell| shell.run_compound(body))
    }

    /// Runs the RETURN trap where the function has come to its end, with the status from before its `return`.
    fn run_return_trap(&mut self, function: &Function, result: Run) -> Run {
        if !matches!(result, Ok(()) | Err(Stop::Return)) || self.traps.get(trap::RETURN).is_none() {
            return result;
        }
        let returned = self.status;
        self.status = self.before_return.take().unwrap_or(returned);
        if result.is_ok() {
            self.line = function.body().map_or(function.line, |body| body.line);
        }
        let trapped = self.run_trap(trap::RETURN);
        if trapped != Err(Stop::Exit) {
            self.status = returned;
        }
        trapped.and(result)
    }

    /// Leaves the function's variables. A failure that ends the shell ends it in here, in a subshell with those variables.
    fn leave_scope(&mut self, exits: bool) {
        let ends = exits && self.traps.by_errexit && !self.traps.left_text && self.traps.redirected_calls == 0;
        if ends && self.forked {
            self.run_exit_trap();
        }
        self.vars.pop_scope();
        if ends {
            self.run_exit_trap();
        }
    }

    /// Puts back the options that `local -` kept.
    fn restore_options(&mut self, options: Options) {
        let ignores = options.ignoreeof != self.options.ignoreeof;
        self.options = options;
        if ignores {
            self.set_option(b"ignoreeof", self.options.ignoreeof);
        }
    }
}

/// What a call puts back at its end.
struct Caller {
    loops: u32,
    line: u32,
    in_bytes: bool,
    getopts_at: (usize, usize),
    traps: Vec<(u8, Rc<Bytes>)>,
    function_start: u32,
    job_line: u32,
}
