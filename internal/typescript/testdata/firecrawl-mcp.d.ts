declare const tools: {
  "firecrawl-mcp": {
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_scrape(args: {
      url: string;
      formats?: ("markdown" | "html" | "rawHtml" | "screenshot" | "links" | "summary" | "changeTracking" | "branding" | "json" | "query" | "audio")[];
      jsonOptions?: {
        prompt?: string;
        schema?: { [key: string]: any };
      };
      queryOptions?: {
        prompt: string;
        /** (default "freeform") */
        mode: "directQuote" | "freeform";
      };
      screenshotOptions?: {
        fullPage?: boolean;
        quality?: number;
        viewport?: {
          width: number;
          height: number;
        };
      };
      parsers?: "pdf"[];
      pdfOptions?: {
        maxPages?: number;
      };
      onlyMainContent?: boolean;
      redactPII?: boolean;
      includeTags?: string[];
      excludeTags?: string[];
      waitFor?: number;
      actions?: {
        type: "wait" | "screenshot" | "scroll" | "scrape" | "click" | "write" | "press" | "executeJavascript" | "generatePDF";
        selector?: string;
        milliseconds?: number;
        text?: string;
        key?: string;
        direction?: "up" | "down";
        script?: string;
        fullPage?: boolean;
      }[];
      mobile?: boolean;
      skipTlsVerification?: boolean;
      removeBase64Images?: boolean;
      location?: {
        country?: string;
        languages?: string[];
      };
      storeInCache?: boolean;
      zeroDataRetention?: boolean;
      maxAge?: number;
      lockdown?: boolean;
      proxy?: "basic" | "stealth" | "enhanced" | "auto";
      profile?: {
        name: string;
        saveChanges?: boolean;
      };
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_map(args: {
      url: string;
      search?: string;
      sitemap?: "include" | "skip" | "only";
      includeSubdomains?: boolean;
      limit?: number;
      ignoreQueryParameters?: boolean;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_search(args: {
      query: string;
      limit?: number;
      tbs?: string;
      filter?: string;
      location?: string;
      includeDomains?: string[];
      excludeDomains?: string[];
      sources?: {
        type: "web" | "images" | "news";
      }[];
      scrapeOptions?: {
        formats?: ("markdown" | "html" | "rawHtml" | "screenshot" | "links" | "summary" | "changeTracking" | "branding" | "json" | "query" | "audio")[];
        jsonOptions?: {
          prompt?: string;
          schema?: { [key: string]: any };
        };
        queryOptions?: {
          prompt: string;
          /** (default "freeform") */
          mode: "directQuote" | "freeform";
        };
        screenshotOptions?: {
          fullPage?: boolean;
          quality?: number;
          viewport?: {
            width: number;
            height: number;
          };
        };
        parsers?: "pdf"[];
        pdfOptions?: {
          maxPages?: number;
        };
        onlyMainContent?: boolean;
        redactPII?: boolean;
        includeTags?: string[];
        excludeTags?: string[];
        waitFor?: number;
        actions?: {
          type: "wait" | "screenshot" | "scroll" | "scrape" | "click" | "write" | "press" | "executeJavascript" | "generatePDF";
          selector?: string;
          milliseconds?: number;
          text?: string;
          key?: string;
          direction?: "up" | "down";
          script?: string;
          fullPage?: boolean;
        }[];
        mobile?: boolean;
        skipTlsVerification?: boolean;
        removeBase64Images?: boolean;
        location?: {
          country?: string;
          languages?: string[];
        };
        storeInCache?: boolean;
        zeroDataRetention?: boolean;
        maxAge?: number;
        lockdown?: boolean;
        proxy?: "basic" | "stealth" | "enhanced" | "auto";
        profile?: {
          name: string;
          saveChanges?: boolean;
        };
      };
      enterprise?: ("default" | "anon" | "zdr")[];
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_search_feedback(args: {
      searchId: string;
      rating: "good" | "bad" | "partial";
      valuableSources?: {
        url: string;
        reason?: string;
      }[];
      missingContent?: {
        topic: string;
        description?: string;
      }[];
      querySuggestions?: string;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_feedback(args: {
      endpoint: "search" | "scrape" | "parse" | "map";
      jobId: string;
      rating: "good" | "bad" | "partial";
      issues?: string[];
      tags?: string[];
      note?: string;
      valuableSources?: {
        url: string;
        reason?: string;
      }[];
      missingContent?: {
        topic: string;
        description?: string;
      }[];
      querySuggestions?: string;
      url?: string;
      pageNumbers?: number[];
      metadata?: { [key: string]: any };
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_crawl(args: {
      url: string;
      prompt?: string;
      excludePaths?: string[];
      includePaths?: string[];
      maxDiscoveryDepth?: number;
      sitemap?: "skip" | "include" | "only";
      limit?: number;
      allowExternalLinks?: boolean;
      allowSubdomains?: boolean;
      crawlEntireDomain?: boolean;
      delay?: number;
      maxConcurrency?: number;
      webhook?: string;
      webhookHeaders?: { [key: string]: string };
      deduplicateSimilarURLs?: boolean;
      ignoreQueryParameters?: boolean;
      scrapeOptions?: {
        formats?: ("markdown" | "html" | "rawHtml" | "screenshot" | "links" | "summary" | "changeTracking" | "branding" | "json" | "query" | "audio")[];
        jsonOptions?: {
          prompt?: string;
          schema?: { [key: string]: any };
        };
        queryOptions?: {
          prompt: string;
          /** (default "freeform") */
          mode: "directQuote" | "freeform";
        };
        screenshotOptions?: {
          fullPage?: boolean;
          quality?: number;
          viewport?: {
            width: number;
            height: number;
          };
        };
        parsers?: "pdf"[];
        pdfOptions?: {
          maxPages?: number;
        };
        onlyMainContent?: boolean;
        redactPII?: boolean;
        includeTags?: string[];
        excludeTags?: string[];
        waitFor?: number;
        actions?: {
          type: "wait" | "screenshot" | "scroll" | "scrape" | "click" | "write" | "press" | "executeJavascript" | "generatePDF";
          selector?: string;
          milliseconds?: number;
          text?: string;
          key?: string;
          direction?: "up" | "down";
          script?: string;
          fullPage?: boolean;
        }[];
        mobile?: boolean;
        skipTlsVerification?: boolean;
        removeBase64Images?: boolean;
        location?: {
          country?: string;
          languages?: string[];
        };
        storeInCache?: boolean;
        zeroDataRetention?: boolean;
        maxAge?: number;
        lockdown?: boolean;
        proxy?: "basic" | "stealth" | "enhanced" | "auto";
        profile?: {
          name: string;
          saveChanges?: boolean;
        };
      };
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_check_crawl_status(args: {
      id: string;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_extract(args: {
      urls: string[];
      prompt?: string;
      schema?: { [key: string]: any };
      allowExternalLinks?: boolean;
      enableWebSearch?: boolean;
      includeSubdomains?: boolean;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_agent(args: {
      prompt: string;
      urls?: string[];
      schema?: { [key: string]: any };
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_agent_status(args: {
      id: string;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_interact(args?: {
      scrapeId?: string;
      url?: string;
      prompt?: string;
      code?: string;
      language?: "bash" | "python" | "node";
      timeout?: number;
      scrapeOptions?: {
        formats?: ("markdown" | "html" | "rawHtml" | "screenshot" | "links" | "summary" | "changeTracking" | "branding" | "json" | "query" | "audio")[];
        jsonOptions?: {
          prompt?: string;
          schema?: { [key: string]: any };
        };
        queryOptions?: {
          prompt: string;
          /** (default "freeform") */
          mode: "directQuote" | "freeform";
        };
        screenshotOptions?: {
          fullPage?: boolean;
          quality?: number;
          viewport?: {
            width: number;
            height: number;
          };
        };
        parsers?: "pdf"[];
        pdfOptions?: {
          maxPages?: number;
        };
        onlyMainContent?: boolean;
        redactPII?: boolean;
        includeTags?: string[];
        excludeTags?: string[];
        waitFor?: number;
        actions?: {
          type: "wait" | "screenshot" | "scroll" | "scrape" | "click" | "write" | "press" | "executeJavascript" | "generatePDF";
          selector?: string;
          milliseconds?: number;
          text?: string;
          key?: string;
          direction?: "up" | "down";
          script?: string;
          fullPage?: boolean;
        }[];
        mobile?: boolean;
        skipTlsVerification?: boolean;
        removeBase64Images?: boolean;
        location?: {
          country?: string;
          languages?: string[];
        };
        storeInCache?: boolean;
        zeroDataRetention?: boolean;
        maxAge?: number;
        lockdown?: boolean;
        proxy?: "basic" | "stealth" | "enhanced" | "auto";
        profile?: {
          name: string;
          saveChanges?: boolean;
        };
      };
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_interact_stop(args: {
      scrapeId: string;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_parse(args: {
      formats?: ("markdown" | "html" | "rawHtml" | "links" | "summary" | "json" | "query")[];
      jsonOptions?: {
        prompt?: string;
        schema?: { [key: string]: any };
      };
      queryOptions?: {
        prompt: string;
        /** (default "freeform") */
        mode: "directQuote" | "freeform";
      };
      parsers?: "pdf"[];
      pdfOptions?: {
        maxPages?: number;
      };
      onlyMainContent?: boolean;
      redactPII?: boolean;
      includeTags?: string[];
      excludeTags?: string[];
      removeBase64Images?: boolean;
      skipTlsVerification?: boolean;
      storeInCache?: boolean;
      zeroDataRetention?: boolean;
      maxAge?: number;
      proxy?: "basic" | "auto";
      filePath: string;
      contentType?: string;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_monitor_create(args?: {
      body?: { [key: string]: any };
      page?: string;
      pages?: string[];
      queries?: string[];
      searchWindow?: "5m" | "15m" | "1h" | "6h" | "24h" | "7d";
      maxResults?: number;
      includeDomains?: string[];
      excludeDomains?: string[];
      goal?: string;
      name?: string;
      scheduleText?: string;
      timezone?: string;
      email?: string;
      includeDiffs?: boolean;
      webhookUrl?: string;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_monitor_list(args?: {
      limit?: number;
      offset?: number;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_monitor_get(args: {
      id: string;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_monitor_update(args: {
      id: string;
      body: { [key: string]: any };
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_monitor_delete(args: {
      id: string;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_monitor_run(args: {
      id: string;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_monitor_checks(args: {
      id: string;
      limit?: number;
      offset?: number;
      status?: "queued" | "running" | "completed" | "failed" | "partial" | "skipped_overlap";
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_monitor_check(args: {
      id: string;
      checkId: string;
      limit?: number;
      skip?: number;
      pageStatus?: "same" | "new" | "changed" | "removed" | "error";
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_research_search_papers(args: {
      query: string;
      k?: number;
      authors?: string[];
      categories?: string[];
      from?: string;
      to?: string;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_research_inspect_paper(args: {
      paperId: string;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_research_related_papers(args: {
      seed_ids: string[];
      intent: string;
      mode?: "similar" | "citers" | "references";
      k?: number;
      rerank?: boolean;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_research_read_paper(args: {
      paperId: string;
      question: string;
      k?: number;
    }): Promise<any>;
    /** Of firecrawl-mcp 3.22.2. */
    firecrawl_research_search_github(args: {
      query: string;
      k?: number;
    }): Promise<any>;
  };
};
