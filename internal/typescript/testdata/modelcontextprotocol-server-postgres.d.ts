declare const tools: {
  "modelcontextprotocol-server-postgres": {
    /** Of @modelcontextprotocol/server-postgres 0.6.2. */
    query(args?: {
      sql?: string;
    }): Promise<any>;
  };
};
