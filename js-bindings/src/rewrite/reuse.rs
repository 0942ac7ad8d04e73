//! The analysis of modules whose instances can be used again.
//!
//! An instance that has ended is reset: its stack from the lowest used address, its data and its heap are restored, and so are its
//! globals. That is possible if only these can change, and if the parts of the memory are known: first the stack, then
//! the data, then the heap, as LLVM's linker arranges them for the programs of this package.

use wasmparser::{ConstExpr, DataKind, ElementKind, Global, Operator, Parser, Payload, ValType};

use super::RewriteError;

/// The stack pointer: LLVM's linker makes it the first global.
const STACK_POINTER: u32 = 0;

/// The memory of a module whose instances can be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reuse {
    /// Old index of the stack pointer.
    pub(super) stack_pointer: u32,
    /// End of the stack and initial stack pointer.
    pub(super) stack_end: u32,
    /// End of the data, after which the memory is initially zero.
    pub(super) data_end: u32,
    /// Initial pages of the memory.
    pub(super) pages: u32,
}

/// Returns the memory layout, or `None` if an instance cannot be reset.
pub(super) fn of(wasm: &[u8]) -> Result<Option<Reuse>, RewriteError> {
    let (mut stack_end, mut pages, mut data) = (None, None, None);
    for payload in Parser::new(0).parse_all(wasm) {
        let fits = match payload? {
            Payload::GlobalSection(section) => {
                let globals = section.into_iter().collect::<Result<Vec<_>, _>>()?;
                stack_end = globals.first().and_then(initial_stack_pointer);
                globals.iter().all(can_be_restored)
            }
            Payload::MemorySection(section) => {
                for memory in section {
                    pages = u32::try_from(memory?.initial).ok();
                }
                true
            }
            Payload::ElementSection(section) => {
                let elements = section.into_iter().collect::<Result<Vec<_>, _>>()?;
                elements.iter().all(|element| !matches!(element.kind, ElementKind::Passive))
            }
            Payload::DataSection(section) => {
                let segments = section.into_iter().collect::<Result<Vec<_>, _>>()?;
                let ranges: Option<Vec<_>> =
                    segments.iter().map(|segment| range(&segment.kind, segment.data)).collect();
                data = ranges;
                data.is_some()
            }
            Payload::CodeSectionEntry(body) => {
                let operators = body.get_operators_reader()?.into_iter().collect::<Result<Vec<_>, _>>()?;
                !operators.iter().any(changes_segments_or_tables)
            }
            _ => true,
        };
        if !fits {
            return Ok(None);
        }
    }
    let (Some(stack_end), Some(pages)) = (stack_end, pages) else { return Ok(None) };
    let data = data.unwrap_or_default();
    let start = data.iter().map(|&(start, _)| start).min().unwrap_or(stack_end);
    let data_end = data.iter().map(|&(_, end)| end).max().unwrap_or(stack_end);
    // Instantiation checks that the data is inside the memory.
    let is_stack_first = stack_end <= start && stack_end <= data_end;
    Ok(is_stack_first.then_some(Reuse { stack_pointer: STACK_POINTER, stack_end, data_end, pages }))
}

fn initial_stack_pointer(global: &Global<'_>) -> Option<u32> {
    let is_pointer = global.ty.mutable && global.ty.content_type == ValType::I32;
    constant(&global.init_expr).filter(|_| is_pointer)
}

/// JavaScript reads and writes numbers; globals that are constant cannot change.
fn can_be_restored(global: &Global<'_>) -> bool {
    let is_number = matches!(global.ty.content_type, ValType::I32 | ValType::I64 | ValType::F32 | ValType::F64);
    is_number || !global.ty.mutable
}

fn constant(expression: &ConstExpr<'_>) -> Option<u32> {
    let mut operators = expression.get_operators_reader();
    match (operators.read(), operators.read()) {
        (Ok(Operator::I32Const { value }), Ok(Operator::End)) => Some(value.cast_unsigned()),
        _ => None,
    }
}

/// Returns start and end of an active segment at a constant address.
fn range(kind: &DataKind<'_>, data: &[u8]) -> Option<(u32, u32)> {
    let DataKind::Active { offset_expr, .. } = kind else { return None };
    let start = constant(offset_expr)?;
    Some((start, start.checked_add(u32::try_from(data.len()).ok()?)?))
}

fn changes_segments_or_tables(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::MemoryInit { .. }
            | Operator::DataDrop { .. }
            | Operator::ElemDrop { .. }
            | Operator::TableSet { .. }
            | Operator::TableGrow { .. }
            | Operator::TableFill { .. }
            | Operator::TableCopy { .. }
            | Operator::TableInit { .. }
    )
}
