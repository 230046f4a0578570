package sandboxd

import "encoding/json"

// InitializeParams open a connection: the first request of a gateway.
type InitializeParams struct {
	ProtocolVersion string   `json:"protocol_version"`
	Client          Peer     `json:"client"`
	Servers         []string `json:"servers,omitempty"` // whose tools the gateway can call
	Tools           []Tool   `json:"tools,omitempty"`   // of those servers, as far as the gateway knows them
}

// Tool is one tool of a server, as a gateway announces it. A server that has a tool here has no others: what a program
// calls is looked up, and its arguments are held against the schema, before the gateway is asked. The tools of a
// server that has none here are not known, and every name goes through.
type Tool struct {
	Server       string           `json:"server"`
	Name         string           `json:"name"`
	Description  string           `json:"description,omitempty"`
	InputSchema  json.RawMessage  `json:"input_schema,omitempty"`  // JSON Schema of the arguments
	OutputSchema json.RawMessage  `json:"output_schema,omitempty"` // JSON Schema of structuredContent
	Annotations  *ToolAnnotations `json:"annotations,omitempty"`
}

// ToolAnnotations are hints of the server, named as in MCP. They are no promises. Nil: not said.
type ToolAnnotations struct {
	Title       string `json:"title,omitempty"`
	ReadOnly    *bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool  `json:"destructiveHint,omitempty"`
	Idempotent  *bool  `json:"idempotentHint,omitempty"`
	OpenWorld   *bool  `json:"openWorldHint,omitempty"`
}

// What a gateway may announce. A schema over MaxSchemaBytes, or that can't be used for another reason, does not keep its
// tool from being called: its arguments are not checked, and each call in the result says so.
const (
	MaxTools       = 4096    // of all servers together
	MaxToolBytes   = 4 << 20 // of their names, descriptions and schemas together
	MaxSchemaBytes = 128 << 10
)

// Peer names a program and its version.
type Peer struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// InitializeResult says what the daemon offers.
type InitializeResult struct {
	ProtocolVersion string        `json:"protocol_version"`
	Server          Peer          `json:"server"`
	Profiles        []ProfileInfo `json:"profiles"`
}

// ProfileInfo is one profile of the daemon.
type ProfileInfo struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Limits      Limits `json:"limits"`

	// Isolation is what a worker of the profile was proved to have when the daemon started;
	// nil for a profile of which no worker is kept ready.
	Isolation *Isolation `json:"isolation,omitempty"`
}

// CancelParams name the runs to end: one by its ULID, or those of a token.
type CancelParams struct {
	Run   string `json:"run,omitempty"`
	Token string `json:"token,omitempty"`
}

// CancelResult says how many runs were ended.
type CancelResult struct {
	Cancelled int `json:"cancelled"`
}

// ToolCancel is the tools/cancel notification: the run of a call has ended, and nobody waits for its answer.
type ToolCancel struct {
	Run string `json:"run"`
	N   int    `json:"n"`
}

// DescribeParams ask for announced tools as TypeScript.
type DescribeParams struct {
	Tools        []ToolName `json:"tools,omitempty"`        // which; none: all
	Declarations bool       `json:"declarations,omitempty"` // whole declarations too
}

// ToolName names a tool, or all tools of a server.
type ToolName struct {
	Server string `json:"server"`
	Tool   string `json:"tool,omitempty"`
}

// DescribeResult has the tools in the order in which they were announced.
type DescribeResult struct {
	Tools        []DescribedTool `json:"tools"`
	Declarations string          `json:"declarations,omitempty"` // a TypeScript declaration file
}

// DescribedTool is a tool on one line of at most 300 bytes: tools.github.get_issue(args: { … }): Promise<…>.
type DescribedTool struct {
	Server    string `json:"server"`
	Tool      string `json:"tool"`
	Signature string `json:"signature"`
}

// StatusResult is the daemon's state.
type StatusResult struct {
	Version string       `json:"version"`
	Running int          `json:"running"`
	Waiting int          `json:"waiting"`
	Pool    []PoolStatus `json:"pool"`
}

// PoolStatus is the state of one profile's workers.
type PoolStatus struct {
	Profile string `json:"profile"`
	Size    int    `json:"size"`              // to be ready
	Ready   int    `json:"ready"`             // that are
	Failing string `json:"failing,omitempty"` // why the last birth failed
}
