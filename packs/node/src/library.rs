//! The JavaScript library: an archive of compressed files.

use std::io::Read as _;

use rquickjs::context::EvalOptions;
use rquickjs::{Ctx, Exception, FromJs, Object, Result};

use crate::values::define;

/// Files as `u32` length of the name, name, `u32` length of the content, content compressed with zlib.
static ARCHIVE: &[u8] = include_bytes!(env!("TIDEBOX_NODE_LIBRARY", "set by `cargo xtask pack node`"));

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "libraryNames" => || entries().map(|(name, _)| name.to_owned()).collect::<Vec<_>>(),
        "libraryText" => |ctx: Ctx<'js>, name: String| text(&ctx, &name),
        "compileLibrary" => |ctx: Ctx<'js>, name: String, parameters: String| -> Result<rquickjs::Function<'js>> { compile(&ctx, &name, &parameters) },
    );
    Ok(())
}

fn entries() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    let mut rest = ARCHIVE;
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
    let (_, packed) = entries().find(|(found, _)| *found == name).ok_or_else(missing)?;
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
    ctx.eval_with_options(source, options)
}
