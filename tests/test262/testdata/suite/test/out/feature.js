/*---
features: [Temporal]
---*/

