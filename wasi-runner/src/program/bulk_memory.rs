//! Checks on guest-supplied programs, and rewriting of their bulk memory instructions into chunks.
//!
//! One `memory.fill` or `memory.copy` over all of a guest's memory takes a tenth of a second and cannot be interrupted.
//! Each is therefore replaced by a call of a function that works in chunks of one mebibyte, in a loop that checks the
//! epoch.

use std::convert::Infallible;

use tidebox_kernel::program_limits;
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{BlockType, CodeSection, Function, FunctionSection, Instruction as I, Module, TypeSection, ValType};
use wasmparser::{
    BinaryReader, CodeSectionReader, FunctionSectionReader, Operator, Parser, Payload, TypeSectionReader,
};

use super::LoadError;

/// Maximum bytes moved by one instruction.
const CHUNK_BYTES: i32 = 1 << 20;

/// Section ids in a component: a core module, and a nested component.
const MODULE: u8 = 1;
const COMPONENT: u8 = 4;

/// Header size of a module or a component in bytes.
const HEAD_BYTES: usize = 8;

/// Maximum nesting depth of components; Wasmtime permits fewer.
const MAX_COMPONENT_DEPTH: u32 = 100;

/// Rewrites a guest-supplied program for compilation. The bytes need not be valid: the compiler, which gets only what
/// was parsed here, rejects the rest.
pub(super) fn check_and_rewrite(wasm: &[u8], is_component: bool) -> Result<Vec<u8>, LoadError> {
    if is_component { component(wasm, MAX_COMPONENT_DEPTH) } else { module(wasm) }
}

fn too_large(reason: program_limits::TooLarge) -> LoadError {
    LoadError(reason.to_string())
}

fn invalid(what: &str, reason: &dyn std::fmt::Display) -> LoadError {
    LoadError(format!("not a valid WebAssembly {what}: {reason}"))
}

/// Copies everything except the nested modules unchanged.
fn component(wasm: &[u8], within: u32) -> Result<Vec<u8>, LoadError> {
    let deep = || LoadError("components are nested too deeply".to_owned());
    let within = within.checked_sub(1).ok_or_else(deep)?;
    let read = |error: wasmparser::BinaryReaderError| invalid("component", &error);
    let head = wasm.get(..HEAD_BYTES).ok_or_else(|| invalid("component", &"unexpected end"))?;
    let mut out = head.to_vec();
    let mut reader = BinaryReader::new(wasm.get(HEAD_BYTES..).unwrap_or_default(), 0);
    while !reader.eof() {
        let id = reader.read_u8().map_err(read)?;
        let len = reader.read_var_u32().map_err(read)?;
        let body = reader.read_bytes(len as usize).map_err(read)?;
        let changed = match id {
            MODULE => Some(module(body)?),
            COMPONENT => Some(component(body, within)?),
            _ => None,
        };
        let body = changed.as_deref().unwrap_or(body);
        out.push(id);
        let len = u32::try_from(body.len()).map_err(|_| invalid("component", &"a section is too long"))?;
        wasm_encoder::Encode::encode(&len, &mut out);
        out.extend_from_slice(body);
    }
    Ok(out)
}

fn module(wasm: &[u8]) -> Result<Vec<u8>, LoadError> {
    let found = scan_module(wasm)?;
    if !found.bulk {
        return Ok(wasm.to_vec());
    }
    let mut out = Module::new();
    let mut rewriter = BulkRewriter { ty: found.types, fill: found.functions, copy: found.functions.saturating_add(1) };
    rewriter.parse_core_module(&mut out, Parser::new(0), wasm).map_err(|error| invalid("module", &error))?;
    Ok(out.finish())
}

/// Facts about a module that are needed before it is rewritten.
#[derive(Default)]
struct ModuleInfo {
    types: u32,
    functions: u32,
    memories: u32,
    /// True if it contains a bulk memory instruction.
    bulk: bool,
}

fn scan_module(wasm: &[u8]) -> Result<ModuleInfo, LoadError> {
    let read = |error: wasmparser::BinaryReaderError| invalid("module", &error);
    let mut found = ModuleInfo::default();
    for payload in Parser::new(0).parse_all(wasm) {
        match payload.map_err(read)? {
            Payload::TypeSection(groups) => {
                for group in groups {
                    let types = u32::try_from(group.map_err(read)?.types().len()).unwrap_or(u32::MAX);
                    found.types = found.types.saturating_add(types);
                }
            }
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    match import.map_err(read)?.ty {
                        wasmparser::TypeRef::Func(_) | wasmparser::TypeRef::FuncExact(_) => found.functions += 1,
                        wasmparser::TypeRef::Memory(memory) => found.memory(&memory)?,
                        _ => {}
                    }
                }
            }
            Payload::MemorySection(memories) => {
                for memory in memories {
                    found.memory(&memory.map_err(read)?)?;
                }
            }
            Payload::FunctionSection(functions) => {
                found.functions = found.functions.saturating_add(functions.count());
                program_limits::check_function_count(functions.count()).map_err(too_large)?;
            }
            Payload::CodeSectionEntry(body) => {
                program_limits::check_function_size(body.as_bytes().len()).map_err(too_large)?;
                let mut operators = body.get_operators_reader().map_err(read)?;
                while !found.bulk && !operators.eof() {
                    let operator = operators.read().map_err(read)?;
                    found.bulk = matches!(operator, Operator::MemoryFill { .. } | Operator::MemoryCopy { .. });
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

impl ModuleInfo {
    /// preview1 requires one 32-bit memory. So does every core module of a component that uses its memory in the
    /// standard way.
    fn memory(&mut self, memory: &wasmparser::MemoryType) -> Result<(), LoadError> {
        self.memories += 1;
        if self.memories > 1 || memory.memory64 {
            return Err(LoadError(
                "the module has more than one memory, or one of 64 bits; build it for wasm32".into(),
            ));
        }
        Ok(())
    }
}

/// Rewrites a module with calls instead of bulk instructions. The called functions come last, so that the indices of
/// the others do not change.
struct BulkRewriter {
    /// Indices of the type and of the two functions.
    ty: u32,
    fill: u32,
    copy: u32,
}

impl Reencode for BulkRewriter {
    type Error = Infallible;

    fn parse_type_section(&mut self, types: &mut TypeSection, section: TypeSectionReader<'_>) -> Result<(), Error> {
        utils::parse_type_section(self, types, section)?;
        types.ty().function([ValType::I32; 3], []);
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        utils::parse_function_section(self, functions, section)?;
        functions.function(self.ty).function(self.ty);
        Ok(())
    }

    fn parse_code_section(&mut self, code: &mut CodeSection, section: CodeSectionReader<'_>) -> Result<(), Error> {
        utils::parse_code_section(self, code, section)?;
        code.function(&fill()).function(&copy());
        Ok(())
    }

    fn instruction<'a>(&mut self, operator: Operator<'a>) -> Result<I<'a>, Error> {
        match operator {
            Operator::MemoryFill { mem: 0 } => Ok(I::Call(self.fill)),
            Operator::MemoryCopy { dst_mem: 0, src_mem: 0 } => Ok(I::Call(self.copy)),
            other => utils::instruction(self, other),
        }
    }
}

const FILL: I<'static> = I::MemoryFill(0);
const COPY: I<'static> = I::MemoryCopy { src_mem: 0, dst_mem: 0 };

/// The arguments as received.
const ALL: [I<'static>; 3] = [I::LocalGet(0), I::LocalGet(1), I::LocalGet(2)];

/// `local = local op CHUNK_BYTES`.
fn step(local: u32, op: I<'static>) -> [I<'static>; 4] {
    [I::LocalGet(local), I::I32Const(CHUNK_BYTES), op, I::LocalSet(local)]
}

/// Emits the original instruction and a return for a short range, or for one that is out of bounds: that traps before
/// any byte is written, as required.
fn emit_short_path(function: &mut Function, op: &I<'static>, addresses: &[u32]) {
    for instruction in [I::LocalGet(2), I::I32Const(CHUNK_BYTES), I::I32LeU] {
        function.instruction(&instruction);
    }
    for address in addresses {
        // The sum and the size do not fit in 32 bits.
        for instruction in [
            I::LocalGet(*address),
            I::I64ExtendI32U,
            I::LocalGet(2),
            I::I64ExtendI32U,
            I::I64Add,
            I::MemorySize(0),
            I::I64ExtendI32U,
            I::I64Const(16),
            I::I64Shl,
            I::I64GtU,
            I::I32Or,
        ] {
            function.instruction(&instruction);
        }
    }
    function.instruction(&I::If(BlockType::Empty));
    ALL.iter().chain([op, &I::Return, &I::End]).for_each(|instruction| {
        function.instruction(instruction);
    });
}

/// Runs `body` while more than one chunk remains, then processes the rest.
fn emit_chunked(function: &mut Function, op: &I<'static>, body: &[I<'static>]) {
    function.instruction(&I::Loop(BlockType::Empty));
    body.iter().for_each(|instruction| {
        function.instruction(instruction);
    });
    for instruction in [I::LocalGet(2), I::I32Const(CHUNK_BYTES), I::I32GtU, I::BrIf(0), I::End] {
        function.instruction(&instruction);
    }
    ALL.iter().chain([op]).for_each(|instruction| {
        function.instruction(instruction);
    });
}

/// `fill(to, value, len)`.
fn fill() -> Function {
    let mut function = Function::new([]);
    emit_short_path(&mut function, &FILL, &[0]);
    let one = [I::LocalGet(0), I::LocalGet(1), I::I32Const(CHUNK_BYTES), FILL];
    emit_chunked(&mut function, &FILL, &[&one[..], &step(0, I::I32Add), &step(2, I::I32Sub)].concat());
    function.instruction(&I::End);
    function
}

/// `copy(to, from, len)`. If the ranges overlap, it starts at the end that would otherwise be overwritten before it is
/// read.
fn copy() -> Function {
    let mut function = Function::new([]);
    emit_short_path(&mut function, &COPY, &[0, 1]);
    for instruction in [I::LocalGet(0), I::LocalGet(1), I::I32LeU, I::If(BlockType::Empty)] {
        function.instruction(&instruction);
    }
    let one = [I::LocalGet(0), I::LocalGet(1), I::I32Const(CHUNK_BYTES), COPY];
    let steps = [&one[..], &step(0, I::I32Add), &step(1, I::I32Add), &step(2, I::I32Sub)].concat();
    emit_chunked(&mut function, &COPY, &steps);
    function.instruction(&I::Else);
    let at = |local| [I::LocalGet(local), I::LocalGet(2), I::I32Add];
    let last = [&step(2, I::I32Sub)[..], &at(0), &at(1), &[I::I32Const(CHUNK_BYTES), COPY]].concat();
    emit_chunked(&mut function, &COPY, &last);
    function.instruction(&I::End).instruction(&I::End);
    function
}

#[cfg(test)]
mod tests {
    use wasmtime::{Engine, Instance, Store};

    use super::*;

    /// One memory of 4 MiB with distinguishable bytes, and both instructions as functions.
    const GUEST: &str = r#"(module
      (import "env" "unused" (func (param i64)))
      (memory (export "memory") 64)
      (func (export "fill") (param i32 i32 i32) (memory.fill (local.get 0) (local.get 1) (local.get 2)))
      (func (export "copy") (param i32 i32 i32) (memory.copy (local.get 0) (local.get 1) (local.get 2)))
      (func (export "grown") (param i32 i32 i32) (drop (memory.grow (i32.const 1)))))"#;

    fn run(engine: &Engine, wasm: &[u8], name: &str, arguments: (u32, u32, u32)) -> (Vec<u8>, bool) {
        let module = wasmtime::Module::new(engine, wasm).expect("the module is valid");
        let mut store = Store::new(engine, ());
        let unused = wasmtime::Func::wrap(&mut store, |_: i64| {});
        let instance = Instance::new(&mut store, &module, &[unused.into()]).expect("it can be created");
        let memory = instance.get_memory(&mut store, "memory").expect("it exists");
        for (at, byte) in memory.data_mut(&mut store).iter_mut().enumerate() {
            *byte = (at % 251) as u8 ^ (at >> 16) as u8;
        }
        let function = instance.get_typed_func::<(u32, u32, u32), ()>(&mut store, name).expect("it is exported");
        let ended = function.call(&mut store, arguments).is_ok();
        (memory.data(&store).to_vec(), ended)
    }

    #[test]
    fn chunked_bulk_instructions_have_the_same_effect() {
        const MIB: u32 = 1 << 20;
        let engine = Engine::default();
        let whole = wat::parse_str(GUEST).expect("the guest is valid");
        let rewriter = check_and_rewrite(&whole, false).expect("it is a program");
        assert_ne!(whole, rewriter);
        for (to, from, len) in [
            (0, 5, 0),
            (7, 100, 1000),
            (0, 0, 4 * MIB),
            (1, 0, 4 * MIB - 1),
            (0, 1, 4 * MIB - 1),
            (3, 5, 3 * MIB + 77),
            (5, 3, 3 * MIB + 77),
            (2 * MIB, 0, 2 * MIB),
            (0, 2 * MIB, MIB + 1),
            (0, 3 * MIB, MIB),
            (3 * MIB, 0, MIB + 1),
            (0, 3 * MIB, MIB + 1),
            (u32::MAX, 0, 2 * MIB),
            (0, u32::MAX, 2 * MIB),
            (5, 5, u32::MAX),
        ] {
            for name in ["fill", "copy", "grown"] {
                let expected = run(&engine, &whole, name, (to, from, len));
                let visited = run(&engine, &rewriter, name, (to, from, len));
                assert!(visited == expected, "{name} {to} {from} {len}: {} {}", visited.1, expected.1);
            }
        }
    }

    #[test]
    fn a_module_without_bulk_instructions_is_unchanged() {
        let wasm = wat::parse_str(r#"(module (func (export "_start")))"#).expect("valid");
        assert_eq!(check_and_rewrite(&wasm, false).expect("it is a program"), wasm);
    }

    #[test]
    fn modules_in_components_have_the_same_limits() {
        let inner = r#"(core module (memory 1) (func (memory.fill (i32.const 0) (i32.const 0) (i32.const 9))))"#;
        let text = format!("(component {inner} (component {inner}))");
        let wasm = wat::parse_str(&text).expect("valid");
        let bounded = check_and_rewrite(&wasm, true).expect("it is a program");
        assert!(bounded.len() > wasm.len() + 100, "{} {}", bounded.len(), wasm.len());
        wasmparser::Validator::new().validate_all(&bounded).expect("the output is valid");
        let many = wat::parse_str("(component (component (core module (memory 1) (memory 1))))").expect("valid");
        assert!(check_and_rewrite(&many, true).is_err());
    }

    #[test]
    fn a_module_over_the_compile_limits_is_rejected_with_a_reason() {
        let long = format!("(module (func {}))", "(drop (i64.const 0x7fff_ffff_ffff_ffff))".repeat(100_000));
        let many = format!("(module {})", "(func)".repeat(200_001));
        for (text, words) in
            [(long.as_str(), "KiB"), (many.as_str(), "functions"), ("(module (memory i64 1))", "64 bits")]
        {
            let error = check_and_rewrite(&wat::parse_str(text).expect("valid"), false).expect_err("it is rejected");
            assert!(error.to_string().contains(words), "{error}");
        }
    }

    #[test]
    fn invalid_modules_are_rejected_without_a_panic() {
        let whole = check_and_rewrite(&wat::parse_str(GUEST).expect("valid"), false).expect("it is a program");
        let component = wat::parse_str("(component (core module (memory 1)) (component))").expect("valid");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            let _ = check_and_rewrite(&damaged, false);
            let _ = check_and_rewrite(&whole[..at], false);
        }
        for at in 0..component.len() {
            let mut damaged = component.clone();
            damaged[at] ^= 1 << (at % 8);
            let _ = check_and_rewrite(&damaged, true);
            let _ = check_and_rewrite(&component[..at], true);
        }
    }
}
