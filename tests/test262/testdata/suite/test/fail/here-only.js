/*---
description: passes in goja
---*/
assert(typeof tools === "undefined", "tools");
