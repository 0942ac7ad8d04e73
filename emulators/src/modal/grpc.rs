//! gRPC responses.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use http_body::Frame;
use http_body_util::StreamBody;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use prost::Message;
use tidebox_remote_adapters::modal::messages::{Any, RpcRetryPolicy, StatusDetails};
use tidebox_remote_adapters::transport;

/// gRPC status codes.
pub(super) mod code {
    pub(crate) const INVALID_ARGUMENT: u32 = 3;
    pub(crate) const DEADLINE_EXCEEDED: u32 = 4;
    pub(crate) const NOT_FOUND: u32 = 5;
    pub(crate) const RESOURCE_EXHAUSTED: u32 = 8;
    pub(crate) const ALREADY_EXISTS: u32 = 6;
    pub(crate) const FAILED_PRECONDITION: u32 = 9;
    pub(crate) const OUT_OF_RANGE: u32 = 11;
    pub(crate) const UNIMPLEMENTED: u32 = 12;
    pub(crate) const INTERNAL: u32 = 13;
    pub(crate) const UNAUTHENTICATED: u32 = 16;
}

/// An error status.
#[derive(Debug)]
pub(super) struct RpcStatus {
    pub(super) code: u32,
    pub(super) message: String,
}

/// Creates an error status.
pub(super) fn status(code: u32, message: impl Into<String>) -> RpcStatus {
    RpcStatus { code, message: message.into() }
}

/// Result of a call.
pub(super) type RpcResult<T> = Result<T, RpcStatus>;

/// Response with one message, or an error status.
pub(super) fn unary(result: RpcResult<impl Message>) -> Response {
    unary_with_warning(result, None)
}

/// Like [`unary`], with a warning that the client shows to its user.
pub(super) fn unary_with_warning(result: RpcResult<impl Message>, warning: Option<&str>) -> Response {
    match result {
        Ok(message) => {
            let bytes = transport::Frame::write(0, &message.encode_to_vec());
            body(stream::iter([Ok(Bytes::from(bytes))]), warning.map(str::to_owned))
        }
        Err(rpc_status) => error_response(&rpc_status),
    }
}

/// Response with a stream of messages, ended by an error status if one fails.
pub(super) fn streamed<M: Message>(messages: impl Stream<Item = RpcResult<M>> + Send + 'static) -> Response {
    let frames = messages
        .map(|message| message.map(|message| Bytes::from(transport::Frame::write(0, &message.encode_to_vec()))));
    body(frames, None)
}

fn body(messages: impl Stream<Item = RpcResult<Bytes>> + Send + 'static, warning: Option<String>) -> Response {
    // Trailers follow the last message, or replace one that is an error.
    let frames = stream::unfold((Box::pin(messages), Some(warning)), |(mut messages, warning)| async move {
        let warning = warning?;
        Some(match messages.next().await {
            Some(Ok(bytes)) => (Ok::<_, Infallible>(Frame::data(bytes)), (messages, Some(warning))),
            Some(Err(rpc_status)) => (Ok(Frame::trailers(status_headers(&rpc_status))), (messages, None)),
            None => {
                let mut trailers = HeaderMap::from_iter([(
                    header::HeaderName::from_static("grpc-status"),
                    HeaderValue::from_static("0"),
                )]);
                if let Some(warning) = warning {
                    trailers.insert("x-modal-warning", escaped(&warning));
                }
                (Ok(Frame::trailers(trailers)), (messages, None))
            }
        })
    });
    let mut response = Response::new(Body::new(StreamBody::new(frames)));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}

fn error_response(rpc_status: &RpcStatus) -> Response {
    let mut response = Response::new(Body::empty());
    *response.headers_mut() = status_headers(rpc_status);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}

fn status_headers(rpc_status: &RpcStatus) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("grpc-status", HeaderValue::from(rpc_status.code));
    headers.insert("grpc-message", escaped(&rpc_status.message));
    headers
}

/// Characters that gRPC escapes in a message. The JavaScript client does not decode others.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'%');

fn escaped(text: &str) -> HeaderValue {
    let text = utf8_percent_encode(text, ESCAPED).to_string();
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

/// Decodes the single message of a request.
pub(super) fn read<M: Message + Default>(body: &[u8]) -> RpcResult<M> {
    let frames = transport::FrameReader::default().push(body);
    let frame = frames.and_then(|frames| frames.into_iter().next());
    let message = frame.and_then(|frame| M::decode(frame.message).ok());
    message.ok_or_else(|| status(code::INVALID_ARGUMENT, "the message cannot be read"))
}

/// Error of a feature that the emulator does not have.
pub(super) fn missing_feature(feature: &str) -> RpcStatus {
    status(code::UNIMPLEMENTED, format!("Tidebox's emulator of Modal has no {feature}"))
}

/// Features that the emulator does not have, by the start of a call's name. The first match counts.
const ABSENT: [(&str, &str); 37] = [
    ("SandboxCreateConnectToken", "connect tokens"),
    ("SandboxGetExitSnapshot", "exit snapshots; use snapshot_filesystem"),
    ("SandboxContainer", "sidecars"),
    ("SandboxSnapshot", "memory snapshots"),
    ("SandboxRestore", "memory snapshots"),
    ("SandboxGetLogs", "logs of the control plane; use stdout and stderr"),
    ("SandboxGetStats", "statistics of sandboxes"),
    ("SandboxGetTimeRangeStats", "statistics of sandboxes"),
    ("SandboxGetResourceUsage", "statistics of sandboxes"),
    ("SandboxSetOutboundPolicy", "outbound policies"),
    ("TaskContainer", "sidecars"),
    ("TaskMountDirectory", "mounts of images"),
    ("TaskUnmountDirectory", "mounts of images"),
    ("TaskReloadVolumes", "volumes"),
    ("TaskSetNetworkAccess", "changes of the network policy of a running sandbox"),
    ("TaskSetOutboundPolicy", "outbound policies"),
    ("TaskSnapshotDirectory", "snapshots of directories; use snapshot_filesystem"),
    ("TaskSnapshotMemory", "memory snapshots"),
    ("AppFetchLogs", "logs of apps; use stdout and stderr of a sandbox"),
    ("AppGetLogs", "logs of apps; use stdout and stderr of a sandbox"),
    ("AppCountLogs", "logs of apps; use stdout and stderr of a sandbox"),
    ("App", "apps other than as the owners of sandboxes"),
    ("Function", "functions"),
    ("Class", "classes"),
    ("Image", "builds and names of images"),
    ("Mount", "mounts of local files"),
    ("Secret", "stored secrets; use Secret.from_dict or env"),
    ("Volume", "volumes"),
    ("SharedVolume", "network file systems"),
    ("Dict", "dicts"),
    ("Queue", "queues"),
    ("Proxy", "proxies"),
    ("Tunnel", "tunnels"),
    ("Environment", "management of environments"),
    ("Workspace", "management of workspaces"),
    ("Token", "management of tokens"),
    ("Blob", "uploads of blobs"),
];

/// Response to a call that the emulator does not have.
pub(super) async fn unknown_call(uri: Uri) -> Response {
    let call = uri.path().rsplit('/').next().unwrap_or_default();
    let feature = ABSENT.iter().find(|(start, _)| call.starts_with(start)).map(|(_, feature)| *feature);
    let feature = feature.map_or_else(|| format!("such call: {call}"), |feature| format!("{feature} ({call})"));
    std::future::ready(error_response(&missing_feature(&feature))).await
}

/// Error response with a requested retry pause.
pub(crate) fn error_response_with_retry(code: u32, message: &str, retry_after_secs: Option<f32>) -> Response {
    let mut response = error_response(&status(code, message));
    if let Some(retry_after_secs) = retry_after_secs {
        let policy = RpcRetryPolicy { retry_after_secs }.encode_to_vec();
        let type_url = "type.googleapis.com/modal.client.RPCRetryPolicy".to_owned();
        let details = StatusDetails {
            code: i32::try_from(code).unwrap_or_default(),
            message: message.to_owned(),
            details: vec![Any { type_url, value: Bytes::from(policy) }],
        };
        let text = STANDARD_NO_PAD.encode(details.encode_to_vec());
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert("grpc-status-details-bin", value);
        }
    }
    response
}
