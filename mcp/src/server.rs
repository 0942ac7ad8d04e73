//! The server's side of the protocol: requests to tools and resources.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, JsonObject, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressToken, ReadResourceRequestParams,
    ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use tidebox_core::OutputOverflow;
use tokio::select;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::error::ToolError;
use crate::progress::OutputTail;
use crate::resource;
use crate::tool::{self, TOOLS, ToolContext, ToolSpec};
use crate::workspace::{OpenWorkspace, Workspace};

/// Maximum number of calls in progress in one sandbox. More than an agent starts at the same time, and few enough that their
/// processes stay below the limit of one sandbox.
const MAX_CALLS: usize = 64;

/// Maximum bytes of one message of a client: a file of the maximum size in base64, and room for the rest.
pub(crate) const MAX_MESSAGE_BYTES: usize = 2 * resource::MAX_CONTENT_BYTES;

/// Text for the model about the server as a whole.
const INSTRUCTIONS: &str = "An isolated sandbox with bash, the usual Unix tools and its own files. It does not see files of the host, \
    unless they are mounted. Work in the current directory; use snapshot before risky changes.";

/// Options of the server that do not concern the transport.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Timeout of a command whose call has none. Default 55 seconds: many clients stop waiting after 60.
    pub default_timeout: Duration,
    /// Maximum timeout of a call. Default 10 minutes, as in Claude Code. Background processes have the sandbox's own limit.
    pub max_timeout: Duration,
    /// Action when the output of a command exceeds the sandbox's limit. Default: the first bytes are kept.
    pub output_overflow: OutputOverflow,
    /// The sandbox has a network, which the descriptions of the tools then state. Default false.
    pub has_network: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            default_timeout: Duration::from_secs(55),
            max_timeout: Duration::from_secs(600),
            output_overflow: OutputOverflow::default(),
            has_network: false,
        }
    }
}

/// Serves one sandbox. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    workspace: Arc<Workspace>,
    settings: Arc<Settings>,
    calls: Arc<Semaphore>,
}

impl Server {
    pub(crate) fn new(workspace: Arc<Workspace>, settings: Arc<Settings>) -> Self {
        Self { workspace, settings, calls: Arc::new(Semaphore::new(MAX_CALLS)) }
    }

    async fn open(&self) -> Result<&OpenWorkspace, ErrorData> {
        self.workspace.open().await.map_err(resource::internal)
    }

    /// Runs a tool, and sends its output as progress if the client requested that.
    async fn run_tool(
        &self,
        tool: &ToolSpec,
        arguments: JsonObject,
        progress: Option<ProgressToken>,
        peer: &Peer<RoleServer>,
    ) -> Result<CallToolResult, ToolError> {
        let open = self.workspace.open().await?;
        let tail = if progress.is_some() { OutputTail::new() } else { OutputTail::default() };
        let run = (tool.run)(ToolContext { open, settings: &self.settings, tail: &tail }, arguments);
        let Some(token) = progress else { return run.await };
        let start = Instant::now();
        let result = select! {
            result = run => result,
            never = tail.forward(peer, token.clone(), start) => match never {},
        };
        tail.finish(peer, token, start).await;
        result
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let server = Implementation::new("tidebox", env!("CARGO_PKG_VERSION")).with_title("Tidebox");
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(|tool| tool.describe(&self.settings)).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tool::find_tool(name).map(|tool| tool.describe(&self.settings))
    }

    /// Runs a tool until it ends or the request is cancelled. Dropping the future of the tool ends its command: every tool is
    /// cancelled here and only here.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tool::find_tool(&request.name) else {
            let names: Vec<_> = TOOLS.iter().map(|tool| tool.name).collect();
            let message = format!("unknown tool {:?}; expected one of: {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let Ok(_call) = self.calls.try_acquire() else {
            let message =
                format!("cannot start {}: {MAX_CALLS} calls are in progress; wait for one of them", tool.name);
            return ToolError::Failed(message).into_result().map(Into::into);
        };
        let progress = context.meta.get_progress_token();
        let run = self.run_tool(tool, request.arguments.unwrap_or_default(), progress, &context.peer);
        select! {
            biased;
            // The client has stopped waiting, so this response is not sent.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the call was cancelled by the client", None)),
            result = run => result.or_else(ToolError::into_result).map(Into::into),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        resource::list(self.open().await?, cursor.as_deref()).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resource::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        resource::read(self.open().await?, &request.uri).await.map(Into::into)
    }
}
