//! `tidebox serve`: the REST API, tenants, metrics, TLS, the page, and the end of the server.

mod api;
mod client;
mod emulators;
mod end;
mod files;
mod fleet;
mod openapi;
mod otlp;
mod page;
mod run_code;
mod saved;
mod stream;
mod tenants;
mod terminal;
mod tls;
