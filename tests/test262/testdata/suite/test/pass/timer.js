/*---
flags: [async]
description: goja has no timers
---*/
setTimeout($DONE, 1);
