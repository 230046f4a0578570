/*---
negative:
  phase: runtime
  type: RangeError
---*/
throw new RangeError();
