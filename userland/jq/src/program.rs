//! Compiler from the text of a program to jaq.

use std::collections::HashSet;

use jaq_core::load::{Arena, File, Loader};

use crate::builtins;
use crate::run::Kind;
use crate::syntax::{Def, Parser, Scope, Term, keep};
use crate::value::Val;

/// A compiled program.
pub(crate) struct Program {
    pub(crate) filter: jaq_core::Filter<Kind>,
    /// The values of global variables.
    pub(crate) globals: Vec<Val>,
}

/// Input of the compiler.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) text: String,
    /// Global variables without their dollar.
    pub(crate) globals: Vec<(String, Val)>,
}

/// Name of the main program in messages.
const TOP: &str = "<top-level>";
/// The name of the definition that contains the program.
const MAIN: &str = "__main__";

/// Compiler state.
#[derive(Default)]
struct Assembly {
    /// Definitions for jaq, each after its dependencies.
    definitions: Vec<Def>,
    names: Vec<&'static str>,
    values: Vec<Val>,
    /// Native filters in use.
    native: HashSet<(&'static str, usize)>,
    /// Builtin definitions that are compiled or in progress.
    defined: HashSet<(&'static str, usize)>,
    messages: Vec<String>,
}

/// Compiles a program. The messages of an error are complete except for the last line, which counts them.
pub(crate) fn compile(source: Source) -> Result<Program, Vec<String>> {
    let mut assembly = Assembly::default();
    let mut scope = Scope::default();
    for (name, value) in source.globals {
        let name = keep(format!("${name}"));
        scope.add_variable(name);
        assembly.names.push(name);
        assembly.values.push(value);
    }
    let main = assembly.read(source.text, &mut scope);
    if !assembly.messages.is_empty() {
        return Err(assembly.messages);
    }
    assembly.definitions.push(Def { name: MAIN, args: Vec::new(), body: main.unwrap_or_default() });
    assembly.finish()
}

impl Assembly {
    /// Parses the program.
    fn read(&mut self, text: String, scope: &mut Scope) -> Option<Term> {
        let text = keep(text);
        let mut parser = Parser::new(text, scope);
        let main = parser.program();
        let (errors, calls) = (parser.errors, parser.calls);
        for wrong in &errors {
            self.messages.push(located(&wrong.message, text, wrong.at));
        }
        if errors.is_empty() {
            for (name, arity, at) in calls {
                if let Err(message) = self.call(name, arity) {
                    self.messages.push(located(&message, text, at));
                }
            }
        }
        main
    }

    /// Reports a call of an undefined filter, or of a variable (without an arity).
    fn call(&mut self, name: &'static str, arity: usize) -> Result<(), String> {
        if arity == usize::MAX {
            return Err(format!("{name} is not defined"));
        }
        if self.defined.contains(&(name, arity)) || self.native.contains(&(name, arity)) {
            return Ok(());
        }
        if let Some((_, _, text)) = builtins::definition(name, arity) {
            self.defined.insert((name, arity));
            let mut scope = Scope::trusting();
            let mut parser = Parser::new(text, &mut scope);
            let mut definitions = parser.builtin_definitions();
            if let Some(wrong) = parser.errors.first() {
                return Err(format!("the definition of {name}/{arity} is wrong: {}", wrong.message));
            }
            for (name, arity, _) in std::mem::take(&mut parser.calls) {
                self.call(name, arity)?;
            }
            self.definitions.append(&mut definitions);
            return Ok(());
        }
        if builtins::is_native(name, arity) {
            self.native.insert((name, arity));
            return Ok(());
        }
        Err(format!("{name}/{arity} is not defined"))
    }

    /// Compiles everything with jaq.
    fn finish(self) -> Result<Program, Vec<String>> {
        let internal = |what: &str| vec![format!("jq: error: {what}\n")];
        let arena = Arena::default();
        let loader = Loader::new(self.definitions);
        let modules =
            loader.load(&arena, File { code: MAIN, path: () }).map_err(|_| internal("program cannot be loaded"))?;
        let native = self.native;
        let always = |name: &str| name.starts_with(['!', '@']) || matches!(name, "true" | "false" | "null");
        let filters = builtins::filters(|name, arity| always(name) || native.contains(&(name, arity)));
        let compiler = jaq_core::Compiler::default().with_funs(filters).with_global_vars(self.names);
        let filter = compiler.compile(modules).map_err(|errors| {
            let names = errors.iter().flat_map(|(_, errors)| errors.iter().map(|(name, _)| *name));
            internal(&format!("{} is not defined", names.collect::<Vec<_>>().join(", ")))
        })?;
        Ok(Program { filter, globals: self.values })
    }
}

/// A message with its position and source line, followed by as many spaces as precede the position.
fn located(message: &str, text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..).unwrap_or_default();
    let line = line.split('\n').next().unwrap_or_default();
    let number = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    format!("jq: error: {message} at {TOP}, line {number}:\n{line}{}", " ".repeat(at - start))
}
