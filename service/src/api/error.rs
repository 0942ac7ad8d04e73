//! Error responses.

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use tidebox_core::{Error, ErrorKind, FileError, FileErrorCode};

use crate::quota::{FREES_IN_SECONDS, QUOTA};

/// An error response: `{"error": {"kind": ..., "message": ...}}`, with further values of a denied quota.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    kind: &'static str,
    message: String,
    values: Map<String, Value>,
}

/// Result of a handler.
pub(super) type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    pub(crate) fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Self { status, kind, message: message.into(), values: Map::new() }
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, ErrorKind::InvalidRequest.as_str(), message)
    }

    pub(super) fn sandbox_not_found(id: &str) -> Self {
        let message = format!("no sandbox has the id {id:?}; it may have been closed after its idle time");
        Self::new(StatusCode::NOT_FOUND, ErrorKind::SandboxNotFound.as_str(), message)
    }

    /// Returns the value of the key `error`.
    pub(super) fn value(&self) -> Value {
        let mut values = self.values.clone();
        values.insert("kind".to_owned(), json!(self.kind));
        values.insert("message".to_owned(), json!(self.message));
        Value::Object(values)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(json!({ "error": self.value() }))).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.values.get(FREES_IN_SECONDS).and_then(Value::as_u64) {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::InvalidRequest => StatusCode::BAD_REQUEST,
            ErrorKind::SandboxNotFound | ErrorKind::Closed => StatusCode::NOT_FOUND,
            ErrorKind::Unsupported => StatusCode::NOT_IMPLEMENTED,
            ErrorKind::Unauthenticated => StatusCode::UNAUTHORIZED,
            ErrorKind::Forbidden => StatusCode::FORBIDDEN,
            ErrorKind::RateLimited | ErrorKind::QuotaExceeded => StatusCode::TOO_MANY_REQUESTS,
            ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Timeout => StatusCode::GATEWAY_TIMEOUT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let mut values = Map::new();
        for (name, value) in error.context() {
            // Only the values of quotas: others may describe the host.
            if !["limit", "used", QUOTA, FREES_IN_SECONDS].contains(&name.as_ref()) {
                continue;
            }
            let number = value.parse::<u64>().map(Value::from);
            values.insert(name.to_string(), number.unwrap_or_else(|_| json!(value)));
        }
        if values.contains_key(QUOTA) {
            // Always present, so that a client need not distinguish a missing key from an unknown time.
            values.entry(FREES_IN_SECONDS).or_insert(Value::Null);
        }
        Self { status, kind: error.kind().as_str(), message: error.message().to_owned(), values }
    }
}

impl From<FileError> for ApiError {
    fn from(error: FileError) -> Self {
        let status = match error.code {
            FileErrorCode::FileNotFound => StatusCode::NOT_FOUND,
            FileErrorCode::PermissionDenied => StatusCode::FORBIDDEN,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::new(status, error.code.as_str(), error.message)
    }
}

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> Self {
        Self::new(rejection.status(), ErrorKind::InvalidRequest.as_str(), rejection.body_text())
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        Self::new(rejection.status(), ErrorKind::InvalidRequest.as_str(), rejection.body_text())
    }
}
