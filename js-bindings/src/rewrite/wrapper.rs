//! Functions that are added to a module.

use wasm_encoder::{BlockType, Function, Instruction, ValType};
use wasmparser::FuncType;

use super::CHECKS_PER_SLICE;
use super::layout::Layout;

/// Status of the kernel's exports instead of an errno; see `syscalls.rs`.
pub(super) const EXIT: i32 = -2;

/// Result of [`Layout::wait`]: the guest must exit.
const GUEST_EXITED: i32 = 0;
/// Result of [`Layout::wait`]: the call must be retried.
const RETRY: i32 = 1;

/// Bytes filled or copied per check, as a power of two.
const BYTES_PER_CHECK_LOG2: i32 = 4;

const EMPTY: BlockType = BlockType::Empty;

/// Returns the wrapper of an imported function:
/// ```text
/// loop
///   r = import(pid, arguments...)
///   if r >= 0 { return r }
///   if r == EXIT { unreachable }
///   r = wait(pid, r)
///   if r == RETRY { continue }
///   if r == GUEST_EXITED { unreachable }
///   return 0
/// ```
/// A guest exits by a trap, not by an exception, because it could catch that.
pub(super) fn wrapper(layout: &Layout, import: u32, ty: &FuncType) -> Function {
    let parameters = u32::try_from(ty.params().len()).unwrap_or(u32::MAX - 1);
    let result = parameters;
    let has_result = !ty.results().is_empty();
    let mut f = Function::new([(1, ValType::I32)]);
    let mut code = f.instructions();
    code.loop_(EMPTY).global_get(layout.pid());
    for parameter in 0..parameters {
        code.local_get(parameter);
    }
    code.call(import).local_tee(result).i32_const(0).i32_ge_s().if_(EMPTY);
    if has_result {
        code.local_get(result);
    }
    code.return_().end();
    unless_exited(&mut f, result);
    let mut code = f.instructions();
    code.global_get(layout.pid()).local_get(result).call(layout.wait()).local_tee(result).i32_const(RETRY).i32_eq();
    code.br_if(0).local_get(result).i32_const(GUEST_EXITED).i32_eq().if_(EMPTY).unreachable().end();
    if has_result {
        code.i32_const(0);
    }
    code.return_().end().unreachable().end();
    f
}

/// Returns the wrapper of `host.call` of a pre-initialized program. The kernel returns the length of the response, the program
/// allocates memory for it, and the response is copied there:
/// ```text
/// loop
///   r = import(pid, at, len, at_out, len_out)
///   if r > 0 { return answer(pid, alloc(r), at_out, len_out) }
///   if r == 0 { return -2 }
///   (as above)
/// ```
pub(super) fn host_call_wrapper(layout: &Layout, import: u32, alloc_function: u32) -> Function {
    const RESULT: u32 = 4;
    const NO_REQUEST: i32 = -2;
    let mut f = Function::new([(1, ValType::I32)]);
    let mut code = f.instructions();
    code.loop_(EMPTY).global_get(layout.pid()).local_get(0).local_get(1).local_get(2).local_get(3).call(import);
    code.local_tee(RESULT).i32_const(0).i32_gt_s().if_(EMPTY).global_get(layout.pid()).local_get(RESULT);
    code.call(layout.function(alloc_function)).local_get(2).local_get(3).call(layout.answer()).return_().end();
    code.local_get(RESULT).i32_eqz().if_(EMPTY).i32_const(NO_REQUEST).return_().end();
    unless_exited(&mut f, RESULT);
    let mut code = f.instructions();
    code.global_get(layout.pid())
        .local_get(RESULT)
        .call(layout.wait())
        .local_tee(RESULT)
        .i32_const(GUEST_EXITED)
        .i32_eq();
    code.if_(EMPTY).unreachable().end().br(0).end().unreachable().end();
    f
}

fn unless_exited(f: &mut Function, result: u32) {
    f.instructions().local_get(result).i32_const(EXIT).i32_eq().if_(EMPTY).unreachable().end();
}

/// Returns the function that is called when the counter is exhausted: it resets the counter, yields to other guests if requested,
/// or ends the guest.
/// ```text
/// r = tick(pid)
/// if r >= 0 { counter = r; return }
/// if r == EXIT { unreachable }
/// if wait(pid, r) == GUEST_EXITED { unreachable }
/// counter = CHECKS_PER_SLICE
/// ```
pub(super) fn check(layout: &Layout) -> Function {
    let mut f = Function::new([(1, ValType::I32)]);
    let mut code = f.instructions();
    code.global_get(layout.pid()).call(layout.tick()).local_tee(0).i32_const(0).i32_ge_s();
    code.if_(EMPTY).local_get(0).global_set(layout.counter()).return_().end();
    unless_exited(&mut f, 0);
    let mut code = f.instructions();
    code.global_get(layout.pid()).local_get(0).call(layout.wait()).i32_const(GUEST_EXITED).i32_eq();
    code.if_(EMPTY).unreachable().end().i32_const(CHECKS_PER_SLICE).global_set(layout.counter()).end();
    f
}

/// Returns the replacement of `memory.grow`, which needs the kernel's permission.
///
/// The memory of an instance that is used again may already have the pages; then only the size that the program sees changes:
/// ```text
/// if !may_grow(pid, size, delta) { return -1 }
/// missing = size + delta - memory.size
/// if missing > 0 && memory.grow(missing) == -1 { return -1 }
/// size += delta
/// return size - delta
/// ```
pub(super) fn grow(layout: &Layout) -> Function {
    const DELTA: u32 = 0;
    const MISSING: u32 = 1;
    if layout.reuse.is_some() {
        let size = layout.memory_size();
        let mut f = Function::new([(1, ValType::I32)]);
        let mut code = f.instructions();
        code.global_get(layout.pid()).global_get(size).local_get(DELTA).call(layout.may_grow()).i32_eqz();
        code.if_(EMPTY).i32_const(-1).return_().end();
        code.global_get(size).local_get(DELTA).i32_add().memory_size(0).i32_sub().local_tee(MISSING);
        code.i32_const(0).i32_gt_s().if_(EMPTY).local_get(MISSING).memory_grow(0).i32_const(-1).i32_eq();
        code.if_(EMPTY).i32_const(-1).return_().end().end();
        code.global_get(size).global_get(size).local_get(DELTA).i32_add().global_set(size).end();
        return f;
    }
    let mut f = Function::new([]);
    let mut code = f.instructions();
    code.global_get(layout.pid()).memory_size(0).local_get(0).call(layout.may_grow());
    code.if_(BlockType::Result(ValType::I32)).local_get(0).memory_grow(0).else_().i32_const(-1).end().end();
    f
}

/// Returns the function that runs before `memory.fill` and `memory.copy`: it charges the time of the operation as checks. Returns
/// its argument, the length.
pub(super) fn charge(layout: &Layout) -> Function {
    let mut f = Function::new([]);
    let mut code = f.instructions();
    code.global_get(layout.counter()).local_get(0).i32_const(BYTES_PER_CHECK_LOG2).i32_shr_u().i32_sub();
    code.global_set(layout.counter()).global_get(layout.counter()).i32_const(0).i32_lt_s();
    code.if_(EMPTY).call(layout.check()).end().local_get(0).end();
    f
}

/// Keeps the lowest value of the stack pointer, which was set: the stack below it is still as in a new instance.
pub(super) fn keep_lowest_stack(layout: &Layout, pointer: u32, function: &mut Function) {
    let lowest = layout.lowest_stack();
    let mut code = function.instructions();
    code.global_get(pointer).global_get(lowest).i32_lt_u().if_(EMPTY).global_get(pointer).global_set(lowest).end();
}

/// Returns the check at loop headers and function entries.
pub(super) fn checkpoint(layout: &Layout) -> [Instruction<'static>; 10] {
    let counter = layout.counter();
    [
        Instruction::GlobalGet(counter),
        Instruction::I32Const(1),
        Instruction::I32Sub,
        Instruction::GlobalSet(counter),
        Instruction::GlobalGet(counter),
        Instruction::I32Const(0),
        Instruction::I32LtS,
        Instruction::If(EMPTY),
        Instruction::Call(layout.check()),
        Instruction::End,
    ]
}
