//! The tools: their descriptions, and the way from a request to a result.

mod bash;
mod edit;
mod find;
mod grep;
mod list;
mod process;
mod python;
mod read;
mod snapshot;
mod transfer;
mod write;

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tidebox_core::BoxFuture;

use crate::error::ToolError;
use crate::progress::OutputTail;
use crate::server::Settings;
use crate::workspace::OpenWorkspace;

/// Resources of a call.
#[derive(Clone, Copy)]
pub(crate) struct ToolContext<'a> {
    pub(crate) open: &'a OpenWorkspace,
    pub(crate) settings: &'a Settings,
    /// Receives output while the tool runs.
    pub(crate) tail: &'a OutputTail,
}

impl ToolContext<'_> {
    /// Returns the time limit of a call.
    fn timeout(&self, requested_ms: Option<u64>) -> Duration {
        let requested = requested_ms.map(Duration::from_millis);
        requested.unwrap_or(self.settings.default_timeout).min(self.settings.max_timeout)
    }
}

/// One tool.
trait ToolCall {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const HINTS: Hints;

    type Input: DeserializeOwned + JsonSchema + Send;
    type Output: Serialize + JsonSchema + Send;

    fn run(
        context: ToolContext<'_>,
        input: Self::Input,
    ) -> impl Future<Output = Result<ToolOutput<Self::Output>, ToolError>> + Send;
}

/// Result of a tool: text for the model, the same as a value, and further content.
struct ToolOutput<T> {
    text: String,
    structured: T,
    content: Vec<ContentBlock>,
}

impl<T> ToolOutput<T> {
    fn new(text: impl Into<String>, structured: T) -> Self {
        Self { text: text.into(), structured, content: Vec::new() }
    }

    fn with_content(mut self, content: impl IntoIterator<Item = ContentBlock>) -> Self {
        self.content.extend(content);
        self
    }
}

/// Properties of a tool for the client's permission dialogs. All four are sent, because the protocol's defaults are pessimistic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hints {
    pub(crate) read_only: bool,
    pub(crate) destructive: bool,
    pub(crate) idempotent: bool,
    /// The tool runs commands, which may use the network if the sandbox has one.
    pub(crate) runs_commands: bool,
}

const READS: Hints = Hints { read_only: true, destructive: false, idempotent: true, runs_commands: false };
const RUNS: Hints = Hints { read_only: false, destructive: true, idempotent: false, runs_commands: true };
const REPLACES: Hints = Hints { read_only: false, destructive: true, idempotent: true, runs_commands: false };

/// A tool of the list.
pub(crate) struct ToolSpec {
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    pub(crate) hints: Hints,
    input: fn() -> JsonObject,
    output: fn() -> JsonObject,
    pub(crate) run: ToolFn,
}

type ToolFn = for<'a> fn(ToolContext<'a>, JsonObject) -> BoxFuture<'a, Result<CallToolResult, ToolError>>;

/// All tools, in the order of the list.
pub(crate) const TOOLS: &[ToolSpec] = &[
    spec::<bash::Bash>(),
    spec::<read::Read>(),
    spec::<write::Write>(),
    spec::<edit::Edit>(),
    spec::<find::Glob>(),
    spec::<grep::Grep>(),
    spec::<list::Ls>(),
    spec::<python::RunPython>(),
    spec::<transfer::Upload>(),
    spec::<transfer::Download>(),
    spec::<snapshot::TakeSnapshot>(),
    spec::<snapshot::Restore>(),
    spec::<snapshot::Diff>(),
    spec::<process::Processes>(),
    spec::<process::Output>(),
    spec::<process::Kill>(),
];

/// Returns the tool with this name.
pub(crate) fn find_tool(name: &str) -> Option<&'static ToolSpec> {
    TOOLS.iter().find(|tool| tool.name == name)
}

const fn spec<T: ToolCall>() -> ToolSpec {
    ToolSpec {
        name: T::NAME,
        title: T::TITLE,
        description: T::DESCRIPTION,
        hints: T::HINTS,
        input: input_schema::<T>,
        output: output_schema::<T>,
        run: run::<T>,
    }
}

fn run<T: ToolCall>(
    context: ToolContext<'_>,
    arguments: JsonObject,
) -> BoxFuture<'_, Result<CallToolResult, ToolError>> {
    Box::pin(async move {
        let input = serde_json::from_value(Value::Object(arguments)).map_err(|error| {
            ToolError::InvalidArguments(format!("invalid arguments of the tool {}: {error}", T::NAME))
        })?;
        let ToolOutput { text, structured, content } = T::run(context, input).await?;
        let structured = serde_json::to_value(structured)
            .map_err(|error| ToolError::Failed(format!("cannot write the result of {} as JSON: {error}", T::NAME)))?;
        let content = [ContentBlock::text(text)].into_iter().chain(content).collect();
        let mut result = CallToolResult::success(content);
        result.structured_content = Some(structured);
        Ok(result)
    })
}

impl ToolSpec {
    /// Returns the description for the client.
    pub(crate) fn describe(&self, settings: &Settings) -> Tool {
        let Hints { read_only, destructive, idempotent, runs_commands } = self.hints;
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(read_only)
            .destructive(destructive)
            .idempotent(idempotent)
            .open_world(runs_commands && settings.has_network);
        Tool::new(self.name, self.description, Arc::new((self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new((self.output)()))
            .with_annotations(annotations)
    }
}

fn input_schema<T: ToolCall>() -> JsonObject {
    schema::<T::Input>(SchemaSettings::draft2020_12())
}

fn output_schema<T: ToolCall>() -> JsonObject {
    schema::<T::Output>(SchemaSettings::draft2020_12().for_serialize())
}

/// Generates a schema that clients with a validator of an older draft accept, too: without references, without the name of the
/// draft, and without formats of Rust's integers.
fn schema<T: JsonSchema>(mut settings: SchemaSettings) -> JsonObject {
    settings.meta_schema = None;
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut object = schema.as_object().cloned().unwrap_or_default();
    // The name of the Rust type and its comment mean nothing to the client.
    object.remove("title");
    object.remove("description");
    // A type without fields has no properties, which some clients require.
    object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    object.values_mut().for_each(remove_formats);
    object
}

fn remove_formats(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.retain(|key, value| key != "format" || !value.is_string());
            object.values_mut().for_each(remove_formats);
        }
        Value::Array(values) => values.iter_mut().for_each(remove_formats),
        _ => {}
    }
}
