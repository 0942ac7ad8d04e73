//! Tidebox's modules of the pack `python`.

/// Tidebox's part of the interpreter, added to its library. In the order of their paths: the npm package computes the same
/// fingerprint over all files below `packs/python` in that order, so that both can use one installed pack.
pub const PYTHON_SOURCES: &[(&str, &str)] = &[
    ("_multiprocessing.py", include_str!("../python/_multiprocessing.py")),
    ("_tidebox/__init__.py", include_str!("../python/_tidebox/__init__.py")),
    ("_tidebox/command.py", include_str!("../python/_tidebox/command.py")),
    ("_tidebox/errno_map.py", include_str!("../python/_tidebox/errno_map.py")),
    ("_tidebox/finalize.py", include_str!("../python/_tidebox/finalize.py")),
    ("_tidebox/host_call.py", include_str!("../python/_tidebox/host_call.py")),
    ("_tidebox/http_exchange.py", include_str!("../python/_tidebox/http_exchange.py")),
    ("_tidebox/image.py", include_str!("../python/_tidebox/image.py")),
    ("_tidebox/memory.py", include_str!("../python/_tidebox/memory.py")),
    ("_tidebox/names.py", include_str!("../python/_tidebox/names.py")),
    ("_tidebox/network.py", include_str!("../python/_tidebox/network.py")),
    ("_tidebox/packages.py", include_str!("../python/_tidebox/packages.py")),
    ("_tidebox/preloaded.py", include_str!("../python/_tidebox/preloaded.py")),
    ("_tidebox/processes.py", include_str!("../python/_tidebox/processes.py")),
    ("_tidebox/session.py", include_str!("../python/_tidebox/session.py")),
    ("_tidebox/sockets.py", include_str!("../python/_tidebox/sockets.py")),
    ("_tidebox/system.py", include_str!("../python/_tidebox/system.py")),
    ("_tidebox/threads.py", include_str!("../python/_tidebox/threads.py")),
    ("grp.py", include_str!("../python/grp.py")),
    ("pwd.py", include_str!("../python/pwd.py")),
    ("ssl.py", include_str!("../python/ssl.py")),
    ("venv.py", include_str!("../python/venv.py")),
];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::PYTHON_SOURCES;

    /// The npm package reads the directory; a file missing here, or another order, gives it another fingerprint.
    #[test]
    fn the_npm_package_computes_the_same_fingerprint() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("python");
        let mut files = Vec::new();
        let mut pending = vec![dir.clone()];
        while let Some(next) = pending.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    pending.push(path);
                } else if path.extension().is_some_and(|ending| ending == "py") {
                    files.push(path.strip_prefix(&dir).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        files.sort();
        let listed: Vec<&str> = PYTHON_SOURCES.iter().map(|(path, _)| *path).collect();
        assert_eq!(listed, files);
    }
}
