// Event, EventTarget, AbortController, AbortSignal and DOMException, as far as programs use them: listeners with `once` and
// `signal`, no capture, no bubbling.
(function (native) {
  class DOMException extends native.Error {
    #name;
    constructor(message = "", name = "Error") {
      super(`${message}`);
      native.setName(this, this.#name = `${name}`);
    }
    get code() { return native.code(this.#name); }
  }
  native.finish(DOMException, "DOMException");

  let sent, stopped;
  class Event {
    static {
      sent = (event, target) => { event.#target = target; event.#stopped = false; };
      stopped = event => event.#stopped;
    }
    #type;
    #cancelable;
    #canceled = false;
    #stopped = false;
    #target = null;
    constructor(type, options = undefined) {
      if (arguments.length === 0) native.typeError("Event takes a type");
      const { cancelable = false } = options ?? {};
      this.#type = `${type}`;
      this.#cancelable = !!cancelable;
    }
    get type() { return this.#type; }
    get target() { return this.#target; }
    get currentTarget() { return this.#target; }
    get cancelable() { return this.#cancelable; }
    get defaultPrevented() { return this.#canceled; }
    preventDefault() { if (this.#cancelable) this.#canceled = true; }
    stopPropagation() { this.#type; }
    stopImmediatePropagation() { this.#stopped = true; }
  }
  native.finish(Event, "Event");

  class EventTarget {
    #listeners = native.newListeners();
    addEventListener(type, listener, options = undefined) {
      this.#listeners;
      if (listener === null || listener === undefined) return;
      if (typeof listener !== "object" && typeof listener !== "function") native.typeError("addEventListener takes a function, or an object with handleEvent");
      const { once = false, signal = undefined } = typeof options === "object" && options !== null ? options : {};
      if (signal !== undefined) {
        if (aborted(signal)) return;
        follow(signal, () => native.unlisten(this.#listeners, type, listener));
      }
      native.listen(this.#listeners, `${type}`, listener, !!once);
    }
    removeEventListener(type, listener) { native.unlisten(this.#listeners, `${type}`, listener); }
    dispatchEvent(event) {
      this.#listeners;
      sent(event, this);
      const type = `${event.type}`;
      const sending = native.begin(this.#listeners, type);
      while (!stopped(event)) {
        const listener = native.next(sending, this.#listeners);
        if (listener === undefined) break;
        if (typeof listener === "function") native.call(listener, this, event);
        else native.call(listener.handleEvent, listener, event);
      }
      return !event.defaultPrevented;
    }
  }
  const dispatchEvent = EventTarget.prototype.dispatchEvent;
  native.finish(EventTarget, "EventTarget");

  const key = {}; // opens the constructor of AbortSignal to what is in here
  let aborted, follow, abort;
  class AbortSignal extends EventTarget {
    static {
      aborted = signal => signal.#aborted;
      follow = (signal, f) => native.enqueue(signal.#followers, f);
      abort = (signal, reason) => {
        if (signal.#aborted) return;
        signal.#aborted = true;
        signal.#reason = reason;
        for (let f = native.dequeue(signal.#followers); f !== undefined; f = native.dequeue(signal.#followers)) f();
        native.call(dispatchEvent, signal, new Event("abort"));
      };
    }
    #aborted = false;
    #reason;
    #followers = native.newQueue();
    #onabort = null;
    constructor(given = undefined) {
      if (given !== key) native.typeError("Illegal constructor: use new AbortController().signal, AbortSignal.timeout or AbortSignal.any");
      super();
    }
    get aborted() { return this.#aborted; }
    get reason() { return this.#reason; }
    get onabort() { return this.#onabort; }
    set onabort(f) {
      if (typeof this.#onabort === "function") this.removeEventListener("abort", this.#onabort);
      this.#onabort = typeof f === "function" ? f : null;
      if (this.#onabort !== null) this.addEventListener("abort", f);
    }
    throwIfAborted() { if (this.#aborted) throw this.#reason; }
    static abort(reason = new DOMException("This operation was aborted", "AbortError")) {
      const signal = new AbortSignal(key);
      abort(signal, reason);
      return signal;
    }
    static timeout(ms) {
      const signal = new AbortSignal(key);
      native.after(ms, () => abort(signal, new DOMException("The operation was aborted due to timeout", "TimeoutError")));
      return signal;
    }
    static any(signals) {
      const signal = new AbortSignal(key);
      native.each(signals, source => {
        if (signal.#aborted) return;
        if (source.#aborted) abort(signal, source.#reason);
        else follow(source, () => abort(signal, source.#reason));
      });
      return signal;
    }
  }
  native.finish(AbortSignal, "AbortSignal");

  class AbortController {
    #signal = new AbortSignal(key);
    get signal() { return this.#signal; }
    abort(reason = new DOMException("This operation was aborted", "AbortError")) { abort(this.#signal, reason); }
  }
  native.finish(AbortController, "AbortController");

  return { AbortController, AbortSignal, Event, EventTarget, DOMException };
})
