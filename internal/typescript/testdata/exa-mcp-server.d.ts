declare const tools: {
  "exa-mcp-server": {
    /** Of exa-mcp-server 3.4.1. */
    web_search_exa(args: {
      /** (length at least 1) */
      query: string;
      numResults?: number;
    }): Promise<any>;
    /** Of exa-mcp-server 3.4.1. */
    web_fetch_exa(args: {
      urls: string[];
      /** (at least 1) */
      maxCharacters?: number;
    }): Promise<any>;
  };
};
