declare const tools: {
  "chrome-devtools-mcp": {
    /** Of chrome-devtools-mcp 1.11.0. */
    click(args: {
      pageId: number;
      uid: string;
      dblClick?: boolean;
      includeSnapshot?: boolean;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    close_page(args: {
      pageId: number;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    drag(args: {
      pageId: number;
      from_uid: string;
      to_uid: string;
      includeSnapshot?: boolean;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    emulate(args: {
      pageId: number;
      networkConditions?: "Offline" | "Slow 3G" | "Fast 3G" | "Slow 4G" | "Fast 4G";
      /** (at least 1, at most 20) */
      cpuThrottlingRate?: number;
      geolocation?: string;
      userAgent?: string;
      colorScheme?: "dark" | "light" | "auto";
      forcedColors?: "active" | "none" | "auto";
      prefersContrast?: "more" | "less" | "custom" | "no-preference" | "auto";
      prefersReducedMotion?: "reduce" | "no-preference" | "auto";
      viewport?: string;
      extraHttpHeaders?: string;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    evaluate_script(args: {
      pageId: number;
      function?: string;
      sourcePath?: string;
      format?: "function" | "script";
      args?: string[];
      filePath?: string;
      dialogAction?: string;
      waitForStableDom?: boolean;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    fill(args: {
      pageId: number;
      uid: string;
      value: string;
      includeSnapshot?: boolean;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    fill_form(args: {
      pageId: number;
      elements: {
        uid: string;
        value: string;
      }[];
      includeSnapshot?: boolean;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    get_console_message(args: {
      pageId: number;
      msgid: number;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    get_css_styles(args: {
      pageId: number;
      uid: string;
      /** (default 10, more than 0, integer) */
      pageSize?: number;
      /** (default 0, at least 0, integer) */
      pageIdx?: number;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    get_network_request(args: {
      pageId: number;
      reqid?: number;
      requestFilePath?: string;
      responseFilePath?: string;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    handle_dialog(args: {
      pageId: number;
      action: "accept" | "dismiss";
      promptText?: string;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    hover(args: {
      pageId: number;
      uid: string;
      includeSnapshot?: boolean;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    lighthouse_audit(args: {
      pageId: number;
      /** (default "navigation") */
      mode?: "navigation" | "snapshot";
      /** (default "desktop") */
      device?: "desktop" | "mobile";
      outputDirPath?: string;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    list_console_messages(args: {
      pageId: number;
      /** (more than 0, integer) */
      pageSize?: number;
      /** (at least 0, integer) */
      pageIdx?: number;
      types?: ("log" | "debug" | "info" | "error" | "warn" | "dir" | "dirxml" | "table" | "trace" | "clear" | "startGroup" | "startGroupCollapsed" | "endGroup" | "assert" | "profile" | "profileEnd" | "count" | "timeEnd" | "verbose" | "issue")[];
      /** (default false) */
      includePreservedMessages?: boolean;
      /** (default false) */
      includeStackTraces?: boolean;
      serviceWorkerId?: string;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    list_network_requests(args: {
      pageId: number;
      /** (more than 0, integer) */
      pageSize?: number;
      /** (at least 0, integer) */
      pageIdx?: number;
      resourceTypes?: ("document" | "stylesheet" | "image" | "media" | "font" | "script" | "texttrack" | "xhr" | "fetch" | "prefetch" | "eventsource" | "websocket" | "manifest" | "signedexchange" | "ping" | "cspviolationreport" | "preflight" | "fedcm" | "other")[];
      /** (default false) */
      includePreservedRequests?: boolean;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    list_pages(): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    navigate_page(args: {
      pageId: number;
      type?: "url" | "back" | "forward" | "reload";
      url?: string;
      ignoreCache?: boolean;
      handleBeforeUnload?: "accept" | "dismiss";
      initScript?: string;
      /** (integer) */
      timeout?: number;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    new_page(args: {
      url: string;
      background?: boolean;
      isolatedContext?: string;
      /** (integer) */
      timeout?: number;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    performance_analyze_insight(args: {
      pageId: number;
      insightSetId: string;
      insightName: string;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    performance_start_trace(args: {
      pageId: number;
      /** (default true) */
      reload?: boolean;
      /** (default true) */
      autoStop?: boolean;
      ignoreCache?: boolean;
      filePath?: string;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    performance_stop_trace(args: {
      pageId: number;
      filePath?: string;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    press_key(args: {
      pageId: number;
      key: string;
      includeSnapshot?: boolean;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    resize_page(args: {
      pageId: number;
      /** (more than 0, integer) */
      width: number;
      /** (more than 0, integer) */
      height: number;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    screencast_start(args: {
      pageId: number;
      filePath?: string;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    screencast_stop(args: {
      pageId: number;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    select_page(args: {
      pageId: number;
      bringToFront?: boolean;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    take_heapsnapshot(args: {
      pageId: number;
      filePath: string;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    take_screenshot(args: {
      pageId: number;
      /** (default "png") */
      format?: "png" | "jpeg" | "webp";
      /** (at least 0, at most 100) */
      quality?: number;
      uid?: string;
      fullPage?: boolean;
      filePath?: string;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    take_snapshot(args: {
      pageId: number;
      verbose?: boolean;
      filePath?: string;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    type_text(args: {
      pageId: number;
      text: string;
      submitKey?: string;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    upload_file(args: {
      pageId: number;
      uid: string;
      /** (items at least 1) */
      filePaths: string[];
      includeSnapshot?: boolean;
    }): Promise<any>;
    /** Of chrome-devtools-mcp 1.11.0. */
    wait_for(args: {
      pageId: number;
      /** (items at least 1) */
      text: string[];
      /** (integer) */
      timeout?: number;
    }): Promise<any>;
  };
};
