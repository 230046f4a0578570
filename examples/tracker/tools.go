package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type (
	nothing  struct{}
	listArgs struct {
		Repo  string `json:"repo" jsonschema:"full name, such as acme/api"`
		State string `json:"state,omitempty" jsonschema:"which issues; all when left out"`
	}
	getArgs struct {
		Repo   string `json:"repo" jsonschema:"full name, such as acme/api"`
		Number int    `json:"number" jsonschema:"number of the issue in its repository"`
	}
	createArgs struct {
		Repo   string   `json:"repo" jsonschema:"full name, such as acme/api"`
		Title  string   `json:"title" jsonschema:"one line"`
		Body   string   `json:"body,omitempty" jsonschema:"Markdown"`
		Labels []string `json:"labels,omitempty" jsonschema:"names of labels"`
	}
)

func newServer(s *store) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "tracker", Version: "1.0.0"}, nil)
	mcp.AddTool(server, reads("list_repositories", "List the repositories, with counts of open issues."), s.callRepositories)
	mcp.AddTool(server, listTool(), s.callList)
	mcp.AddTool(server, reads("get_issue", "Get one issue of a repository."), s.callGet)
	mcp.AddTool(server, createTool(), s.callCreate)
	return server
}

func reads(name, description string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{
		ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false),
	}}
}

func listTool() *mcp.Tool {
	tool := reads("list_issues", "List all issues of a repository as a JSON array, newest first, whole and on one page.")
	schema := schemaFor[listArgs]()
	schema.Properties["state"].Enum = []any{"open", "closed", "all"}
	tool.InputSchema = schema
	return tool
}

func createTool() *mcp.Tool {
	schema := schemaFor[createArgs]()
	schema.Properties["title"].MinLength, schema.Properties["title"].MaxLength = new(1), new(256)
	schema.Properties["body"].MaxLength = new(64 << 10)
	// Inferred from a slice it would be "null or array", which reads worse and allows null.
	schema.Properties["labels"].Types, schema.Properties["labels"].Type = nil, "array"
	schema.Properties["labels"].MaxItems = new(10)
	schema.Properties["labels"].Items.MaxLength = new(50)
	return &mcp.Tool{
		Name: "create_issue", Description: "Create an issue. It gets the next number of its repository.", InputSchema: schema,
		Annotations: &mcp.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(false)},
	}
}

// schemaFor panics when T can't be described, which the first start of the server shows.
func schemaFor[T any]() *jsonschema.Schema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("schema of a tool's arguments: %v", err))
	}
	return schema
}

func (s *store) callRepositories(context.Context, *mcp.CallToolRequest, nothing) (*mcp.CallToolResult, any, error) {
	text, err := json.Marshal(s.repositories())
	return textResult(string(text)), nil, err
}

// callList answers with JSON in a text block and nothing structured, as most servers do.
func (s *store) callList(_ context.Context, _ *mcp.CallToolRequest, in listArgs) (*mcp.CallToolResult, any, error) {
	if in.State == "" {
		in.State = "all"
	}
	text, err := s.list(in.Repo, in.State)
	return textResult(text), nil, err
}

// callGet answers with structured content; the SDK adds the text.
func (s *store) callGet(_ context.Context, _ *mcp.CallToolRequest, in getArgs) (*mcp.CallToolResult, issue, error) {
	found, err := s.issue(in.Repo, in.Number)
	return nil, found, err
}

func (s *store) callCreate(_ context.Context, _ *mcp.CallToolRequest, in createArgs) (*mcp.CallToolResult, issue, error) {
	made, err := s.create(in.Repo, in.Title, in.Body, in.Labels)
	return nil, made, err
}

func textResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}
