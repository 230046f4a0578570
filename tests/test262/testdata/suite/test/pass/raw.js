#!/hashbang
/*---
flags: [raw]
---*/
if (typeof assert !== "undefined") throw 1;
