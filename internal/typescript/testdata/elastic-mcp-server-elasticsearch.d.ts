declare const tools: {
  "elastic-mcp-server-elasticsearch": {
    /** Of @elastic/mcp-server-elasticsearch 0.3.1. */
    list_indices(args: {
      /** (length at least 1) */
      indexPattern: string;
    }): Promise<any>;
    /** Of @elastic/mcp-server-elasticsearch 0.3.1. */
    get_mappings(args: {
      /** (length at least 1) */
      index: string;
    }): Promise<any>;
    /** Of @elastic/mcp-server-elasticsearch 0.3.1. */
    search(args: {
      /** (length at least 1) */
      index: string;
      queryBody: { [key: string]: any };
      /** (default false) */
      profile?: boolean;
      /** (default false) */
      explain?: boolean;
    }): Promise<any>;
    /** Of @elastic/mcp-server-elasticsearch 0.3.1. */
    get_shards(args?: {
      index?: string;
    }): Promise<any>;
  };
};
