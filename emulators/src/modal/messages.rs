//! Protobuf messages that only the emulator uses, with the field numbers of Modal's published interface. Unlisted fields
//! are skipped.

use std::collections::HashMap;

use bytes::Bytes;
use prost::Message;
use tidebox_remote_adapters::modal::messages::{GenericResult, RouterAccess, StringMap};

/// Fields of `SandboxCreateV2Request` that the adapter never sends.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CreateExtras {
    #[prost(message, optional, tag = "2")]
    pub(super) definition: Option<DefinitionExtras>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct DefinitionExtras {
    #[prost(message, repeated, tag = "13")]
    pub(super) volume_mounts: Vec<Unread>,
    #[prost(message, repeated, tag = "14")]
    pub(super) cloud_bucket_mounts: Vec<Unread>,
    #[prost(message, optional, tag = "15")]
    pub(super) pty_info: Option<PtyInfo>,
    #[prost(message, optional, tag = "38")]
    pub(super) readiness_probe: Option<Probe>,
}

/// Fields of `TaskExecStartRequest` that the adapter never sends.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ExecExtras {
    #[prost(string, repeated, tag = "8")]
    pub(super) secret_ids: Vec<String>,
    #[prost(message, optional, tag = "9")]
    pub(super) pty_info: Option<PtyInfo>,
    /// A sidecar, if any.
    #[prost(string, tag = "11")]
    pub(super) container_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct PtyInfo {
    #[prost(bool, tag = "1")]
    pub(super) enabled: bool,
}

/// `SandboxWaitResponse` with the app of the sandbox.
#[derive(Clone, PartialEq, Message)]
pub(super) struct WaitResponse {
    #[prost(message, optional, tag = "1")]
    pub(super) result: Option<GenericResult>,
    #[prost(message, optional, tag = "2")]
    pub(super) metadata: Option<HandleMetadata>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct HandleMetadata {
    #[prost(message, optional, tag = "1")]
    pub(super) result: Option<GenericResult>,
    #[prost(string, tag = "2")]
    pub(super) app_id: String,
}

/// `SandboxCreateV2Response` with the app of the sandbox.
#[derive(Clone, PartialEq, Message)]
pub(super) struct CreateResponse {
    #[prost(string, tag = "1")]
    pub(super) sandbox_id: String,
    #[prost(string, tag = "3")]
    pub(super) task_id: String,
    #[prost(message, optional, tag = "4")]
    pub(super) metadata: Option<HandleMetadata>,
    #[prost(message, optional, tag = "5")]
    pub(super) command_router_access: Option<RouterAccess>,
}

/// `SandboxCreateRequest` of the older API.
#[derive(Clone, PartialEq, Message)]
pub(super) struct OlderCreateRequest {
    #[prost(message, optional, tag = "2")]
    pub(super) definition: Option<OlderDefinition>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OlderDefinition {
    #[prost(string, repeated, tag = "4")]
    pub(super) secret_ids: Vec<String>,
    #[prost(message, optional, tag = "5")]
    pub(super) resources: Option<OlderResources>,
    #[prost(message, repeated, tag = "9")]
    pub(super) nfs_mounts: Vec<Unread>,
    #[prost(message, optional, tag = "40")]
    pub(super) environment_variables: Option<StringMap>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct OlderResources {
    #[prost(message, optional, tag = "4")]
    pub(super) gpu_config: Option<GpuConfig>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct GpuConfig {
    #[prost(int32, tag = "1")]
    pub(super) kind: i32,
    #[prost(string, tag = "4")]
    pub(super) gpu_type: String,
}

/// `SandboxCreateResponse` of the older API.
#[derive(Clone, PartialEq, Message)]
pub(super) struct OlderCreateResponse {
    #[prost(string, tag = "1")]
    pub(super) sandbox_id: String,
    #[prost(message, optional, tag = "2")]
    pub(super) metadata: Option<HandleMetadata>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SecretRequest {
    /// Name of a stored secret; empty for one that only the request defines.
    #[prost(string, tag = "1")]
    pub(super) deployment_name: String,
    #[prost(map = "string, string", tag = "5")]
    pub(super) env_dict: HashMap<String, String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SecretResponse {
    #[prost(string, tag = "1")]
    pub(super) secret_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct LogsRequest {
    #[prost(string, tag = "1")]
    pub(super) sandbox_id: String,
    /// 1 standard output, 2 standard error.
    #[prost(int32, tag = "2")]
    pub(super) file_descriptor: i32,
    #[prost(string, tag = "4")]
    pub(super) last_entry_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct LogsBatch {
    #[prost(message, repeated, tag = "2")]
    pub(super) items: Vec<LogItem>,
    #[prost(string, tag = "5")]
    pub(super) entry_id: String,
    #[prost(bool, tag = "14")]
    pub(super) eof: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct LogItem {
    #[prost(string, tag = "1")]
    pub(super) data: String,
    #[prost(int32, tag = "8")]
    pub(super) file_descriptor: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StdinWriteRequest {
    #[prost(string, tag = "1")]
    pub(super) sandbox_id: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub(super) input: Bytes,
    #[prost(bool, tag = "4")]
    pub(super) eof: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SnapshotFsResponse {
    #[prost(string, tag = "1")]
    pub(super) image_id: String,
    #[prost(message, optional, tag = "2")]
    pub(super) result: Option<GenericResult>,
}

/// A message whose content does not matter.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Unread {}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Probe {
    #[prost(message, optional, tag = "2")]
    pub(super) exec_command: Option<ExecCommand>,
    #[prost(uint32, optional, tag = "3")]
    pub(super) interval_ms: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ExecCommand {
    #[prost(string, repeated, tag = "1")]
    pub(super) argv: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxStdioReadRequest {
    #[prost(string, tag = "1")]
    pub(super) task_id: String,
    #[prost(uint64, tag = "2")]
    pub(super) offset: u64,
    /// 0 standard output, 1 standard error.
    #[prost(int32, tag = "3")]
    pub(super) file_descriptor: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxStdioReadResponse {
    #[prost(bytes = "bytes", tag = "1")]
    pub(super) data: Bytes,
    #[prost(uint64, tag = "2")]
    pub(super) starting_offset: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxStdinWriteRequest {
    #[prost(string, tag = "1")]
    pub(super) task_id: String,
    #[prost(uint64, tag = "2")]
    pub(super) offset: u64,
    #[prost(bytes = "bytes", tag = "3")]
    pub(super) data: Bytes,
    #[prost(bool, tag = "4")]
    pub(super) eof: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct WaitUntilReadyRequest {
    #[prost(string, tag = "1")]
    pub(super) task_id: String,
    /// Seconds.
    #[prost(float, tag = "2")]
    pub(super) timeout: f32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct WaitUntilReadyResponse {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    pub(super) ready_at: f64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SnapshotFilesystemRequest {
    #[prost(string, tag = "1")]
    pub(super) task_id: String,
    /// Chosen by the client: a second call with the same id takes no second snapshot.
    #[prost(string, tag = "2")]
    pub(super) snapshot_id: String,
    /// A sidecar, if any.
    #[prost(string, tag = "5")]
    pub(super) container_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SnapshotFilesystemResponse {
    #[prost(string, tag = "1")]
    pub(super) image_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct SandboxSetNameRequest {
    #[prost(string, tag = "1")]
    pub(super) sandbox_id: String,
    #[prost(string, tag = "2")]
    pub(super) name: String,
}
