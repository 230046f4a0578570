// Array.fromAsync. `native` has the steps that a program could otherwise change.
(function (native) {
  const { method, callable, call, open, next, done, value, close, target, put, finish, length, item } = native;
  const asyncIterator = native.asyncIterator(), iterator = native.iterator();

  async function fromArrayLike(C, items, mapper, thisArg) {
    const n = length(items);
    const A = target(C, n);
    for (let k = 0; k < n; k++) {
      let v = await item(items, k);
      if (mapper !== undefined) v = await call(mapper, thisArg, v, k);
      put(A, k, v);
    }
    finish(A, n);
    return A;
  }

  async function fromAsync(C, items, mapper, thisArg) {
    if (mapper !== undefined) callable(mapper);
    const asyncOpener = method(items, asyncIterator);
    const opener = asyncOpener === undefined ? method(items, iterator) : asyncOpener;
    if (opener === undefined) return fromArrayLike(C, items, mapper, thisArg);
    const isAsync = asyncOpener !== undefined;
    const A = target(C);
    const iteration = open(opener, items);
    for (let k = 0; ; k++) {
      let result = next(iteration);
      if (isAsync) result = await result;
      if (done(result)) {
        finish(A, k);
        return A;
      }
      let v = value(result), complete = false;
      try {
        if (!isAsync) v = await v;
        if (mapper !== undefined) v = await call(mapper, thisArg, v, k);
        put(A, k, v);
        complete = true;
      } finally {
        if (!complete) {
          try {
            await close(iteration);
          } catch {} // the first error counts
        }
      }
    }
  }

  return { fromAsync };
})
