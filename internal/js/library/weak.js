// WeakRef and FinalizationRegistry of a program that lives for milliseconds: what is referred to lives as long as the
// reference, which ECMAScript allows, and so nothing is ever finalized.
(function (native) {
  class WeakRef {
    #target;
    constructor(target) {
      native.weakly(target);
      this.#target = target;
    }
    deref() { return this.#target; }
  }
  native.finish(WeakRef, "WeakRef");

  class FinalizationRegistry {
    #tokens = native.newTokens();
    constructor(cleanup) {
      if (typeof cleanup !== "function") native.typeError("FinalizationRegistry takes a function");
    }
    register(target, held, token = undefined) {
      this.#tokens;
      native.weakly(target);
      if (target === held) native.typeError("what is held must not be the target itself");
      if (token !== undefined) native.keep(this.#tokens, token);
    }
    unregister(token) {
      this.#tokens;
      native.weakly(token);
      return native.remove(this.#tokens, token);
    }
  }
  native.finish(FinalizationRegistry, "FinalizationRegistry");
  return { WeakRef, FinalizationRegistry };
})
