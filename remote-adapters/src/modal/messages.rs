//! The protobuf messages used by the adapter, with the field numbers of Modal's published interface. Unlisted fields
//! are skipped.
//!
//! Written by hand and derived by prost, so that a build needs neither `protoc` nor an interface of 5,000 lines.

#![allow(missing_docs, reason = "the names are those of Modal's interface, which is their documentation")]

use std::collections::HashMap;

use bytes::Bytes;
use prost::{Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub struct Empty {}

#[derive(Clone, PartialEq, Message)]
pub struct AppGetOrCreateRequest {
    #[prost(string, tag = "1")]
    pub app_name: String,
    #[prost(string, tag = "2")]
    pub environment_name: String,
    /// 1 creates it if it is missing.
    #[prost(int32, tag = "3")]
    pub object_creation_type: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct AppGetOrCreateResponse {
    #[prost(string, tag = "1")]
    pub app_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct EnvironmentGetOrCreateRequest {
    #[prost(string, tag = "1")]
    pub deployment_name: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct EnvironmentGetOrCreateResponse {
    #[prost(string, tag = "1")]
    pub environment_id: String,
    #[prost(message, optional, tag = "2")]
    pub metadata: Option<EnvironmentMetadata>,
}

#[derive(Clone, PartialEq, Message)]
pub struct EnvironmentMetadata {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub settings: Option<EnvironmentSettings>,
}

#[derive(Clone, PartialEq, Message)]
pub struct EnvironmentSettings {
    #[prost(string, tag = "1")]
    pub image_builder_version: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Image {
    #[prost(string, repeated, tag = "6")]
    pub dockerfile_commands: Vec<String>,
    #[prost(message, optional, tag = "16")]
    pub gpu_config: Option<Empty>,
    #[prost(message, optional, tag = "17")]
    pub image_registry_config: Option<Empty>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ImageGetOrCreateRequest {
    #[prost(message, optional, tag = "2")]
    pub image: Option<Image>,
    #[prost(string, tag = "4")]
    pub app_id: String,
    /// 1 is the workspace.
    #[prost(int32, tag = "8")]
    pub namespace: i32,
    #[prost(string, tag = "9")]
    pub builder_version: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct ImageGetOrCreateResponse {
    #[prost(string, tag = "1")]
    pub image_id: String,
    #[prost(message, optional, tag = "2")]
    pub result: Option<GenericResult>,
    #[prost(message, optional, tag = "3")]
    pub metadata: Option<Empty>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ImageJoinStreamingRequest {
    #[prost(string, tag = "1")]
    pub image_id: String,
    #[prost(float, tag = "2")]
    pub timeout: f32,
    #[prost(string, tag = "3")]
    pub last_entry_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct ImageJoinStreamingResponse {
    #[prost(message, optional, tag = "1")]
    pub result: Option<GenericResult>,
    #[prost(string, tag = "3")]
    pub entry_id: String,
    #[prost(message, optional, tag = "5")]
    pub metadata: Option<Empty>,
}

#[derive(Clone, PartialEq, Message)]
pub struct GenericResult {
    /// 0 while it runs, 1 for success.
    #[prost(int32, tag = "1")]
    pub status: i32,
    #[prost(string, tag = "2")]
    pub exception: String,
    #[prost(int32, tag = "3")]
    pub exitcode: i32,
}

#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub struct AuthTokenGetResponse {
    #[prost(string, tag = "1")]
    pub token: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct SandboxCreateV2Request {
    #[prost(string, tag = "1")]
    pub app_id: String,
    #[prost(message, optional, tag = "2")]
    pub definition: Option<Sandbox>,
    #[prost(message, repeated, tag = "4")]
    pub tags: Vec<SandboxTag>,
    #[prost(message, repeated, tag = "6")]
    pub secret_sources: Vec<SecretSource>,
}

#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub struct SandboxCreateV2Response {
    #[prost(string, tag = "1")]
    pub sandbox_id: String,
    #[prost(string, tag = "3")]
    pub task_id: String,
    #[prost(message, optional, tag = "5")]
    pub command_router_access: Option<RouterAccess>,
    #[prost(string, tag = "6")]
    pub sandbox_token: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct Sandbox {
    #[prost(string, repeated, tag = "1")]
    pub entrypoint_args: Vec<String>,
    #[prost(string, tag = "3")]
    pub image_id: String,
    #[prost(message, optional, tag = "5")]
    pub resources: Option<Resources>,
    #[prost(uint32, tag = "7")]
    pub timeout_secs: u32,
    #[prost(string, optional, tag = "8")]
    pub workdir: Option<String>,
    #[prost(message, optional, tag = "17")]
    pub scheduler_placement: Option<SchedulerPlacement>,
    #[prost(message, optional, tag = "20")]
    pub open_ports: Option<PortSpecs>,
    #[prost(message, optional, tag = "22")]
    pub network_access: Option<NetworkAccess>,
    #[prost(string, optional, tag = "30")]
    pub name: Option<String>,
    #[prost(uint32, optional, tag = "33")]
    pub idle_timeout_secs: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Resources {
    #[prost(uint32, tag = "2")]
    pub memory_mb: u32,
    #[prost(uint32, tag = "3")]
    pub milli_cpu: u32,
    #[prost(message, optional, tag = "4")]
    pub gpu_config: Option<Empty>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SchedulerPlacement {
    #[prost(string, repeated, tag = "4")]
    pub regions: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct NetworkAccess {
    /// 1 open, 2 blocked, 3 only the listed ones.
    #[prost(int32, tag = "1")]
    pub network_access_type: i32,
    #[prost(string, repeated, tag = "2")]
    pub allowed_cidrs: Vec<String>,
    #[prost(string, repeated, tag = "3")]
    pub allowed_domains: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SandboxTag {
    #[prost(string, tag = "1")]
    pub tag_name: String,
    #[prost(string, tag = "2")]
    pub tag_value: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct SecretSource {
    #[prost(message, optional, tag = "2")]
    pub env: Option<StringMap>,
}

#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub struct StringMap {
    #[prost(map = "string, string", tag = "1")]
    pub contents: HashMap<String, String>,
}

#[derive(Clone, PartialEq, Message)]
#[prost(skip_debug)]
pub struct RouterAccess {
    #[prost(string, tag = "1")]
    pub jwt: String,
    #[prost(string, tag = "2")]
    pub url: String,
}

/// Ports that a sandbox opens to the outside.
#[derive(Clone, PartialEq, Message)]
pub struct PortSpecs {
    #[prost(message, repeated, tag = "1")]
    pub ports: Vec<PortSpec>,
}

#[derive(Clone, PartialEq, Message)]
pub struct PortSpec {
    #[prost(uint32, tag = "1")]
    pub port: u32,
    #[prost(bool, tag = "2")]
    pub unencrypted: bool,
}

/// Address of a port of a sandbox.
#[derive(Clone, PartialEq, Message)]
pub struct Tunnel {
    #[prost(string, tag = "1")]
    pub host: String,
    #[prost(uint32, tag = "2")]
    pub port: u32,
    #[prost(string, tag = "3")]
    pub unencrypted_host: String,
    #[prost(uint32, tag = "4")]
    pub unencrypted_port: u32,
    #[prost(uint32, tag = "5")]
    pub container_port: u32,
}

/// `SandboxGetTunnelsRequest`
#[derive(Clone, PartialEq, Message)]
pub struct TunnelsRequest {
    #[prost(string, tag = "1")]
    pub sandbox_id: String,
    /// Maximum time to wait for the tunnels, in seconds.
    #[prost(float, tag = "2")]
    pub timeout: f32,
}

#[derive(Clone, PartialEq, Message)]
pub struct TunnelsResponse {
    #[prost(message, optional, tag = "1")]
    pub result: Option<GenericResult>,
    #[prost(message, repeated, tag = "2")]
    pub tunnels: Vec<Tunnel>,
}

/// A message with only the sandbox id.
#[derive(Clone, PartialEq, Message)]
pub struct SandboxRequest {
    #[prost(string, tag = "1")]
    pub sandbox_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct SandboxGetTaskIdResponse {
    #[prost(string, optional, tag = "1")]
    pub task_id: Option<String>,
    #[prost(message, optional, tag = "2")]
    pub task_result: Option<GenericResult>,
}

#[derive(Clone, PartialEq, Message)]
pub struct RouterAccessRequest {
    #[prost(string, tag = "1")]
    pub sandbox_id: String,
    #[prost(string, tag = "2")]
    pub task_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct SandboxGetFromNameRequest {
    #[prost(string, tag = "1")]
    pub sandbox_name: String,
    #[prost(string, tag = "2")]
    pub environment_name: String,
    #[prost(string, tag = "3")]
    pub app_name: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct SandboxGetFromNameResponse {
    #[prost(string, tag = "1")]
    pub sandbox_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct SandboxListRequest {
    #[prost(string, tag = "1")]
    pub app_id: String,
    #[prost(double, tag = "2")]
    pub before_timestamp: f64,
    #[prost(string, tag = "3")]
    pub environment_name: String,
    #[prost(bool, tag = "4")]
    pub include_finished: bool,
    #[prost(message, repeated, tag = "5")]
    pub tags: Vec<SandboxTag>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SandboxListResponse {
    #[prost(message, repeated, tag = "1")]
    pub sandboxes: Vec<SandboxInfo>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SandboxInfo {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(double, tag = "3")]
    pub created_at: f64,
    #[prost(message, optional, tag = "4")]
    pub task_info: Option<TaskInfo>,
    #[prost(string, tag = "5")]
    pub app_id: String,
    #[prost(message, repeated, tag = "6")]
    pub tags: Vec<SandboxTag>,
    #[prost(string, tag = "7")]
    pub name: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct TaskInfo {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(message, optional, tag = "4")]
    pub result: Option<GenericResult>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SandboxWaitRequest {
    #[prost(string, tag = "1")]
    pub sandbox_id: String,
    /// Seconds.
    #[prost(float, tag = "2")]
    pub timeout: f32,
}

#[derive(Clone, PartialEq, Message)]
pub struct SandboxWaitResponse {
    #[prost(message, optional, tag = "1")]
    pub result: Option<GenericResult>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SandboxTerminateResponse {
    #[prost(message, optional, tag = "1")]
    pub existing_result: Option<GenericResult>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SandboxTagsResponse {
    #[prost(message, repeated, tag = "1")]
    pub tags: Vec<SandboxTag>,
}

#[derive(Clone, PartialEq, Message)]
pub struct SandboxTagsSetRequest {
    #[prost(string, tag = "2")]
    pub sandbox_id: String,
    #[prost(message, repeated, tag = "3")]
    pub tags: Vec<SandboxTag>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TaskExecStartRequest {
    #[prost(string, tag = "1")]
    pub task_id: String,
    /// Chosen by the client: a second call with the same id starts nothing.
    #[prost(string, tag = "2")]
    pub exec_id: String,
    #[prost(string, repeated, tag = "3")]
    pub command_args: Vec<String>,
    /// 1 keeps the output.
    #[prost(int32, tag = "4")]
    pub stdout_config: i32,
    #[prost(int32, tag = "5")]
    pub stderr_config: i32,
    #[prost(uint32, optional, tag = "6")]
    pub timeout_secs: Option<u32>,
    #[prost(string, optional, tag = "7")]
    pub workdir: Option<String>,
    #[prost(message, repeated, tag = "13")]
    pub secret_sources: Vec<SecretSource>,
}

/// A message with only the task id and exec id.
#[derive(Clone, PartialEq, Message)]
pub struct TaskExecRequest {
    #[prost(string, tag = "1")]
    pub task_id: String,
    #[prost(string, tag = "2")]
    pub exec_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct TaskExecStdioReadRequest {
    #[prost(string, tag = "1")]
    pub task_id: String,
    #[prost(string, tag = "2")]
    pub exec_id: String,
    #[prost(uint64, tag = "3")]
    pub offset: u64,
    /// 0 standard output, 1 standard error.
    #[prost(int32, tag = "4")]
    pub file_descriptor: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct TaskExecStdioReadResponse {
    #[prost(bytes = "bytes", tag = "1")]
    pub data: Bytes,
}

/// Response to `TaskExecWait` and `TaskExecPoll`.
#[derive(Clone, PartialEq, Message)]
pub struct TaskExecEndResponse {
    #[prost(oneof = "ExitStatus", tags = "1, 2")]
    pub exit_status: Option<ExitStatus>,
}

#[derive(Clone, Copy, PartialEq, Eq, Oneof)]
pub enum ExitStatus {
    #[prost(int32, tag = "1")]
    Code(i32),
    #[prost(int32, tag = "2")]
    Signal(i32),
}

#[derive(Clone, PartialEq, Message)]
pub struct TaskExecStdinWriteRequest {
    #[prost(string, tag = "1")]
    pub task_id: String,
    #[prost(string, tag = "2")]
    pub exec_id: String,
    #[prost(uint64, tag = "3")]
    pub offset: u64,
    #[prost(bytes = "bytes", tag = "4")]
    pub data: Bytes,
    #[prost(bool, tag = "5")]
    pub eof: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct TaskExecStdinWriteStreamRequest {
    #[prost(oneof = "StdinPayload", tags = "1, 2, 3")]
    pub payload: Option<StdinPayload>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum StdinPayload {
    #[prost(message, tag = "1")]
    Start(TaskExecStdinWriteStreamStart),
    #[prost(bytes = "bytes", tag = "2")]
    Data(Bytes),
    #[prost(message, tag = "3")]
    End(Empty),
}

#[derive(Clone, PartialEq, Message)]
pub struct TaskExecStdinWriteStreamStart {
    #[prost(string, tag = "1")]
    pub task_id: String,
    #[prost(string, tag = "2")]
    pub exec_id: String,
    #[prost(uint64, tag = "3")]
    pub offset: u64,
}

#[derive(Clone, PartialEq, Message)]
pub struct TaskExecStdinStatusResponse {
    #[prost(uint64, tag = "1")]
    pub num_bytes_written: u64,
    #[prost(bool, tag = "2")]
    pub closed: bool,
}

/// `google.rpc.Status`, carried in a header next to the code of an error.
#[derive(Clone, PartialEq, Message)]
pub struct StatusDetails {
    #[prost(int32, tag = "1")]
    pub code: i32,
    #[prost(string, tag = "2")]
    pub message: String,
    #[prost(message, repeated, tag = "3")]
    pub details: Vec<Any>,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, Message)]
pub struct Any {
    #[prost(string, tag = "1")]
    pub type_url: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub struct RpcRetryPolicy {
    #[prost(float, tag = "1")]
    pub retry_after_secs: f32,
}
