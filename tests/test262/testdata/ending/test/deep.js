/*---
flags: [noStrict]
description: overflows the stack of Go, which ends the process
---*/
var a = []; for (var i = 0; i < 3e5; i++) a = [a]; a.flat(Infinity);
