declare const tools: {
  "modelcontextprotocol-server-gitlab": {
    /** Of @modelcontextprotocol/server-gitlab 2025.4.25. */
    create_or_update_file(args: {
      project_id: string;
      file_path: string;
      content: string;
      commit_message: string;
      branch: string;
      previous_path?: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-gitlab 2025.4.25. */
    search_repositories(args: {
      search: string;
      page?: number;
      per_page?: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-gitlab 2025.4.25. */
    create_repository(args: {
      name: string;
      description?: string;
      visibility?: "private" | "internal" | "public";
      initialize_with_readme?: boolean;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-gitlab 2025.4.25. */
    get_file_contents(args: {
      project_id: string;
      file_path: string;
      ref?: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-gitlab 2025.4.25. */
    push_files(args: {
      project_id: string;
      branch: string;
      files: {
        file_path: string;
        content: string;
      }[];
      commit_message: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-gitlab 2025.4.25. */
    create_issue(args: {
      project_id: string;
      title: string;
      description?: string;
      assignee_ids?: number[];
      labels?: string[];
      milestone_id?: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-gitlab 2025.4.25. */
    create_merge_request(args: {
      project_id: string;
      title: string;
      description?: string;
      source_branch: string;
      target_branch: string;
      draft?: boolean;
      allow_collaboration?: boolean;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-gitlab 2025.4.25. */
    fork_repository(args: {
      project_id: string;
      namespace?: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-gitlab 2025.4.25. */
    create_branch(args: {
      project_id: string;
      branch: string;
      ref?: string;
    }): Promise<any>;
  };
};
