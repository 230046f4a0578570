/*---
negative:
  phase: parse
  type: SyntaxError
---*/
var a;
