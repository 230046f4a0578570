/*---
features: [one]
---*/
assert(false, "as it should");
