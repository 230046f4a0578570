declare const tools: {
  "sentry-mcp-server": {
    /** Of @sentry/mcp-server 0.36.0. */
    whoami(): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    find_organizations(args?: {
      /** (default null) */
      query?: string | null;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    find_teams(args: {
      organizationSlug: string;
      /** (default null) */
      regionUrl?: string | null;
      /** (default null) */
      query?: string | null;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    find_projects(args: {
      organizationSlug: string;
      /** (default null) */
      regionUrl?: string | null;
      /** (default null) */
      query?: string | null;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    find_releases(args: {
      organizationSlug: string;
      /** (default null) */
      regionUrl?: string | null;
      /** (default null) */
      projectSlug?: string | null;
      /** (default null) */
      query?: string | null;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    get_issue_tag_values(args: {
      organizationSlug?: string;
      /** (default null) */
      regionUrl?: string | null;
      issueId?: string;
      /** (format uri) */
      issueUrl?: string;
      /** (pattern ^[a-zA-Z0-9][a-zA-Z0-9._-]*$) */
      tagKey: string;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    get_replay_details(args?: {
      /** (format uri) */
      replayUrl?: string;
      organizationSlug?: string;
      replayId?: string;
      regionUrl?: string | null;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    get_event_attachment(args: {
      organizationSlug: string;
      projectSlug: string;
      eventId: string;
      /** (default null) */
      attachmentId?: string | null;
      /** (default null) */
      regionUrl?: string | null;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    update_issue(args?: {
      organizationSlug?: string;
      /** (default null) */
      regionUrl?: string | null;
      issueId?: string;
      /** (format uri) */
      issueUrl?: string;
      status?: "resolved" | "resolvedInNextRelease" | "unresolved" | "ignored";
      assignedTo?: string;
      ignoreMode?: "untilEscalating" | "forever" | "forDuration" | "untilOccurrenceCount" | "untilUserCount";
      /** (more than 0, integer) */
      ignoreDurationMinutes?: number;
      /** (more than 0, integer) */
      ignoreCount?: number;
      /** (more than 0, at most 10080, integer) */
      ignoreWindowMinutes?: number;
      /** (more than 0, integer) */
      ignoreUserCount?: number;
      /** (more than 0, at most 10080, integer) */
      ignoreUserWindowMinutes?: number;
      /** (length at least 1) */
      reason?: string;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    search_events(args: {
      organizationSlug: string;
      dataset?: "spans" | "errors" | "logs" | "metrics" | "profiles" | "replays";
      query?: string;
      fields?: string[] | null;
      sort?: string | null;
      /** (default null) */
      projectSlug?: string | null;
      environment?: string | string[] | null;
      statsPeriod?: string;
      /** (default null) */
      regionUrl?: string | null;
      /** (default 10, at least 1, at most 100) */
      limit?: number;
      /** (default false) */
      includeExplanation?: boolean;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    create_team(args: {
      organizationSlug: string;
      /** (default null) */
      regionUrl?: string | null;
      name: string;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    create_project(args: {
      organizationSlug: string;
      /** (default null) */
      regionUrl?: string | null;
      teamSlug: string;
      name: string;
      /** (default null) */
      platform?: string | null;
      /** (default null) */
      repository?: string | null;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    update_project(args: {
      organizationSlug: string;
      /** (default null) */
      regionUrl?: string | null;
      projectSlug: string;
      /** (default null) */
      name?: string | null;
      /** (default null) */
      slug?: string | null;
      /** (default null) */
      platform?: string | null;
      /** (default null) */
      teamSlug?: string | null;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    create_dsn(args: {
      organizationSlug: string;
      /** (default null) */
      regionUrl?: string | null;
      projectSlug: string;
      name: string;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    find_dsns(args: {
      organizationSlug: string;
      /** (default null) */
      regionUrl?: string | null;
      projectSlug: string;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    analyze_issue_with_seer(args?: {
      organizationSlug?: string;
      /** (default null) */
      regionUrl?: string | null;
      issueId?: string;
      /** (format uri) */
      issueUrl?: string;
      instruction?: string;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    search_docs(args: {
      /** (length at least 2, length at most 200) */
      query: string;
      /** (default 3, at least 1, at most 10, integer) */
      maxResults?: number;
      /** (default null) */
      guide?: "javascript" | "python" | "java" | "dotnet" | "go" | "php" | "ruby" | "android" | "apple" | "unity" | "unreal" | "rust" | "elixir" | "kotlin" | "native" | "dart" | "godot" | "nintendo-switch" | "playstation" | "powershell" | "react-native" | "xbox" | "javascript/nextjs" | "javascript/react" | "javascript/gatsby" | "javascript/remix" | "javascript/vue" | "javascript/angular" | "javascript/hono" | "javascript/svelte" | "javascript/express" | "javascript/fastify" | "javascript/astro" | "javascript/bun" | "javascript/capacitor" | "javascript/cloudflare" | "javascript/connect" | "javascript/cordova" | "javascript/deno" | "javascript/electron" | "javascript/ember" | "javascript/nuxt" | "javascript/solid" | "javascript/solidstart" | "javascript/sveltekit" | "javascript/tanstack-react" | "javascript/wasm" | "javascript/node" | "javascript/koa" | "javascript/nestjs" | "javascript/hapi" | "python/django" | "python/flask" | "python/fastapi" | "python/celery" | "python/tornado" | "python/pyramid" | "python/aiohttp" | "python/anthropic" | "python/airflow" | "python/aws-lambda" | "python/boto3" | "python/bottle" | "python/chalice" | "python/dramatiq" | "python/falcon" | "python/langchain" | "python/litestar" | "python/logging" | "python/loguru" | "python/openai" | "python/quart" | "python/ray" | "python/redis" | "python/rq" | "python/sanic" | "python/sqlalchemy" | "python/starlette" | "dart/flutter" | "dotnet/aspnetcore" | "dotnet/maui" | "dotnet/wpf" | "dotnet/winforms" | "dotnet/aspnet" | "dotnet/aws-lambda" | "dotnet/azure-functions" | "dotnet/blazor-webassembly" | "dotnet/entityframework" | "dotnet/google-cloud-functions" | "dotnet/extensions-logging" | "dotnet/log4net" | "dotnet/nlog" | "dotnet/serilog" | "dotnet/uwp" | "dotnet/xamarin" | "java/spring" | "java/spring-boot" | "java/android" | "java/jul" | "java/log4j2" | "java/logback" | "java/servlet" | "go/echo" | "go/fasthttp" | "go/fiber" | "go/gin" | "go/http" | "go/iris" | "go/logrus" | "go/negroni" | "go/slog" | "go/zerolog" | "php/laravel" | "php/symfony" | "ruby/delayed_job" | "ruby/rack" | "ruby/rails" | "ruby/resque" | "ruby/sidekiq" | "android/kotlin" | "apple/ios" | "apple/macos" | "apple/watchos" | "apple/tvos" | "apple/visionos" | "kotlin/multiplatform" | null;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    get_doc(args: {
      path: string;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    search_issues(args: {
      organizationSlug: string;
      /** (default "is:unresolved") */
      query?: string;
      /** (default "date") */
      sort?: "date" | "freq" | "new" | "user";
      /** (default null) */
      projectSlugOrId?: string | null;
      /** (default null) */
      regionUrl?: string | null;
      /** (default 10, at least 1, at most 100) */
      limit?: number;
      /** (default false) */
      includeExplanation?: boolean;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    search_issue_events(args?: {
      /** (default null) */
      organizationSlug?: string | null;
      issueId?: string;
      /** (format uri) */
      issueUrl?: string;
      query?: string;
      sort?: string;
      statsPeriod?: string;
      /** (default null) */
      projectSlug?: string | null;
      /** (default null) */
      regionUrl?: string | null;
      /** (default 50, at least 1, at most 100) */
      limit?: number;
      /** (default false) */
      includeExplanation?: boolean;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    get_profile_details(args?: {
      /** (format uri) */
      profileUrl?: string;
      organizationSlug?: string;
      /** (default null) */
      regionUrl?: string | null;
      projectSlugOrId?: string | number;
      profileId?: string;
      profilerId?: string;
      start?: string;
      end?: string;
      /** (default true) */
      focusOnUserCode?: boolean;
    }): Promise<any>;
    /** Of @sentry/mcp-server 0.36.0. */
    get_sentry_resource(args?: {
      /** (format uri) */
      url?: string;
      resourceType?: "issue" | "event" | "trace" | "span" | "ai_conversation" | "breadcrumbs" | "replay" | "snapshot" | "snapshotImage";
      resourceId?: string;
      organizationSlug?: string;
    }): Promise<any>;
  };
};
