//! Detection of text, binary content and media types.

use super::super::capabilities::Requirement::FileBytes;
use super::super::case::{Case, cases};
use super::super::context::{CaseContext, expect_error, page_text};
use super::super::failure::{CaseResult, check, check_eq};
use crate::error::FileErrorCode;
use crate::file::{Content, ReadRequest, ToolContent};

pub(in super::super) const CASES: &[Case] = cases![
    "read: non-UTF-8 content is binary for every file name" [] by_content;
    "read: a file with a binary extension is binary for every content" [] by_name;
    "read: binary content is base64 in tool results" [] base64;
    "read: the type of binary content is detected by its first bytes" [] type_by_content;
    "read: text has a text type" [] text_types;
    "read: binary content never has a text type" [] byte_types;
    "read: a binary file over the limit is rejected with the limit" [FileBytes(11 << 20)] too_large;
];

async fn bytes(context: &CaseContext<'_>, name: &str, content: &[u8]) -> CaseResult<String> {
    context.put(name, content).await?;
    let response = context.read(name).await?;
    check_eq(&format!("the content of {name}"), &response.content, &Content::Binary(content.to_vec()))?;
    check_eq("the window", &response.window, &None)?;
    Ok(response.mime.into())
}

async fn by_content(context: &CaseContext<'_>) -> CaseResult {
    let every_byte: Vec<u8> = (0..=255).collect();
    bytes(context, "a.txt", &every_byte).await?;
    bytes(context, "a", b"text and then \xff").await?;
    bytes(context, "b", b"\0\0\0\0").await.map(drop)
}

async fn by_name(context: &CaseContext<'_>) -> CaseResult {
    let mime = bytes(context, "a.png", b"no picture").await?;
    check_eq("the type", &mime.as_str(), &"image/png")?;
    let mime = bytes(context, "A.PDF", b"no document").await?;
    check_eq("the type", &mime.as_str(), &"application/pdf")
}

async fn base64(context: &CaseContext<'_>) -> CaseResult {
    context.put("a.bin", b"\xfb\xff\xfe\0".as_slice()).await?;
    let response = context.read("a.bin").await?;
    check_eq(
        "the tool's result",
        &response.tool_content(context.dialect()),
        &ToolContent::Base64("+//+AA==".to_owned()),
    )
}

async fn type_by_content(context: &CaseContext<'_>) -> CaseResult {
    for (name, content, expected) in [
        ("a", b"\x89PNG\r\n\x1a\n\0\0".as_slice(), "image/png"),
        ("b.txt", b"\xff\xd8\xff\xe0\0", "image/jpeg"),
        ("c.png", b"GIF89a\0\0", "image/gif"),
        ("d", b"%PDF-1.7\n\xff", "application/pdf"),
    ] {
        let mime = bytes(context, name, content).await?;
        check_eq(&format!("the type of {name}"), &mime.as_str(), &expected)?;
    }
    Ok(())
}

async fn text_types(context: &CaseContext<'_>) -> CaseResult {
    for (name, expected) in [
        ("a.txt", "text/plain"),
        ("a.rs", "text/plain"),
        ("Makefile", "text/plain"),
        ("a.json", "application/json"),
        ("a.svg", "image/svg+xml"),
    ] {
        context.put(name, "{}\n").await?;
        let response = context.read(name).await?;
        page_text(&response)?;
        check_eq(&format!("the type of {name}"), &&*response.mime, &expected)?;
    }
    Ok(())
}

async fn byte_types(context: &CaseContext<'_>) -> CaseResult {
    for name in ["a.txt", "a.json", "a.svg", "a"] {
        let mime = bytes(context, name, b"\xff\xfe\xfd").await?;
        let is_text = mime.starts_with("text/") || mime == "application/json" || mime == "image/svg+xml";
        check(&format!("no text type for {name}"), !is_text, &mime)?;
    }
    Ok(())
}

async fn too_large(context: &CaseContext<'_>) -> CaseResult {
    let most = context.dialect().binary_bytes();
    let size = usize::try_from(most).unwrap_or(usize::MAX);
    context.put("most.bin", vec![0xff; size]).await?;
    let response = context.read("most.bin").await?;
    let whole = matches!(&response.content, Content::Binary(bytes) if bytes.len() == size);
    check("a file of exactly the limit is complete", whole, &response.mime)?;
    context.put("more.bin", vec![0xff; size + 1]).await?;
    let path = context.path("more.bin")?;
    let error = expect_error("read", context.backend.read(ReadRequest::new(path.clone())).await)?;
    check_eq("the code", &error.code, &FileErrorCode::TooLarge)?;
    let expected = format!("File '{path}': Binary file exceeds maximum preview size of {most} bytes");
    check_eq("the message", &error.message, &expected)
}
