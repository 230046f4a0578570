/*---
flags: [noStrict]
description: native code, which no interrupt ends
---*/
Array.prototype.indexOf.call({ length: Number.MAX_SAFE_INTEGER }, 1);
