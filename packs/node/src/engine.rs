//! The engine: compilation, jobs, promises, and what `util.inspect` looks at.

use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Function, IntoJs as _, Object, Persistent, Result, Runtime, Value, qjs};
use std::cell::RefCell;

use crate::values::{Text, define};

thread_local! {
    /// Called with (promise, reason, whether it was handled).
    static REJECTION: RefCell<Option<Persistent<Function<'static>>>> = const { RefCell::new(None) };
}

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "evaluate" => evaluate,
        "runJobs" => |ctx: Ctx<'js>| while ctx.execute_pending_job() {},
        "onRejection" => |ctx: Ctx<'js>, function: Function<'js>| {
            let saved = Persistent::save(&ctx, function);
            REJECTION.with_borrow_mut(|slot| *slot = Some(saved));
        },
        "classOf" => |value: Value<'js>| class_of(&value),
        "promiseState" => promise_state,
        "proxyParts" => proxy_parts,
        "collectGarbage" => |ctx: Ctx<'js>| ctx.run_gc(),
        "isModuleText" => |text: Text| is_module_text(text.0),
    );
    #[cfg(target_family = "wasm")]
    define!(ctx, native,
        "getContinuation" => |ctx: Ctx<'js>| patched::continuation(&ctx),
        "setContinuation" => |ctx: Ctx<'js>, value: Value<'js>| patched::set_continuation(&ctx, &value),
    );
    Ok(())
}

/// Functions that `quickjs.patch` adds to the engine.
#[cfg(target_family = "wasm")]
#[expect(unsafe_code, reason = "rquickjs does not know them")]
pub(crate) mod patched {
    use rquickjs::{Ctx, Value, qjs};

    unsafe extern "C" {
        fn JS_GetContinuation(ctx: *mut qjs::JSContext) -> qjs::JSValue;
        fn JS_SetContinuation(ctx: *mut qjs::JSContext, value: qjs::JSValue);
        fn JS_SeedRandom(ctx: *mut qjs::JSContext, seed: u64);
        fn JS_OmitSource(ctx: *mut qjs::JSContext, omit: bool);
    }

    /// Returns the value that the jobs of promises that are made now will run with.
    pub(super) fn continuation<'js>(ctx: &Ctx<'js>) -> Value<'js> {
        // SAFETY: the context is alive; the call returns a new reference.
        unsafe { Value::from_raw(ctx.clone(), JS_GetContinuation(ctx.as_raw().as_ptr())) }
    }

    pub(super) fn set_continuation<'js>(ctx: &Ctx<'js>, value: &Value<'js>) {
        let raw = ctx.as_raw().as_ptr();
        // SAFETY: context and value are alive; the call takes a new reference.
        unsafe { JS_SetContinuation(raw, qjs::JS_DupValue(raw, value.as_raw())) }
    }

    /// Chooses whether functions lack their source if they are compiled after this call. Without it the memory that the program starts with is
    /// less than half as large.
    pub(crate) fn omit_source(ctx: &Ctx<'_>, omit: bool) {
        // SAFETY: the context is alive.
        unsafe { JS_OmitSource(ctx.as_raw().as_ptr(), omit) }
    }

    /// Seeds `Math.random`.
    pub(crate) fn seed_random(ctx: &Ctx<'_>, seed: u64) {
        // SAFETY: the context is alive.
        unsafe { JS_SeedRandom(ctx.as_raw().as_ptr(), seed) }
    }
}

/// Calls the function of `onRejection` for each promise that is rejected without a handler, and when one gets a handler later.
pub(crate) fn set_rejection_tracker(runtime: &Runtime) {
    runtime.set_host_promise_rejection_tracker(Some(Box::new(|ctx, promise, reason, handled| {
        let Some(function) = REJECTION.with_borrow(Clone::clone) else { return };
        let Ok(function) = function.restore(&ctx) else { return };
        // An error in the callback cannot be reported from here.
        let _: Result<()> = function.call((promise, reason, handled));
    })));
}

/// Runs a script in the global scope. Returns its last value.
fn evaluate<'js>(ctx: Ctx<'js>, source: Text, name: String) -> Result<Value<'js>> {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(name);
    ctx.eval_with_options(source.0, options)
}

/// Returns the engine's number for the class of an object, which equal objects share; 0 for other values.
fn class_of(value: &Value<'_>) -> u32 {
    if !value.is_object() {
        return 0;
    }
    // SAFETY: the value is alive.
    #[expect(unsafe_code, reason = "rquickjs has no such function")]
    unsafe {
        qjs::JS_GetClassID(value.as_raw())
    }
}

/// Returns 0 and the value of a pending promise, 1 of a fulfilled, 2 of a rejected one.
fn promise_state<'js>(ctx: Ctx<'js>, promise: Value<'js>) -> Result<Vec<Value<'js>>> {
    // SAFETY: context and value are alive; the engine checks the class.
    #[expect(unsafe_code, reason = "rquickjs consumes the promise")]
    let (state, result) = unsafe {
        let raw = ctx.as_raw().as_ptr();
        let state = qjs::JS_PromiseState(raw, promise.as_raw());
        (state as i32, Value::from_raw(ctx.clone(), qjs::JS_PromiseResult(raw, promise.as_raw())))
    };
    Ok(vec![state.into_js(&ctx)?, result])
}

/// Returns target and handler of a proxy; nothing for another value.
fn proxy_parts<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Option<Vec<Value<'js>>> {
    // SAFETY: context and value are alive; the calls return new references.
    #[expect(unsafe_code, reason = "rquickjs has no such function")]
    unsafe {
        if !qjs::JS_IsProxy(value.as_raw()) {
            return None;
        }
        let raw = ctx.as_raw().as_ptr();
        Some(vec![
            Value::from_raw(ctx.clone(), qjs::JS_GetProxyTarget(raw, value.as_raw())),
            Value::from_raw(ctx.clone(), qjs::JS_GetProxyHandler(raw, value.as_raw())),
        ])
    }
}

/// Returns whether a text has the syntax of a module and not that of a script.
fn is_module_text(mut text: Vec<u8>) -> bool {
    let len = text.len();
    text.push(0);
    // SAFETY: the text is alive and ends with NUL, as the engine's parser requires.
    #[expect(unsafe_code, reason = "rquickjs has no such function")]
    unsafe {
        qjs::JS_DetectModule(text.as_ptr().cast(), len as qjs::size_t)
    }
}
