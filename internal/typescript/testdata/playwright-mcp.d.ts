declare const tools: {
  "playwright-mcp": {
    /** Of @playwright/mcp 0.0.83. */
    browser_close(): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_resize(args: {
      width: number;
      height: number;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_console_messages(args: {
      /** (default "info") */
      level: "error" | "warning" | "info" | "debug";
      all?: boolean;
      filename?: string;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_handle_dialog(args: {
      accept: boolean;
      promptText?: string;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_emulate_media(args?: {
      colorScheme?: "light" | "dark" | null;
      reducedMotion?: "reduce" | "no-preference" | null;
      forcedColors?: "active" | "none" | null;
      contrast?: "more" | "no-preference" | null;
      media?: "screen" | "print" | null;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_evaluate(args: {
      element?: string;
      target?: string;
      function: string;
      filename?: string;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_file_upload(args?: {
      paths?: string[];
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_drop(args: {
      element?: string;
      target: string;
      paths?: string[];
      data?: { [key: string]: string };
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_find(args?: {
      text?: string;
      regex?: string;
      filename?: string;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_fill_form(args: {
      fields: {
        element?: string;
        target: string;
        name: string;
        type: "textbox" | "checkbox" | "radio" | "combobox" | "slider";
        value: string;
      }[];
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_press_key(args: {
      key: string;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_type(args: {
      element?: string;
      target: string;
      text: string;
      submit?: boolean;
      slowly?: boolean;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_navigate(args: {
      url: string;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_navigate_back(): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_network_requests(args: {
      /** (default false) */
      static: boolean;
      filter?: string;
      filename?: string;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_network_request(args: {
      /** (at least 1, integer) */
      index: number;
      part?: "request-headers" | "request-body" | "response-headers" | "response-body";
      filename?: string;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_run_code_unsafe(args?: {
      code?: string;
      filename?: string;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_take_screenshot(args: {
      element?: string;
      target?: string;
      type?: "png" | "jpeg" | "webp";
      filename?: string;
      fullPage?: boolean;
      /** (default "css") */
      scale: "css" | "device";
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_snapshot(args?: {
      target?: string;
      filename?: string;
      depth?: number;
      boxes?: boolean;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_click(args: {
      element?: string;
      target: string;
      doubleClick?: boolean;
      button?: "left" | "right" | "middle";
      modifiers?: ("Alt" | "Control" | "ControlOrMeta" | "Meta" | "Shift")[];
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_drag(args: {
      startElement?: string;
      startTarget: string;
      endElement?: string;
      endTarget: string;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_hover(args: {
      element?: string;
      target: string;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_select_option(args: {
      element?: string;
      target: string;
      values: string[];
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_tabs(args: {
      action: "list" | "new" | "close" | "select";
      index?: number;
      url?: string;
    }): Promise<any>;
    /** Of @playwright/mcp 0.0.83. */
    browser_wait_for(args?: {
      time?: number;
      text?: string;
      textGone?: string;
    }): Promise<any>;
  };
};
