/*---
description: passes in sloppy mode
---*/
undeclared = 1;
