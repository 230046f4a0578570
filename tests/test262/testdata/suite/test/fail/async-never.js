/*---
flags: [async]
---*/
new Promise(function () {});
