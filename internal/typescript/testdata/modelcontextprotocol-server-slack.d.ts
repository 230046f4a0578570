declare const tools: {
  "modelcontextprotocol-server-slack": {
    /** Of @modelcontextprotocol/server-slack 2025.4.25. */
    slack_list_channels(args?: {
      /** (default 100) */
      limit?: number;
      cursor?: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-slack 2025.4.25. */
    slack_post_message(args: {
      channel_id: string;
      text: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-slack 2025.4.25. */
    slack_reply_to_thread(args: {
      channel_id: string;
      thread_ts: string;
      text: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-slack 2025.4.25. */
    slack_add_reaction(args: {
      channel_id: string;
      timestamp: string;
      reaction: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-slack 2025.4.25. */
    slack_get_channel_history(args: {
      channel_id: string;
      /** (default 10) */
      limit?: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-slack 2025.4.25. */
    slack_get_thread_replies(args: {
      channel_id: string;
      thread_ts: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-slack 2025.4.25. */
    slack_get_users(args?: {
      cursor?: string;
      /** (default 100) */
      limit?: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-slack 2025.4.25. */
    slack_get_user_profile(args: {
      user_id: string;
    }): Promise<any>;
  };
};
