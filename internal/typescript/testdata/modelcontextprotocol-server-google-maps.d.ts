declare const tools: {
  "modelcontextprotocol-server-google-maps": {
    /** Of @modelcontextprotocol/server-google-maps 0.6.2. */
    maps_geocode(args: {
      address: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-google-maps 0.6.2. */
    maps_reverse_geocode(args: {
      latitude: number;
      longitude: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-google-maps 0.6.2. */
    maps_search_places(args: {
      query: string;
      location?: {
        latitude?: number;
        longitude?: number;
      };
      radius?: number;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-google-maps 0.6.2. */
    maps_place_details(args: {
      place_id: string;
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-google-maps 0.6.2. */
    maps_distance_matrix(args: {
      origins: string[];
      destinations: string[];
      mode?: "driving" | "walking" | "bicycling" | "transit";
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-google-maps 0.6.2. */
    maps_elevation(args: {
      locations: {
        latitude: number;
        longitude: number;
      }[];
    }): Promise<any>;
    /** Of @modelcontextprotocol/server-google-maps 0.6.2. */
    maps_directions(args: {
      origin: string;
      destination: string;
      mode?: "driving" | "walking" | "bicycling" | "transit";
    }): Promise<any>;
  };
};
