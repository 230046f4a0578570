/*---
negative:
  phase: runtime
  type: SyntaxError
---*/
var a = ;
