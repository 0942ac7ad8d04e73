//! The use of a backend by an agent framework: it stores a result that is too large for the model in a separate file,
//! and the model then reads and searches that file, by the rules of the framework's language.

use tidebox::{
    Dialect, ExecuteRequest, GrepRequest, LineWindow, ReadRequest, SandboxBackend, SandboxPath, ToolContent,
};
use tidebox::{WriteRequest, sandbox};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), tidebox::Error> {
    for dialect in [Dialect::Js, Dialect::Python] {
        let sandbox = sandbox()?.dialect(dialect).build()?;
        let listing = sandbox.execute(ExecuteRequest::new("seq -f 'line %g of the build log' 20000")).await?;

        // The name that Deep Agents gives to an evicted result; the directory belongs to the framework.
        let evicted = SandboxPath::parse("/large_tool_results/call_1.txt")?;
        sandbox.write(WriteRequest::new(evicted.clone(), listing.stdout)).await??;

        let page = ReadRequest::new(evicted.clone()).with_offset(9999).with_limit(2);
        let page = sandbox.read(page).await??;
        assert_eq!(page.window, Some(LineWindow { start: 10_000, end: 10_001, total: 20_000 }));
        let ToolContent::Text(shown) = page.tool_content(dialect) else { panic!("a log is text") };
        assert!(shown.starts_with("line 10000 of the build log\nline 10001 of the build log"));

        let found = sandbox.grep(GrepRequest::new("line 1234 of", evicted)).await??;
        assert_eq!(found.matches.len(), 1);

        // The summary of a conversation is stored in the same way.
        let history = SandboxPath::parse("/conversation_history/thread-1.md")?;
        sandbox.write(WriteRequest::new(history.clone(), "# Summary\n")).await??;
        let kept = sandbox.download_files(vec![history.as_bytes().to_vec()]).await?;
        assert_eq!(kept[0].result.as_deref(), Ok(&b"# Summary\n"[..]));
    }
    Ok(())
}
