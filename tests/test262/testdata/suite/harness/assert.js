// Written for these fixtures: what they need of the harness, and no more.
function assert(holds, message) {
  if (holds !== true) throw new Test262Error(message);
}
