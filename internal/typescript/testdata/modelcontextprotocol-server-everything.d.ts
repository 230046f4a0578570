declare const tools: {
  "modelcontextprotocol-server-everything": {
    /** Of @modelcontextprotocol/server-everything 2026.8.31. */
    echo(args: {
      message: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-everything 2026.8.31. */
    "get-annotated-message"(args: {
      messageType: "error" | "success" | "debug";
      /** (default false) */
      includeImage?: boolean;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-everything 2026.8.31. */
    "get-env"(): Promise<any>;
    /** Of @modelcontextprotocol/server-everything 2026.8.31. */
    "get-resource-links"(args?: {
      /** (default 3) */
      count?: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-everything 2026.8.31. */
    "get-resource-reference"(args?: {
      /** (default "Text") */
      resourceType?: "Text" | "Blob";
      /** (default 1) */
      resourceId?: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-everything 2026.8.31. */
    "get-structured-content"(args: {
      location: "New York" | "Chicago" | "Los Angeles";
    }): Promise<{
      temperature: number;
      conditions: string;
      humidity: number;
    }>;
    /** Of @modelcontextprotocol/server-everything 2026.8.31. */
    "get-sum"(args: {
      a: number;
      b: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-everything 2026.8.31. */
    "get-tiny-image"(): Promise<any>;
    /** Of @modelcontextprotocol/server-everything 2026.8.31. */
    "gzip-file-as-resource"(args?: {
      /** (default "README.md.gz") */
      name?: string;
      /** (default "https://raw.githubusercontent.com/modelcontextprotocol/servers/refs/heads/main/README.md") */
      data?: string;
      /** (default "resourceLink") */
      outputType?: "resourceLink" | "resource";
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-everything 2026.8.31. */
    "toggle-simulated-logging"(): Promise<any>;
    /** Of @modelcontextprotocol/server-everything 2026.8.31. */
    "toggle-subscriber-updates"(): Promise<any>;
    /** Of @modelcontextprotocol/server-everything 2026.8.31. */
    "trigger-long-running-operation"(args?: {
      /** (default 10) */
      duration?: number;
      /** (default 5) */
      steps?: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-everything 2026.8.31. */
    "simulate-research-query"(args: {
      topic: string;
      /** (default false) */
      ambiguous?: boolean;
    }): Promise<any>;
  };
};
