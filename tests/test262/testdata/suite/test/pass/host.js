/*---
description: what the tests ask of their host
---*/
$262.evalScript("var made = 1"); assert(made === 1, "evalScript");
try { $262.evalScript("var a = ;"); assert(false, "no error"); } catch (e) { assert(e instanceof SyntaxError, "class"); }
var b = new ArrayBuffer(8); $262.detachArrayBuffer(b); assert(b.byteLength === 0, "detachArrayBuffer");
$262.gc(); assert($262.global === globalThis, "global");
assert(!Object.getOwnPropertyDescriptor(globalThis, "$262").enumerable, "enumerable");
