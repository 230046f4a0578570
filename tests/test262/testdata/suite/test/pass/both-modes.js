/*---
features: [one, two]
---*/
assert((function () { return this === undefined; })() === (function () { return !this; })(), "mode");
