declare const tools: {
  "modelcontextprotocol-server-sequential-thinking": {
    /** Of @modelcontextprotocol/server-sequential-thinking 2026.8.31. */
    sequentialthinking(args: {
      thought: string;
      nextThoughtNeeded: boolean | string;
      /** (at least 1, integer) */
      thoughtNumber: number;
      /** (at least 1, integer) */
      totalThoughts: number;
      isRevision?: boolean | string;
      /** (at least 1, integer) */
      revisesThought?: number;
      /** (at least 1, integer) */
      branchFromThought?: number;
      branchId?: string;
      needsMoreThoughts?: boolean | string;
    }): Promise<{
      thoughtNumber: number;
      totalThoughts: number;
      nextThoughtNeeded: boolean;
      branches: string[];
      thoughtHistoryLength: number;
    }>;
  };
};
