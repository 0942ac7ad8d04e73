//! ES modules: the engine asks JavaScript where a module is and what it contains.

use std::cell::RefCell;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Function, Module, Object, Persistent, Result, Runtime, Value};

use crate::values::{Text, define};

thread_local! {
    /// `resolve(base, name, type)` and `load(url, meta)` of `js/modules.js`.
    static HOOKS: RefCell<Option<[Persistent<Function<'static>>; 2]>> = const { RefCell::new(None) };
}

struct Hooks;

pub(crate) fn set_loader(runtime: &Runtime) {
    runtime.set_loader(Hooks, Hooks);
}

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "setModuleHooks" => |ctx: Ctx<'js>, resolve: Function<'js>, load: Function<'js>| {
            let hooks = [Persistent::save(&ctx, resolve), Persistent::save(&ctx, load)];
            HOOKS.with_borrow_mut(|slot| *slot = Some(hooks));
        },
        "importModule" => import,
        "runModule" => run,
    );
    Ok(())
}

fn hook<'js>(ctx: &Ctx<'js>, which: usize) -> Result<Function<'js>> {
    let hooks = HOOKS.with_borrow(Clone::clone).ok_or(Error::Unknown)?;
    let hook = hooks.into_iter().nth(which).ok_or(Error::Unknown)?;
    hook.restore(ctx)
}

impl Resolver for Hooks {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let kind = attributes.and_then(|attributes| attributes.get_type().ok().flatten());
        let url: Text = hook(ctx, 0)?.call((base, name, kind))?;
        Ok(url.into_string())
    }
}

impl Loader for Hooks {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let found: Vec<Value<'js>> = hook(ctx, 1)?.call((name,))?;
        let mut found = found.into_iter();
        let source: Text = found.next().ok_or(Error::Unknown)?.get()?;
        let set_meta = found.next().and_then(Value::into_function);
        declare(ctx, name, source, set_meta)
    }
}

/// Compiles a module and lets a function fill its `import.meta`.
fn declare<'js>(
    ctx: &Ctx<'js>,
    name: &str,
    source: Text,
    set_meta: Option<Function<'js>>,
) -> Result<Module<'js, Declared>> {
    let module = Module::declare(ctx.clone(), name, source.0)?;
    if let Some(set_meta) = set_meta {
        let _: Value<'js> = set_meta.call((module.meta()?,))?;
    }
    Ok(module)
}

/// Imports a module by its address. Returns a promise of the namespace.
fn import<'js>(ctx: Ctx<'js>, url: Text) -> Result<Value<'js>> {
    Ok(Module::import(&ctx, url.0)?.into_inner().into_value())
}

/// Compiles a text as a module and runs it. Returns its promise and its namespace.
fn run<'js>(ctx: Ctx<'js>, name: String, source: Text, set_meta: Function<'js>) -> Result<Vec<Value<'js>>> {
    let module = declare(&ctx, &name, source, Some(set_meta))?;
    let (module, promise) = module.eval()?;
    Ok(vec![promise.into_inner().into_value(), module.namespace()?.into_value()])
}
