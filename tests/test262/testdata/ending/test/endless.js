/*---
flags: [noStrict]
---*/
for (;;) {}
