declare const tools: {
  "modelcontextprotocol-server-github": {
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    create_or_update_file(args: {
      owner: string;
      repo: string;
      path: string;
      content: string;
      message: string;
      branch: string;
      sha?: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    search_repositories(args: {
      query: string;
      page?: number;
      perPage?: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    create_repository(args: {
      name: string;
      description?: string;
      private?: boolean;
      autoInit?: boolean;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    get_file_contents(args: {
      owner: string;
      repo: string;
      path: string;
      branch?: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    push_files(args: {
      owner: string;
      repo: string;
      branch: string;
      files: {
        path: string;
        content: string;
      }[];
      message: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    create_issue(args: {
      owner: string;
      repo: string;
      title: string;
      body?: string;
      assignees?: string[];
      milestone?: number;
      labels?: string[];
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    create_pull_request(args: {
      owner: string;
      repo: string;
      title: string;
      body?: string;
      head: string;
      base: string;
      draft?: boolean;
      maintainer_can_modify?: boolean;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    fork_repository(args: {
      owner: string;
      repo: string;
      organization?: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    create_branch(args: {
      owner: string;
      repo: string;
      branch: string;
      from_branch?: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    list_commits(args: {
      owner: string;
      repo: string;
      sha?: string;
      page?: number;
      perPage?: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    list_issues(args: {
      owner: string;
      repo: string;
      direction?: "asc" | "desc";
      labels?: string[];
      page?: number;
      per_page?: number;
      since?: string;
      sort?: "created" | "updated" | "comments";
      state?: "open" | "closed" | "all";
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    update_issue(args: {
      owner: string;
      repo: string;
      issue_number: number;
      title?: string;
      body?: string;
      assignees?: string[];
      milestone?: number;
      labels?: string[];
      state?: "open" | "closed";
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    add_issue_comment(args: {
      owner: string;
      repo: string;
      issue_number: number;
      body: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    search_code(args: {
      q: string;
      order?: "asc" | "desc";
      /** (at least 1) */
      page?: number;
      /** (at least 1, at most 100) */
      per_page?: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    search_issues(args: {
      q: string;
      order?: "asc" | "desc";
      /** (at least 1) */
      page?: number;
      /** (at least 1, at most 100) */
      per_page?: number;
      sort?: "comments" | "reactions" | "reactions-+1" | "reactions--1" | "reactions-smile" | "reactions-thinking_face" | "reactions-heart" | "reactions-tada" | "interactions" | "created" | "updated";
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    search_users(args: {
      q: string;
      order?: "asc" | "desc";
      /** (at least 1) */
      page?: number;
      /** (at least 1, at most 100) */
      per_page?: number;
      sort?: "followers" | "repositories" | "joined";
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    get_issue(args: {
      owner: string;
      repo: string;
      issue_number: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    get_pull_request(args: {
      owner: string;
      repo: string;
      pull_number: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    list_pull_requests(args: {
      owner: string;
      repo: string;
      state?: "open" | "closed" | "all";
      head?: string;
      base?: string;
      sort?: "created" | "updated" | "popularity" | "long-running";
      direction?: "asc" | "desc";
      per_page?: number;
      page?: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    create_pull_request_review(args: {
      owner: string;
      repo: string;
      pull_number: number;
      commit_id?: string;
      body: string;
      event: "APPROVE" | "REQUEST_CHANGES" | "COMMENT";
      comments?: ({
        path: string;
        position: number;
        body: string;
      } | {
        path: string;
        line: number;
        body: string;
      })[];
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    merge_pull_request(args: {
      owner: string;
      repo: string;
      pull_number: number;
      commit_title?: string;
      commit_message?: string;
      merge_method?: "merge" | "squash" | "rebase";
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    get_pull_request_files(args: {
      owner: string;
      repo: string;
      pull_number: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    get_pull_request_status(args: {
      owner: string;
      repo: string;
      pull_number: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    update_pull_request_branch(args: {
      owner: string;
      repo: string;
      pull_number: number;
      expected_head_sha?: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    get_pull_request_comments(args: {
      owner: string;
      repo: string;
      pull_number: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-github 2025.4.8. */
    get_pull_request_reviews(args: {
      owner: string;
      repo: string;
      pull_number: number;
    }): Promise<any>;
  };
};
