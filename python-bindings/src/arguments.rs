//! Arguments from Python.

use std::time::Duration;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use tidebox::{Background, ExecuteRequest, SandboxPath, ShellMode};

use crate::errors::{checked, invalid};

/// Bytes, or text as UTF-8.
#[derive(Clone)]
pub(crate) struct Content(pub(crate) Vec<u8>);

impl<'py> FromPyObject<'_, 'py> for Content {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Self(bytes.as_bytes().to_vec()));
        }
        if value.is_instance_of::<PyString>() {
            return Ok(Self(text(&value, "content")?.into_bytes()));
        }
        value.extract::<Vec<u8>>().map(Self).map_err(|_| PyTypeError::new_err("expected str or bytes"))
    }
}

/// Returns a string. Surrogates, which represent bytes that are not UTF-8, are rejected with the argument's name.
fn text(value: &Bound<'_, PyAny>, name: &str) -> PyResult<String> {
    value.extract::<String>().map_err(|error| {
        if value.is_instance_of::<PyString>() {
            invalid(format!("{name} contains surrogates, which are not valid text; pass bytes"))
        } else {
            error
        }
    })
}

/// A path: a string, bytes, or an object with `__fspath__`.
#[derive(Clone)]
pub(crate) struct PathArgument(pub(crate) Vec<u8>);

impl<'py> FromPyObject<'_, 'py> for PathArgument {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let value = if value.hasattr("__fspath__")? { value.call_method0("__fspath__")? } else { value.to_owned() };
        if let Ok(bytes) = value.cast::<PyBytes>() {
            return Ok(Self(bytes.as_bytes().to_vec()));
        }
        if !value.is_instance_of::<PyString>() {
            let kind = value.get_type().name()?.to_string();
            return Err(PyTypeError::new_err(format!("path must be str, bytes or os.PathLike, not {kind}")));
        }
        // Like `os.fsencode`: surrogates are the bytes that are not UTF-8 in a path that `ls` returned.
        let bytes = value.call_method1("encode", ("utf-8", "surrogateescape"));
        let bytes = bytes.map_err(|_| invalid("path contains surrogates that represent no byte; pass bytes"))?;
        Ok(Self(bytes.cast::<PyBytes>()?.as_bytes().to_vec()))
    }
}

impl PathArgument {
    /// Resolves the path in the sandbox. `name` is that of the argument.
    pub(crate) fn resolve(&self, cwd: &SandboxPath, name: &str) -> PyResult<SandboxPath> {
        cwd.resolve(&self.0).map_err(|error| invalid(format!("{name}: {}", error.message)))
    }
}

/// A command line, or a program and its arguments.
pub(crate) enum Command {
    /// For `bash -c`.
    Line(String),
    /// Without a shell.
    Arguments(Vec<String>),
}

impl<'py> FromPyObject<'_, 'py> for Command {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyString>() {
            return text(&value, "command").map(Self::Line);
        }
        let expected = |found: &Bound<'_, PyAny>| {
            let kind = found.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
            PyTypeError::new_err(format!("command must be str or a sequence of str, not {kind}"))
        };
        if value.is_instance_of::<PyBytes>() {
            return Err(expected(&value));
        }
        let elements = value.try_iter().map_err(|_| expected(&value))?;
        let mut arguments = Vec::new();
        for element in elements {
            let element = element?;
            if !element.is_instance_of::<PyString>() {
                let kind = element.get_type().name()?;
                return Err(PyTypeError::new_err(format!("the arguments of command must be str, not {kind}")));
            }
            arguments.push(text(&element, "command")?);
        }
        Ok(Self::Arguments(arguments))
    }
}

/// Parameters of a command, passed as a tuple in this order.
pub(crate) struct CommandOptions {
    pub(crate) stdin: Option<Content>,
    pub(crate) cwd: Option<PathArgument>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) timeout: Option<f64>,
    pub(crate) on_overflow: Option<String>,
    pub(crate) persistent: Option<bool>,
    pub(crate) background: bool,
}

impl<'py> FromPyObject<'_, 'py> for CommandOptions {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let options = value.cast::<PyTuple>()?;
        Ok(Self {
            stdin: option(&options, 0, "stdin")?,
            cwd: option(&options, 1, "cwd")?,
            env: option(&options, 2, "env")?,
            timeout: option(&options, 3, "timeout")?,
            on_overflow: option(&options, 4, "on_overflow")?,
            persistent: option(&options, 5, "persistent")?,
            background: option(&options, 6, "background")?,
        })
    }
}

/// Extracts an option. A wrong type is reported with its name, as for the arguments of a function.
fn option<T: for<'py> FromPyObjectOwned<'py>>(options: &Bound<'_, PyTuple>, at: usize, name: &str) -> PyResult<T> {
    options.get_item(at)?.extract::<T>().map_err(|error| {
        let error: PyErr = error.into();
        match error.is_instance_of::<PyTypeError>(options.py()) {
            true => PyTypeError::new_err(format!("argument '{name}': {}", error.value(options.py()))),
            false => error,
        }
    })
}

impl CommandOptions {
    /// Creates the request.
    pub(crate) fn request(self, command: Command, cwd: &SandboxPath) -> PyResult<ExecuteRequest> {
        let mut request = match command {
            Command::Line(line) => ExecuteRequest::new(line),
            Command::Arguments(arguments) => checked(ExecuteRequest::from_arguments(arguments))?,
        };
        request.stdin = self.stdin.map(|content| content.0).unwrap_or_default();
        request.cwd = self.cwd.map(|path| path.resolve(cwd, "cwd")).transpose()?;
        request.env = self.env;
        request.timeout = self.timeout.map(|seconds| duration(seconds, "timeout")).transpose()?;
        if let Some(action) = self.on_overflow {
            request.output_overflow = action
                .parse()
                .map_err(|_| invalid(format!("on_overflow must be 'head', 'tail' or 'stop', not {action:?}")))?;
        }
        request.shell_mode = self.persistent.map(|persistent| match persistent {
            true => ShellMode::Persistent,
            false => ShellMode::Fresh,
        });
        request.background = if self.background { Background::Keep } else { Background::End };
        Ok(request)
    }
}

/// Converts seconds.
pub(crate) fn duration(seconds: f64, name: &str) -> PyResult<Duration> {
    if seconds.is_nan() || seconds < 0.0 {
        return Err(invalid(format!("{name} must be a number of seconds that is not negative, not {seconds}")));
    }
    // Infinity and centuries mean no limit.
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}
