//! Conversions between the engine's values and bytes.

use rquickjs::{Ctx, Error, Exception, FromJs, IntoJs, Object, Result, TypedArray, Value, qjs};
use tidebox_rt::Errno;

/// Bytes of a string argument in UTF-8. A surrogate without its pair becomes U+FFFD.
#[derive(Debug)]
pub(crate) struct Text(pub(crate) Vec<u8>);

impl<'js> FromJs<'js> for Text {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        let mut len: qjs::size_t = 0;
        // SAFETY: the context and the value are alive; the result is checked.
        #[expect(unsafe_code, reason = "rquickjs rejects strings with single surrogates")]
        let pointer = unsafe { qjs::JS_ToCStringLen2(ctx.as_raw().as_ptr(), &mut len, value.as_raw(), false) };
        if pointer.is_null() {
            return Err(Error::Exception);
        }
        #[cfg_attr(
            not(target_family = "wasm"),
            expect(clippy::cast_possible_truncation, reason = "the length of memory in this address space")
        )]
        let len = len as usize;
        // SAFETY: the engine returned this many bytes, which stay until they are freed on the next line but one.
        #[expect(unsafe_code, reason = "memory of the engine")]
        let mut bytes = unsafe { core::slice::from_raw_parts(pointer.cast::<u8>(), len) }.to_vec();
        // SAFETY: the pointer came from the call above and is not used again.
        #[expect(unsafe_code, reason = "memory of the engine")]
        unsafe {
            qjs::JS_FreeCString(ctx.as_raw().as_ptr(), pointer);
        }
        replace_surrogates(&mut bytes);
        Ok(Self(bytes))
    }
}

impl Text {
    /// Returns the text; the bytes are UTF-8 already.
    pub(crate) fn into_string(self) -> String {
        String::from_utf8(self.0).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}

/// Replaces encoded surrogates, which have the bytes ED A0..BF xx, by U+FFFD.
fn replace_surrogates(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(rest) = bytes.get_mut(at..) {
        let Some(next) = rest.iter().position(|&byte| byte == 0xed) else { return };
        if let Some([first, second, third]) = rest.get_mut(next..next + 3)
            && *second >= 0xa0
        {
            (*first, *second, *third) = (0xef, 0xbf, 0xbd);
        }
        at += next + 1;
    }
}

/// Units of a string argument in UTF-16.
#[derive(Debug)]
pub(crate) struct Units(pub(crate) Vec<u16>);

impl<'js> FromJs<'js> for Units {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        let mut len: qjs::size_t = 0;
        // SAFETY: the context and the value are alive; the result is checked.
        #[expect(unsafe_code, reason = "rquickjs has no UTF-16")]
        let pointer = unsafe { qjs::JS_ToCStringLenUTF16(ctx.as_raw().as_ptr(), &mut len, value.as_raw()) };
        if pointer.is_null() {
            return Err(Error::Exception);
        }
        #[cfg_attr(
            not(target_family = "wasm"),
            expect(clippy::cast_possible_truncation, reason = "the length of memory in this address space")
        )]
        let len = len as usize;
        // SAFETY: the engine returned this many units, which stay until they are freed below.
        #[expect(unsafe_code, reason = "memory of the engine")]
        let units = unsafe { core::slice::from_raw_parts(pointer, len) }.to_vec();
        // SAFETY: the pointer came from the call above and is not used again.
        #[expect(unsafe_code, reason = "memory of the engine")]
        unsafe {
            qjs::JS_FreeCStringUTF16(ctx.as_raw().as_ptr(), pointer);
        }
        Ok(Self(units))
    }
}

/// Makes a string of UTF-16 units.
pub(crate) fn string_of_units<'js>(ctx: &Ctx<'js>, units: &[u16]) -> Result<Value<'js>> {
    // SAFETY: the slice is alive; the new value is owned by the result.
    #[expect(unsafe_code, reason = "rquickjs has no UTF-16")]
    let value = unsafe {
        Value::from_raw(
            ctx.clone(),
            qjs::JS_NewStringUTF16(ctx.as_raw().as_ptr(), units.as_ptr(), units.len() as qjs::size_t),
        )
    };
    if value.is_string() { Ok(value) } else { Err(Error::Exception) }
}

/// A region of bytes of an `ArrayBuffer`, or of a view of one.
#[derive(Debug)]
pub(crate) struct Region<'js> {
    pointer: *mut u8,
    len: usize,
    /// Keeps the buffer alive.
    _owner: Value<'js>,
}

impl<'js> FromJs<'js> for Region<'js> {
    fn from_js(ctx: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        let object = value.as_object().ok_or_else(|| Exception::throw_type(ctx, "expected a buffer"))?;
        // SAFETY: the value is alive.
        #[expect(unsafe_code, reason = "the question of rquickjs leaves an exception")]
        let is_buffer = unsafe { qjs::JS_IsArrayBuffer(value.as_raw()) };
        let (buffer, offset, len) = if is_buffer {
            (value.clone(), 0, None)
        } else {
            let buffer: Value<'js> = object.get("buffer")?;
            (buffer, object.get::<_, usize>("byteOffset")?, Some(object.get::<_, usize>("byteLength")?))
        };
        let raw = buffer.as_object().and_then(|object| object.as_array_buffer().and_then(|buffer| buffer.as_raw()));
        let Some(raw) = raw else {
            // An empty buffer has no memory.
            return Ok(Self { pointer: core::ptr::NonNull::dangling().as_ptr(), len: 0, _owner: buffer });
        };
        let whole = raw.len();
        let start = offset.min(whole);
        let len = len.unwrap_or(whole).min(whole - start);
        // SAFETY: `start` is at most the length of the memory.
        #[expect(unsafe_code, reason = "memory of the engine")]
        let pointer = unsafe { raw.cast::<u8>().as_ptr().add(start) };
        Ok(Self { pointer, len, _owner: buffer })
    }
}

impl Region<'_> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the bytes. No JavaScript may run while they are borrowed: it could detach the buffer.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the memory belongs to a buffer that `_owner` keeps alive, and callers run no JavaScript while they use it.
        #[expect(unsafe_code, reason = "memory of the engine")]
        unsafe {
            core::slice::from_raw_parts(self.pointer, self.len)
        }
    }

    /// Returns the bytes for writing, with the same rule.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; the program has one thread.
        #[expect(unsafe_code, reason = "memory of the engine")]
        unsafe {
            core::slice::from_raw_parts_mut(self.pointer, self.len)
        }
    }

    /// Returns `len` bytes from `start`, or fewer at the end.
    pub(crate) fn part(&self, start: usize, end: usize) -> &[u8] {
        let bytes = self.bytes();
        let end = end.min(bytes.len());
        bytes.get(start.min(end)..end).unwrap_or_default()
    }
}

/// Makes a `Uint8Array` of bytes.
pub(crate) fn array_of_bytes<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<TypedArray<'js, u8>> {
    TypedArray::new_copy(ctx.clone(), bytes)
}

/// Makes a `Uint8Array`, or `undefined` without bytes.
pub(crate) fn optional_array<'js>(ctx: &Ctx<'js>, bytes: Option<Vec<u8>>) -> Result<Value<'js>> {
    match bytes {
        Some(bytes) => Ok(array_of_bytes(ctx, &bytes)?.into_value()),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// Returns a value, or the negative error number of preview1.
pub(crate) fn code_of<T>(result: tidebox_rt::Result<T>, value: impl FnOnce(T) -> f64) -> f64 {
    match result {
        Ok(found) => value(found),
        Err(Errno(code)) => -f64::from(code),
    }
}

/// Returns 0, or the negative error number of preview1.
pub(crate) fn status(result: tidebox_rt::Result<()>) -> f64 {
    code_of(result, |()| 0.0)
}

/// Returns a value of the engine, or the negative error number of preview1.
pub(crate) fn value_of<'js, T, V: IntoJs<'js>>(
    ctx: &Ctx<'js>,
    result: tidebox_rt::Result<T>,
    value: impl FnOnce(T) -> V,
) -> Result<Value<'js>> {
    match result {
        Ok(found) => value(found).into_js(ctx),
        Err(Errno(code)) => (-f64::from(code)).into_js(ctx),
    }
}

/// Sets a function of the native object.
macro_rules! define {
    ($ctx:expr, $to:expr, $($name:literal => $function:expr),* $(,)?) => {
        $($to.set($name, rquickjs::Function::new($ctx.clone(), $function)?.with_name($name)?)?;)*
    };
}
pub(crate) use define;

/// Converts bytes of the kernel to a string, which replaces invalid UTF-8.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a property that may be missing.
pub(crate) fn field<'js, T: FromJs<'js>>(from: &Object<'js>, name: &str) -> Result<Option<T>> {
    let value: Value<'js> = from.get(name)?;
    if value.is_undefined() || value.is_null() { Ok(None) } else { T::from_js(from.ctx(), value).map(Some) }
}
