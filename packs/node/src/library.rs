//! The JavaScript library: an archive of compressed files. `packs/node/preinit.js` writes it into the memory of the program.

#[cfg(target_family = "wasm")]
use std::cell::RefCell;
#[cfg(target_family = "wasm")]
use std::collections::BTreeSet;
use std::io::Read as _;
use std::sync::OnceLock;

use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Exception, FromJs, Object, Result};

use crate::values::define;

/// Files as `u32` length of the name, name, `u32` length of the content, content compressed with zlib.
static ARCHIVE: OnceLock<&'static [u8]> = OnceLock::new();

/// Address and length of the memory that `tidebox_library` returned.
#[cfg(target_family = "wasm")]
static PLACE: OnceLock<(usize, usize)> = OnceLock::new();

/// Returns memory for the archive. It is filled before the library is loaded, and never freed. Null after the first call.
#[cfg(target_family = "wasm")]
#[expect(unsafe_code, reason = "an exported function")]
#[unsafe(no_mangle)]
pub(crate) extern "C" fn tidebox_library(len: usize) -> *mut u8 {
    let memory = Box::into_raw(vec![0_u8; len].into_boxed_slice()).cast::<u8>();
    match PLACE.set((memory.expose_provenance(), len)) {
        Ok(()) => memory,
        Err(_) => core::ptr::null_mut(),
    }
}

#[cfg(target_family = "wasm")]
thread_local! {
    /// Numbers of the files that were read.
    static READ: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
}

/// Returns 1 if the file with this number was read. A file is compiled once, so `packs/node/preinit.js` need not store it again.
#[cfg(target_family = "wasm")]
#[expect(unsafe_code, reason = "an exported function")]
#[unsafe(no_mangle)]
pub(crate) extern "C" fn tidebox_was_read(number: usize) -> i32 {
    i32::from(READ.with_borrow(|read| read.contains(&number)))
}

#[cfg(target_family = "wasm")]
fn archive() -> &'static [u8] {
    ARCHIVE.get_or_init(|| {
        let (address, len) = PLACE.get().copied().unwrap_or((core::ptr::dangling::<u8>().addr(), 0));
        // SAFETY: `tidebox_library` allocated `len` bytes there for ever, which are not written after the library is loaded.
        #[expect(unsafe_code, reason = "memory that the host has filled")]
        unsafe {
            core::slice::from_raw_parts(core::ptr::with_exposed_provenance(address), len)
        }
    })
}

/// Away from the sandbox the archive is the file `TIDEBOX_NODE_LIBRARY`.
#[cfg(not(target_family = "wasm"))]
fn archive() -> &'static [u8] {
    ARCHIVE.get_or_init(|| {
        let path = std::env::var_os("TIDEBOX_NODE_LIBRARY").unwrap_or_default();
        std::fs::read(path).unwrap_or_default().leak()
    })
}

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "libraryNames" => || entries().map(|(name, _)| name.to_owned()).collect::<Vec<_>>(),
        "libraryText" => |ctx: Ctx<'js>, name: String| text(&ctx, &name),
        "compileLibrary" => |ctx: Ctx<'js>, name: String, parameters: String| -> Result<rquickjs::Function<'js>> { compile(&ctx, &name, &parameters) },
    );
    Ok(())
}

fn entries() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    let mut rest = archive();
    core::iter::from_fn(move || {
        let name = take(&mut rest)?;
        let content = take(&mut rest)?;
        Some((core::str::from_utf8(name).ok()?, content))
    })
}

/// Takes a length and as many bytes.
fn take(rest: &mut &'static [u8]) -> Option<&'static [u8]> {
    let (len, after) = rest.split_first_chunk::<4>()?;
    let (bytes, after) = after.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    *rest = after;
    Some(bytes)
}

/// Returns the text of a file of the library.
fn text(ctx: &Ctx<'_>, name: &str) -> Result<String> {
    #[cfg(not(target_family = "wasm"))]
    if let Some(text) = std::env::var_os("TIDEBOX_NODE_JS").and_then(|dir| {
        std::fs::read_to_string(std::path::Path::new(&dir).join(format!("{}.js", name.strip_prefix("tidebox/")?))).ok()
    }) {
        return Ok(text);
    }
    let missing = || Exception::throw_reference(ctx, &format!("the library has no {name}"));
    let (_number, (_, packed)) = entries().enumerate().find(|(_, (found, _))| *found == name).ok_or_else(missing)?;
    #[cfg(target_family = "wasm")]
    READ.with_borrow_mut(|read| read.insert(_number));
    let mut text = String::new();
    flate2::read::ZlibDecoder::new(packed)
        .read_to_string(&mut text)
        .map_err(|_| Exception::throw_reference(ctx, &format!("{name} of the library is damaged")))?;
    Ok(text)
}

/// Compiles a file of the library as the body of a function.
pub(crate) fn compile<'js, F: FromJs<'js>>(ctx: &Ctx<'js>, name: &str, parameters: &str) -> Result<F> {
    let source = format!("(function ({parameters}) {{{}\n}})", text(ctx, name)?);
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(format!("node:{name}"));
    #[cfg(target_family = "wasm")]
    crate::engine::patched::omit_source(ctx, true);
    let compiled = ctx.eval_with_options(source, options);
    #[cfg(target_family = "wasm")]
    crate::engine::patched::omit_source(ctx, false);
    compiled
}
