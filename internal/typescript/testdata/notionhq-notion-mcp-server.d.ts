type NotionhqNotionMcpServer_APIPatchBlockChildren_RichTextRequest = {
  text: {
    content: string;
    link?: { [key: string]: any } | null;
  };
  type?: "text";
};
type NotionhqNotionMcpServer_APIUpdateADataSource_RichTextRequest = {
  text: {
    content: string;
    link?: { [key: string]: any } | null;
  };
  type?: "text";
};
type NotionhqNotionMcpServer_APICreateADataSource_PageIdParentRequest = {
  /** (format uuid) */
  page_id: string;
  [key: string]: any;
};
type NotionhqNotionMcpServer_APICreateADataSource_RichTextRequest = {
  text: {
    content: string;
    link?: { [key: string]: any } | null;
  };
  type?: "text";
};
declare const tools: {
  "notionhq-notion-mcp-server": {
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-get-user"(args: {
      /** (format uuid) */
      user_id: string;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-get-users"(args?: {
      start_cursor?: string;
      /** (default 100, integer) */
      page_size?: number;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-get-self"(): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-post-search"(args?: {
      query?: string;
      sort?: {
        direction?: string;
        timestamp?: string;
        [key: string]: any;
      } | string;
      filter?: {
        value?: "page" | "data_source";
        property?: string;
        [key: string]: any;
      } | string;
      start_cursor?: string;
      /** (default 100, format int32, integer) */
      page_size?: number;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-get-block-children"(args: {
      block_id: string;
      start_cursor?: string;
      /** (default 100, format int32, integer) */
      page_size?: number;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-patch-block-children"(args: {
      block_id: string;
      children: ({
        paragraph?: {
          rich_text: NotionhqNotionMcpServer_APIPatchBlockChildren_RichTextRequest[];
        };
        type?: "paragraph";
      } | {
        bulleted_list_item?: {
          rich_text: NotionhqNotionMcpServer_APIPatchBlockChildren_RichTextRequest[];
        };
        type?: "bulleted_list_item";
      } | string | { [key: string]: any })[];
      after?: string;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-retrieve-a-block"(args: {
      block_id: string;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-update-a-block"(args: {
      block_id: string;
      type?: { [key: string]: any } | string;
      /** (default true) */
      archived?: boolean;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-delete-a-block"(args: {
      block_id: string;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-retrieve-a-page"(args: {
      page_id: string;
      filter_properties?: string;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-patch-page"(args: {
      page_id: string;
      properties?: { [key: string]: any } | string;
      /** (default false) */
      in_trash?: boolean;
      archived?: boolean;
      icon?: {
        emoji: string;
      } | string;
      cover?: {
        external: {
          url: string;
        };
        type?: "external";
      } | string;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-post-page"(args: {
      parent: {
        /** (format uuid) */
        page_id: string;
        [key: string]: any;
      } | {
        type?: "database_id";
        /** (format uuid) */
        database_id: string;
        [key: string]: any;
      } | {
        type: "workspace";
        [key: string]: any;
      } | string;
      properties: { [key: string]: any } | string;
      children?: (string | { [key: string]: any })[];
      /** (format json) */
      icon?: string;
      /** (format json) */
      cover?: string;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-retrieve-a-page-property"(args: {
      page_id: string;
      property_id: string;
      /** (format int32, integer) */
      page_size?: number;
      start_cursor?: string;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-retrieve-a-comment"(args: {
      block_id: string;
      start_cursor?: string;
      /** (format int32, integer) */
      page_size?: number;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-create-a-comment"(args: {
      parent: {
        page_id: string;
        [key: string]: any;
      } | string;
      rich_text: ({
        text: {
          content: string;
          [key: string]: any;
        };
        [key: string]: any;
      } | string | { [key: string]: any })[];
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-query-data-source"(args: {
      data_source_id: string;
      filter_properties?: (string | { [key: string]: any })[];
      filter?: { [key: string]: any } | string;
      sorts?: ({
        property: string;
        direction: "ascending" | "descending";
        [key: string]: any;
      } | string | { [key: string]: any })[];
      start_cursor?: string;
      /** (default 100, integer) */
      page_size?: number;
      archived?: boolean;
      in_trash?: boolean;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-retrieve-a-data-source"(args: {
      data_source_id: string;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-update-a-data-source"(args: {
      data_source_id: string;
      title?: (NotionhqNotionMcpServer_APIUpdateADataSource_RichTextRequest | string | { [key: string]: any })[];
      description?: (NotionhqNotionMcpServer_APIUpdateADataSource_RichTextRequest | string | { [key: string]: any })[];
      properties?: { [key: string]: any } | string;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-create-a-data-source"(args: {
      parent: NotionhqNotionMcpServer_APICreateADataSource_PageIdParentRequest | string;
      properties: { [key: string]: any } | string;
      title?: (NotionhqNotionMcpServer_APICreateADataSource_RichTextRequest | string | { [key: string]: any })[];
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-list-data-source-templates"(args: {
      data_source_id: string;
      start_cursor?: string;
      /** (default 100, integer) */
      page_size?: number;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-retrieve-a-database"(args: {
      database_id: string;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-move-page"(args: {
      /** (format uuid) */
      page_id: string;
      parent: {
        type: "page_id";
        /** (format uuid) */
        page_id: string;
        [key: string]: any;
      } | {
        type: "database_id";
        /** (format uuid) */
        database_id: string;
        [key: string]: any;
      } | {
        type: "workspace";
        [key: string]: any;
      } | string;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-retrieve-page-markdown"(args: {
      /** (format uuid) */
      page_id: string;
      /** (default false) */
      include_transcript?: boolean;
    }): Promise<any>;
    /** Of @notionhq/notion-mcp-server 2.5.2. */
    "API-update-page-markdown"(args: {
      /** (format uuid) */
      page_id: string;
      type: "replace_content" | "update_content" | "insert_content" | "replace_content_range";
      replace_content?: {
        new_str: string;
        allow_deleting_content?: boolean;
        [key: string]: any;
      } | string;
      update_content?: {
        content_updates: {
          old_str: string;
          new_str: string;
          replace_all_matches?: boolean;
          [key: string]: any;
        }[];
        allow_deleting_content?: boolean;
        [key: string]: any;
      } | string;
      insert_content?: {
        content: string;
        after?: string;
        position?: {
          type?: "start" | "end";
          [key: string]: any;
        };
        [key: string]: any;
      } | string;
      replace_content_range?: {
        content: string;
        content_range: string;
        allow_deleting_content?: boolean;
        [key: string]: any;
      } | string;
    }): Promise<any>;
  };
};
