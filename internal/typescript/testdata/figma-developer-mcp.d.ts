declare const tools: {
  "figma-developer-mcp": {
    /** Of figma-developer-mcp 0.13.2. */
    get_figma_data(args: {
      /** (pattern ^[a-zA-Z0-9]+$) */
      fileKey: string;
      /** (pattern ^I?\d+[:|-]\d+(?:;\d+[:|-]\d+)*$) */
      nodeId?: string;
      depth?: number;
    }): Promise<any>;
    /** Of figma-developer-mcp 0.13.2. */
    download_figma_images(args: {
      /** (pattern ^[a-zA-Z0-9]+$) */
      fileKey: string;
      nodes: {
        /** (pattern ^I?\d+[:|-]\d+(?:;\d+[:|-]\d+)*$) */
        nodeId: string;
        imageRef?: string;
        gifRef?: string;
        /** (pattern ^[a-zA-Z0-9_.-]+\.(png|svg|gif)$) */
        fileName: string;
        needsCropping?: boolean;
        cropTransform?: number[][];
        requiresImageDimensions?: boolean;
        /** (pattern ^[a-zA-Z0-9_-]+$) */
        filenameSuffix?: string;
      }[];
      /** (default 2, more than 0) */
      pngScale?: number;
      localPath: string;
    }): Promise<any>;
  };
};
