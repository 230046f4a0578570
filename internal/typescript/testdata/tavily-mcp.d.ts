declare const tools: {
  "tavily-mcp": {
    /** Of tavily-mcp 0.2.22. */
    tavily_search(args: {
      query: string;
      /** (default "basic") */
      search_depth?: "basic" | "advanced" | "fast" | "ultra-fast";
      /** (default "general") */
      topic?: "general";
      time_range?: "day" | "week" | "month" | "year";
      /** (default "") */
      start_date?: string;
      /** (default "") */
      end_date?: string;
      /** (default 5, at least 5, at most 20) */
      max_results?: number;
      /** (default false) */
      include_images?: boolean;
      /** (default false) */
      include_image_descriptions?: boolean;
      /** (default false) */
      include_raw_content?: boolean;
      /** (default []) */
      include_domains?: string[];
      /** (default []) */
      exclude_domains?: string[];
      /** (default "") */
      country?: string;
      /** (default false) */
      include_favicon?: boolean;
      exact_match?: boolean;
    }): Promise<any>;
    /** Of tavily-mcp 0.2.22. */
    tavily_extract(args: {
      urls: string[];
      /** (default "basic") */
      extract_depth?: "basic" | "advanced";
      /** (default false) */
      include_images?: boolean;
      /** (default "markdown") */
      format?: "markdown" | "text";
      /** (default false) */
      include_favicon?: boolean;
      query?: string;
    }): Promise<any>;
    /** Of tavily-mcp 0.2.22. */
    tavily_crawl(args: {
      url: string;
      /** (default 1, at least 1, integer) */
      max_depth?: number;
      /** (default 20, at least 1, integer) */
      max_breadth?: number;
      /** (default 50, at least 1, integer) */
      limit?: number;
      instructions?: string;
      /** (default []) */
      select_paths?: string[];
      /** (default []) */
      select_domains?: string[];
      /** (default true) */
      allow_external?: boolean;
      /** (default "basic") */
      extract_depth?: "basic" | "advanced";
      /** (default "markdown") */
      format?: "markdown" | "text";
      /** (default false) */
      include_favicon?: boolean;
    }): Promise<any>;
    /** Of tavily-mcp 0.2.22. */
    tavily_map(args: {
      url: string;
      /** (default 1, at least 1, integer) */
      max_depth?: number;
      /** (default 20, at least 1, integer) */
      max_breadth?: number;
      /** (default 50, at least 1, integer) */
      limit?: number;
      instructions?: string;
      /** (default []) */
      select_paths?: string[];
      /** (default []) */
      select_domains?: string[];
      /** (default true) */
      allow_external?: boolean;
    }): Promise<any>;
    /** Of tavily-mcp 0.2.22. */
    tavily_research(args: {
      input: string;
      /** (default "auto") */
      model?: "mini" | "pro" | "auto";
    }): Promise<any>;
  };
};
