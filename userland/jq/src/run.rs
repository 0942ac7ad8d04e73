//! Program execution: the context of filters and the handling of outputs.

use std::cell::RefCell;
use std::io::{self, Write};

use jaq_core::data::HasLut;
use jaq_core::{Ctx, DataT, Lut, Vars};

use crate::builtins::Patterns;
use crate::input::Inputs;
use crate::json::{Layout, write};
use crate::program::Program;
use crate::value::{Result, Val, fault, with_jq_message};
use tidebox_gnu::exit::print;

/// The data type for jaq.
#[derive(Debug)]
pub(crate) struct Kind;

impl DataT for Kind {
    type V<'a> = Val;
    type Data<'a> = Scene<'a>;
}

/// Context of native filters: the program's terms and its environment.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    lut: &'a Lut<Kind>,
    world: &'a World,
}

impl<'a> HasLut<'a, Kind> for Scene<'a> {
    fn lut(&self) -> &'a Lut<Kind> {
        self.lut
    }
}

impl<'a> Scene<'a> {
    pub(crate) fn world(&self) -> &'a World {
        self.world
    }
}

/// Environment of a program besides its input.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) inputs: RefCell<Inputs>,
    pub(crate) patterns: RefCell<Patterns>,
    pub(crate) out: RefCell<Output>,
}

impl World {
    pub(crate) fn input(&self) -> Result<Option<Val>> {
        self.inputs.borrow_mut().next().map_err(fault)
    }

    pub(crate) fn line(&self) -> usize {
        self.inputs.borrow().line()
    }

    pub(crate) fn file_name(&self) -> Val {
        self.inputs.borrow().file_name().map_or(Val::Null, Val::text)
    }

    /// Writes to standard error, after pending output.
    pub(crate) fn print_error(&self, text: &str) {
        self.out.borrow_mut().flush();
        // Ignore the error: a closed stderr leaves no way to report it.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// Output format.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) layout: Layout,
    pub(crate) raw: bool,
    /// Text after each output.
    pub(crate) end: &'static str,
    pub(crate) unbuffered: bool,
}

/// Standard output.
#[derive(Debug)]
pub(crate) struct Output {
    pending: Vec<u8>,
    error: Option<io::Error>,
}

/// Output buffer size in bytes.
const MAX_PENDING: usize = 32 << 10;

impl Output {
    pub(crate) fn new() -> Self {
        Self { pending: Vec::new(), error: None }
    }

    fn put(&mut self, text: &str) {
        self.pending.extend_from_slice(text.as_bytes());
        if self.pending.len() >= MAX_PENDING {
            self.flush();
        }
    }

    pub(crate) fn flush(&mut self) {
        if self.error.is_none() {
            self.error = print(&self.pending).err();
        }
        self.pending.clear();
    }

    /// The write error, if one occurred.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }
}

/// Result of a program for one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// No output.
    Silent,
    /// The last output was `false` or `null`.
    False,
    /// The last output was any other value.
    True,
    /// An error was reported.
    Error,
    /// The program requested this exit code.
    Halt(i32),
}

/// Runs a program for one input.
pub(crate) fn run(program: &Program, world: &World, form: &Form, input: Val) -> End {
    let scene = Scene { lut: &program.filter.lut, world };
    let context = Ctx::<Kind>::new(scene, Vars::new(program.globals.iter().cloned()));
    let mut end = End::Silent;
    for output in program.filter.id.run::<Kind>((context, input)) {
        let value = match output {
            Ok(value) => value,
            Err(exception) => return ended(exception, world),
        };
        end = if value.truth() { End::True } else { End::False };
        if let Err(message) = put(&value, world, form) {
            report_error(world, &Val::from(message));
            return End::Error;
        }
        if world.out.borrow().error.is_some() {
            return end;
        }
    }
    end
}

fn put(value: &Val, world: &World, form: &Form) -> std::result::Result<(), String> {
    let mut text = String::new();
    match value {
        Val::String(string) if form.raw && !form.layout.ascii => {
            if form.end == "\0" && string.contains('\0') {
                return Err("Cannot dump a string containing NUL with --raw-output0 option".to_owned());
            }
            text.push_str(string);
        }
        value => write(&mut text, value, &form.layout),
    }
    text.push_str(form.end);
    let mut out = world.out.borrow_mut();
    out.put(&text);
    if form.unbuffered {
        out.flush();
    }
    Ok(())
}

fn ended(exception: jaq_core::Exn<'_, Val>, world: &World) -> End {
    let exception = match exception.get_halt() {
        Ok(code) => return End::Halt(code),
        Err(exception) => exception,
    };
    match exception.get_err() {
        Ok(error) => report_error(world, &with_jq_message(error.into_val())),
        Err(_) => report_error(world, &Val::text("break")),
    }
    End::Error
}

fn report_error(world: &World, error: &Val) {
    let place = world.inputs.borrow().place();
    let message = match error {
        Val::String(text) => format!("jq: error (at {place}): {text}\n"),
        value => format!("jq: error (at {place}) (not a string): {}\n", value.json()),
    };
    world.print_error(&message);
}
