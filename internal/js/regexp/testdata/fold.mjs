// Writes what folds to what in this node: of each code unit its upper case as Canonicalize has it without u, and of
// each character those that flags iu make equal to it. Run by `node fold.mjs > fold.json`.
const upper = [], cased = [];
for (let c = 0; c < 0x10000; c++) {
  const u = String.fromCharCode(c).toUpperCase();
  if (u.length === 1 && u.charCodeAt(0) !== c && !(c >= 128 && u.charCodeAt(0) < 128)) upper.push([c, u.charCodeAt(0)]);
}
for (let c = 0; c < 0x20000; c++) {
  const s = String.fromCodePoint(c);
  if (/[\p{CWCM}\p{CWCF}]/u.test(s)) cased.push(s);
}
const all = cased.join('');
const orbits = new Set();
for (const s of cased) {
  const equal = all.match(new RegExp(`\\u{${s.codePointAt(0).toString(16)}}`, 'giu')).map(x => x.codePointAt(0));
  if (equal.length > 1) orbits.add(equal.sort((a, b) => a - b).join(' '));
}
console.log(JSON.stringify({ upper, orbits: [...orbits].map(o => o.split(' ').map(Number)) }));
