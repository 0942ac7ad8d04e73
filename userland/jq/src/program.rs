//! Compiler from the text of a program and its modules to jaq.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jaq_core::load::{Arena, File, Loader};

use crate::builtins;
use crate::run::Kind;
use crate::syntax::{Def, Definitions, Dependency, Parsed, Parser, Scope, Term, constant, keep};
use crate::value::Val;

/// A compiled program.
pub(crate) struct Program {
    pub(crate) filter: jaq_core::Filter<Kind>,
    /// The values of global variables.
    pub(crate) globals: Vec<Val>,
}

/// Input of the compiler.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub(crate) text: String,
    /// The base directory of relative library paths.
    pub(crate) origin: PathBuf,
    pub(crate) libraries: &'a [String],
    /// Global variables without their dollar.
    pub(crate) globals: Vec<(String, Val)>,
}

/// Name of the main program in messages.
const TOP: &str = "<top-level>";
/// The name of the definition that contains the program.
const MAIN: &str = "__main__";

/// Compiler state.
struct Assembly<'a> {
    libraries: &'a [String],
    /// Modules by file.
    modules: Vec<(PathBuf, Definitions)>,
    /// Files being read, to detect import cycles.
    open: Vec<PathBuf>,
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
pub(crate) fn compile(source: Source<'_>) -> Result<Program, Vec<String>> {
    let mut assembly = Assembly {
        libraries: source.libraries,
        modules: Vec::new(),
        open: Vec::new(),
        definitions: Vec::new(),
        names: Vec::new(),
        values: Vec::new(),
        native: HashSet::new(),
        defined: HashSet::new(),
        messages: Vec::new(),
    };
    let mut scope = Scope::default();
    for (name, value) in source.globals {
        let name = keep(format!("${name}"));
        scope.add_variable(name);
        assembly.names.push(name);
        assembly.values.push(value);
    }
    assembly.include_own_file(&mut scope);
    let parsed = assembly.read(source.text, "", TOP, &source.origin, &mut scope, true);
    if !assembly.messages.is_empty() {
        return Err(assembly.messages);
    }
    assembly.definitions.push(Def { name: MAIN, args: Vec::new(), body: parsed.main.unwrap_or_default() });
    assembly.finish()
}

impl Assembly<'_> {
    /// Compiles a text and its imports. A program ends with a term, a module does not.
    fn read(
        &mut self,
        text: String,
        prefix: &str,
        file: &'static str,
        folder: &Path,
        scope: &mut Scope,
        is_program: bool,
    ) -> Parsed {
        let text = keep(text);
        let mut parser = Parser::new(text, prefix, file, scope);
        let mut parsed = parser.head();
        if parser.errors.is_empty() {
            for dependency in std::mem::take(&mut parsed.dependencies) {
                self.import(&dependency, folder, parser.scope);
                parsed.dependencies.push(dependency);
            }
            if is_program { parser.program(&mut parsed) } else { parser.module(&mut parsed) }
        }
        let (errors, calls) = (std::mem::take(&mut parser.errors), std::mem::take(&mut parser.calls));
        for wrong in &errors {
            self.messages.push(located(&wrong.message, text, wrong.at, file));
        }
        if errors.is_empty() {
            for (name, arity, at) in calls {
                if let Err(message) = self.call(name, arity) {
                    self.messages.push(located(&message, text, at, file));
                }
            }
        }
        parsed
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
            let mut parser = Parser::new(text, "", TOP, &mut scope);
            let mut parsed = Parsed::default();
            parser.module(&mut parsed);
            if let Some(wrong) = parser.errors.first() {
                return Err(format!("the definition of {name}/{arity} is wrong: {}", wrong.message));
            }
            for (name, arity, _) in std::mem::take(&mut parser.calls) {
                self.call(name, arity)?;
            }
            self.definitions.append(&mut parsed.definitions);
            return Ok(());
        }
        if builtins::is_native(name, arity) {
            self.native.insert((name, arity));
            return Ok(());
        }
        Err(format!("{name}/{arity} is not defined"))
    }

    fn fail(&mut self, message: String) {
        self.messages.push(message);
    }

    /// Adds the imports of a text to its scope.
    fn import(&mut self, dependency: &Dependency, folder: &Path, scope: &mut Scope) {
        let data = dependency.name.as_deref().and_then(|name| name.strip_prefix('$'));
        let extension = if data.is_some() { "json" } else { "jq" };
        let Some(file) = self.find(dependency, folder, extension) else {
            self.fail(format!("jq: error: module not found: {}\n", dependency.path));
            return;
        };
        if let Some(name) = data {
            match std::fs::read(&file)
                .map_err(|error| tidebox_gnu::message::error_text(&error))
                .and_then(|text| crate::json::parse_all(&text))
            {
                Ok(values) => self.bind_data(name, Val::array(values), scope),
                Err(message) => self.fail(format!("jq: error: {}: {message}\n", file.display())),
            }
            return;
        }
        let Some(definitions) = self.module(&file) else {
            return;
        };
        match &dependency.name {
            Some(name) => {
                // If several modules share a name, the first one with a definition is used.
                let known = scope.modules.entry(name.clone()).or_default();
                for (key, called) in definitions {
                    known.entry(key).or_insert(called);
                }
            }
            None => {
                for ((name, arity), called) in definitions {
                    scope.add_filter(keep(name), arity, called);
                }
            }
        }
    }

    /// Data is available under its name, and under the doubled name as if it were in a module.
    fn bind_data(&mut self, name: &str, value: Val, scope: &mut Scope) {
        for name in [format!("${name}"), format!("${name}::{name}")] {
            let name = keep(name);
            scope.add_variable(name);
            self.names.push(name);
            self.values.push(value.clone());
        }
    }

    /// The definitions of a module, loaded on first use.
    fn module(&mut self, file: &Path) -> Option<Definitions> {
        if let Some((_, definitions)) = self.modules.iter().find(|(known, _)| known == file) {
            return Some(definitions.clone());
        }
        if self.open.iter().any(|open| open == file) {
            self.fail(format!("jq: error: {} imports itself\n", file.display()));
            return None;
        }
        let text = match std::fs::read(file) {
            Ok(text) => String::from_utf8_lossy(&text).into_owned(),
            Err(error) => {
                let reason = tidebox_gnu::message::error_text(&error);
                self.fail(format!("jq: error: Could not open {}: {reason}\n", file.display()));
                return None;
            }
        };
        self.open.push(file.to_owned());
        let prefix = format!("!{}!", self.modules.len() + self.open.len());
        let name = keep(file.display().to_string());
        let folder = file.parent().unwrap_or(Path::new(".")).to_owned();
        let mut scope = Scope::default();
        let mut parsed = self.read(text, &prefix, name, &folder, &mut scope, false);
        self.open.pop();
        let own = parsed.definitions.iter().map(|def| {
            let name = def.name.strip_prefix(&prefix).unwrap_or(def.name);
            ((name.to_owned(), def.args.len()), def.name)
        });
        let definitions: Definitions = own.collect();
        self.definitions.append(&mut parsed.definitions);
        self.modules.push((file.to_owned(), definitions.clone()));
        Some(definitions)
    }

    fn find(&self, dependency: &Dependency, folder: &Path, extension: &str) -> Option<PathBuf> {
        let searched = dependency.meta.as_ref().map(search_of).unwrap_or_default();
        let mut folders: Vec<PathBuf> = searched.iter().map(|path| folder.join(path)).collect();
        folders.extend(self.libraries.iter().map(|library| expanded(library, folder)));
        find_module(&dependency.path, &folders, extension)
    }

    /// If `~/.jq` is a file, its definitions are available to every program.
    fn include_own_file(&mut self, scope: &mut Scope) {
        let Some(file) = home().map(|home| home.join(".jq")).filter(|file| file.is_file()) else {
            return;
        };
        for ((name, arity), called) in self.module(&file).unwrap_or_default() {
            scope.add_filter(keep(name), arity, called);
        }
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
fn located(message: &str, text: &str, at: usize, file: &str) -> String {
    let before = text.get(..at).unwrap_or_default();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..).unwrap_or_default();
    let line = line.split('\n').next().unwrap_or_default();
    let number = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    format!("jq: error: {message} at {file}, line {number}:\n{line}{}", " ".repeat(at - start))
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// A library path: `~` is the home, `$ORIGIN` the directory of jq; relative paths start from a base directory.
fn expanded(library: &str, folder: &Path) -> PathBuf {
    if let Some(rest) = library.strip_prefix('~')
        && let Some(home) = home()
    {
        return home.join(rest.trim_start_matches('/'));
    }
    if let Some(rest) = library.strip_prefix("$ORIGIN") {
        return Path::new("/bin").join(rest.trim_start_matches('/'));
    }
    folder.join(library)
}

/// `name.jq` or `name/name.jq` in the first directory that contains it.
fn find_module(name: &str, folders: &[PathBuf], extension: &str) -> Option<PathBuf> {
    let last = name.rsplit('/').next().unwrap_or(name);
    let candidates = folders.iter().flat_map(|folder| {
        let file = folder.join(format!("{name}.{extension}"));
        let inner = folder.join(name).join(format!("{last}.{extension}"));
        [file, inner]
    });
    candidates.into_iter().find(|file| file.is_file())
}

/// Search path of an import.
fn search_of(meta: &Term) -> Vec<String> {
    match constant(meta) {
        Some(meta) => match meta.get(&Val::text("search")) {
            Ok(Val::String(path)) => vec![path.to_string()],
            Ok(Val::Array(paths)) => paths.0.iter().filter_map(|path| path.as_str().map(str::to_owned)).collect(),
            _ => Vec::new(),
        },
        None => Vec::new(),
    }
}
