//! Servers in a sandbox, and ports of the host that lead to them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use pyo3::prelude::*;
use tidebox::{ExposedPort, PortEndpoint, PortExt};

use crate::arguments::duration;
use crate::errors::{checked, invalid, sandbox_error};
use crate::runtime;
use crate::sandbox::LocalSandbox;

/// The ports of a sandbox. Its methods wait, or return an awaitable if `asynchronous` is true.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct NativePorts {
    sandbox: LocalSandbox,
}

impl NativePorts {
    pub(crate) fn new(sandbox: LocalSandbox) -> Self {
        Self { sandbox }
    }
}

pub(crate) fn port_number(port: i64) -> PyResult<u16> {
    u16::try_from(port)
        .ok()
        .filter(|port| *port > 0)
        .ok_or_else(|| invalid(format!("port must be a number from 1 to 65535, not {port}")))
}

#[pymethods]
impl NativePorts {
    fn list<'py>(&self, py: Python<'py>, asynchronous: bool) -> PyResult<Bound<'py, PyAny>> {
        let sandbox = self.sandbox.clone();
        runtime::run(py, asynchronous, async move {
            let sandbox = sandbox.created("ports").await.map_err(|error| sandbox_error(&error))?;
            checked(sandbox.listening_ports())
        })
    }

    fn wait_for<'py>(
        &self,
        py: Python<'py>,
        port: i64,
        timeout: f64,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (port, at_most): (u16, Duration) = (port_number(port)?, duration(timeout, "timeout")?);
        let sandbox = self.sandbox.clone();
        runtime::run(py, asynchronous, async move {
            let sandbox = sandbox.created("wait_for_port").await.map_err(|error| sandbox_error(&error))?;
            checked(sandbox.wait_for_port(port, at_most).await)
        })
    }

    fn expose<'py>(&self, py: Python<'py>, port: i64, asynchronous: bool) -> PyResult<Bound<'py, PyAny>> {
        let port = port_number(port)?;
        let sandbox = self.sandbox.clone();
        runtime::run(py, asynchronous, async move {
            let sandbox = sandbox.created("expose").await.map_err(|error| sandbox_error(&error))?;
            let exposed = checked(sandbox.expose(port).await)?;
            let address = exposed.address();
            Ok(NativeExposedPort {
                sandbox_port: port,
                host: address.ip().to_string(),
                port: address.port(),
                exposed: Mutex::new(Some(exposed)),
            })
        })
    }
}

/// A port of the host that leads to a port of a sandbox.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct NativeExposedPort {
    /// The port in the sandbox.
    #[pyo3(get)]
    sandbox_port: u16,
    #[pyo3(get)]
    host: String,
    #[pyo3(get)]
    port: u16,
    exposed: Mutex<Option<ExposedPort>>,
}

#[pymethods]
impl NativeExposedPort {
    fn close(&self) {
        // A panic of another thread leaves the value usable.
        drop(self.exposed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
    }
}

/// The address of a port of a sandbox.
#[pyclass(frozen, module = "tidebox")]
pub(crate) struct NativePortEndpoint {
    #[pyo3(get)]
    pub(crate) url: String,
    #[pyo3(get)]
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) endpoint: Mutex<Option<PortEndpoint>>,
}

impl fmt::Debug for NativePortEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The values of headers are credentials.
        f.debug_struct("NativePortEndpoint").field("url", &self.url).finish_non_exhaustive()
    }
}

#[pymethods]
impl NativePortEndpoint {
    fn close(&self) {
        // A panic of another thread leaves the value usable.
        drop(self.endpoint.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
    }
}
