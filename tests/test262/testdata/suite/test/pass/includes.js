/*---
includes: [more.js]
---*/
assert(included, "not included");
