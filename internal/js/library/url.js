// URL and URLSearchParams. The parser is internal/js/weburl; `native` hands it the state that the objects hold.
(function (native) {
  const { parse, get, set, query, newList, update, append, remove, first, all, has, assign, sort, text, at, size } = native;

  const need = (given, wanted) => {
    if (given < wanted) native.typeError(`${wanted} argument${wanted > 1 ? "s" : ""} required, but only ${given} present`);
  };

  class URL {
    #url;
    #params;
    constructor(url, base = undefined) {
      need(arguments.length, 1);
      this.#url = parse(`${url}`, base === undefined ? undefined : `${base}`, true);
    }
    static parse(url, base = undefined) {
      need(arguments.length, 1);
      return parse(`${url}`, base === undefined ? undefined : `${base}`, false) === undefined ? null : new URL(url, base);
    }
    static canParse(url, base = undefined) {
      need(arguments.length, 1);
      return parse(`${url}`, base === undefined ? undefined : `${base}`, false) !== undefined;
    }
    get href() { return get(this.#url, 0); }
    set href(v) { set(this.#url, 0, `${v}`); }
    get origin() { return get(this.#url, 1); }
    get protocol() { return get(this.#url, 2); }
    set protocol(v) { set(this.#url, 2, `${v}`); }
    get username() { return get(this.#url, 3); }
    set username(v) { set(this.#url, 3, `${v}`); }
    get password() { return get(this.#url, 4); }
    set password(v) { set(this.#url, 4, `${v}`); }
    get host() { return get(this.#url, 5); }
    set host(v) { set(this.#url, 5, `${v}`); }
    get hostname() { return get(this.#url, 6); }
    set hostname(v) { set(this.#url, 6, `${v}`); }
    get port() { return get(this.#url, 7); }
    set port(v) { set(this.#url, 7, `${v}`); }
    get pathname() { return get(this.#url, 8); }
    set pathname(v) { set(this.#url, 8, `${v}`); }
    get search() { return get(this.#url, 9); }
    set search(v) { set(this.#url, 9, `${v}`); }
    get searchParams() {
      if (this.#params === undefined) this.#params = new URLSearchParams(key, query(this.#url));
      return this.#params;
    }
    get hash() { return get(this.#url, 10); }
    set hash(v) { set(this.#url, 10, `${v}`); }
    toString() { return get(this.#url, 0); }
    toJSON() { return get(this.#url, 0); }
  }

  // key opens the constructor to URL, which gives the list of its query.
  const key = {};

  class URLSearchParams {
    #list;
    constructor(init = undefined) {
      this.#list = init === key ? arguments[1] : newList();
      if (init === key || init === undefined || init === null) return;
      if (typeof init === "object" || typeof init === "function") native.fill(this.#list, init);
      else update(this.#list, `${init}`);
    }
    get size() { return size(this.#list); }
    append(name, value) { this.#list; need(arguments.length, 2); append(this.#list, `${name}`, `${value}`); }
    delete(name, value = undefined) {
      this.#list;
      need(arguments.length, 1);
      remove(this.#list, `${name}`, value === undefined ? undefined : `${value}`);
    }
    get(name) { this.#list; need(arguments.length, 1); return first(this.#list, `${name}`); }
    getAll(name) { this.#list; need(arguments.length, 1); return all(this.#list, `${name}`); }
    has(name, value = undefined) {
      this.#list;
      need(arguments.length, 1);
      return has(this.#list, `${name}`, value === undefined ? undefined : `${value}`);
    }
    set(name, value) { this.#list; need(arguments.length, 2); assign(this.#list, `${name}`, `${value}`); }
    sort() { sort(this.#list); }
    toString() { return text(this.#list); }
    forEach(callback, thisArg = undefined) {
      this.#list;
      if (typeof callback !== "function") native.typeError("URLSearchParams.forEach takes a function");
      for (let i = 0; i < size(this.#list); i++) native.call(callback, thisArg, at(this.#list, i, 1), at(this.#list, i, 0), this);
    }
    entries() { return native.iterator(this.#list, 2); }
    keys() { return native.iterator(this.#list, 0); }
    values() { return native.iterator(this.#list, 1); }
  }

  native.finish(URL, "URL");
  native.finish(URLSearchParams, "URLSearchParams");
  return { URL, URLSearchParams };
})
