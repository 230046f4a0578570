declare const tools: {
  "modelcontextprotocol-server-memory": {
    /** Of @modelcontextprotocol/server-memory 2026.8.31. */
    create_entities(args: {
      entities: {
        name: string;
        entityType: string;
        observations: string[];
      }[];
    }): Promise<{
      entities: {
        name: string;
        entityType: string;
        observations: string[];
      }[];
    }>;
    /** Of @modelcontextprotocol/server-memory 2026.8.31. */
    create_relations(args: {
      relations: {
        from: string;
        to: string;
        relationType: string;
      }[];
    }): Promise<{
      relations: {
        from: string;
        to: string;
        relationType: string;
      }[];
    }>;
    /** Of @modelcontextprotocol/server-memory 2026.8.31. */
    add_observations(args: {
      observations: {
        entityName: string;
        contents: string[];
      }[];
    }): Promise<{
      results: {
        entityName: string;
        addedObservations: string[];
      }[];
    }>;
    /** Of @modelcontextprotocol/server-memory 2026.8.31. */
    delete_entities(args: {
      entityNames: string[];
    }): Promise<{
      success: boolean;
      message: string;
    }>;
    /** Of @modelcontextprotocol/server-memory 2026.8.31. */
    delete_observations(args: {
      deletions: {
        entityName: string;
        observations: string[];
      }[];
    }): Promise<{
      success: boolean;
      message: string;
    }>;
    /** Of @modelcontextprotocol/server-memory 2026.8.31. */
    delete_relations(args: {
      relations: {
        from: string;
        to: string;
        relationType: string;
      }[];
    }): Promise<{
      success: boolean;
      message: string;
    }>;
    /** Of @modelcontextprotocol/server-memory 2026.8.31. */
    read_graph(): Promise<{
      entities: {
        name: string;
        entityType: string;
        observations: string[];
      }[];
      relations: {
        from: string;
        to: string;
        relationType: string;
      }[];
    }>;
    /** Of @modelcontextprotocol/server-memory 2026.8.31. */
    search_nodes(args: {
      query: string;
    }): Promise<{
      entities: {
        name: string;
        entityType: string;
        observations: string[];
      }[];
      relations: {
        from: string;
        to: string;
        relationType: string;
      }[];
    }>;
    /** Of @modelcontextprotocol/server-memory 2026.8.31. */
    open_nodes(args: {
      names: string[];
    }): Promise<{
      entities: {
        name: string;
        entityType: string;
        observations: string[];
      }[];
      relations: {
        from: string;
        to: string;
        relationType: string;
      }[];
    }>;
  };
};
