/*---
flags: [async]
features: [async-iteration]
description: goja does not know the syntax
---*/
(async function () { async function* g() { yield 1; } for await (var x of g()) assert(x === 1, x); })().then($DONE, $DONE);
