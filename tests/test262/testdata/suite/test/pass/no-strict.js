/*---
flags: [noStrict]
---*/
assert((function () { return this !== undefined; })(), "strict"); with ({ a: 1 }) assert(a === 1, "with");
