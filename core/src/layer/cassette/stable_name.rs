//! Values with a stable name.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{ErrorKind, FileErrorCode};
use crate::execute::{Background, StopReason};
use crate::file::FileKind;
use crate::output_overflow::OutputOverflow;
use crate::process::ProcessSignal;
use crate::search::Truncation;
use crate::shell_mode::ShellMode;

/// A closed set of values with a name each.
pub(super) trait StableName: Copy + 'static {
    /// Name of the type in messages.
    const WHAT: &'static str;
    const ALL: &'static [Self];

    fn name(self) -> &'static str;
}

/// A value that is serialized as its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::layer) struct ByName<T>(pub(in crate::layer) T);

impl<T: StableName> Serialize for ByName<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de, T: StableName> Deserialize<'de> for ByName<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let found = T::ALL.iter().find(|value| value.name() == text);
        found.map(|value| Self(*value)).ok_or_else(|| D::Error::custom(format!("'{text}' is not a {}", T::WHAT)))
    }
}

/// Defines the set once: omitting a value does not compile, because list and match are generated together.
macro_rules! names {
    ($type:ident, $what:literal, $name:expr, $($variant:ident)*) => {
        impl StableName for $type {
            const WHAT: &'static str = $what;
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name(self),)*
                }
            }
        }
    };
}

names! { ErrorKind, "kind of error", Self::as_str,
    InvalidRequest SandboxNotFound Closed Unsupported Unauthenticated Forbidden RateLimited QuotaExceeded Timeout
    Unavailable Protocol Engine NotRecorded Storage CommandTimeout CommandFailed FileOperationFailed
}

names! { FileErrorCode, "file error code", Self::as_str,
    FileNotFound PermissionDenied IsDirectory InvalidPath NotADirectory NotARegularFile NotText AlreadyExists TooLarge
    NoSpace PastEnd StringNotFound StringNotUnique InvalidPattern
}

names! { StopReason, "stop reason", Self::as_str,
    Timeout CpuTime Memory Output Files Inodes Descriptors Processes Nesting Cancelled
}

names! { OutputOverflow, "action at the output limit", Self::as_str, KeepHead KeepTail Stop }

names! { Background, "treatment of background processes", Self::as_str, End Keep }

names! { ProcessSignal, "signal", Self::as_str, Hup Int Quit Kill Usr1 Usr2 Term Cont Stop }

names! { Truncation, "truncation reason", Self::as_str, MaxCount Budget Unreadable }

names! { ShellMode, "shell mode", Self::as_str, Fresh Persistent }

names! { FileKind, "kind of file", kind_name, File Directory Symlink Other }

fn kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        FileKind::Other => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survives<T: StableName + PartialEq + std::fmt::Debug>() {
        for value in T::ALL {
            let written = serde_json::to_string(&ByName(*value)).unwrap();
            assert_eq!(serde_json::from_str::<ByName<T>>(&written).unwrap().0, *value);
        }
    }

    #[test]
    fn every_name_parses_to_its_value() {
        survives::<ErrorKind>();
        survives::<FileErrorCode>();
        survives::<StopReason>();
        survives::<OutputOverflow>();
        survives::<Background>();
        survives::<ProcessSignal>();
        survives::<Truncation>();
        survives::<FileKind>();
        survives::<ShellMode>();
        let unknown = serde_json::from_str::<ByName<FileKind>>(r#""socket""#).unwrap_err();
        assert!(unknown.to_string().starts_with("'socket' is not a kind of file"), "{unknown}");
    }
}
