declare const tools: {
  "hubspot-mcp-server": {
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-get-user-details"(): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-list-objects"(args: {
      objectType: string;
      /** (default 100, at least 1, at most 500, integer) */
      limit?: number;
      after?: string;
      properties?: string[];
      associations?: string[];
      /** (default false) */
      archived?: boolean;
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-search-objects"(args: {
      objectType: string;
      query?: string;
      /** (default 10, at least 1, at most 100, integer) */
      limit?: number;
      after?: string;
      properties?: string[];
      sorts?: {
        propertyName: string;
        direction: "ASCENDING" | "DESCENDING";
      }[];
      filterGroups?: {
        filters: {
          propertyName: string;
          operator: "EQ" | "NEQ" | "LT" | "LTE" | "GT" | "GTE" | "BETWEEN" | "IN" | "NOT_IN" | "HAS_PROPERTY" | "NOT_HAS_PROPERTY" | "CONTAINS_TOKEN" | "NOT_CONTAINS_TOKEN";
          value?: any;
          values?: any[];
          highValue?: any;
        }[];
      }[];
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-batch-create-associations"(args: {
      fromObjectType: string;
      toObjectType: string;
      /** (items at least 1) */
      types: {
        associationCategory: "HUBSPOT_DEFINED" | "USER_DEFINED" | "INTEGRATOR_DEFINED";
        /** (more than 0, integer) */
        associationTypeId: number;
      }[];
      /** (items at least 1) */
      inputs: {
        from: {
          id: string;
        };
        to: {
          id: string;
        };
      }[];
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-get-association-definitions"(args: {
      fromObjectType: string;
      toObjectType: string;
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-list-associations"(args: {
      objectType: string;
      objectId: string;
      toObjectType: string;
      after?: string;
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-batch-create-objects"(args: {
      objectType: string;
      /** (items at least 1, items at most 100) */
      inputs: {
        properties: { [key: string]: string };
        associations?: {
          /** (items at least 1) */
          types: {
            associationCategory: "HUBSPOT_DEFINED" | "USER_DEFINED" | "INTEGRATOR_DEFINED";
            /** (more than 0, integer) */
            associationTypeId: number;
          }[];
          to: {
            id: string;
          };
        }[];
        objectWriteTraceId?: string;
      }[];
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-batch-update-objects"(args: {
      objectType: string;
      /** (items at least 1, items at most 100) */
      inputs: {
        id: string;
        properties: { [key: string]: string };
        idProperty?: string;
        objectWriteTraceId?: string;
      }[];
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-batch-read-objects"(args: {
      objectType: string;
      /** (items at least 1, items at most 100) */
      inputs: {
        id: string;
      }[];
      properties?: string[];
      propertiesWithHistory?: string[];
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-list-properties"(args: {
      objectType: string;
      /** (default false) */
      archived?: boolean;
      /** (default false) */
      includeHidden?: boolean;
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-get-property"(args: {
      objectType: string;
      propertyName: string;
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-create-property"(args: {
      objectType: string;
      name: string;
      label: string;
      description?: string;
      groupName: string;
      /** (default "string") */
      type?: "string" | "number" | "date" | "datetime" | "enumeration" | "bool";
      /** (default "text") */
      fieldType?: "text" | "textarea" | "date" | "file" | "number" | "select" | "radio" | "checkbox" | "booleancheckbox" | "calculation";
      options?: {
        label: string;
        value: string;
        description?: string;
        /** (integer) */
        displayOrder?: number;
        hidden?: boolean;
      }[];
      formField?: boolean;
      hidden?: boolean;
      /** (integer) */
      displayOrder?: number;
      hasUniqueValue?: boolean;
      calculationFormula?: string;
      externalOptions?: boolean;
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-update-property"(args: {
      objectType: string;
      propertyName: string;
      label?: string;
      description?: string;
      groupName?: string;
      type?: "string" | "number" | "date" | "datetime" | "enumeration" | "bool";
      fieldType?: "text" | "textarea" | "date" | "file" | "number" | "select" | "radio" | "checkbox" | "booleancheckbox" | "calculation";
      options?: {
        label: string;
        value: string;
        description?: string;
        /** (integer) */
        displayOrder?: number;
        hidden?: boolean;
      }[];
      formField?: boolean;
      hidden?: boolean;
      /** (integer) */
      displayOrder?: number;
      calculationFormula?: string;
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-create-engagement"(args: {
      type: "NOTE" | "TASK";
      /** (more than 0, integer) */
      ownerId: number;
      /** (integer) */
      timestamp?: number;
      associations: {
        /** (default []) */
        contactIds?: number[];
        /** (default []) */
        companyIds?: number[];
        /** (default []) */
        dealIds?: number[];
        /** (default []) */
        ownerIds?: number[];
        /** (default []) */
        ticketIds?: number[];
      };
      metadata: { [key: string]: any };
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-get-engagement"(args: {
      /** (more than 0, integer) */
      engagementId: number;
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-update-engagement"(args: {
      /** (more than 0, integer) */
      engagementId: number;
      /** (more than 0, integer) */
      ownerId?: number;
      /** (integer) */
      timestamp?: number;
      metadata: { [key: string]: any };
      associations: {
        /** (default []) */
        contactIds?: number[];
        /** (default []) */
        companyIds?: number[];
        /** (default []) */
        dealIds?: number[];
        /** (default []) */
        ownerIds?: number[];
        /** (default []) */
        ticketIds?: number[];
      };
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-generate-feedback-link"(): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-get-schemas"(): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-get-link"(args: {
      portalId: string;
      uiDomain: string;
      pageRequests: {
        pagetype: "record" | "index";
        objectTypeId: string;
        objectId?: string;
      }[];
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-list-workflows"(args?: {
      /** (default 20, at least 1, at most 100) */
      limit?: number;
      after?: string;
    }): Promise<any>;
    /** Of @hubspot/mcp-server 0.4.0. */
    "hubspot-get-workflow"(args: {
      flowId: string;
    }): Promise<any>;
  };
};
