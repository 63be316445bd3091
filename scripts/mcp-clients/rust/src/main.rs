//! Calls tools of an MCP server with the official client for Rust: URL [NAME TOOL ARGUMENTS]...
//! Prints OUT and a JSON object: the tools' names, and each call's structured answer under its name.
use std::{env, error::Error, time::Duration};

use rmcp::{ServiceExt, model::CallToolRequestParams, transport::StreamableHttpClientTransport};
use serde_json::{Map, Value};

async fn call(words: &[String]) -> Result<Value, Box<dyn Error>> {
    let client = ().serve(StreamableHttpClientTransport::from_uri(words[0].as_str())).await?;
    let tools = client.list_all_tools().await?;
    let mut found = Map::new();
    found.insert("tools".into(), tools.iter().map(|tool| tool.name.to_string()).collect());
    for call in words[1..].chunks_exact(3) {
        let arguments = serde_json::from_str(&call[2])?;
        let params = CallToolRequestParams::new(call[1].clone()).with_arguments(arguments);
        let answer = serde_json::to_value(client.call_tool(params).await?)?;
        found.insert(call[0].clone(), answer["structuredContent"].to_string().into());
    }
    client.cancel().await?;
    Ok(found.into())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let found = tokio::time::timeout(Duration::from_secs(50), call(&words)).await??;
    println!("OUT {found}");
    Ok(())
}
