declare const tools: {
  "wonderwhy-er-desktop-commander": {
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    get_config(args?: {
      origin?: "ui" | "llm";
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    set_config_value(args: {
      key: string;
      value: string | number | boolean | string[] | null;
      origin?: "ui" | "llm";
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    read_file(args: {
      path: string;
      /** (default false) */
      isUrl?: boolean;
      /** (default 0) */
      offset?: number;
      /** (default 1000) */
      length?: number;
      sheet?: string;
      range?: string;
      options?: { [key: string]: any };
      origin?: "ui" | "llm";
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    read_multiple_files(args: {
      paths: string[];
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    write_file(args: {
      path: string;
      content: string;
      /** (default "rewrite") */
      mode?: "rewrite" | "append";
      origin?: "ui" | "llm";
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    write_pdf(args: {
      path: string;
      content: string | ({
        type: "insert";
        pageIndex: number;
        markdown?: string;
        sourcePdfPath?: string;
        pdfOptions?: { [key: string]: any };
      } | {
        type: "delete";
        pageIndexes: number[];
      })[];
      outputPath?: string;
      options?: { [key: string]: any };
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    create_directory(args: {
      path: string;
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    list_directory(args: {
      path: string;
      /** (default 2) */
      depth?: number;
      origin?: "ui" | "llm";
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    move_file(args: {
      source: string;
      destination: string;
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    start_search(args: {
      path: string;
      pattern: string;
      /** (default "files") */
      searchType?: "files" | "content";
      filePattern?: string;
      /** (default true) */
      ignoreCase?: boolean;
      maxResults?: number;
      /** (default false) */
      includeHidden?: boolean;
      /** (default 5) */
      contextLines?: number;
      timeout_ms?: number;
      earlyTermination?: boolean;
      /** (default false) */
      literalSearch?: boolean;
      origin?: "ui" | "llm";
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    get_more_search_results(args: {
      sessionId: string;
      /** (default 0) */
      offset?: number;
      /** (default 100) */
      length?: number;
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    stop_search(args: {
      sessionId: string;
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    list_searches(): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    get_file_info(args: {
      path: string;
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    edit_block(args: {
      file_path: string;
      old_string?: string;
      new_string?: string;
      /** (default 1) */
      expected_replacements?: number;
      range?: string;
      content?: any;
      options?: { [key: string]: any };
      origin?: "ui" | "llm";
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    start_process(args: {
      command: string;
      timeout_ms: number;
      shell?: string;
      verbose_timing?: boolean;
      origin?: "ui" | "llm";
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    read_process_output(args: {
      pid: number;
      timeout_ms?: number;
      offset?: number;
      length?: number;
      verbose_timing?: boolean;
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    interact_with_process(args: {
      pid: number;
      input: string;
      timeout_ms?: number;
      wait_for_prompt?: boolean;
      verbose_timing?: boolean;
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    force_terminate(args: {
      pid: number;
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    list_sessions(): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    list_processes(): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    kill_process(args: {
      pid: number;
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    get_usage_stats(): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    get_recent_tool_calls(args?: {
      /** (default 50, at least 1, at most 1000) */
      maxResults?: number;
      toolName?: string;
      /** (format date-time) */
      since?: string;
    }): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    give_feedback_to_desktop_commander(): Promise<any>;
    /** Of @wonderwhy-er/desktop-commander 0.2.52. */
    get_prompts(args: {
      action: "get_prompt";
      promptId: string;
    }): Promise<any>;
  };
};
