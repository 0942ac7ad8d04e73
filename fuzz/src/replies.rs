//! Fuzz targets for provider responses: JSON, protobuf, frames, events and multipart, as an attacker could send them.

use std::collections::BTreeMap;

use prost::Message;
use tidebox_core::SandboxPath;
use tidebox_remote_adapters::modal::messages as modal_messages;
use tidebox_remote_adapters::transport::{Frame, FrameReader, multipart, sse};
use tidebox_remote_adapters::{daytona, deno, e2b, langsmith, modal, runloop};

/// The first byte selects the provider and the second the status; the rest is the body.
pub(crate) fn read(input: &[u8]) {
    let [whose, status, body @ ..] = input else { return };
    let status = [200, 201, 400, 403, 404, 409, 429, 500, 507, 0][usize::from(*status) % 10];
    let text = String::from_utf8_lossy(body);
    let path = SandboxPath::parse("/workspace/file").expect("a path");
    match whose % 9 {
        0 => {
            let _ = daytona::wire::parse_list(body);
            let _ = daytona::wire::failure("test", status, body).to_string();
            let sandbox = daytona::wire::parse::<daytona::wire::Sandbox>("test", body);
            let _ = sandbox.map(|sandbox| sandbox.state());
            let _ = daytona::wire::parse::<daytona::wire::Executed>("test", body);
            let _ = daytona::wire::parse_upload(body, &["/workspace/file", "/b"]);
            let _ = daytona::wire::download_error(status, body, &path);
        }
        1 => {
            let _ = deno::wire::parse_list(body, &BTreeMap::new());
            let _ = deno::wire::failure("test", status, body).to_string();
            let _ = deno::wire::incoming(&text);
            let _ = deno::wire::bytes(&text);
            let _ = deno::wire::parse::<deno::wire::WaitResponse>("test", body).map(|response| response.outcome());
            let _ = deno::wire::parse::<deno::wire::Stat>("test", body);
            if let Ok(error) = deno::wire::parse::<deno::wire::RpcError>("test", body) {
                let _ = error.file_error(b"/workspace/file");
                let _ = error.error("test").to_string();
            }
            assert_eq!(deno::wire::bytes(&deno::wire::text(body)).ok().as_deref(), Some(body), "bytes come back");
        }
        2 => {
            let _ = e2b::wire::parse_list(body, Some(&text));
            let _ = e2b::wire::failure("test", status, body).to_string();
            let _ = e2b::wire::parse::<e2b::wire::Access>("test", body);
            let _ = e2b::wire::file_error(status, body, b"/workspace/file");
            let _ = e2b::wire::event(&Frame { flags: (status % 4) as u8, message: body.to_vec().into() });
        }
        3 => {
            let _ = langsmith::wire::parse_list(body);
            let _ = langsmith::wire::failure("test", status, body).to_string();
            let _ = langsmith::wire::ErrorBody::read(body);
            let _ = langsmith::wire::message(&text);
            let sandbox = langsmith::wire::parse::<langsmith::wire::Sandbox>("test", body);
            let _ = sandbox.map(|sandbox| sandbox.sandbox_id());
            let _ = langsmith::wire::parse::<langsmith::wire::ExecuteResult>("test", body);
        }
        4 => {
            let _ = modal_messages::SandboxListResponse::decode(body).map(modal::wire::parse_list);
            let _ = modal_messages::TaskExecEndResponse::decode(body).map(modal::wire::outcome);
            let _ = modal_messages::SandboxWaitResponse::decode(body);
            let _ = modal_messages::StatusDetails::decode(body);
            let _ = modal_messages::RouterAccess::decode(body);
            let _ = modal::wire::file_error(body, &path).map(|error| error.to_string());
        }
        5 => {
            let _ = runloop::wire::failure("test", status, body).to_string();
            let devbox = runloop::wire::parse::<runloop::wire::Devbox>("test", body);
            let _ = devbox.map(|devbox| devbox.state());
            let _ = runloop::wire::parse::<runloop::wire::Page>("test", body);
            let _ = runloop::wire::parse::<runloop::wire::Policies>("test", body);
            let _ = runloop::wire::parse::<runloop::wire::Update>("test", body);
            let _ = runloop::wire::parse::<runloop::wire::Execution>("test", body).map(|done| done.is_finished());
        }
        6 => frames(status, body),
        7 => events(status, body),
        _ => {
            let media_type = text.lines().next().unwrap_or_default();
            let _ = multipart::read(media_type, body);
            parts(status, body);
        }
    }
}

/// Parses the messages from chunks of any size with the same result.
fn frames(cut: u16, body: &[u8]) {
    let (mut whole, mut pieces) = (FrameReader::default(), FrameReader::default());
    let all = whole.push(body);
    let size = usize::from(cut % 7) + 1;
    let one_by_one: Option<Vec<Vec<Frame>>> = body.chunks(size).map(|piece| pieces.push(piece)).collect();
    if let (Some(all), Some(one_by_one)) = (all, one_by_one) {
        assert_eq!(all, one_by_one.concat());
        for frame in &all {
            let _ = e2b::wire::event(frame);
        }
    }
}

/// Parses the parts from chunks of any size with the same result.
fn parts(cut: u16, body: &[u8]) {
    let media_type = "multipart/form-data; boundary=b";
    let mut reader = multipart::PartReader::new(media_type, body.len()).expect("a boundary");
    let pushed: Option<Vec<()>> = body.chunks(usize::from(cut % 7) + 1).map(|piece| reader.push(piece)).collect();
    let cut = pushed.and_then(|_| reader.finish());
    // Only a header block that is too long may be rejected at different points.
    if body.len() < 1 << 10 {
        assert_eq!(multipart::read(media_type, body), cut);
    }
}

fn events(cut: u16, body: &[u8]) {
    let (mut whole, mut pieces) = (sse::EventReader::default(), sse::EventReader::default());
    let all = whole.push(body);
    let size = usize::from(cut % 7) + 1;
    let one_by_one: Option<Vec<Vec<sse::Event>>> = body.chunks(size).map(|piece| pieces.push(piece)).collect();
    if let (Some(all), Some(one_by_one)) = (all, one_by_one) {
        assert_eq!(all, one_by_one.concat());
        for event in &all {
            let _ = langsmith::wire::event(event);
            let _ = runloop::wire::parse::<runloop::wire::Update>("test", event.data.as_bytes());
        }
    }
}
