/*---
description: a declaration is a global, which no program of a worker makes
---*/
var here = 1; assert(globalThis.here === 1, "not global");
