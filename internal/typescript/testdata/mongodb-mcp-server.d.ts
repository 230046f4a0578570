declare const tools: {
  "mongodb-mcp-server": {
    /** Of mongodb-mcp-server 3.0.4. */
    "aggregate-db"(args: {
      connectionId: string;
      database: string;
      /** (items at least 1) */
      pipeline: { [key: string]: any }[];
      /** (default 1048576) */
      responseBytesLimit?: number;
    }): Promise<{
      documents: any[];
      aggResultsCount?: number;
      appliedLimits: ("config.maxDocumentsPerQuery" | "config.maxBytesPerQuery" | "tool.responseBytesLimit")[];
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    aggregate(args: {
      connectionId: string;
      database: string;
      collection: string;
      pipeline: ({
        $vectorSearch: {
          /** (default false) */
          exact?: boolean;
          index: string;
          path: string;
          /** (more than 0, integer) */
          numCandidates?: number;
          /** (default 10, more than 0, integer) */
          limit?: number;
          filter?: { [key: string]: any };
          queryVector: number[];
        } | {
          /** (default false) */
          exact?: boolean;
          index: string;
          path: string;
          /** (more than 0, integer) */
          numCandidates?: number;
          /** (default 10, more than 0, integer) */
          limit?: number;
          filter?: { [key: string]: any };
          query: {
            text: string;
          };
          model?: "voyage-4" | "voyage-4-large" | "voyage-4-lite" | "voyage-code-3";
        };
      } | { [key: string]: any })[];
      /** (default 1048576) */
      responseBytesLimit?: number;
    }): Promise<{
      documents: any[];
      count: number | "indeterminate";
      appliedLimits: ("config.maxDocumentsPerQuery" | "config.maxBytesPerQuery" | "tool.responseBytesLimit")[];
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "collection-indexes"(args: {
      connectionId: string;
      database: string;
      collection: string;
    }): Promise<{
      classicIndexes: {
        name: string;
        key: { [key: string]: any };
      }[];
      searchIndexes: {
        name: string;
        type: string;
        status: string;
        queryable: boolean;
        latestDefinition: { [key: string]: any };
      }[];
      classicIndexesCount: number;
      searchIndexesCount: number;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "collection-schema"(args: {
      connectionId: string;
      database: string;
      collection: string;
      /** (default 50) */
      sampleSize?: number;
      /** (default 1048576) */
      responseBytesLimit?: number;
    }): Promise<{
      schema: { [key: string]: any };
      fieldsCount: number;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "collection-storage-size"(args: {
      connectionId: string;
      database: string;
      collection: string;
    }): Promise<{
      size: number;
      units: string;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    connect(args: {
      connectionString: string;
      connectionName?: string;
    }): Promise<{
      connectionId: string;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    count(args: {
      connectionId: string;
      database: string;
      collection: string;
      query?: { [key: string]: any };
    }): Promise<{
      count: number;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "create-collection"(args: {
      connectionId: string;
      database: string;
      collection: string;
    }): Promise<{
      database: string;
      collection: string;
      created: boolean;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "create-index"(args: {
      connectionId: string;
      database: string;
      collection: string;
      name?: string;
      definition: ({
        type: "classic";
        keys: { [key: string]: 1 | -1 | "2d" | "2dsphere" | "text" | "geoHaystack" | "hashed" };
      } | {
        type: "vectorSearch";
        /** (items at least 1) */
        fields: ({
          type: "filter";
          path: string;
        } | {
          type: "vector";
          path: string;
          /** (default 1024, at least 1, at most 8192) */
          numDimensions?: number;
          /** (default "euclidean") */
          similarity?: "cosine" | "euclidean" | "dotProduct";
          /** (default "none") */
          quantization?: "none" | "scalar" | "binary";
        } | {
          type: "autoEmbed";
          path: string;
          model: "voyage-4" | "voyage-4-large" | "voyage-4-lite" | "voyage-code-3";
          modality: "text";
        })[];
      } | {
        type: "search";
        /** (default "lucene.standard") */
        analyzer?: string;
        mappings: {
          /** (default false) */
          dynamic?: boolean | {
            typeSet: string;
          };
          fields?: { [key: string]: any };
          [key: string]: any;
        };
        /** (default "1") */
        numPartitions?: "1" | "2" | "4";
        [key: string]: any;
      })[];
    }): Promise<{
      database: string;
      collection: string;
      indexName: string;
      indexType: "classic" | "vectorSearch" | "search";
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "db-stats"(args: {
      connectionId: string;
      database: string;
    }): Promise<{
      stats: { [key: string]: any };
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "delete-many"(args: {
      connectionId: string;
      database: string;
      collection: string;
      filter?: { [key: string]: any };
    }): Promise<{
      database: string;
      collection: string;
      deletedCount: number;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    disconnect(args: {
      connectionId: string;
    }): Promise<{
      outcome: "removed" | "disconnected";
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "drop-collection"(args: {
      connectionId: string;
      database: string;
      collection: string;
    }): Promise<{
      database: string;
      collection: string;
      dropped: boolean;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "drop-database"(args: {
      connectionId: string;
      database: string;
    }): Promise<{
      database: string;
      dropped: boolean;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "drop-index"(args: {
      connectionId: string;
      database: string;
      collection: string;
      /** (length at least 1) */
      indexName: string;
      type: "classic" | "search";
    }): Promise<{
      database: string;
      collection: string;
      indexName: string;
      dropped: boolean;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    explain(args: {
      connectionId: string;
      database: string;
      collection: string;
      method: ({
        name: "aggregate";
        arguments: {
          pipeline: ({
            $vectorSearch: {
              /** (default false) */
              exact?: boolean;
              index: string;
              path: string;
              /** (more than 0, integer) */
              numCandidates?: number;
              /** (default 10, more than 0, integer) */
              limit?: number;
              filter?: { [key: string]: any };
              queryVector: number[];
            } | {
              /** (default false) */
              exact?: boolean;
              index: string;
              path: string;
              /** (more than 0, integer) */
              numCandidates?: number;
              /** (default 10, more than 0, integer) */
              limit?: number;
              filter?: { [key: string]: any };
              query: {
                text: string;
              };
              model?: "voyage-4" | "voyage-4-large" | "voyage-4-lite" | "voyage-code-3";
            };
          } | { [key: string]: any })[];
        };
      } | {
        name: "find";
        arguments: {
          filter?: { [key: string]: any };
          projection?: { [key: string]: any };
          /** (default 10) */
          limit?: number;
          sort?: { [key: string]: 1 | -1 | "asc" | "desc" | "ascending" | "descending" | {
            $meta: string;
          } };
        };
      } | {
        name: "count";
        arguments: {
          query?: { [key: string]: any };
        };
      })[];
      /** (default "queryPlanner") */
      verbosity?: "queryPlanner" | "queryPlannerExtended" | "executionStats" | "allPlansExecution";
    }): Promise<{
      explainResult: { [key: string]: any };
      method: "aggregate" | "find" | "count";
      verbosity: "queryPlanner" | "queryPlannerExtended" | "executionStats" | "allPlansExecution";
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    export(args: {
      connectionId: string;
      database: string;
      collection: string;
      exportTitle: string;
      exportTarget: ({
        name: "find";
        arguments: {
          filter?: { [key: string]: any };
          projection?: { [key: string]: any };
          limit?: number;
          sort?: { [key: string]: 1 | -1 | "asc" | "desc" | "ascending" | "descending" | {
            $meta: string;
          } };
        };
      } | {
        name: "aggregate";
        arguments: {
          pipeline: ({
            $vectorSearch: {
              /** (default false) */
              exact?: boolean;
              index: string;
              path: string;
              /** (more than 0, integer) */
              numCandidates?: number;
              /** (default 10, more than 0, integer) */
              limit?: number;
              filter?: { [key: string]: any };
              queryVector: number[];
            } | {
              /** (default false) */
              exact?: boolean;
              index: string;
              path: string;
              /** (more than 0, integer) */
              numCandidates?: number;
              /** (default 10, more than 0, integer) */
              limit?: number;
              filter?: { [key: string]: any };
              query: {
                text: string;
              };
              model?: "voyage-4" | "voyage-4-large" | "voyage-4-lite" | "voyage-code-3";
            };
          } | { [key: string]: any })[];
        };
      })[];
      /** (default "relaxed") */
      jsonExportFormat?: "relaxed" | "canonical";
    }): Promise<any>;
    /** Of mongodb-mcp-server 3.0.4. */
    find(args: {
      connectionId: string;
      database: string;
      collection: string;
      filter?: { [key: string]: any };
      projection?: { [key: string]: any };
      /** (default 10) */
      limit?: number;
      sort?: { [key: string]: 1 | -1 | "asc" | "desc" | "ascending" | "descending" | {
        $meta: string;
      } };
      /** (default 1048576) */
      responseBytesLimit?: number;
    }): Promise<{
      documents: any[];
      queryResultsCount?: number;
      appliedLimits: ("config.maxDocumentsPerQuery" | "config.maxBytesPerQuery" | "tool.responseBytesLimit")[];
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "insert-many"(args: {
      connectionId: string;
      database: string;
      collection: string;
      documents: { [key: string]: any }[];
    }): Promise<{
      database: string;
      collection: string;
      insertedCount: number;
      insertedIds: any[];
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "list-collections"(args: {
      connectionId: string;
      database: string;
    }): Promise<{
      collections: {
        name: string;
      }[];
      totalCount: number;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "list-connections"(): Promise<{
      connections: {
        connectionId: string;
        name: string;
        source: "explicit" | "preconfigured";
        state?: "connected" | "connecting" | "disconnected" | "errored";
        description: string;
        lastError?: string;
        createdAt: string;
        lastUsedAt: string;
      }[];
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "list-databases"(args: {
      connectionId: string;
    }): Promise<{
      databases: {
        name: string;
        size: number;
      }[];
      totalCount: number;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "mongodb-logs"(args: {
      connectionId: string;
      /** (default "global") */
      type?: "global" | "startupWarnings";
      /** (default 50, at least 1, at most 1024, integer) */
      limit?: number;
    }): Promise<{
      logs: string[];
      totalLinesWritten: number;
      shownCount: number;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "rename-collection"(args: {
      connectionId: string;
      database: string;
      collection: string;
      newName: string;
      /** (default false) */
      dropTarget?: boolean;
    }): Promise<{
      database: string;
      oldCollection: string;
      newCollection: string;
      renamed: boolean;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "update-many"(args: {
      connectionId: string;
      database: string;
      collection: string;
      filter?: { [key: string]: any };
      update: { [key: string]: any };
      upsert?: boolean;
    }): Promise<{
      database: string;
      collection: string;
      matchedCount: number;
      modifiedCount: number;
      upsertedCount: number;
      upsertedId?: string;
    }>;
    /** Of mongodb-mcp-server 3.0.4. */
    "search-knowledge"(args: {
      query: string;
      /** (default 5, at least 1, at most 100) */
      limit?: number;
      dataSources?: {
        name: string;
        versionLabel?: string;
      }[];
    }): Promise<any>;
    /** Of mongodb-mcp-server 3.0.4. */
    "list-knowledge-sources"(): Promise<any>;
  };
};
