const words = "one other kernel".split(" ");
const longest = words.reduce((a, b) => (b.length > a.length ? b : a));
await new Promise((done) => setTimeout(done, 10));
return { words: words.length, longest };
