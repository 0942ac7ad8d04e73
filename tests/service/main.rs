//! `tidebox serve`: the REST API, tenants, metrics, TLS, the page, and the end of the server.

mod api;
mod client;
mod emulators;
mod end;
mod files;
mod openapi;
mod otlp;
mod page;
mod run_code;
mod stream;
mod tenants;
mod terminal;
mod tls;
