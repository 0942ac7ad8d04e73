//! Probe scripts that determine a file error inside the sandbox, for providers that report no cause.

use std::time::Duration;

use tidebox_core::shell_backend::quote;
use tidebox_core::{Error, ErrorKind, FileError, FileErrorCode, FileResult, Result, SandboxPath};

use crate::data_plane::{Command, DataPlane};
use crate::output::OutputCollector;

/// Timeout of a probe script. It checks one path.
const PROBE_TIMEOUT: Duration = Duration::from_secs(30);

/// Runs a script and returns its output, without whitespace around it.
pub(crate) async fn run_probe<P: DataPlane + ?Sized>(plane: &P, script: String) -> Result<String> {
    let command = Command { script, cwd: Some("/".to_owned()), env: Vec::new(), timeout: PROBE_TIMEOUT };
    let mut output = OutputCollector::new(1 << 10, None);
    plane.run(command, &mut output).await?;
    Ok(output.into_response().stdout_text().trim().to_owned())
}

/// Returns whether the output of [`prepare_parent_script`] means that the parent directories exist: created by the
/// script, or by another upload since the failure.
pub(crate) fn parent_is_ready(word: &str) -> bool {
    matches!(word, "made" | "unknown")
}

/// A script that creates the parent directories of a file and prints `made`, or prints why the file cannot exist.
pub(crate) fn prepare_parent_script(path: &SandboxPath) -> String {
    let above = path.parent().unwrap_or_else(SandboxPath::root);
    let [file, above] = [path, &above].map(|path| quote(&path.to_text()));
    format!(
        "p={file}; d={above}
if [ -d \"$p\" ]; then echo is_directory
elif [ -e \"$p\" ] && [ ! -w \"$p\" ]; then echo permission_denied
elif [ -d \"$d\" ]; then if [ -w \"$d\" ]; then echo unknown; else echo permission_denied; fi
elif mkdir -p -- \"$d\" 2>/dev/null; then echo made
else
  while [ ! -e \"$d\" ]; do d=${{d%/*}}; d=${{d:-/}}; done
  if [ -d \"$d\" ]; then echo permission_denied; else echo not_a_directory; fi
fi"
    )
}

/// A script that prints why a file cannot be read.
pub(crate) fn read_error_script(path: &SandboxPath) -> String {
    let file = quote(&path.to_text());
    format!(
        "p={file}
if [ -d \"$p\" ]; then echo is_directory
elif [ -e \"$p\" ]; then
  if [ ! -f \"$p\" ]; then echo not_a_regular_file; elif [ ! -r \"$p\" ]; then echo permission_denied; else echo unknown; fi
elif LC_ALL=C ls -d -- \"$p\" 2>&1 | grep -q 'ermission denied'; then echo permission_denied
elif LC_ALL=C ls -d -- \"$p\" 2>&1 | grep -q 'ot a directory'; then echo not_a_directory
else echo file_not_found
fi"
    )
}

/// Converts the output of [`read_error_script`] for a file that failed with this error. A missing file that is now
/// readable was created in the meantime.
pub(crate) fn classify_read_error(path: &SandboxPath, word: &str, error: Error) -> Result<FileResult<()>> {
    let came = word == "unknown" && error.kind() == ErrorKind::SandboxNotFound;
    let code = if came { Some(FileErrorCode::FileNotFound) } else { code(word) };
    code.map_or(Err(error), |code| Ok(Err(FileError::with_code(code, path.as_bytes()))))
}

/// Parses a printed error code; `None` if it is unknown.
pub(crate) fn code(word: &str) -> Option<FileErrorCode> {
    const CODES: [FileErrorCode; 5] = [
        FileErrorCode::FileNotFound,
        FileErrorCode::PermissionDenied,
        FileErrorCode::IsDirectory,
        FileErrorCode::NotADirectory,
        FileErrorCode::NotARegularFile,
    ];
    CODES.into_iter().find(|code| code.as_str() == word)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Command;

    fn run_in_host_shell(script: &str) -> String {
        let output = Command::new("sh").arg("-c").arg(script).output().expect("the shell is installed");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    #[test]
    fn probe_scripts_run_in_the_host_shell() {
        let dir = std::env::temp_dir().join(format!("tidebox-probe-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a directory");
        std::fs::write(dir.join("it's"), "x").expect("a file");
        let path = |name: &str| SandboxPath::parse(format!("{}/{name}", dir.display())).expect("a path");
        assert_eq!(run_in_host_shell(&read_error_script(&path("none"))), "file_not_found");
        assert_eq!(run_in_host_shell(&read_error_script(&path("it's/below"))), "not_a_directory");
        assert_eq!(run_in_host_shell(&read_error_script(&SandboxPath::parse("/tmp").expect("a path"))), "is_directory");
        assert_eq!(
            run_in_host_shell(&read_error_script(&SandboxPath::parse("/dev/null").expect("a path"))),
            "not_a_regular_file"
        );
        assert_eq!(run_in_host_shell(&prepare_parent_script(&path("new/deep/file"))), "made");
        assert_eq!(run_in_host_shell(&prepare_parent_script(&path("new/deep"))), "is_directory");
        assert_eq!(run_in_host_shell(&prepare_parent_script(&path("it's/below"))), "not_a_directory");
        assert_eq!(code("not_a_directory"), Some(FileErrorCode::NotADirectory));
        assert_eq!(code("unknown"), None);
        std::fs::remove_dir_all(&dir).expect("the parent exists");
    }
}
