/*---
flags: [module]
---*/
export {};
