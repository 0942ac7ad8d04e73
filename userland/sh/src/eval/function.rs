//! Calls of functions.

use std::rc::Rc;

use tidebox_rt as rt;

use crate::function::Function;
use crate::ir::Bytes;
use crate::parse::plain_number;
use crate::state::{Frame, Run, Shell, Stop};
use crate::trap;

impl Shell {
    /// How many calls may be in progress: the sandbox's limit, or less when `FUNCNEST` says so.
    #[inline(never)]
    fn nesting_limit(&mut self) -> usize {
        let limit = *self.nesting.get_or_insert_with(|| rt::limits().map_or(1000, |limits| limits.nesting));
        let own = self.vars.get(b"FUNCNEST").and_then(|var| var.scalar()).and_then(|text| plain_number(text));
        let limit = limit as usize;
        own.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0).map_or(limit, |n| n.min(limit))
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
        let (loops, line) = (std::mem::take(&mut self.loops), self.line);
        self.frames.push(Frame {
            name: Rc::clone(&function.name),
            source: Rc::clone(&function.source),
            line,
            is_function: true,
        });
        self.vars.push_scope();
        let getopts = self.getopts_at;
        let outer_trap = self.traps.get(trap::RETURN).map(Rc::clone);
        let result = self.with_positional(words, |shell| {
            shell.turn()?;
            let Some(body) = function.body() else {
                // Only a session that somebody tampered with hands over such a text.
                return shell.discard([&function.name[..], b": the function's text cannot be read"].concat());
            };
            shell.deeper(|shell| shell.run_compound(body))
        });
        self.getopts_at = getopts;
        let trap = self.traps.get(trap::RETURN).map(Rc::clone);
        let own_trap = trap.is_some_and(|trap| outer_trap.is_none_or(|outer| !Rc::ptr_eq(&trap, &outer)));
        if own_trap || self.options.functrace {
            self.run_trap(trap::RETURN)?;
        }
        self.vars.pop_scope();
        self.frames.pop();
        self.loops = loops;
        match result {
            Err(Stop::Return) => Ok(()),
            // A loop of the caller is out of reach of a `break` in the function.
            Err(Stop::Break(_) | Stop::Continue(_)) => Ok(()),
            other => other,
        }
    }
}
