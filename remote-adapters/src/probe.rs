//! Why a file was refused, asked of the sandbox itself, for providers whose answers do not tell.

use std::time::Duration;

use tidebox_core::shell_backend::quote;
use tidebox_core::{Error, ErrorKind, FileError, FileErrorCode, FileResult, Result, SandboxPath};

use crate::output::Output;
use crate::plane::{Command, Plane};

/// How long a script of ours may take. It looks at one path.
const TIME: Duration = Duration::from_secs(30);

/// Runs a script and returns the one word that it prints.
pub(crate) async fn ask<P: Plane + ?Sized>(plane: &P, script: String) -> Result<String> {
    let command = Command { script, cwd: Some("/".to_owned()), env: Vec::new(), time: TIME };
    let mut output = Output::new(1 << 10, None);
    plane.run(command, &mut output).await?;
    Ok(output.into_response().stdout_text().trim().to_owned())
}

/// Whether the word that [`place`] printed means that the file may be there: the directories were made by it, or by somebody
/// else between the refusal and the question, as another upload of the same batch does.
pub(crate) fn has_room(word: &str) -> bool {
    matches!(word, "made" | "unknown")
}

/// A script that makes the directories above a file and prints `made`, or why the file cannot be there.
pub(crate) fn place(path: &SandboxPath) -> String {
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
pub(crate) fn reason(path: &SandboxPath) -> String {
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

/// What [`reason`] found of a file that a provider refused with that error. One that was missing and can be read by now came in between.
pub(crate) fn unread(path: &SandboxPath, word: &str, error: Error) -> Result<FileResult<()>> {
    let came = word == "unknown" && error.kind() == ErrorKind::SandboxNotFound;
    let code = if came { Some(FileErrorCode::FileNotFound) } else { code(word) };
    code.map_or(Err(error), |code| Ok(Err(FileError::refused(code, path.as_bytes()))))
}

/// The code of a printed word, `None` for one that is none.
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

    fn answer(script: &str) -> String {
        let output = Command::new("sh").arg("-c").arg(script).output().expect("there is a shell");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    #[test]
    fn the_shell_of_this_machine_knows_why() {
        let folder = std::env::temp_dir().join(format!("tidebox-probe-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("it's"), "x").expect("a file");
        let path = |name: &str| SandboxPath::parse(format!("{}/{name}", folder.display())).expect("a path");
        assert_eq!(answer(&reason(&path("none"))), "file_not_found");
        assert_eq!(answer(&reason(&path("it's/below"))), "not_a_directory");
        assert_eq!(answer(&reason(&SandboxPath::parse("/tmp").expect("a path"))), "is_directory");
        assert_eq!(answer(&reason(&SandboxPath::parse("/dev/null").expect("a path"))), "not_a_regular_file");
        assert_eq!(answer(&place(&path("new/deep/file"))), "made");
        assert_eq!(answer(&place(&path("new/deep"))), "is_directory");
        assert_eq!(answer(&place(&path("it's/below"))), "not_a_directory");
        assert_eq!(code("not_a_directory"), Some(FileErrorCode::NotADirectory));
        assert_eq!(code("unknown"), None);
        std::fs::remove_dir_all(&folder).expect("it is ours");
    }
}
