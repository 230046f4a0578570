declare const tools: {
  "modelcontextprotocol-server-filesystem": {
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    read_file(args: {
      path: string;
      tail?: number;
      head?: number;
    }): Promise<{
      content: string;
    }>;
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    read_text_file(args: {
      path: string;
      tail?: number;
      head?: number;
    }): Promise<{
      content: string;
    }>;
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    read_media_file(args: {
      path: string;
    }): Promise<{
      content: ({
        type: "image" | "audio";
        data: string;
        mimeType: string;
      } | {
        type: "resource";
        resource: {
          uri: string;
          mimeType?: string;
          blob: string;
        };
      })[];
    }>;
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    read_multiple_files(args: {
      /** (items at least 1) */
      paths: string[];
    }): Promise<{
      content: string;
    }>;
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    write_file(args: {
      path: string;
      content: string;
    }): Promise<{
      content: string;
    }>;
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    edit_file(args: {
      path: string;
      edits: {
        oldText: string;
        newText: string;
      }[];
      /** (default false) */
      dryRun?: boolean;
    }): Promise<{
      content: string;
    }>;
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    create_directory(args: {
      path: string;
    }): Promise<{
      content: string;
    }>;
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    list_directory(args: {
      path: string;
    }): Promise<{
      content: string;
    }>;
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    list_directory_with_sizes(args: {
      path: string;
      /** (default "name") */
      sortBy?: "name" | "size";
    }): Promise<{
      content: string;
    }>;
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    directory_tree(args: {
      path: string;
      /** (default []) */
      excludePatterns?: string[];
    }): Promise<{
      content: string;
    }>;
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    move_file(args: {
      source: string;
      destination: string;
    }): Promise<{
      content: string;
    }>;
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    search_files(args: {
      path: string;
      pattern: string;
      /** (default []) */
      excludePatterns?: string[];
    }): Promise<{
      content: string;
    }>;
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    get_file_info(args: {
      path: string;
    }): Promise<{
      content: string;
    }>;
    /** Of @modelcontextprotocol/server-filesystem 2026.8.31. */
    list_allowed_directories(): Promise<{
      content: string;
    }>;
  };
};
