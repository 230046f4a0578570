/*---
description: asks without saying so
---*/
$262.createRealm();
