//! Code emission and jumps.

use super::Compiler;
use crate::code::{Op, Origin};

impl Compiler {
    pub(super) fn at(&self) -> usize {
        self.program.ops.len()
    }

    pub(super) fn emit(&mut self, op: Op) -> usize {
        self.program.ops.push(op);
        self.program.origins.push(Origin { source: self.source, line: self.lexer.start().1 });
        self.at() - 1
    }

    /// The last instruction, if it may be replaced.
    pub(super) fn last(&self) -> Option<Op> {
        if self.barrier >= self.at() { None } else { self.program.ops.last().copied() }
    }

    pub(super) fn pop_op(&mut self) {
        self.program.ops.pop();
        self.program.origins.pop();
    }

    /// Patches a jump to lead to the next instruction.
    pub(super) fn land(&mut self, jump: usize) {
        let to = self.at();
        self.aim(jump, to);
        self.barrier = to;
    }

    pub(super) fn aim(&mut self, jump: usize, to: usize) {
        let distance = to as i32 - jump as i32 - 1;
        match &mut self.program.ops[jump] {
            Op::Jump(target)
            | Op::JumpIf(target)
            | Op::JumpUnless(target)
            | Op::JumpUnlessCompares(_, target)
            | Op::LoopNext(target)
            | Op::RangeActive(_, target) => *target = distance,
            _ => {}
        }
    }

    pub(super) fn jump_back(&mut self, to: usize) {
        let jump = self.emit(Op::Jump(0));
        self.aim(jump, to);
    }

    /// Removes the code after a position.
    pub(super) fn cut(&mut self, from: usize) -> (Vec<Op>, Vec<Origin>) {
        self.barrier = self.barrier.min(from);
        (self.program.ops.split_off(from), self.program.origins.split_off(from))
    }

    pub(super) fn paste(&mut self, (ops, origins): (Vec<Op>, Vec<Origin>)) {
        self.program.ops.extend(ops);
        self.program.origins.extend(origins);
        self.barrier = self.at();
    }

    /// Emits a jump that is taken if the value before it is false.
    pub(super) fn jump_unless(&mut self) -> usize {
        match self.last() {
            Some(Op::Compare(comparison)) => {
                self.pop_op();
                self.emit(Op::JumpUnlessCompares(comparison, 0))
            }
            _ => self.emit(Op::JumpUnless(0)),
        }
    }
}
