declare const tools: {
  "upstash-context7-mcp": {
    /** Of @upstash/context7-mcp 4.1.1. */
    "resolve-library-id"(args: {
      query: string;
      libraryName: string;
    }): Promise<any>;
    /** Of @upstash/context7-mcp 4.1.1. */
    "query-docs"(args: {
      libraryId: string;
      query: string;
    }): Promise<any>;
  };
};
