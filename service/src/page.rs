//! The web page at `/`: its files are part of the program.

use axum::Router;
use axum::http::{HeaderName, header};
use axum::response::IntoResponse;
use axum::routing::get;

use crate::service::Service;

/// Only the page's own files, no inline code, no frames. Connections only to its own address.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns the routes of the page.
pub(crate) fn router() -> Router<Service> {
    Router::new()
        .route("/", get(|| file("text/html; charset=utf-8", include_str!("page/index.html"))))
        .route("/page/app.js", get(|| file("text/javascript; charset=utf-8", include_str!("page/app.js"))))
        .route("/page/terminal.js", get(|| file("text/javascript; charset=utf-8", include_str!("page/terminal.js"))))
        .route("/page/style.css", get(|| file("text/css; charset=utf-8", include_str!("page/style.css"))))
}

fn file(kind: &'static str, text: &'static str) -> impl Future<Output = impl IntoResponse> {
    let headers: [(HeaderName, &str); 5] = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    std::future::ready((headers, text))
}
