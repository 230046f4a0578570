// TextEncoder and TextDecoder. `native` encodes and decodes.
(function (native) {
  class TextEncoder {
    #brand;
    get encoding() { this.#brand; return "utf-8"; }
    encode(input = "") { this.#brand; return native.encode(`${input}`); }
    encodeInto(source, destination) {
      this.#brand;
      return native.encodeInto(`${source}`, destination);
    }
  }

  class TextDecoder {
    #state;
    constructor(label = "utf-8", options = undefined) {
      const { fatal = false, ignoreBOM = false } = options ?? {};
      this.#state = native.newDecoder(`${label}`, !!fatal, !!ignoreBOM);
    }
    get encoding() { return native.decoder(this.#state, 0); }
    get fatal() { return native.decoder(this.#state, 1); }
    get ignoreBOM() { return native.decoder(this.#state, 2); }
    decode(input = undefined, options = undefined) {
      this.#state;
      const { stream = false } = options ?? {};
      return native.decode(this.#state, input, !!stream);
    }
  }

  native.finish(TextEncoder, "TextEncoder");
  native.finish(TextDecoder, "TextDecoder");
  return { TextEncoder, TextDecoder };
})
