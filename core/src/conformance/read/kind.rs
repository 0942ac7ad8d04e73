//! Which files are text, which are bytes, and of what type.

use super::super::capabilities::Need::FileBytes;
use super::super::case::{Case, cases};
use super::super::fault::{Verdict, holds, same};
use super::super::ground::{Ground, page_text, refused};
use crate::error::FileErrorCode;
use crate::file::{Content, ReadRequest, ToolContent};

pub(in super::super) const CASES: &[Case] = cases![
    "read: bytes that are not UTF-8 come as bytes, whatever the name" [] by_content;
    "read: a file with a binary extension comes as bytes, whatever it holds" [] by_name;
    "read: bytes reach a tool as base64" [] base64;
    "read: the type of bytes is told by how they begin" [] type_by_content;
    "read: text has a text type" [] text_types;
    "read: bytes never have a text type" [] byte_types;
    "read: a binary file that is too large is refused with its bound" [FileBytes(11 << 20)] too_large;
];

async fn bytes(ground: &Ground<'_>, name: &str, content: &[u8]) -> Verdict<String> {
    ground.put(name, content).await?;
    let response = ground.read(name).await?;
    same(&format!("the content of {name}"), &response.content, &Content::Binary(content.to_vec()))?;
    same("the window", &response.window, &None)?;
    Ok(response.mime.into())
}

async fn by_content(ground: &Ground<'_>) -> Verdict {
    let every_byte: Vec<u8> = (0..=255).collect();
    bytes(ground, "a.txt", &every_byte).await?;
    bytes(ground, "a", b"text and then \xff").await?;
    bytes(ground, "b", b"\0\0\0\0").await.map(drop)
}

async fn by_name(ground: &Ground<'_>) -> Verdict {
    let mime = bytes(ground, "a.png", b"no picture").await?;
    same("the type", &mime.as_str(), &"image/png")?;
    let mime = bytes(ground, "A.PDF", b"no document").await?;
    same("the type", &mime.as_str(), &"application/pdf")
}

async fn base64(ground: &Ground<'_>) -> Verdict {
    ground.put("a.bin", b"\xfb\xff\xfe\0".as_slice()).await?;
    let response = ground.read("a.bin").await?;
    same("what the tool gets", &response.tool_content(ground.dialect()), &ToolContent::Base64("+//+AA==".to_owned()))
}

async fn type_by_content(ground: &Ground<'_>) -> Verdict {
    for (name, content, expected) in [
        ("a", b"\x89PNG\r\n\x1a\n\0\0".as_slice(), "image/png"),
        ("b.txt", b"\xff\xd8\xff\xe0\0", "image/jpeg"),
        ("c.png", b"GIF89a\0\0", "image/gif"),
        ("d", b"%PDF-1.7\n\xff", "application/pdf"),
    ] {
        let mime = bytes(ground, name, content).await?;
        same(&format!("the type of {name}"), &mime.as_str(), &expected)?;
    }
    Ok(())
}

async fn text_types(ground: &Ground<'_>) -> Verdict {
    for (name, expected) in [
        ("a.txt", "text/plain"),
        ("a.rs", "text/plain"),
        ("Makefile", "text/plain"),
        ("a.json", "application/json"),
        ("a.svg", "image/svg+xml"),
    ] {
        ground.put(name, "{}\n").await?;
        let response = ground.read(name).await?;
        page_text(&response)?;
        same(&format!("the type of {name}"), &&*response.mime, &expected)?;
    }
    Ok(())
}

async fn byte_types(ground: &Ground<'_>) -> Verdict {
    for name in ["a.txt", "a.json", "a.svg", "a"] {
        let mime = bytes(ground, name, b"\xff\xfe\xfd").await?;
        let is_text = mime.starts_with("text/") || mime == "application/json" || mime == "image/svg+xml";
        holds(&format!("no text type for {name}"), !is_text, &mime)?;
    }
    Ok(())
}

async fn too_large(ground: &Ground<'_>) -> Verdict {
    let most = ground.dialect().binary_bytes();
    let size = usize::try_from(most).unwrap_or(usize::MAX);
    ground.put("most.bin", vec![0xff; size]).await?;
    let response = ground.read("most.bin").await?;
    let whole = matches!(&response.content, Content::Binary(bytes) if bytes.len() == size);
    holds("a file of exactly the bound comes whole", whole, &response.mime)?;
    ground.put("more.bin", vec![0xff; size + 1]).await?;
    let path = ground.path("more.bin")?;
    let error = refused("read", ground.backend.read(ReadRequest::new(path.clone())).await)?;
    same("the code", &error.code, &FileErrorCode::TooLarge)?;
    let expected = format!("File '{path}': Binary file exceeds maximum preview size of {most} bytes");
    same("the message", &error.message, &expected)
}
