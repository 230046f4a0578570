/*---
flags: [async]
---*/
$DONE("as it should");
