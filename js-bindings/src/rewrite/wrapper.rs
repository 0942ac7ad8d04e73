//! The functions that are added to a module.

use wasm_encoder::{BlockType, Function, Instruction, ValType};
use wasmparser::FuncType;

use super::TURN;
use super::layout::Layout;

/// What the kernel's exports answer instead of an errno; see `syscalls.rs`.
pub(super) const LEAVE: i32 = -2;

/// What [`Layout::wait`] answers: the guest must end.
const ENDED: i32 = 0;
/// The call is to be made again.
const AGAIN: i32 = 1;

/// Bytes that are filled or copied while a check is passed, as a power of two.
const CHARGED: i32 = 4;

const EMPTY: BlockType = BlockType::Empty;

/// What stands for an imported function inside the module:
/// ```text
/// loop
///   r = import(pid, arguments...)
///   if r >= 0 { return r }
///   if r == LEAVE { unreachable }
///   r = wait(pid, r)
///   if r == AGAIN { continue }
///   if r == ENDED { unreachable }
///   return 0
/// ```
/// A guest ends by a trap and not by an exception, because it could catch that.
pub(super) fn wrapper(layout: &Layout, import: u32, ty: &FuncType) -> Function {
    let parameters = u32::try_from(ty.params().len()).unwrap_or(u32::MAX - 1);
    let answer = parameters;
    let answers = !ty.results().is_empty();
    let mut f = Function::new([(1, ValType::I32)]);
    let mut code = f.instructions();
    code.loop_(EMPTY).global_get(layout.pid());
    for parameter in 0..parameters {
        code.local_get(parameter);
    }
    code.call(import).local_tee(answer).i32_const(0).i32_ge_s().if_(EMPTY);
    if answers {
        code.local_get(answer);
    }
    code.return_().end();
    unless_left(&mut f, answer);
    let mut code = f.instructions();
    code.global_get(layout.pid()).local_get(answer).call(layout.wait()).local_tee(answer).i32_const(AGAIN).i32_eq();
    code.br_if(0).local_get(answer).i32_const(ENDED).i32_eq().if_(EMPTY).unreachable().end();
    if answers {
        code.i32_const(0);
    }
    code.return_().end().unreachable().end();
    f
}

/// What stands for `host.call` of a prepared program. The kernel answers how many bytes its answer has, the program makes room
/// for them, and they are put there:
/// ```text
/// loop
///   r = import(pid, at, len, at_out, len_out)
///   if r > 0 { return answer(pid, room(r), at_out, len_out) }
///   if r == 0 { return -2 }
///   (as above)
/// ```
pub(super) fn door(layout: &Layout, import: u32, room: u32) -> Function {
    const ANSWER: u32 = 4;
    const NO_REQUEST: i32 = -2;
    let mut f = Function::new([(1, ValType::I32)]);
    let mut code = f.instructions();
    code.loop_(EMPTY).global_get(layout.pid()).local_get(0).local_get(1).local_get(2).local_get(3).call(import);
    code.local_tee(ANSWER).i32_const(0).i32_gt_s().if_(EMPTY).global_get(layout.pid()).local_get(ANSWER);
    code.call(layout.function(room)).local_get(2).local_get(3).call(layout.answer()).return_().end();
    code.local_get(ANSWER).i32_eqz().if_(EMPTY).i32_const(NO_REQUEST).return_().end();
    unless_left(&mut f, ANSWER);
    let mut code = f.instructions();
    code.global_get(layout.pid()).local_get(ANSWER).call(layout.wait()).local_tee(ANSWER).i32_const(ENDED).i32_eq();
    code.if_(EMPTY).unreachable().end().br(0).end().unreachable().end();
    f
}

fn unless_left(f: &mut Function, answer: u32) {
    f.instructions().local_get(answer).i32_const(LEAVE).i32_eq().if_(EMPTY).unreachable().end();
}

/// What is called when the counter has run out: asks for more, lets others have a turn when it is told to, and ends the
/// guest when it is to die.
/// ```text
/// r = tick(pid)
/// if r >= 0 { counter = r; return }
/// if r == LEAVE { unreachable }
/// if wait(pid, r) == ENDED { unreachable }
/// counter = TURN
/// ```
pub(super) fn check(layout: &Layout) -> Function {
    let mut f = Function::new([(1, ValType::I32)]);
    let mut code = f.instructions();
    code.global_get(layout.pid()).call(layout.tick()).local_tee(0).i32_const(0).i32_ge_s();
    code.if_(EMPTY).local_get(0).global_set(layout.counter()).return_().end();
    unless_left(&mut f, 0);
    let mut code = f.instructions();
    code.global_get(layout.pid()).local_get(0).call(layout.wait()).i32_const(ENDED).i32_eq();
    code.if_(EMPTY).unreachable().end().i32_const(TURN).global_set(layout.counter()).end();
    f
}

/// What stands for `memory.grow`: the same, after the kernel has agreed.
pub(super) fn grow(layout: &Layout) -> Function {
    let mut f = Function::new([]);
    let mut code = f.instructions();
    code.global_get(layout.pid()).memory_size(0).local_get(0).call(layout.may_grow());
    code.if_(BlockType::Result(ValType::I32)).local_get(0).memory_grow(0).else_().i32_const(-1).end().end();
    f
}

/// What stands before `memory.fill` and `memory.copy`, which take their time: one check for each piece of memory that takes as
/// long as one. Answers the length that it was given.
pub(super) fn charge(layout: &Layout) -> Function {
    let mut f = Function::new([]);
    let mut code = f.instructions();
    code.global_get(layout.counter()).local_get(0).i32_const(CHARGED).i32_shr_u().i32_sub();
    code.global_set(layout.counter()).global_get(layout.counter()).i32_const(0).i32_lt_s();
    code.if_(EMPTY).call(layout.check()).end().local_get(0).end();
    f
}

/// The check itself, which stands at loop headers and function entries.
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
