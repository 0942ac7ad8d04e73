//! Translation of error numbers from WASI to Linux in an interpreter compiled with those of WASI.
//!
//! Few functions convert an error number to a number of the language: those that create an exception, fill the module `errno`, or
//! assign numbers to exception types. These calls are redirected to an added function, which translates the number.

use std::collections::BTreeMap;

use wasm_encoder::{CodeSection, Encode as _, Function, FunctionSection, Instruction, MemArg, MemArgTarget};
use wasmparser::{BinaryReader, CodeSectionReader, FunctionBody, FunctionSectionReader, Operator};

/// The argument of a function that contains the number.
#[derive(Clone, Copy, Debug)]
enum ErrnoArgument {
    /// As its only argument.
    Alone,
    /// The first of the variable arguments, which the last of this many arguments points to.
    FirstOfMany(u32),
}

/// Calls by which numbers leave the interpreter's C code: the caller, the callee and its argument.
const ERRNO_CALLS: [(&str, &str, ErrnoArgument); 5] = [
    ("PyErr_SetFromErrnoWithFilenameObjects", "Py_BuildValue", ErrnoArgument::FirstOfMany(2)),
    ("_set_BlockingIOError", "PyObject_CallFunction", ErrnoArgument::FirstOfMany(3)),
    ("_PyExc_InitState", "PyLong_FromLong", ErrnoArgument::Alone),
    ("errno_exec", "PyLong_FromLong", ErrnoArgument::Alone),
    ("_add_errcode", "PyLong_FromLong", ErrnoArgument::Alone),
];

/// Comparisons of C code with the number of an exception that a program may have created: a function and the number.
const ERRNO_CHECKS: [(&str, i32); 1] = [("_PyIO_trap_eintr", 27)];

/// The Linux number of each WASI number.
const LINUX: [i32; 77] = [
    0, 7, 13, 98, 99, 97, 11, 114, 9, 74, 16, 125, 10, 103, 111, 104, 35, 89, 33, 122, 17, 14, 27, 113, 43, 84, 115, 4,
    22, 5, 106, 21, 40, 24, 31, 90, 72, 36, 100, 102, 101, 23, 105, 19, 2, 8, 37, 67, 12, 42, 92, 28, 38, 107, 20, 39,
    131, 88, 95, 25, 6, 75, 130, 1, 32, 71, 93, 91, 34, 30, 29, 3, 116, 110, 26, 18, 1,
];

/// Indices of those functions in a module.
#[derive(Debug, Default)]
pub(super) struct PatchTargets {
    by_name: BTreeMap<&'static str, u32>,
    imported: u32,
}

impl PatchTargets {
    /// Records a function if it is one of them.
    pub(super) fn record(&mut self, name: &str, index: u32) {
        let errno_calls = ERRNO_CALLS.iter().flat_map(|(from, called, _)| [from, called]);
        if let Some(known) = errno_calls.chain(ERRNO_CHECKS.iter().map(|(name, _)| name)).find(|known| **known == name)
        {
            self.by_name.insert(known, index);
        }
    }

    /// Records the number of imported functions, which precede the module's own.
    pub(super) fn imports(&mut self, functions: u32) {
        self.imported = functions;
    }

    /// Returns the pairs of functions that exist, and the argument.
    fn errno_calls(&self) -> impl Iterator<Item = (u32, u32, ErrnoArgument)> {
        ERRNO_CALLS.iter().filter_map(|(from, called, argument_kind)| {
            Some((*self.by_name.get(from)?, *self.by_name.get(called)?, *argument_kind))
        })
    }

    /// Returns the function section with the added functions at its end.
    pub(super) fn functions(&self, section: &[u8]) -> wasmparser::Result<FunctionSection> {
        let types: Vec<u32> =
            FunctionSectionReader::new(BinaryReader::new(section, 0))?.into_iter().collect::<Result<_, _>>()?;
        let mut functions = FunctionSection::new();
        types.iter().for_each(|kind| {
            functions.function(*kind);
        });
        for (_, called, _) in self.errno_calls() {
            // A replacement has the type of the original function. An import is not a function of the interpreter.
            let kind = called.checked_sub(self.imported).and_then(|at| types.get(at as usize));
            functions.function(kind.copied().unwrap_or_default());
        }
        Ok(functions)
    }

    /// Returns the code section with the added functions at its end and the calls redirected to them.
    pub(super) fn code(&self, section: &[u8]) -> wasmparser::Result<CodeSection> {
        let bodies = CodeSectionReader::new(BinaryReader::new(section, 0))?;
        let first_added = self.imported.saturating_add(bodies.count());
        let mut code = CodeSection::new();
        for (index, body) in (self.imported..).zip(bodies) {
            let body = body?;
            let mut replaced = Vec::new();
            for ((from, called, _), translator) in self.errno_calls().zip(first_added..) {
                if from == index {
                    replaced.push((Operator::Call { function_index: called }, Instruction::Call(translator)));
                }
            }
            for (name, number) in ERRNO_CHECKS {
                if self.by_name.get(name) == Some(&index) {
                    replaced.push((Operator::I32Const { value: number }, Instruction::I32Const(linux(number))));
                }
            }
            if replaced.is_empty() {
                code.raw(body.as_bytes());
            } else {
                code.raw(&with_replaced(section, &body, &replaced)?);
            }
        }
        for (_, called, argument_kind) in self.errno_calls() {
            code.function(&translator_function(called, argument_kind));
        }
        Ok(code)
    }
}

fn linux(number: i32) -> i32 {
    usize::try_from(number).ok().and_then(|at| LINUX.get(at)).copied().unwrap_or(number)
}

/// Returns a function body with some instructions replaced.
fn with_replaced(
    section: &[u8],
    body: &FunctionBody<'_>,
    replaced: &[(Operator<'_>, Instruction<'_>)],
) -> wasmparser::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut done = body.range().start;
    let mut operators = body.get_operators_reader()?;
    while !operators.eof() {
        let start = operators.original_position();
        let operator = operators.read()?;
        if let Some((_, other)) = replaced.iter().find(|(original, _)| *original == operator) {
            bytes.extend_from_slice(between(section, done, start));
            other.encode(&mut bytes);
            done = operators.original_position();
        }
    }
    bytes.extend_from_slice(between(section, done, body.range().end));
    Ok(bytes)
}

fn between(section: &[u8], start: u64, end: u64) -> &[u8] {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    range.and_then(|(start, end)| section.get(start..end)).unwrap_or_default()
}

/// Creates a function that translates the number to Linux's and calls the original function.
fn translator_function(called: u32, argument_kind: ErrnoArgument) -> Function {
    let memory_argument = MemArg { offset: 0, align: 2, target: MemArgTarget::default(), ordering: None };
    let arguments = if let ErrnoArgument::FirstOfMany(arguments) = argument_kind { arguments } else { 1 };
    let (local, number) = (arguments.saturating_sub(1), arguments);
    let mut function = Function::new([(1, wasm_encoder::ValType::I32)]);
    function.instruction(&Instruction::LocalGet(local));
    if let ErrnoArgument::FirstOfMany(_) = argument_kind {
        function.instruction(&Instruction::I32Load(memory_argument));
    }
    function.instruction(&Instruction::LocalSet(number));
    for (wasi, linux) in (0..).zip(LINUX) {
        function.instruction(&Instruction::LocalGet(number));
        function.instruction(&Instruction::I32Const(wasi));
        function.instruction(&Instruction::I32Eq);
        function.instruction(&Instruction::If(wasm_encoder::BlockType::Empty));
        match argument_kind {
            ErrnoArgument::Alone => {
                function.instruction(&Instruction::I32Const(linux));
                function.instruction(&Instruction::LocalSet(local));
            }
            ErrnoArgument::FirstOfMany(_) => {
                function.instruction(&Instruction::LocalGet(local));
                function.instruction(&Instruction::I32Const(linux));
                function.instruction(&Instruction::I32Store(memory_argument));
            }
        }
        function.instruction(&Instruction::End);
    }
    for argument in 0..arguments {
        function.instruction(&Instruction::LocalGet(argument));
    }
    function.instruction(&Instruction::Call(called));
    function.instruction(&Instruction::End);
    function
}
