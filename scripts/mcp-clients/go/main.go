// Calls tools of an MCP server with the official client for Go: URL [NAME TOOL ARGUMENTS]...
// Prints OUT and a JSON object: the tools' names, and each call's structured answer under its name.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What is called when only a URL is given.
var usual = []string{
	"search", "root_search", `{"tenant_codename":"docs","query":"splice ropes"}`,
	"error", "root_search", `{"tenant_codename":"none","query":"x"}`,
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "go", Version: "1"}, nil).
		Connect(ctx, &mcp.StreamableClientTransport{Endpoint: os.Args[1]}, nil)
	must(err)
	listed, err := session.ListTools(ctx, nil)
	must(err)
	names := []string{}
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	found := map[string]any{"tools": names}
	calls := os.Args[2:]
	if len(calls) == 0 {
		calls = usual
	}
	for ; len(calls) >= 3; calls = calls[3:] {
		answer, err := session.CallTool(ctx, &mcp.CallToolParams{Name: calls[1], Arguments: json.RawMessage(calls[2])})
		must(err)
		found[calls[0]] = text(answer.StructuredContent)
	}
	must(session.Close())
	fmt.Println("OUT " + text(found))
}

func text(value any) string {
	written, err := json.Marshal(value)
	must(err)
	return string(written)
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
