//! Rewrites function bodies: new indices, and checks in loops and calls.

use std::convert::Infallible;

use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{Function, Instruction};
use wasmparser::{FunctionBody, Operator};

use super::layout::Layout;
use super::wrapper;

/// Translates indices.
pub(super) struct Translation<'a>(pub(super) &'a Layout);

impl Reencode for Translation<'_> {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error<Infallible>> {
        Ok(self.0.function(function))
    }

    fn global_index(&mut self, global: u32) -> Result<u32, Error<Infallible>> {
        Ok(self.0.global(global))
    }
}

/// Rewrites a function of the module. A function without calls and loops terminates on its own and is not checked.
pub(super) fn body(layout: &Layout, body: &FunctionBody<'_>) -> Result<Function, Error<Infallible>> {
    let mut translation = Translation(layout);
    let mut function = translation.new_function_with_parsed_locals(body)?;
    if calls(body)? {
        checkpoint(layout, &mut function);
    }
    let mut operators = body.get_operators_reader()?;
    let mut raises_stack = RaisesStack::default();
    while !operators.eof() {
        let operator = operators.read()?;
        let raises = raises_stack.next(&operator);
        match operator {
            Operator::MemoryGrow { .. } => {
                function.instruction(&Instruction::Call(layout.grow()));
            }
            Operator::MemorySize { .. } if layout.reuse.is_some() => {
                function.instruction(&Instruction::GlobalGet(layout.memory_size()));
            }
            operator => {
                if matches!(operator, Operator::MemoryFill { .. } | Operator::MemoryCopy { .. }) {
                    function.instruction(&Instruction::Call(layout.charge()));
                }
                let loops = matches!(operator, Operator::Loop { .. });
                function.instruction(&translation.instruction(operator.clone())?);
                if loops {
                    checkpoint(layout, &mut function);
                }
                if !raises && let Some(global) = lowered_stack_pointer(layout, &operator) {
                    wrapper::keep_lowest_stack(layout, global, &mut function);
                }
            }
        }
    }
    Ok(function)
}

/// Recognises the end of a function, which increases the stack pointer: `i32.const N; i32.add; global.set`.
#[derive(Default)]
struct RaisesStack {
    positive: bool,
    added: bool,
}

impl RaisesStack {
    /// Returns whether an operator follows the addition of a positive constant.
    fn next(&mut self, operator: &Operator<'_>) -> bool {
        let raises = self.added;
        self.added = self.positive && matches!(operator, Operator::I32Add);
        self.positive = matches!(operator, Operator::I32Const { value } if *value > 0);
        raises
    }
}

/// Returns the new index of the stack pointer if the operator sets it, in a module whose instances are used again.
fn lowered_stack_pointer(layout: &Layout, operator: &Operator<'_>) -> Option<u32> {
    let pointer = layout.reuse?.stack_pointer;
    matches!(operator, Operator::GlobalSet { global_index } if *global_index == pointer).then(|| layout.global(pointer))
}

fn calls(body: &FunctionBody<'_>) -> Result<bool, Error<Infallible>> {
    let mut operators = body.get_operators_reader()?;
    while !operators.eof() {
        if matches!(
            operators.read()?,
            Operator::Call { .. }
                | Operator::CallIndirect { .. }
                | Operator::ReturnCall { .. }
                | Operator::ReturnCallIndirect { .. }
        ) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn checkpoint(layout: &Layout, function: &mut Function) {
    for instruction in wrapper::checkpoint(layout) {
        function.instruction(&instruction);
    }
}
