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
    while !operators.eof() {
        match operators.read()? {
            Operator::MemoryGrow { .. } => {
                function.instruction(&Instruction::Call(layout.grow()));
            }
            operator => {
                if matches!(operator, Operator::MemoryFill { .. } | Operator::MemoryCopy { .. }) {
                    function.instruction(&Instruction::Call(layout.charge()));
                }
                let loops = matches!(operator, Operator::Loop { .. });
                function.instruction(&translation.instruction(operator)?);
                if loops {
                    checkpoint(layout, &mut function);
                }
            }
        }
    }
    Ok(function)
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
