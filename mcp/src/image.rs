//! Images as content that the model can look at.

use std::ops::ControlFlow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rmcp::model::ContentBlock;
use tidebox_core::{Result, SandboxBackend, mime};
use tidebox_vfs_backend::Snapshot;

use crate::text::lossy;

/// Media types that clients show to models.
const TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Extensions of these types, to find images among changed files without reading all of them.
const EXTENSIONS: [&[u8]; 5] = [b"png", b"jpg", b"jpeg", b"gif", b"webp"];

/// Maximum bytes of one image: 5 MiB in base64, the limit of the model providers.
pub(crate) const MAX_IMAGE_BYTES: usize = 5 * 1024 * 1024 / 4 * 3;

/// Maximum number of images in one result.
pub(crate) const MAX_IMAGES: usize = 4;

/// Returns the media type if the bytes are an image that models can look at.
pub(crate) fn image_type(path: &[u8], bytes: &[u8]) -> Option<&'static str> {
    let found = mime::guess_binary(path, bytes);
    // The extension alone does not make an image.
    let is_signed = mime::guess_binary(b"", bytes) == found;
    TYPES.into_iter().find(|known| is_signed && *known == found)
}

/// Converts an image to content.
pub(crate) fn image_content(bytes: &[u8], mime: &str) -> ContentBlock {
    ContentBlock::image(BASE64.encode(bytes), mime)
}

/// Returns the paths of images that were written between two snapshots, at most `limit`.
pub(crate) fn changed_images(before: &Snapshot, after: &Snapshot, limit: usize) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    if limit == 0 {
        return paths;
    }
    Snapshot::visit_changed_files(before, after, &mut |path| {
        if has_image_extension(path) {
            paths.push(path.to_vec());
        }
        if paths.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    paths
}

fn has_image_extension(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let extension = name.iter().rposition(|byte| *byte == b'.').and_then(|dot| name.get(dot + 1..));
    extension.is_some_and(|extension| EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// Images of a result, and notes about those that were omitted.
#[derive(Debug, Default)]
pub(crate) struct Images {
    pub(crate) paths: Vec<String>,
    pub(crate) content: Vec<ContentBlock>,
    pub(crate) notes: Vec<String>,
}

/// Reads the images at `paths`. Files that are missing or not images are skipped, too large ones are noted.
///
/// # Errors
/// If the backend fails.
pub(crate) async fn read_images(backend: &dyn SandboxBackend, paths: Vec<Vec<u8>>) -> Result<Images> {
    let mut images = Images::default();
    if paths.is_empty() {
        return Ok(images);
    }
    for file in backend.download_files(paths).await? {
        let Ok(bytes) = file.result else { continue };
        let Some(mime) = image_type(&file.path, &bytes) else { continue };
        let path = lossy(&file.path);
        if bytes.len() > MAX_IMAGE_BYTES {
            images
                .notes
                .push(format!("[{path}: image of {} bytes not shown; the limit is {MAX_IMAGE_BYTES}]", bytes.len()));
            continue;
        }
        images.content.push(image_content(&bytes, mime));
        images.paths.push(path);
    }
    Ok(images)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_signed_images_are_shown() {
        assert_eq!(image_type(b"/a.png", b"\x89PNG\r\n\x1a\nrest"), Some("image/png"));
        assert_eq!(image_type(b"/plot", b"\xff\xd8\xffrest"), Some("image/jpeg"));
        assert_eq!(image_type(b"/a.gif", b"GIF89a..."), Some("image/gif"));
        assert_eq!(image_type(b"/a.webp", b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(image_type(b"/a.png", b"not an image"), None);
        assert_eq!(image_type(b"/a.pdf", b"%PDF-1.7"), None);
    }

    #[test]
    fn image_extensions_match_in_either_case() {
        for path in ["/a.png", "/b/c.JPG", "/d.e.WebP"] {
            assert!(has_image_extension(path.as_bytes()), "{path}");
        }
        for path in ["/png", "/a.png/b", "/a.pngx", "/"] {
            assert!(!has_image_extension(path.as_bytes()), "{path}");
        }
    }
}
