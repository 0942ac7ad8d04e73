//! Calls of functions.

use std::rc::Rc;

use crate::function::Function;
use crate::ir::Bytes;
use crate::options::Options;
use crate::parse::plain_number;
use crate::state::{EvalResult, Frame, Shell, Unwind};
use crate::trap;

impl Shell {
    /// The maximum number of calls in progress: the limit of the sandbox, or a lower one in `FUNCNEST`.
    #[inline(never)]
    fn nesting_limit(&mut self) -> usize {
        let limit = self.sandbox_nesting();
        let own = self.vars.get(b"FUNCNEST").and_then(|var| var.scalar()).and_then(|text| plain_number(text));
        let limit = limit as usize;
        own.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0).map_or(limit, |n| n.min(limit))
    }

    /// The file that holds the text that runs.
    pub(crate) fn current_source(&self) -> Rc<[u8]> {
        self.frames.last().map_or_else(|| Rc::clone(&self.invocation.script), |frame| Rc::clone(&frame.source))
    }

    /// The source name of functions that the current text defines.
    pub(crate) fn name_of_source(&self) -> Rc<[u8]> {
        let source = self.current_source();
        match source.is_empty() {
            true if self.options.from_stdin => Rc::from(&b"main"[..]),
            true => Rc::from(&b"environment"[..]),
            false => source,
        }
    }

    #[inline(never)]
    pub(crate) fn define_function(&mut self, function: &Rc<Function>) -> EvalResult {
        self.status = 0;
        if self.functions.readonly.contains(&function.name) {
            self.report_error([&function.name[..], b": readonly function"].concat());
            self.status = 1;
            return Ok(());
        }
        let identifier = crate::parse::token::name_len(&function.name) == function.name.len();
        if self.options.posix && (!identifier || crate::builtins::is_special(&function.name)) {
            let why: &[u8] = if identifier { b"': is a special builtin" } else { b"': not a valid identifier" };
            self.report_error([b"`", &function.name[..], why].concat());
            self.status = 2;
            return Err(self.fatal());
        }
        self.functions.by_name.insert(Rc::clone(&function.name), Rc::clone(function));
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn call_function(&mut self, function: &Rc<Function>, args: Vec<Bytes>) -> EvalResult {
        let limit = self.nesting_limit();
        if self.frames.iter().filter(|frame| frame.is_function).count() >= limit {
            if limit >= self.sandbox_nesting() as usize {
                tidebox_rt::nesting_reached();
            }
            let name = crate::expand::lossy(&function.name).into_owned();
            return self.discard(format!("{name}: maximum function nesting level exceeded ({limit})"));
        }
        let mut words = args;
        words.drain(..1.min(words.len()));
        let caller = self.start_call(function, &words);
        let result = self.with_positional(words, |shell| shell.run_function_body(function));
        self.builtin.getopts_position = caller.getopts_at;
        let result = self.run_return_trap(function, result);
        self.traps.restore(caller.traps);
        self.vars.pop_scope();
        if crate::character::locale_touched() {
            crate::character::set_bytes(caller.in_bytes);
            self.apply_locale();
        }
        if let Some(options) = self.frames.pop().and_then(|frame| frame.options) {
            self.restore_options(*options);
        }
        self.flow.loops = caller.loops;
        self.line = caller.line;
        match result {
            Err(Unwind::Return) => Ok(()),
            // A loop of the caller is out of reach of a `break` in the function.
            Err(Unwind::Break(_) | Unwind::Continue(_)) => Ok(()),
            other => other,
        }
    }

    /// Starts a call: pushes a frame and a scope, and removes the traps that functions do not inherit.
    fn start_call(&mut self, function: &Function, words: &[Bytes]) -> Caller {
        let (loops, line) = (std::mem::take(&mut self.flow.loops), self.line);
        self.frames.push(Frame {
            name: Rc::clone(&function.name),
            source: Rc::clone(&function.source),
            line,
            is_function: true,
            args: self.options.extdebug.then(|| words.to_vec()),
            options: None,
        });
        self.vars.push_scope();
        let traced = self.options.functrace || self.functions.traced.contains(&function.name);
        let errtrace = self.options.errtrace;
        let debugging = self.traps.is_running(trap::DEBUG);
        let traps = self.traps.take_matching(|signal| match signal {
            trap::DEBUG => !traced,
            trap::RETURN => !traced || debugging,
            trap::ERR => !errtrace,
            _ => false,
        });
        Caller { loops, line, in_bytes: crate::character::in_bytes(), getopts_at: self.builtin.getopts_position, traps }
    }

    fn run_function_body(&mut self, function: &Function) -> EvalResult {
        self.loop_tick()?;
        let Some(body) = function.body() else {
            // Only a manipulated shell session contains such a text.
            return self.discard([&function.name[..], b": the function's text cannot be read"].concat());
        };
        if self.traps.get(trap::DEBUG).is_some() {
            self.line = body.line;
            if !self.run_debug_trap()? {
                return Ok(());
            }
        }
        self.line = body.line;
        self.deeper(|shell| shell.run_compound(body))
    }

    /// Runs the RETURN trap at the end of a function, with the status from before its `return`.
    fn run_return_trap(&mut self, function: &Function, result: EvalResult) -> EvalResult {
        if !matches!(result, Ok(()) | Err(Unwind::Return)) || self.traps.get(trap::RETURN).is_none() {
            return result;
        }
        let returned = self.status;
        self.status = self.traps.status_before_return.take().unwrap_or(returned);
        if result.is_ok() {
            self.line = function.body().map_or(function.line, |body| body.line);
        }
        let trapped = self.run_trap(trap::RETURN);
        if trapped != Err(Unwind::Exit) {
            self.status = returned;
        }
        trapped.and(result)
    }

    /// Restores the options that `local -` saved.
    fn restore_options(&mut self, options: Options) {
        let ignores = options.ignoreeof != self.options.ignoreeof;
        self.options = options;
        if ignores {
            self.set_option(b"ignoreeof", self.options.ignoreeof);
        }
    }
}

/// State of the caller, restored at the end of a call.
struct Caller {
    loops: u32,
    line: u32,
    in_bytes: bool,
    getopts_at: (usize, usize),
    traps: Vec<(u8, Rc<Bytes>)>,
}
