//! Error numbers as programs of Linux know them, in an interpreter that was compiled with those of WASI.
//!
//! An error number becomes a number of the language in few places: where an exception is made of it, where the module `errno` is filled,
//! and where it is noted which number makes which exception. There the call goes to a function of ours instead, which puts the
//! other number in its place.

use std::collections::BTreeMap;

use wasm_encoder::{CodeSection, Encode as _, Function, FunctionSection, Instruction, MemArg, MemArgTarget};
use wasmparser::{BinaryReader, CodeSectionReader, FunctionBody, FunctionSectionReader, Operator};

/// How a function is given the number.
#[derive(Clone, Copy, Debug)]
enum Given {
    /// As its only argument.
    Alone,
    /// As the first of the variable arguments, to which the last of so many arguments points.
    FirstOfMany(u32),
}

/// Where numbers leave the interpreter's C code: a function, and what it calls with them.
const LEAVING: [(&str, &str, Given); 5] = [
    ("PyErr_SetFromErrnoWithFilenameObjects", "Py_BuildValue", Given::FirstOfMany(2)),
    ("_set_BlockingIOError", "PyObject_CallFunction", Given::FirstOfMany(3)),
    ("_PyExc_InitState", "PyLong_FromLong", Given::Alone),
    ("errno_exec", "PyLong_FromLong", Given::Alone),
    ("_add_errcode", "PyLong_FromLong", Given::Alone),
];

/// Where C code looks at the number of an exception that may be a program's own: a function and the number there.
const LOOKED_AT: [(&str, i32); 1] = [("_PyIO_trap_eintr", 27)];

/// The number of Linux for each of WASI.
const LINUX: [i32; 77] = [
    0, 7, 13, 98, 99, 97, 11, 114, 9, 74, 16, 125, 10, 103, 111, 104, 35, 89, 33, 122, 17, 14, 27, 113, 43, 84, 115, 4,
    22, 5, 106, 21, 40, 24, 31, 90, 72, 36, 100, 102, 101, 23, 105, 19, 2, 8, 37, 67, 12, 42, 92, 28, 38, 107, 20, 39,
    131, 88, 95, 25, 6, 75, 130, 1, 32, 71, 93, 91, 34, 30, 29, 3, 116, 110, 26, 18, 1,
];

/// What is found of those functions in a module.
#[derive(Debug, Default)]
pub(super) struct Places {
    by_name: BTreeMap<&'static str, u32>,
    imported: u32,
}

impl Places {
    /// Notes a function when it is one of them.
    pub(super) fn note(&mut self, name: &str, index: u32) {
        let leaving = LEAVING.iter().flat_map(|(from, called, _)| [from, called]);
        if let Some(known) = leaving.chain(LOOKED_AT.iter().map(|(name, _)| name)).find(|known| **known == name) {
            self.by_name.insert(known, index);
        }
    }

    /// Notes how many functions the module imports, which come before its own.
    pub(super) fn imports(&mut self, functions: u32) {
        self.imported = functions;
    }

    /// The pairs of functions that are there, and what is called.
    fn leaving(&self) -> impl Iterator<Item = (u32, u32, Given)> {
        LEAVING
            .iter()
            .filter_map(|(from, called, given)| Some((*self.by_name.get(from)?, *self.by_name.get(called)?, *given)))
    }

    /// The section of functions with ours at its end.
    pub(super) fn functions(&self, section: &[u8]) -> wasmparser::Result<FunctionSection> {
        let types: Vec<u32> =
            FunctionSectionReader::new(BinaryReader::new(section, 0))?.into_iter().collect::<Result<_, _>>()?;
        let mut functions = FunctionSection::new();
        types.iter().for_each(|kind| {
            functions.function(*kind);
        });
        for (_, called, _) in self.leaving() {
            // What stands in for a function is of its type. One that is imported is none of the interpreter's.
            let kind = called.checked_sub(self.imported).and_then(|at| types.get(at as usize));
            functions.function(kind.copied().unwrap_or_default());
        }
        Ok(functions)
    }

    /// The section of code with ours at its end, called where the interpreter's own functions were.
    pub(super) fn code(&self, section: &[u8]) -> wasmparser::Result<CodeSection> {
        let bodies = CodeSectionReader::new(BinaryReader::new(section, 0))?;
        let first_of_ours = self.imported.saturating_add(bodies.count());
        let mut code = CodeSection::new();
        for (index, body) in (self.imported..).zip(bodies) {
            let body = body?;
            let mut replaced = Vec::new();
            for ((from, called, _), ours) in self.leaving().zip(first_of_ours..) {
                if from == index {
                    replaced.push((Operator::Call { function_index: called }, Instruction::Call(ours)));
                }
            }
            for (name, number) in LOOKED_AT {
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
        for (_, called, given) in self.leaving() {
            code.function(&translating(called, given));
        }
        Ok(code)
    }
}

fn linux(number: i32) -> i32 {
    usize::try_from(number).ok().and_then(|at| LINUX.get(at)).copied().unwrap_or(number)
}

/// The bytes of a function with some of its instructions replaced.
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
        if let Some((_, other)) = replaced.iter().find(|(wanted, _)| *wanted == operator) {
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

/// A function that puts the number of Linux in the place of the other and calls what was to be called.
fn translating(called: u32, given: Given) -> Function {
    let there = MemArg { offset: 0, align: 2, target: MemArgTarget::default(), ordering: None };
    let arguments = if let Given::FirstOfMany(arguments) = given { arguments } else { 1 };
    let (place, number) = (arguments.saturating_sub(1), arguments);
    let mut function = Function::new([(1, wasm_encoder::ValType::I32)]);
    function.instruction(&Instruction::LocalGet(place));
    if let Given::FirstOfMany(_) = given {
        function.instruction(&Instruction::I32Load(there));
    }
    function.instruction(&Instruction::LocalSet(number));
    for (wasi, linux) in (0..).zip(LINUX) {
        function.instruction(&Instruction::LocalGet(number));
        function.instruction(&Instruction::I32Const(wasi));
        function.instruction(&Instruction::I32Eq);
        function.instruction(&Instruction::If(wasm_encoder::BlockType::Empty));
        match given {
            Given::Alone => {
                function.instruction(&Instruction::I32Const(linux));
                function.instruction(&Instruction::LocalSet(place));
            }
            Given::FirstOfMany(_) => {
                function.instruction(&Instruction::LocalGet(place));
                function.instruction(&Instruction::I32Const(linux));
                function.instruction(&Instruction::I32Store(there));
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
